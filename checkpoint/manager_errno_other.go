//go:build !unix && !js && !wasip1 && !windows

package checkpoint

import "errors"

func isNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) }

func noLocksErrno(error) bool { return false }
