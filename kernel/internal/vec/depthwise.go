package vec

import "github.com/cairnml/cairn/kernel/internal/simd"

// Depthwise computes a row of a depthwise convolution, see [simd.Taps].
func Depthwise[T Float](dst, src, w []T, t *simd.Taps) {
	t.Check(len(dst), len(src), len(w))
	first := simd.Depthwise(dst, src, w, t)
	n := t.Channels
	if first == n {
		return
	}
	for p := range t.Places {
		sum := dst[p*n+first : (p+1)*n]
		clear(sum)
		for r := range t.Rows {
			for k := range t.Columns {
				x := src[p*t.PlaceStep+r*t.RowStep+k*t.ColumnStep+first:][:len(sum)]
				tap := w[r*t.WeightStep+k*n+first:][:len(sum)]
				for c, v := range x {
					sum[c] += T(tap[c] * v)
				}
			}
		}
	}
}

// MaxInto sets each element of dst to that of x where that is larger.
func MaxInto[T Real](dst, x []T) {
	x = x[:len(dst)]
	n := simd.Max(dst, x)
	for i, v := range x[n:] {
		if v > dst[n+i] {
			dst[n+i] = v
		}
	}
}
