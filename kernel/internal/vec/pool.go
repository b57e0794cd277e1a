package vec

import "github.com/cairnml/cairn/kernel/internal/simd"

// MaxPool sets dst to the largest element of each window of a row, see
// [simd.Pool]: to the first one of several. If the first tap is NaN, the result
// is NaN.
func MaxPool[T Real](dst, x []T, p *simd.Pool) {
	p.Check(len(x), len(dst))
	first := simd.MaxPool(dst, x, p)
	if first == p.Channels {
		return
	}
	for i := range p.Places {
		out := dst[i*p.Channels+first : (i+1)*p.Channels]
		for k, t := range p.Taps {
			src := x[i*p.Step+t+first:][:len(out)]
			if k == 0 {
				copy(out, src)
				continue
			}
			for c, v := range src {
				if v > out[c] {
					out[c] = v
				}
			}
		}
	}
}

// MaxPoolGrad adds each element of dy to the element of out at the position of
// the window's largest in x, as [MaxPool] finds it. out has the layout of x.
func MaxPoolGrad[T Real](out, x, dy []T, p *simd.Pool) {
	p.Check(min(len(x), len(out)), len(dy))
	first := simd.MaxPoolGrad(out, x, dy, p)
	for i := range p.Places {
		for c := first; c < p.Channels; c++ {
			at := i*p.Step + c
			best := at + p.Taps[0]
			for _, t := range p.Taps[1:] {
				if t += at; x[t] > x[best] {
					best = t
				}
			}
			out[best] += dy[i*p.Channels+c]
		}
	}
}
