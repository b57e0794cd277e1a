package vfs

import (
	"io/fs"
	"os"
)

// kindError reports that a path, where a file is wanted, has something else.
type kindError struct {
	mode  fs.FileMode
	write bool // the file was wanted for writing
}

func (e *kindError) Error() string {
	s := DescribeMode(e.mode) + ", not a file"
	if e.write {
		s += "; remove it"
	}
	return s
}

// Is reports whether target is [fs.ErrInvalid].
func (e *kindError) Is(target error) bool { return target == fs.ErrInvalid }

// DescribeMode returns the kind of a file that is not a regular one, in words:
// "a directory", "a named pipe".
func DescribeMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// openRegular opens a file or a directory for reading. It refuses anything else
// without opening it: the open of a pipe could block, and the bytes of a device
// could have no end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	refuse := func(m fs.FileMode) error {
		return &fs.PathError{Op: "open", Path: path, Err: &kindError{mode: m}}
	}
	if m := info.Mode(); !m.IsRegular() && !m.IsDir() {
		return nil, refuse(m)
	}
	// Another file may have come to that name meanwhile. If it is a pipe, the open
	// returns at once because of nonblock.
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.Mode().IsDir() {
		err = refuse(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
