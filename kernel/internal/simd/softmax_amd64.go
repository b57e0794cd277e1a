//go:build amd64 && !noasm

package simd

// The exponentials of a softmax, which vec.ExpSum calls.

// ExpSum computes dst = exp(a-m) of float32 and adds element i, not rounded to
// float32 yet, to sums[i%8].
func ExpSum[T any](dst, a []T, m T, sums *[8]float64) int {
	d, ok := any(dst).([]float32)
	if !ok {
		return 0
	}
	n := start(len(d), lanes32)
	s, x := any(a).([]float32)[:n], any(m).(float32)
	for i := 0; i < n; i += piece {
		if wide {
			expSumF32AVX512(&d[i], &s[i], x, sums, min(piece, n-i))
		} else {
			expSumF32AVX2(&d[i], &s[i], x, sums, min(piece, n-i))
		}
	}
	return n
}
