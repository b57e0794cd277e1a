package store

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	if !overwrite && exists(path) {
		return &existsError{path}
	}
	return nil
}

// existsError says that a destination is taken.
type existsError struct{ path string }

func (e *existsError) Error() string { return e.path + " exists; --force replaces it" }

func (e *existsError) Is(target error) bool { return target == fs.ErrExist }

// Commit makes the file durable and gives it its name.
func (f *File) Commit() error {
	if f.done {
		return nil
	}
	err := f.Flush()
	if err == nil {
		err = f.f.Sync()
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

// Abort removes what was written. After Commit it does nothing.
func (f *File) Abort() {
	if !f.done {
		f.done = true
		f.f.Close()
		os.Remove(f.f.Name())
	}
}
