package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// exchange exchanges the names of two directories, in one step if the file system can.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return exchangeInSteps(a, b)
	}
	if err != nil {
		return &fs.PathError{Op: "exchange", Path: filepath.Base(b), Err: err}
	}
	return nil
}
