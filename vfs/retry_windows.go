package vfs

import (
	"errors"
	"syscall"
)

// inUse reports whether an error may be caused by a file that another program
// has open.
func inUse(err error) bool {
	const accessDenied, sharingViolation, lockViolation = syscall.Errno(5), syscall.Errno(32), syscall.Errno(33)
	return errors.Is(err, accessDenied) || errors.Is(err, sharingViolation) || errors.Is(err, lockViolation)
}
