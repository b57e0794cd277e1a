package vfs

import (
	"io/fs"
	"os"
)

// kindError reports that the path of a file has something else.
type kindError struct{ mode fs.FileMode }

func (e *kindError) Error() string { return DescribeMode(e.mode) + ", not a file; remove it" }

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

// openRegular opens a file or a directory for reading. Anything else, which
// could block for ever or have no end, is refused without being opened.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	refuse := func(m fs.FileMode) error {
		return &fs.PathError{Op: "open", Path: path, Err: &kindError{m}}
	}
	if m := info.Mode(); !m.IsRegular() && !m.IsDir() {
		return nil, refuse(m)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	// Another file may have come to that name meanwhile.
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
