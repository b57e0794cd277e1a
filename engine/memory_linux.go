package engine

import (
	"math"
	"syscall"
)

// addressSpace returns the limit of the process's address space (RLIMIT_AS) in bytes;
// 0 if there is none.
func addressSpace() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return 0
	}
	return limit.Cur
}
