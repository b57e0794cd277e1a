package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
)

// File is a file that appears under its name only when it is whole: it is
// written beside it, made durable and renamed.
type File struct {
	*bufio.Writer
	f    *os.File
	path string
	done bool
}

// CreateFile starts a file at path. Unless overwrite is set, one that exists is
// an error.
func CreateFile(path string, overwrite bool) (*File, error) {
	if err := CheckFree(path, overwrite); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	// A name that nobody foresees and that must be free: nothing that lies there,
	// and no link, is written through.
	tmp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.tempstate%d", filepath.Base(path), rand.Uint64()))
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return &File{Writer: bufio.NewWriterSize(f, 1<<20), f: f, path: path}, nil
}

// CheckFree makes sure that nothing is overwritten unasked.
func CheckFree(path string, overwrite bool) error {
	if overwrite {
		return nil
	}
	switch there, err := exists(path); {
	case err != nil:
		return err
	case there:
		return &existsError{path}
	}
	return nil
}

// Protect returns an error where one of the files that s was read from would be
// overwritten, by its own name or another.
func (s *Store) Protect(paths ...string) error {
	own, err := s.files()
	if err != nil {
		return err
	}
	self, err := filepath.Abs(s.Prefix)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil && abs == self {
			return &OverwriteError{Path: p, Source: p}
		}
		there, err := os.Stat(p)
		if err != nil {
			continue // nothing that could be lost
		}
		for _, o := range own {
			if mine, err := os.Stat(o); err == nil && os.SameFile(there, mine) {
				return &OverwriteError{Path: p, Source: s.Prefix}
			}
		}
	}
	return nil
}

// files lists the files that the store was read from, and the directory's state
// file.
func (s *Store) files() ([]string, error) {
	if !s.Kind.IsBundle() {
		return []string{s.Prefix}, nil
	}
	dir, base := filepath.Dir(s.Prefix), filepath.Base(s.Prefix)
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := []string{s.Prefix, s.Prefix + ".index", filepath.Join(dir, statefile.Name)}
	for _, e := range list {
		if p, _, _, ok := bundle.ParseDataName(e.Name()); ok && p == base || strings.HasPrefix(e.Name(), base+"-") || e.Name() == base+".meta" {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// OverwriteError says that what would be written lies where the source is.
type OverwriteError struct {
	Path   string // what would be overwritten
	Source string
}

// Error says what is in the way, and how to write there all the same.
func (e *OverwriteError) Error() string {
	what := "what would be"
	switch {
	case e.Path == e.Source:
	case strings.HasPrefix(e.Path, e.Source):
		what = "a file of " + e.Source + ", which would be"
	default:
		what = "a file of " + e.Source + " by another name, which would be"
	}
	return fmt.Sprintf("%s is %s read and written; write to another name", e.Path, what)
}

// existsError says that a destination is taken.
type existsError struct{ path string }

func (e *existsError) Error() string { return e.path + " exists; --force replaces it" }

func (e *existsError) Is(target error) bool { return target == fs.ErrExist }

// Commit makes the file durable, opens a file of tensors again, and gives it its
// name: what can't be read replaces nothing.
func (f *File) Commit() error {
	if f.done {
		return nil
	}
	err := f.Flush()
	if err == nil {
		err = f.f.Sync()
	}
	if err == nil {
		err = f.readBack()
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.done = true
	if err := f.f.Close(); err != nil {
		os.Remove(f.f.Name())
		return err
	}
	if err := os.Rename(f.f.Name(), f.path); err != nil {
		os.Remove(f.f.Name())
		return err
	}
	return nil
}

// readBack opens what was written as [Open] will: the headers of all tensors and
// where they lie, not their data.
func (f *File) readBack() error {
	var open func(string, *Options) (backend, error)
	switch KindOf(f.path) {
	case NPZ:
		open = openNPZ
	case Safetensors:
		open = openSafetensors
	default:
		return nil
	}
	b, err := open(f.f.Name(), &Options{})
	if err == nil {
		_, err = b.entries()
		err = errors.Join(err, b.close())
	}
	if err != nil {
		return fmt.Errorf("%s was written and can't be opened again: %w", f.path, err)
	}
	return nil
}

// Abort removes what was written. After Commit it does nothing.
func (f *File) Abort() {
	if !f.done {
		f.done = true
		f.f.Close()
		os.Remove(f.f.Name())
	}
}
