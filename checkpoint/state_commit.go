package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/cairnml/cairn/vfs"
)

// Temporaries of small files are called "<name>.cairn-<16 hex digits>.tmp", so
// that a later run knows them as ours.
const (
	tempInfix  = ".cairn-"
	tempSuffix = ".tmp"
)

func tempName(name string) string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return name + tempInfix + hex.EncodeToString(b[:]) + tempSuffix
}

// isTempOf reports whether file is a temporary of the file name.
func isTempOf(file, name string) bool {
	of, ok := tempOf(file)
	return ok && of == name
}

// tempOf returns the name of the file that file is a temporary of.
func tempOf(file string) (name string, ok bool) {
	rest, ok := strings.CutSuffix(file, tempSuffix)
	i := strings.LastIndex(rest, tempInfix)
	if !ok || i < 0 {
		return "", false
	}
	random := rest[i+len(tempInfix):]
	_, err := hex.DecodeString(random)
	return rest[:i], len(random) == 16 && err == nil
}

// writeFileAtomically replaces the file name in dir: readers see the old bytes
// or the new ones, also after a crash. It is durable on return.
func writeFileAtomically(dir vfs.Dir, name string, data []byte) error {
	err := putFile(dir, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err == nil {
		err = dir.Sync()
		if err != nil {
			err = &placedError{err}
		}
	}
	return err
}

// placedError is a failure that came when the new file may have its name already.
type placedError struct{ err error }

func (e *placedError) Error() string { return e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

// maybePlaced reports whether a file may be there although writing it failed.
func maybePlaced(err error) bool {
	var placed *placedError
	return errors.As(err, &placed)
}

// putFile writes a file under a temporary name, makes its bytes durable, and
// renames it. The caller makes the name durable.
func putFile(dir vfs.Dir, name string, fill func(io.Writer) error) (err error) {
	temp := tempName(name)
	if err = vfs.WriteFile(dir, temp, fill); err == nil {
		if err = dir.Rename(temp, name); err != nil {
			err = &placedError{err}
		}
	}
	if err != nil {
		_ = dir.Remove(temp) // the next save removes leftovers
	}
	return err
}

// copyFile copies a file within dir; its name is made durable by the caller.
func copyFile(dir vfs.Dir, from, to string) error {
	f, err := dir.Open(from)
	if err != nil {
		return err
	}
	err = putFile(dir, to, func(w io.Writer) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 128<<10))
		return err
	})
	return errors.Join(err, f.Close())
}

// removeIfThere deletes a file; that it is gone already is no error.
func removeIfThere(dir vfs.Dir, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
