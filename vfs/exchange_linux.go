package vfs

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// exchange exchanges the names of two directories, in one step if the file system can.
func exchange(root *os.Root, a, b string) error {
	from, err := root.OpenFile(filepath.Dir(a), unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := root.OpenFile(filepath.Dir(b), unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer to.Close()
	err = unix.Renameat2(int(from.Fd()), filepath.Base(a), int(to.Fd()), filepath.Base(b), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return exchangeInSteps(root, a, b)
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
