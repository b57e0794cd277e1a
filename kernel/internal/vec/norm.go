package vec

import (
	"math"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

// LayerNorm sets dst to how far the elements of x are from their mean, over the root of their
// variance and epsilon, times gamma, plus beta. It may be x. The op _LayerNorm uses it. All slices
// have one length.
func LayerNorm(dst, x, gamma, beta []float32, epsilon float32) {
	if !simd.LayerNorm(dst, x, gamma, beta, epsilon) {
		layerNorm(dst, x, gamma, beta, epsilon)
	}
}

// layerNorm does it step by step.
func layerNorm(dst, x, gamma, beta []float32, epsilon float32) {
	n := float32(len(x))
	m := moment(x, 0, false) / n
	scale := float32(1 / math.Sqrt(float64(moment(x, m, true)/n+epsilon)))
	i := simd.Normalize(dst, x, gamma, beta, m, scale)
	x, gamma, beta = x[:len(dst)], gamma[:len(dst)], beta[:len(dst)]
	for ; i < len(dst); i++ {
		dst[i] = float32((x[i]-m)*scale*gamma[i]) + beta[i]
	}
}

// moment returns the sum of x or, with squares, of the squares of how far its
// elements are from m: in sixteen interleaved sums.
func moment(x []float32, m float32, squares bool) float32 {
	var s [16]float32
	for i := simd.Moments(x, m, squares, &s); i < len(x); i++ {
		v := x[i]
		if squares {
			v -= m
			v = float32(v * v)
		}
		s[i%16] += v
	}
	for n := len(s) / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}
