package checkpoint

import (
	"errors"
	"syscall"
)

// isNoSpace reports whether a save failed because the disk or a quota is full. The numbers are ERROR_DISK_FULL,
// ERROR_HANDLE_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED.
func isNoSpace(err error) bool {
	const diskFull, handleDiskFull, quota = syscall.Errno(112), syscall.Errno(39), syscall.Errno(1295)
	return errors.Is(err, ErrNoSpace) || errors.Is(err, diskFull) || errors.Is(err, handleDiskFull) || errors.Is(err, quota)
}

// noLocksErrno reports whether err comes from a file system without locks: ERROR_INVALID_FUNCTION or
// ERROR_NOT_SUPPORTED.
func noLocksErrno(err error) bool {
	const invalidFunction, notSupported = syscall.Errno(1), syscall.Errno(50)
	return errors.Is(err, invalidFunction) || errors.Is(err, notSupported)
}
