//go:build unix || js || wasip1

package checkpoint

import (
	"errors"
	"syscall"
)

// isNoSpace reports whether a save failed because the disk or a quota is full. [SaveError] asks it.
func isNoSpace(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// noLocksErrno reports whether err comes from a network file system without a
// lock service. lockFile then goes without a lock on the file.
func noLocksErrno(err error) bool { return errors.Is(err, syscall.ENOLCK) }
