package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
)

// Sums of the ops that compute the image's gradient, such as Conv2DBackpropInput. conv.go calls
// them; fold.go has the way for many images.

// maxPhases is the largest product of strides for which an image's gradient is
// computed phase by phase. It is Cairn's. For larger ones [plain] computes it, and
// the last bits may differ.
const maxPhases = 64

// phase are the elements of an image, stride apart, that meet the same taps of
// the windows: their gradient is a convolution of the output's gradient with
// these taps. Element i of dimension d has the phase (i+before) mod stride.
type phase struct {
	at     [3]int    // the phase, by dimension
	series [3]series // the taps, from the last to the first
}

// series is a row of numbers: n of them, from first on, step apart.
type series struct{ first, step, n int }

// phases returns all phases, the width's moving fastest.
func (g *geometry) phases() []phase {
	var each [3][]series
	for d := range each {
		each[d] = make([]series, g.stride[d])
		for p := range each[d] {
			var s series
			for k := g.size[d] - 1; k >= 0; k-- {
				if (k*g.dilation[d]-p)%g.stride[d] != 0 {
					continue // this tap meets another phase
				}
				if s.n == 0 {
					s.first = k
				} else if s.n == 1 {
					s.step = k - s.first
				}
				s.n++
			}
			each[d][p] = s
		}
	}
	var all []phase
	for a, sa := range each[0] {
		for b, sb := range each[1] {
			for c, sc := range each[2] {
				all = append(all, phase{[3]int{a, b, c}, [3]series{sa, sb, sc}})
			}
		}
	}
	return all
}

// taps returns the number of taps of a phase.
func (p *phase) taps() int { return p.series[0].n * p.series[1].n * p.series[2].n }

// gather writes the filter's part of this phase and group: a row of the group's
// image channels for each tap and each of the group's outputs.
func gather[T real](p *phase, b, f []T, g *geometry, group int) {
	cg, og := g.c/g.groups, g.o/g.groups
	s := p.series
	for i := range p.taps() {
		kd := s[0].first + i/(s[2].n*s[1].n)*s[0].step
		kh := s[1].first + i/s[2].n%s[1].n*s[1].step
		kw := s[2].first + i%s[2].n*s[2].step
		tap := f[((kd*g.size[1]+kh)*g.size[2]+kw)*cg*g.o:]
		rows := b[i*og*cg : (i+1)*og*cg]
		for c := range cg {
			for o, v := range tap[c*g.o+group*og:][:og] {
				rows[o*cg+c] = v
			}
		}
	}
}

// extent returns the range of the places of dimension d on which gradients depend:
// lo and hi are in it. It may reach beyond the output at both ends.
func (g *geometry) extent(d int) (lo, hi int) {
	lo = floorDiv(g.before[d]-(g.size[d]-1)*g.dilation[d], g.stride[d])
	return min(lo, 0), max(g.out[d]-1, (g.in[d]-1+g.before[d])/g.stride[d])
}

// floorDiv divides and rounds down.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// spread computes the image's gradient from the filter and the output's
// gradient.
func spread[T real](c *engine.Call, g *geometry, x, f, y []T, packed []*gemm.Weights[T]) {
	var dims, border [3]int
	for d := range dims {
		lo, hi := g.extent(d)
		dims[d], border[d] = hi-lo+1, -lo
	}
	if !affordable(dims, g.n, g.o, len(x)+len(f)+len(y)) {
		plain(backInput, g, x, f, y)
		return
	}
	fr := framed(c, y, g.channelsFirst, g.n, g.o, g.out, dims, border, 1)
	defer fr.free()
	out, done := last(c, x, g.channelsFirst, g.n, g.in, g.c)
	defer done()
	phases := g.phases()
	for i := range phases {
		if phases[i].taps() == 0 {
			clear(out)
			break
		}
	}
	cg, og := g.c/g.groups, g.o/g.groups
	var b []T
	if packed == nil || g.groups > 1 {
		var free func()
		b, free = engine.Scratch[T](c, g.taps()*og*cg)
		defer free()
	}
	for i := range phases {
		p := &phases[i]
		w, ok := g.phaseWindows(&fr.dims, border, p)
		if !ok {
			continue
		}
		for group := range g.groups {
			w.Src, w.Dst = w.Src+og*min(group, 1), w.Dst+cg*min(group, 1)
			if packed != nil && g.groups == 1 {
				packed[i].Slide(out, fr.data, w, nil, c.Workers())
				continue
			}
			k := p.taps() * og
			gather(p, b, f, g, group)
			m := gemm.PackTemporary(b[:k*cg], cg, false, k, cg, c.Workers())
			m.Slide(out, fr.data, w, nil, c.Workers())
			m.Free()
		}
	}
}

// phaseWindows returns the windows over the framed gradient of the output whose
// products are the image's elements of a phase, or false if there are none.
func (g *geometry) phaseWindows(dims *[3]int, border [3]int, p *phase) (gemm.Windows, bool) {
	w := gemm.Windows{Run: g.o / g.groups}
	src, dst := g.o, g.c // distances of neighbours in frame and image
	for d := 2; d >= 0; d-- {
		s := p.series[d]
		first := (p.at[d] - g.before[d]) % g.stride[d]
		if first < 0 {
			first += g.stride[d]
		}
		if s.n == 0 || first >= g.in[d] {
			return w, false
		}
		n := (g.in[d]-1-first)/g.stride[d] + 1
		place := (first + g.before[d] - s.first*g.dilation[d]) / g.stride[d] // exact
		w.Src += (place + border[d]) * src
		w.Dst += first * dst
		w.Positions[d+1] = gemm.Axis{N: n, Src: src, Dst: g.stride[d] * dst}
		step := -s.step * g.dilation[d] / g.stride[d]
		w.Taps[d] = gemm.Axis{N: s.n, Src: step * src}
		if d == 2 && g.groups == 1 && (step == 1 || s.n == 1) {
			w.Run *= s.n
			w.Taps[2].N = 1
		}
		src *= dims[d]
		dst *= g.in[d]
	}
	w.Positions[0] = gemm.Axis{N: g.n, Src: src, Dst: dst}
	merge(&w)
	return w, true
}
