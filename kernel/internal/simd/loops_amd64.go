//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

// The features of the processor and the sizes of pieces, for all files of this
// package.

// lanes32 and lanes64 are the elements in a vector.
const (
	lanes32 = 8
	lanes64 = 4
)

// piece is how many elements one call of assembly takes at most: some ten
// microseconds, as the scheduler cannot stop it.
const piece = 16 << 10

// enabled reports whether the CPU has AVX2; a test switches it off.
var enabled = cpu.X86.HasAVX2

// wide reports whether functions run on AVX-512, in vectors twice as long; a
// test switches it off.
var wide = enabled && cpu.X86.HasAVX512F

// start returns how many elements there are for the loops, 0 for too few.
func start(n, lanes int) int {
	if !enabled {
		return 0
	}
	return n &^ (lanes - 1)
}
