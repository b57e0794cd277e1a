package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
)

// The sums of the ops that compute the filter's gradient, such as
// Conv2DBackpropFilter. conv.go calls them.

// correlate computes the filter's gradient from the image and the output's
// gradient: the sum over all positions of the window there times the output's
// gradient. f is the result, x the image and y the gradient of the output.
func correlate[T real](c *engine.Call, g *geometry, f, x, y []T) {
	fr := framed(c, x, g.channelsFirst, g.n, g.c, g.in, g.reach(), g.before, 1)
	defer fr.free()
	dy := framed(c, y, g.channelsFirst, g.n, g.o, g.out, g.out, [3]int{}, 1)
	defer dy.free()
	w := g.sliding(fr.strides())
	cg, og := g.c/g.groups, g.o/g.groups
	for i := range g.groups {
		w.Src = i * cg
		gemm.Correlate(f[i*og:], g.o, fr.data, w, dy.data[i*og:], g.o, og, c.Workers())
	}
}
