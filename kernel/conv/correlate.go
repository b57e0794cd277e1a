package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
)

// filterRows is how many channels of a tap of the filter's gradient are computed
// together.
const filterRows = 64

// correlate computes the filter's gradient from the image and the output's
// gradient: for each tap, the product of what the tap saw, transposed, with the
// output's gradient.
func correlate[T real](c *engine.Call, g *geometry, f, x, y []T) {
	fr := framed(c, x, g.channelsFirst, g.n, g.c, g.in, g.reach(), g.before, 1)
	defer fr.free()
	dy := framed(c, y, g.channelsFirst, g.n, g.o, g.out, g.out, [3]int{}, 1)
	defer dy.free()
	s, image := fr.strides()
	cg, og := g.c/g.groups, g.o/g.groups
	w := gemm.Windows{}
	w.Positions[0] = gemm.Axis{N: g.n, Src: image, Dst: g.out[0] * g.out[1] * g.out[2] * g.o}
	rest := g.out[0] * g.out[1] * g.out[2]
	for d := range 3 {
		rest /= g.out[d]
		w.Positions[d+1] = gemm.Axis{N: g.out[d], Src: g.stride[d] * s[d], Dst: rest * g.o}
	}
	merge(&w)
	p := w.Positions
	rows := p[0].N * p[1].N * p[2].N
	parts := (cg + filterRows - 1) / filterRows
	tasks := g.taps() * g.groups * parts
	one := func(i int, par gemm.Parallel) {
		part, group, tap := i%parts, i/parts%g.groups, i/parts/g.groups
		first := part * filterRows
		m := min(filterRows, cg-first)
		kd, kh, kw := tap/(g.size[1]*g.size[2]), tap/g.size[2]%g.size[1], tap%g.size[2]
		at := kd*g.dilation[0]*s[0] + kh*g.dilation[1]*s[1] + kw*g.dilation[2]*s[2] + group*cg + first
		dst := f[(tap*cg+first)*g.o+group*og:]
		for r := range rows {
			src, from := at+r/(p[1].N*p[2].N)*p[0].Src, group*og+r/(p[1].N*p[2].N)*p[0].Dst
			src, from = src+r/p[2].N%p[1].N*p[1].Src, from+r/p[2].N%p[1].N*p[1].Dst
			src, from = src+r%p[2].N*p[2].Src, from+r%p[2].N*p[2].Dst
			multiply(dst, g.o, fr.data[src:], p[3].Src, dy.data[from:], p[3].Dst, m, og, p[3].N, r > 0, par)
		}
	}
	if tasks < 4 && rows == 1 {
		for i := range tasks {
			one(i, c.Workers())
		}
		return
	}
	c.Parallel(tasks, float64(rows)*gemm.Cost(4, min(cg, filterRows), og, p[3].N), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			one(i, nil)
		}
	})
}

// multiply computes dst = aᵀ·b, or dst += aᵀ·b.
func multiply[T real](dst []T, ldc int, a []T, lda int, b []T, ldb int, m, n, k int, add bool, par gemm.Parallel) {
	if k == 1 {
		lda, ldb = max(lda, m), max(ldb, n)
	}
	switch dst := any(dst).(type) {
	case []float32:
		gemm.F32(dst, ldc, any(a).([]float32), lda, true, any(b).([]float32), ldb, false, m, n, k, add, par)
	case []float64:
		gemm.F64(dst, ldc, any(a).([]float64), lda, true, any(b).([]float64), ldb, false, m, n, k, add, par)
	}
}
