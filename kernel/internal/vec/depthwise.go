package vec

import "github.com/cairnml/cairn/kernel/internal/simd"

// Depthwise computes a row of a depthwise convolution, see [simd.Taps]. A nil end
// is none.
func Depthwise[T Float](dst, src, w []T, t *simd.Taps, end *simd.Ending[T]) {
	t.Check(len(dst), len(src), len(w))
	if end != nil {
		_ = end.Bias[t.Channels-1]
	}
	first := simd.Depthwise(dst, src, w, t, end)
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
		if end != nil {
			finish(sum, end.Bias[first:], end)
		}
	}
}

// Finish applies the ending to places of as many channels as its bias has.
func Finish[T Float](dst []T, end *simd.Ending[T]) {
	for n := len(end.Bias); len(dst) >= n; dst = dst[n:] {
		finish(dst[:n], end.Bias, end)
	}
}

// finish applies the ending to a place.
func finish[T Float](dst, bias []T, end *simd.Ending[T]) {
	bias = bias[:len(dst)]
	for i, x := range dst {
		x += bias[i]
		if x < end.Low {
			x = end.Low
		}
		if x > end.High {
			x = end.High
		}
		dst[i] = x
	}
}
