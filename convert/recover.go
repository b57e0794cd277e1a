package convert

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// Recover finishes a save over a checkpoint that a crash has interrupted. A
// checkpoint's files are renamed one by one, so a crash can leave an old index with
// new data, or no index at all. By then the replacement is complete, and some of its
// files still have temporary names. Recover renames these and returns true. If the checkpoint is sound, Recover reads all of it, changes nothing and returns
// false. A damaged checkpoint without a complete one next to it is an error. No other
// program may be writing the checkpoint.
//
// The path is the checkpoint's prefix, one of its files, or a directory with a state
// file.
func Recover(ctx context.Context, path string) (recovered bool, err error) {
	prefix := RecoverPrefix(path)
	recovered, err = bundle.Recover(ctx, vfs.OSDir(filepath.Dir(prefix)), filepath.Base(prefix))
	if err != nil {
		err = fmt.Errorf("%s: %w", prefix, err)
		if _, there := os.Stat(bundle.IndexName(prefix)); there != nil {
			err = cmp.Or(tensorfile.CheckForeign(prefix), otherKind(prefix), err)
		}
	}
	return recovered, err
}

// otherKind returns a *[tensorfile.ForeignError] if path is a file of tensors that is no checkpoint.
func otherKind(path string) error {
	kind := tensorfile.KindOf(path)
	if info, err := os.Stat(path); kind == tensorfile.Checkpoint || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	article := "a "
	if kind == tensorfile.HDF5 {
		article = "an "
	}
	return &tensorfile.ForeignError{Path: path, Kind: article + kind.String(), Hint: "such a file is written whole or not at all; only checkpoints are recovered"}
}

// Recoverable reports whether a write over the checkpoint at path was cut off and
// [Recover] can finish it.
func Recoverable(ctx context.Context, path string) bool {
	prefix := RecoverPrefix(path)
	can, err := bundle.Recoverable(ctx, os.DirFS(filepath.Dir(prefix)), filepath.Base(prefix))
	return can && err == nil
}

// RecoverPrefix returns the prefix of the checkpoint that [Recover] finishes for path.
// The checkpoint may lack an index.
func RecoverPrefix(path string) string {
	if prefix, _, _, ok := bundle.ParseDataName(path); ok {
		return prefix
	}
	if found, err := bundle.FindFile(path); err == nil && found.Kind != bundle.FoundV1 { // V1 has one file, so none is left half renamed
		return found.Prefix
	}
	return strings.TrimSuffix(path, bundle.IndexName(""))
}
