package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensorfile"
)

// targets returns the names at which a destination may write or remove files, so that
// target.protect can compare them with the sources: dst itself, and for a checkpoint its index
// and the data files that exist. In a directory that can't be read there are none to overwrite.
func targets(dst string) []string {
	out := []string{dst}
	if tensorfile.KindOf(dst) != tensorfile.Checkpoint {
		return out
	}
	out = append(out, dst+".index")
	list, err := os.ReadDir(filepath.Dir(dst))
	if err != nil {
		return out
	}
	for _, e := range list {
		if p, _, _, ok := bundle.ParseDataName(e.Name()); ok && p == filepath.Base(dst) {
			out = append(out, filepath.Join(filepath.Dir(dst), e.Name()))
		}
	}
	return out
}

// resolved returns the absolute path of a prefix with the links of its directory resolved, so that
// commonRoot compares real directories. A directory that doesn't exist yet is no error: its
// existing part is resolved.
func resolved(prefix string) (string, error) {
	abs, err := filepath.Abs(prefix)
	if err != nil {
		return "", err
	}
	folder, rest := filepath.Split(abs)
	for {
		folder = filepath.Clean(folder)
		real, err := filepath.EvalSymlinks(folder)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		up := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || up == folder {
			return "", err
		}
		rest = filepath.Join(filepath.Base(folder), rest) // the write will make this directory
		folder = up
	}
}
