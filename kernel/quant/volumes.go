package quant

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
)

// The kernel of _QuantizedMaxPool3D, whose volumes have the shape [batch, planes, rows, columns,
// channels] or the order in data_format.

// prepareVolumePool prepares the largest codes of windows over volumes; the range stays.
func prepareVolumePool(n *engine.Node) (func(*engine.Call) error, error) {
	windows, err := shape.WindowsOf(n.Attrs, 5)
	if err != nil {
		return nil, err
	}
	size, err := shape.Sizes(n.Attrs, 5)
	if err != nil {
		return nil, err
	}
	l := windows.Layout
	if size[l.Batch] != 1 || size[l.Channels] != 1 || windows.Strides[l.Batch] != 1 || windows.Strides[l.Channels] != 1 {
		return nil, fmt.Errorf("windows of %v, %v apart; they can't reach over volumes or channels", size, windows.Strides)
	}
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		in, err := byteCodes(c, 0)
		if err != nil {
			return err
		}
		s, err := spanAt(c, 1)
		if err != nil {
			return err
		}
		x := c.In(0).Shape()
		if len(x) != 5 {
			return fmt.Errorf("volumes of shape %v, where 5 dimensions are needed", x)
		}
		dims := x.Clone()
		var axes [3]axis
		for i, d := range l.Spatial {
			places, err := windows.Places(d, x[d], size[d])
			if err != nil {
				return err
			}
			axes[i] = axis{x[d], size[d], windows.Strides[d], windows.Before(d, x[d], size[d], places), places}
			dims[d] = places
		}
		out, err := c.Alloc(0, c.In(0).DType(), dims)
		if err != nil || out.Len() == 0 {
			return err
		}
		from, to, dst := shapes.Strides(x), shapes.Strides(dims), out.Bytes() // codes of 8 bits
		c.Parallel(len(dst), float64(axes[0].size*axes[1].size*axes[2].size), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				at := i / to[l.Batch] % dims[l.Batch] * from[l.Batch]
				at += i / to[l.Channels] % dims[l.Channels] * from[l.Channels]
				var first, last, begin [3]int
				for k, d := range l.Spatial {
					first[k], last[k], begin[k] = axes[k].span(i / to[d] % dims[d])
				}
				best := int32(in.lowest)
				for z := first[0]; z < last[0]; z++ {
					for y := first[1]; y < last[1]; y++ {
						for w := first[2]; w < last[2]; w++ {
							best = max(best, in.at(at+(begin[0]+z)*from[l.Spatial[0]]+(begin[1]+y)*from[l.Spatial[1]]+(begin[2]+w)*from[l.Spatial[2]]))
						}
					}
				}
				dst[i] = byte(best)
			}
		})
		return setSpan(c, 1, s)
	}, nil
}
