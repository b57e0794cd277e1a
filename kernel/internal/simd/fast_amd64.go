//go:build amd64 && !noasm

package simd

import (
	"math"

	"golang.org/x/sys/cpu"
)

// Functions of float32 that are off by a few units in the last place. zz_fast_amd64.go has the
// others; package vec calls them.

// fused reports whether the CPU multiplies and adds with one rounding; a test
// switches it off.
var fused = enabled && cpu.X86.HasFMA

// fastStart returns the number of the n elements that fill whole vectors, or -1
// if the CPU lacks instructions. The remaining elements are computed in a
// vector that is filled up, so that an element's result doesn't depend on its
// position.
func fastStart(n int) int {
	switch {
	case !fused || !enabled:
		return -1
	case wide:
		return n &^ 15
	}
	return n &^ 7
}

// FastExpSum computes dst = exp(a-m), adds element i to sums[i%16], and reports
// whether it can.
func FastExpSum(dst, a []float32, m float32, sums *[16]float32) bool {
	n := fastStart(len(dst)) &^ 15
	if n < 0 {
		return false
	}
	a = a[:len(dst)]
	for i := 0; i < n; i += piece {
		if wide {
			fastExpSumAVX512(&dst[i], &a[i], m, sums, min(piece, n-i))
		} else {
			fastExpSumAVX2(&dst[i], &a[i], m, sums, min(piece, n-i))
		}
	}
	if n < len(dst) {
		var v [16]float32
		for i := copy(v[:], a[n:]); i < len(v); i++ {
			v[i] = float32(math.Inf(-1)) // adds nothing
		}
		if wide {
			fastExpSumAVX512(&v[0], &v[0], m, sums, len(v))
		} else {
			fastExpSumAVX2(&v[0], &v[0], m, sums, len(v))
		}
		copy(dst[n:], v[:])
	}
	return true
}

// FastSoftmax computes dst = exp(a) over the sum of exp(a) with the bits that [FastExpSum]
// leads to, and reports whether it can: lengths that are no multiples of 16, or long, are
// left to others.
func FastSoftmax(dst, a []float32) bool {
	n := fastStart(len(dst))
	if n <= 0 || n%16 != 0 || n != len(dst) || n > piece {
		return false
	}
	a = a[:n]
	if wide {
		fastSoftmaxAVX512(&dst[0], &a[0], n)
	} else {
		fastSoftmaxAVX2(&dst[0], &a[0], n)
	}
	return true
}
