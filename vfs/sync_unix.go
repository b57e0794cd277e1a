//go:build unix

package vfs

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes the names in a directory durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // some file systems can't sync directories, and don't need it
	}
	return errors.Join(err, f.Close())
}
