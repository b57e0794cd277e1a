//go:build amd64 && !noasm

package simd

import "unsafe"

// Conversions of half precision. loops_noasm.go has the same functions for
// other machines. Each returns how many elements from the front it has
// converted.

// halves returns how many elements there are for the conversions of half precision.
func halves(n int) int {
	if !halving {
		return 0
	}
	return start(n, lanes32)
}

// Round rounds numbers to half precision.
func Round(x []float32, to Rounding) int {
	n := halves(len(x))
	for i := 0; i < n; i += piece {
		if to == ToFloat16 {
			roundF16(&x[i], min(piece, n-i))
		} else {
			roundBF16(&x[i], min(piece, n-i))
		}
	}
	return n
}

// Widen sets dst to numbers of half precision.
func Widen[H ~uint16](dst []float32, src []H, from Rounding) int {
	n := halves(len(dst))
	src = src[:n]
	for i := 0; i < n; i += piece {
		at := (*uint16)(unsafe.Pointer(&src[i]))
		if from == ToFloat16 {
			widenF16(&dst[i], at, min(piece, n-i))
		} else {
			widenBF16(&dst[i], at, min(piece, n-i))
		}
	}
	return n
}

// Narrow sets dst to numbers rounded to half precision.
func Narrow[H ~uint16](dst []H, src []float32, to Rounding) int {
	n := halves(len(dst))
	src = src[:n]
	for i := 0; i < n; i += piece {
		at := (*uint16)(unsafe.Pointer(&dst[i]))
		if to == ToFloat16 {
			narrowF16(at, &src[i], min(piece, n-i))
		} else {
			narrowBF16(at, &src[i], min(piece, n-i))
		}
	}
	return n
}
