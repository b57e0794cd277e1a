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
