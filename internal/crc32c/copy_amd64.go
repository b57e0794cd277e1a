//go:build !noasm

package crc32c

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

const (
	copyBlock = 1024 // the bytes that the assembly copies at a time; block in _asm/main.go is the same
	copyAlign = 16   // the alignment in bytes of dst that it requires
)

// hasCopy reports whether the processor has the instructions of the assembly.
var hasCopy = cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ

// copyFirst copies the first n bytes and returns their checksum.
func copyFirst(dst, src []byte) (crc uint32, n int) {
	if len(src) < copyBlock || !hasCopy || uintptr(unsafe.Pointer(&dst[0]))%copyAlign != 0 {
		return 0, 0
	}
	blocks := len(src) / copyBlock
	return ^copyBlocks(&dst[0], &src[0], blocks, ^uint32(0)), blocks * copyBlock
}
