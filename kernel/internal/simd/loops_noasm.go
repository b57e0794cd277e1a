//go:build !amd64 || noasm

package simd

// Add computes dst = a + b.
func Add[T any](dst, a, b []T) int { return 0 }

// Sub computes dst = a - b.
func Sub[T any](dst, a, b []T) int { return 0 }

// Mul computes dst = a * b.
func Mul[T any](dst, a, b []T) int { return 0 }

// Div computes dst = a / b.
func Div[T any](dst, a, b []T) int { return 0 }

// ReluGrad computes dst = a where b > 0, else 0.
func ReluGrad[T any](dst, a, b []T) int { return 0 }

// AddScalar computes dst = a + x.
func AddScalar[T any](dst, a []T, x T) int { return 0 }

// MulScalar computes dst = a * x.
func MulScalar[T any](dst, a []T, x T) int { return 0 }

// Relu computes dst = 0 where a < 0, else a.
func Relu[T any](dst, a []T) int { return 0 }

// Descend computes v -= lr*g.
func Descend[T any](v, g []T, lr T) int { return 0 }

// Adam takes Adam's step, m += (g-m)*b1; s += (g*g-s)*b2; v -= m*alpha /
// (√s+epsilon).
func Adam[T any](v, m, s, g []T, alpha, b1, b2, epsilon T) int { return 0 }

// Depthwise computes a row of a depthwise convolution, see [Taps].
func Depthwise[T any](dst, src, w []T, t *Taps) int { return 0 }

// Max computes dst = a where that is larger.
func Max[T any](dst, a []T) int { return 0 }

// ExpSum computes dst = exp(a-m) of float32 and adds element i, not rounded to
// float32 yet, to sums[i%8].
func ExpSum[T any](dst, a []T, m T, sums *[8]float64) int { return 0 }
