package conv

import (
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// depthwise computes a convolution in which each channel has a filter of its
// own, or its gradients. Where a channel has several outputs, the image's
// channels are repeated: the filter then has one tap a channel again.
func depthwise[T real](c *engine.Call, dir direction, g *geometry, out, a, b []T) {
	switch dir {
	case forward:
		depthwiseForward(c, g, out, a, b)
	case backInput:
		depthwiseInput(c, g, out, a, b)
	default:
		depthwiseFilter(c, g, out, a, b)
	}
}

func depthwiseForward[T real](c *engine.Call, g *geometry, y, x, f []T) {
	fr := framed(c, x, g.channelsFirst, g.n, g.c, g.in, g.reach(), g.before, g.depthwise)
	defer fr.free()
	out, done := last(c, y, g.channelsFirst, g.n, g.out, g.o)
	defer done()
	s, image := fr.strides()
	rows := g.n * g.out[1]
	taps := simd.Taps{Rows: g.size[1], Columns: g.size[2], RowStep: g.dilation[1] * s[1], ColumnStep: g.dilation[2] * s[2],
		Places: g.out[2], PlaceStep: g.stride[2] * s[2], Channels: g.o}
	c.Parallel(rows, float64(g.out[2]*g.o*g.taps())*0.1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			from := r/g.out[1]*image + r%g.out[1]*g.stride[1]*s[1]
			vec.Depthwise(out[r*g.out[2]*g.o:(r+1)*g.out[2]*g.o], fr.data[from:], f, &taps)
		}
	})
}

// depthwiseInput computes the image's gradient, an image at a time.
func depthwiseInput[T real](c *engine.Call, g *geometry, x, f, y []T) {
	one := *g
	one.n = 1
	nx, ny := len(x)/g.n, len(y)/g.n
	c.Parallel(g.n, float64(ny*g.taps()), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			plain(backInput, &one, x[i*nx:(i+1)*nx], f, y[i*ny:(i+1)*ny])
		}
	})
}

// depthwiseFilter computes the filter's gradient.
func depthwiseFilter[T real](c *engine.Call, g *geometry, f, x, y []T) {
	plain(backFilter, g, f, x, y)
}
