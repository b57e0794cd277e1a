//go:build !noasm

package main

import "golang.org/x/sys/cpu"

// multiplyAdds returns the loop for this machine and the number of multiply-adds of float32
// that a round of it makes: _asm/main.go has the same numbers of vectors. nil means none.
func multiplyAdds() (loop func(rounds int), each int) {
	switch {
	case cpu.X86.HasAVX512F:
		return multiplyAddAVX512, 24 * 16
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return multiplyAddAVX2, 12 * 8
	}
	return nil, 0
}
