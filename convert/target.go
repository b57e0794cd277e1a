package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensorfile"
	"github.com/cairnml/cairn/vfs"
)

// target is the destination: a name of Options.Dir, or a path of the operating
// system.
type target struct {
	name string // as the user wrote it
	dir  vfs.Dir
	base string // its name in dir
	own  bool   // dir is Options.Dir
}

func (o *Options) target(dst string) target {
	if o != nil && o.Dir != nil {
		return target{dst, o.Dir, dst, true}
	}
	return target{dst, vfs.OSDir(filepath.Dir(dst)), filepath.Base(dst), false}
}

// shown returns the name under which people know a file of dir.
func (t target) shown(name string) string {
	if t.own {
		return name
	}
	return filepath.Join(filepath.Dir(t.name), filepath.FromSlash(name))
}

// create starts a file of the target's name.
func (t target) create(force bool) (*tensorfile.Output, error) {
	if t.own {
		return tensorfile.CreateFileIn(t.dir, t.base, force)
	}
	return tensorfile.CreateFile(t.name, force)
}

// protect returns an error if the source of s would be overwritten. Between a
// file system of the user's and another one, this can't be detected; only the
// checks that nothing is overwritten without permission apply.
func (t target) protect(s *tensorfile.File, o *Options) error {
	switch {
	case !t.own && o.Source.FS == nil:
		return s.Protect(targets(t.name)...)
	case t.own && o.Source.FS != nil && sameFolder(t.dir, o.Source.FS) && path.Clean(t.base) == path.Clean(s.Prefix):
		return &tensorfile.OverwriteError{Path: t.name, Source: t.name}
	}
	return nil
}

// sameFolder reports whether the directory that is written to is the one that is read.
func sameFolder(dir vfs.Dir, fsys fs.FS) bool {
	a, b := reflect.TypeOf(dir), reflect.TypeOf(fsys)
	return a == b && a.Comparable() && fs.FS(dir) == fsys
}

// checkpoint returns an error if the target is no prefix for a checkpoint: its last part is
// empty, it is a file of a checkpoint or a directory, or it exists and force isn't set.
func (t target) checkpoint(force bool) error {
	dst := t.name
	switch {
	case dst == "" || strings.HasSuffix(dst, "/") || !t.own && strings.HasSuffix(dst, string(filepath.Separator)):
		return fmt.Errorf("%q is no checkpoint prefix: it lacks the last part, as in %s", dst, filepath.Join(dst, "ckpt-1"))
	case strings.HasSuffix(dst, ".index"):
		return fmt.Errorf("%s is a file of a checkpoint; name the prefix %s", dst, strings.TrimSuffix(dst, ".index"))
	}
	if p, _, _, ok := bundle.ParseDataName(dst); ok {
		return fmt.Errorf("%s is a file of a checkpoint; name the prefix %s", dst, p)
	}
	if t.own {
		return tensorfile.CheckFreeIn(t.dir, t.base+".index", force)
	}
	if i, err := os.Stat(dst); err == nil && i.IsDir() {
		return fmt.Errorf("%s is a directory; name a checkpoint prefix, as in %s", dst, filepath.Join(dst, "ckpt-1"))
	}
	return tensorfile.CheckFree(dst+".index", force)
}

// check opens the written file, so that no file is reported as written that
// can't be read.
func (t target) check(ctx context.Context, o *Options) (s *tensorfile.File, err error) {
	written, name := *o.source(), t.name
	if written.FS = nil; t.own {
		written.FS, name = t.dir, t.base
	}
	s, err = tensorfile.Open(ctx, name, &written)
	if err != nil {
		return nil, fmt.Errorf("%s was written and can't be opened: %w", t.name, err)
	}
	return s, nil
}

// removeStale removes data files that a checkpoint of this prefix had before and that the new
// one, which consists of files, has not. The new one is complete by then, so errors are ignored:
// a stale file takes space only.
func (t target) removeStale(files []string) {
	folder := path.Dir(t.base)
	list, err := fs.ReadDir(t.dir, folder)
	if err != nil {
		return
	}
	for _, e := range list {
		name := path.Join(folder, e.Name())
		if p, _, _, ok := bundle.ParseDataName(e.Name()); ok && p == path.Base(t.base) && !slices.Contains(files, t.shown(name)) {
			t.dir.Remove(name)
		}
	}
}

// indexDigest returns the SHA-256 of a checkpoint's index file.
func indexDigest(fsys fs.FS, prefix string) (string, error) {
	f, err := fsys.Open(prefix + ".index")
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
