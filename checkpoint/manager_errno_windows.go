package checkpoint

import (
	"errors"
	"syscall"
)

func isNoSpace(err error) bool {
	const diskFull, handleDiskFull, quota = syscall.Errno(112), syscall.Errno(39), syscall.Errno(1295)
	return errors.Is(err, ErrNoSpace) || errors.Is(err, diskFull) || errors.Is(err, handleDiskFull) || errors.Is(err, quota)
}

func noLocksErrno(err error) bool {
	const invalidFunction, notSupported = syscall.Errno(1), syscall.Errno(50)
	return errors.Is(err, invalidFunction) || errors.Is(err, notSupported)
}
