//go:build !linux

package engine

// addressSpace returns 0: the limit of the process's address space is unknown. machineMemory,
// the only caller, then does without it.
func addressSpace() uint64 { return 0 }
