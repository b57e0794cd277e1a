//go:build !noasm

package main

import "golang.org/x/sys/cpu"

// multiplyAdds returns the loop for this machine and how many multiply-adds of float32 a
// round of it makes.
func multiplyAdds() (loop func(rounds int), each int) {
	switch {
	case cpu.X86.HasAVX512F:
		return multiplyAddAVX512, 24 * 16
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return multiplyAddAVX2, 12 * 8
	}
	return nil, 0
}
