//go:build !unix && !js && !wasip1 && !windows

package checkpoint

import "errors"

// isNoSpace reports whether a Dir has said that it is full. These systems have no error number for it.
func isNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) }

// noLocksErrno returns false: these systems have no error number for missing locks. See manager_errno_posix.go.
func noLocksErrno(error) bool { return false }
