//go:build amd64 && !noasm

package simd

import "golang.org/x/sys/cpu"

// lanes32 and lanes64 are the elements in a vector.
const (
	lanes32 = 8
	lanes64 = 4
)

// piece is how many elements one call of assembly takes at most: some ten
// microseconds, as the scheduler cannot stop it.
const piece = 16 << 10

// enabled is what the CPU allows; a test switches it off.
var enabled = cpu.X86.HasAVX2

// wide says that functions run on AVX-512, in vectors twice as long; a test
// switches it off.
var wide = enabled && cpu.X86.HasAVX512F

// start returns how many elements there are for the loops, 0 for too few.
func start(n, lanes int) int {
	if !enabled {
		return 0
	}
	return n &^ (lanes - 1)
}

// Add computes dst = a + b.
func Add[T any](dst, a, b []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a, b := any(a).([]float32)[:n], any(b).([]float32)[:n]
		for i := 0; i < n; i += piece {
			addF32(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a, b := any(a).([]float64)[:n], any(b).([]float64)[:n]
		for i := 0; i < n; i += piece {
			addF64(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// Sub computes dst = a - b.
func Sub[T any](dst, a, b []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a, b := any(a).([]float32)[:n], any(b).([]float32)[:n]
		for i := 0; i < n; i += piece {
			subF32(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a, b := any(a).([]float64)[:n], any(b).([]float64)[:n]
		for i := 0; i < n; i += piece {
			subF64(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// Mul computes dst = a * b.
func Mul[T any](dst, a, b []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a, b := any(a).([]float32)[:n], any(b).([]float32)[:n]
		for i := 0; i < n; i += piece {
			mulF32(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a, b := any(a).([]float64)[:n], any(b).([]float64)[:n]
		for i := 0; i < n; i += piece {
			mulF64(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// Div computes dst = a / b.
func Div[T any](dst, a, b []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a, b := any(a).([]float32)[:n], any(b).([]float32)[:n]
		for i := 0; i < n; i += piece {
			divF32(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a, b := any(a).([]float64)[:n], any(b).([]float64)[:n]
		for i := 0; i < n; i += piece {
			divF64(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// ReluGrad computes dst = a where b > 0, else 0.
func ReluGrad[T any](dst, a, b []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a, b := any(a).([]float32)[:n], any(b).([]float32)[:n]
		for i := 0; i < n; i += piece {
			reluGradF32(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a, b := any(a).([]float64)[:n], any(b).([]float64)[:n]
		for i := 0; i < n; i += piece {
			reluGradF64(&dst[i], &a[i], &b[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// AddScalar computes dst = a + x.
func AddScalar[T any](dst, a []T, x T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a := any(a).([]float32)[:n]
		x := any(x).(float32)
		for i := 0; i < n; i += piece {
			addScalarF32(&dst[i], &a[i], x, min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a := any(a).([]float64)[:n]
		x := any(x).(float64)
		for i := 0; i < n; i += piece {
			addScalarF64(&dst[i], &a[i], x, min(piece, n-i))
		}
		return n
	}
	return 0
}

// MulScalar computes dst = a * x.
func MulScalar[T any](dst, a []T, x T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a := any(a).([]float32)[:n]
		x := any(x).(float32)
		for i := 0; i < n; i += piece {
			mulScalarF32(&dst[i], &a[i], x, min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a := any(a).([]float64)[:n]
		x := any(x).(float64)
		for i := 0; i < n; i += piece {
			mulScalarF64(&dst[i], &a[i], x, min(piece, n-i))
		}
		return n
	}
	return 0
}

// Relu computes dst = 0 where a < 0, else a.
func Relu[T any](dst, a []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a := any(a).([]float32)[:n]
		for i := 0; i < n; i += piece {
			reluF32(&dst[i], &a[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a := any(a).([]float64)[:n]
		for i := 0; i < n; i += piece {
			reluF64(&dst[i], &a[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// Max computes dst = a where that is larger.
func Max[T any](dst, a []T) int {
	switch dst := any(dst).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		a := any(a).([]float32)[:n]
		for i := 0; i < n; i += piece {
			maxF32(&dst[i], &a[i], min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		a := any(a).([]float64)[:n]
		for i := 0; i < n; i += piece {
			maxF64(&dst[i], &a[i], min(piece, n-i))
		}
		return n
	}
	return 0
}

// Descend computes v -= lr*g.
func Descend[T any](v, g []T, lr T) int {
	switch dst := any(v).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		g := any(g).([]float32)[:n]
		lr := any(lr).(float32)
		for i := 0; i < n; i += piece {
			descendF32(&dst[i], &g[i], lr, min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		g := any(g).([]float64)[:n]
		lr := any(lr).(float64)
		for i := 0; i < n; i += piece {
			descendF64(&dst[i], &g[i], lr, min(piece, n-i))
		}
		return n
	}
	return 0
}

// Adam takes Adam's step, m += (g-m)*b1; s += (g*g-s)*b2; v -= m*alpha /
// (√s+epsilon).
func Adam[T any](v, m, s, g []T, alpha, b1, b2, epsilon T) int {
	switch dst := any(v).(type) {
	case []float32:
		n := start(len(dst), lanes32)
		m, s, g := any(m).([]float32)[:n], any(s).([]float32)[:n], any(g).([]float32)[:n]
		alpha, b1, b2, epsilon := any(alpha).(float32), any(b1).(float32), any(b2).(float32), any(epsilon).(float32)
		for i := 0; i < n; i += piece {
			adamF32(&dst[i], &m[i], &s[i], &g[i], alpha, b1, b2, epsilon, min(piece, n-i))
		}
		return n
	case []float64:
		n := start(len(dst), lanes64)
		m, s, g := any(m).([]float64)[:n], any(s).([]float64)[:n], any(g).([]float64)[:n]
		alpha, b1, b2, epsilon := any(alpha).(float64), any(b1).(float64), any(b2).(float64), any(epsilon).(float64)
		for i := 0; i < n; i += piece {
			adamF64(&dst[i], &m[i], &s[i], &g[i], alpha, b1, b2, epsilon, min(piece, n-i))
		}
		return n
	}
	return 0
}
