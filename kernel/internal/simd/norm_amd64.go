//go:build amd64 && !noasm

package simd

// The loops of layer normalization, which vec.LayerNorm calls.

// Moments adds element i of a to sums[i%16] or, with squares, the square of its
// distance from m, and returns how many elements it took.
func Moments(a []float32, m float32, squares bool, sums *[16]float32) int {
	n := fastStart(len(a)) &^ 15
	if n < 0 {
		return 0
	}
	for i := 0; i < n; i += piece {
		switch part := min(piece, n-i); {
		case wide && squares:
			rowSquaresAVX512(&a[i], m, sums, part)
		case wide:
			rowSumAVX512(&a[i], m, sums, part)
		case squares:
			rowSquaresAVX2(&a[i], m, sums, part)
		default:
			rowSumAVX2(&a[i], m, sums, part)
		}
	}
	return n
}

// Normalize computes dst = (a-m)·scale·gamma + beta and returns how many elements it
// took.
func Normalize(dst, a, gamma, beta []float32, m, scale float32) int {
	n := fastStart(len(dst)) &^ 15
	if n < 0 {
		return 0
	}
	a, gamma, beta = a[:len(dst)], gamma[:len(dst)], beta[:len(dst)]
	for i := 0; i < n; i += piece {
		if part := min(piece, n-i); wide {
			normalizeAVX512(&dst[i], &a[i], &gamma[i], &beta[i], m, scale, part)
		} else {
			normalizeAVX2(&dst[i], &a[i], &gamma[i], &beta[i], m, scale, part)
		}
	}
	return n
}

// LayerNorm normalizes a as a whole, with the bits that [Moments] and [Normalize] lead to,
// and reports whether it can: lengths that are no multiples of 16, or long, are left to
// them.
func LayerNorm(dst, a, gamma, beta []float32, epsilon float32) bool {
	n := fastStart(len(dst))
	if n <= 0 || n%16 != 0 || n != len(a) || n != len(dst) || n > piece {
		return false
	}
	gamma, beta = gamma[:n], beta[:n]
	if wide {
		layerNormAVX512(&dst[0], &a[0], &gamma[0], &beta[0], epsilon, float32(n), n)
	} else {
		layerNormAVX2(&dst[0], &a[0], &gamma[0], &beta[0], epsilon, float32(n), n)
	}
	return true
}
