//go:build !amd64 || noasm

package simd

// The functions of the files for amd64, for other machines: each does nothing, so that the caller's
// loop does all. A function is added to both.

// Depthwise computes a row of a depthwise convolution, see [Taps].
func Depthwise[T any](dst, src, w []T, t *Taps, end *Ending[T]) int { return 0 }

// ExpSum computes dst = exp(a-m) of float32 and adds element i, not rounded to
// float32 yet, to sums[i%8].
func ExpSum[T any](dst, a []T, m T, sums *[8]float64) int { return 0 }

// FastExpSum computes dst = exp(a-m), adds element i to sums[i%16], and reports
// whether it can.
func FastExpSum(dst, a []float32, m float32, sums *[16]float32) bool { return false }

// FastSoftmax computes dst = exp(a) over the sum of exp(a) with the bits that [FastExpSum]
// leads to, and reports whether it can.
func FastSoftmax(dst, a []float32) bool { return false }

// Moments adds element i of a to sums[i%16] or, with squares, the square of its
// distance from m, and returns how many elements it took.
func Moments(a []float32, m float32, squares bool, sums *[16]float32) int { return 0 }

// Normalize computes dst = (a-m)·scale·gamma + beta and returns how many elements it
// took.
func Normalize(dst, a, gamma, beta []float32, m, scale float32) int { return 0 }

// LayerNorm normalizes a as a whole, with the bits that [Moments] and [Normalize] lead to,
// and reports whether it can.
func LayerNorm(dst, a, gamma, beta []float32, epsilon float32) bool { return false }

// MaxPool sets dst to the largest element of each window, see [Pool], to the
// first one of several. If the first tap is NaN, the result is NaN. It does as
// many channels from the first on as it returns.
func MaxPool[T any](dst, x []T, p *Pool) int { return 0 }

// MaxPoolGrad adds each element of dy to the element of out at the position of
// the window's largest in x, as [MaxPool] finds it. It does as many channels
// from the first on as it returns.
func MaxPoolGrad[T any](out, x, dy []T, p *Pool) int { return 0 }

// Products makes the steps, see [Steps], and reports whether it can.
func Products(sums, x, right []float32, s Steps) bool { return false }

// Rotations does nothing.
func Rotations(v []float64, r Rows, turns []float64) int { return 0 }

// RotationsTwice does nothing.
func RotationsTwice(v []float64, r Rows, first, second []float64) bool { return false }

// UpdateAndSum does nothing.
func UpdateAndSum(v []float64, stride int, a *[4]float64, x []float64, z *[4]float64, sum []float64) int {
	return 0
}

// UpdateAndDot does nothing.
func UpdateAndDot(v []float64, stride int, a *[4]float64, x, y []float64, sums *[4][8]float64) int {
	return 0
}

// Round does nothing.
func Round(x []float32, to Rounding) int { return 0 }

// Widen does nothing.
func Widen[H ~uint16](dst []float32, src []H, from Rounding) int { return 0 }

// Narrow does nothing.
func Narrow[H ~uint16](dst []H, src []float32, to Rounding) int { return 0 }
