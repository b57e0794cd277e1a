//go:build amd64 && !noasm

package simd

// Depthwise computes a row of a depthwise convolution, see [Taps], for as many channels
// from the first on as it returns.
func Depthwise[T any](dst, src, w []T, t *Taps) int {
	switch dst := any(dst).(type) {
	case []float32:
		src, w := any(src).([]float32), any(w).([]float32)
		n := start(t.Channels, lanes32)
		for c := 0; c < n; {
			f, vecs := depthwiseF32_1, 1
			if n-c >= 4*lanes32 {
				f, vecs = depthwiseF32_4, 4
			}
			f(&dst[c], &src[c], &w[c], t.Rows, t.Columns, 4*t.RowStep, 4*t.ColumnStep, 4*t.Channels, t.Places, 4*t.PlaceStep, 4*t.Channels)
			c += vecs * lanes32
		}
		return n
	case []float64:
		src, w := any(src).([]float64), any(w).([]float64)
		n := start(t.Channels, lanes64)
		for c := 0; c < n; {
			f, vecs := depthwiseF64_1, 1
			if n-c >= 4*lanes64 {
				f, vecs = depthwiseF64_4, 4
			}
			f(&dst[c], &src[c], &w[c], t.Rows, t.Columns, 8*t.RowStep, 8*t.ColumnStep, 8*t.Channels, t.Places, 8*t.PlaceStep, 8*t.Channels)
			c += vecs * lanes64
		}
		return n
	}
	return 0
}
