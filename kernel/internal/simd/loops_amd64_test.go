//go:build !noasm

package simd

import "testing"

func TestWithoutAVX2NothingIsDone(t *testing.T) {
	defer func(old bool) { enabled = old }(enabled)
	enabled = false
	a := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	if n := Add(a, a, a); n != 0 || a[0] != 1 {
		t.Errorf("did %d elements", n)
	}
}

// TestLoopsWithoutAVX512 holds the loops of processors that have AVX2 only.
func TestLoopsWithoutAVX512(t *testing.T) {
	defer func(old bool) { wide = old }(wide)
	wide = false
	t.Run("float32", testLoops[float32])
	t.Run("float64", testLoops[float64])
}
