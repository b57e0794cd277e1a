package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// Cropping1D removes the borders of lines, [batch, steps, channels].
type Cropping1D struct {
	base.Layer
	// Cropping is the number of elements at the beginning and at the end.
	// Default: 1.
	Cropping []int `keras:",default=[1, 1]"`
}

// Cropping2D removes the borders of images, [batch, height, width, channels].
type Cropping2D struct {
	base.Layer
	// Cropping has the numbers of elements before and after, for each dimension of
	// space. Default: 0.
	Cropping [][2]int `keras:",default=[[0, 0], [0, 0]]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// Cropping3D removes the borders of volumes, [batch, depth, height, width, channels].
type Cropping3D struct {
	base.Layer
	// Cropping has the numbers of elements before and after, for each dimension of
	// space. Default: 1.
	Cropping [][2]int `keras:",default=[[1, 1], [1, 1], [1, 1]]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// Call returns x without its borders.
func (c *Cropping1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns x without its borders.
func (c *Cropping1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return cropped(s, x, 1, [][2]int{pair(c.Cropping)}, ChannelsLast)
}

// Call returns x without its borders.
func (c *Cropping2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns x without its borders.
func (c *Cropping2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return cropped(s, x, 2, c.Cropping, c.DataFormat)
}

// Call returns x without its borders.
func (c *Cropping3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// Compute returns x without its borders.
func (c *Cropping3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return cropped(s, x, 3, c.Cropping, c.DataFormat)
}

// cropped returns images without their borders.
func cropped(s *ops.Scope, x *ops.Value, n int, list [][2]int, format string) *ops.Value {
	all, err := borders(x, n, list, format)
	if err != nil {
		return s.Fail("Cropping", err)
	}
	terms := make([]ops.Index, len(all))
	for i, p := range all {
		if size := x.Fact().Shape.Dim(i); size >= 0 && p != [2]int{} && p[0]+p[1] >= size {
			return s.Fail("Cropping", fmt.Errorf("nothing would be left of dimension %d (got %d elements, of which %v are removed)", i, size, p))
		}
		switch {
		case p == [2]int{}:
			terms[i] = ops.Whole()
		case p[1] == 0:
			terms[i] = ops.From(p[0])
		default:
			terms[i] = ops.Span(p[0], -p[1])
		}
	}
	return ops.StridedSlice(s, x, terms...)
}
