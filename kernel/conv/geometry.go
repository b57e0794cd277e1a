package conv

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/tensor"
)

// The geometry of windows, for convolutions and pooling.

// geometry describes how a window moves over the images of one call: sizes by
// depth, height and width.
type geometry struct {
	channelsFirst     bool
	rank              int
	n                 int // images
	c, o              int // channels of the image and of the output
	in, out           [3]int
	size, stride      [3]int
	dilation, before  [3]int
	groups, depthwise int // groups of channels; outputs per channel, 0 if the filter isn't a depthwise one

	call *engine.Call // nil outside of calls

	ending gemm.Epilogue[float32] // memory for the epilogue of the call
	dims   [5]int                 // and for the shape of its output
}

var geometries = sync.Pool{New: func() any { return new(geometry) }}

// newGeometry returns an empty geometry for one call. The kernel calls free at the
// end of the call.
func newGeometry() *geometry { return geometries.Get().(*geometry) }

// look adds more to the number of taps since the last check. After longWindow of them
// it checks the call's context, and begins to count anew.
func (g *geometry) look(taps *int, more int) {
	if *taps += more; *taps > longWindow {
		*taps = 0
		if g.call != nil {
			g.call.Check()
		}
	}
}

func (g *geometry) free() {
	*g = geometry{}
	geometries.Put(g)
}

// image returns the shape of n images of c channels in the op's layout, in the
// memory of dims if that is large enough.
func (g *geometry) image(dims tensor.Shape, s [3]int, c int) tensor.Shape {
	switch {
	case g.rank == 5 && g.channelsFirst:
		return append(dims, g.n, c, s[0], s[1], s[2])
	case g.rank == 5:
		return append(dims, g.n, s[0], s[1], s[2], c)
	case g.channelsFirst:
		return append(dims, g.n, c, s[1], s[2])
	}
	return append(dims, g.n, s[1], s[2], c)
}

// windows sets the moves of windows of a size over images of shape x.
func (g *geometry) windows(w *shape.Windows, x tensor.Shape, size [3]int) error {
	g.rank = len(x)
	l := w.Layout
	g.channelsFirst = l.Channels == 1
	if l.Batch != 0 || l.Channels != 1 && l.Channels != g.rank-1 {
		return fmt.Errorf("images must be stored one after the other, with the channels first or last")
	}
	if w.Strides[l.Batch] != 1 || w.Dilations[l.Batch] != 1 {
		return fmt.Errorf("strides and dilations along the batch have to be 1")
	}
	g.n, g.c = x[l.Batch], x[l.Channels]
	g.in, g.out, g.stride, g.dilation, g.before = [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{}
	g.size = size
	first := 3 - len(l.Spatial)
	for i, d := range l.Spatial {
		places, err := w.Places(d, x[d], size[first+i])
		if err != nil {
			return fmt.Errorf("dimension %d: %w", d, err)
		}
		g.in[first+i], g.out[first+i] = x[d], places
		g.stride[first+i], g.dilation[first+i] = w.Strides[d], w.Dilations[d]
		g.before[first+i] = w.Before(d, x[d], size[first+i], places)
	}
	return nil
}

// filtered returns the geometry of a convolution of images of shape x with a filter
// of shape f.
func (g *geometry) filtered(w *shape.Windows, x, f tensor.Shape, depthwise bool) error {
	rank := len(x)
	if len(f) != rank {
		return fmt.Errorf("a filter of shape %v for images of shape %v", f, x)
	}
	size := [3]int{1, 1, 1}
	copy(size[5-rank:], f[:rank-2])
	for _, n := range size {
		if n < 1 {
			return fmt.Errorf("the filter %v is empty", f)
		}
	}
	if err := g.windows(w, x, size); err != nil {
		return err
	}
	if w.Strides[w.Layout.Channels] != 1 || w.Dilations[w.Layout.Channels] != 1 {
		return fmt.Errorf("strides and dilations along the channels have to be 1")
	}
	taken, made := f[rank-2], f[rank-1]
	g.groups, g.o = 1, made
	if depthwise {
		if taken != g.c {
			return fmt.Errorf("the image has %d channels, the filter takes %d", g.c, taken)
		}
		var err error
		g.depthwise = made
		g.o, err = shape.MulDims(taken, made)
		return err
	}
	switch {
	case taken == 0 && g.c == 0:
	case taken == 0 || g.c%taken != 0:
		return fmt.Errorf("the image has %d channels, the filter takes %d", g.c, taken)
	case g.c > 0:
		g.groups = g.c / taken
	}
	if made%g.groups != 0 {
		return fmt.Errorf("%d outputs can't be divided among %d groups", made, g.groups)
	}
	return nil
}

func (g *geometry) taps() int { return g.size[0] * g.size[1] * g.size[2] }

// places returns the number of positions of the window.
func (g *geometry) places() int { return g.n * g.out[0] * g.out[1] * g.out[2] }

// span returns the range of the taps of a window at place i of dimension d that
// are inside the image, from the first up to the last.
func (g *geometry) span(d, i int) (first, last int) {
	at := i*g.stride[d] - g.before[d]
	if at < 0 {
		first = (-at + g.dilation[d] - 1) / g.dilation[d]
	}
	last = g.size[d]
	if room := g.in[d] - at; room <= 0 {
		last = 0
	} else {
		last = min(last, (room+g.dilation[d]-1)/g.dilation[d])
	}
	return first, max(first, last)
}

// place returns the coordinate of the first tap for place i of dimension d.
func (g *geometry) place(d, i int) int { return i*g.stride[d] - g.before[d] }
