package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// ZeroPadding1D puts zeros around lines, [batch, steps, channels].
type ZeroPadding1D struct {
	base.Layer
	// Padding is the number of zeros at the beginning and at the end.
	// Default: 1.
	Padding []int `keras:",default=[1, 1]"`
}

// ZeroPadding2D puts zeros around images, [batch, height, width, channels].
type ZeroPadding2D struct {
	base.Layer
	// Padding has the numbers of zeros before and after, for each dimension of
	// space. Default: 1.
	Padding [][2]int `keras:",default=[[1, 1], [1, 1]]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// ZeroPadding3D puts zeros around volumes, [batch, depth, height, width, channels].
type ZeroPadding3D struct {
	base.Layer
	// Padding has the numbers of zeros before and after, for each dimension of
	// space. Default: 1.
	Padding [][2]int `keras:",default=[[1, 1], [1, 1], [1, 1]]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// Call returns x with zeros around.
func (z *ZeroPadding1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return z.Run(s, z, x, nil) }

// Compute returns x with zeros around.
func (z *ZeroPadding1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return padded(s, x, 1, [][2]int{pair(z.Padding)}, ChannelsLast)
}

// Call returns x with zeros around.
func (z *ZeroPadding2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return z.Run(s, z, x, nil) }

// Compute returns x with zeros around.
func (z *ZeroPadding2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return padded(s, x, 2, z.Padding, z.DataFormat)
}

// Call returns x with zeros around.
func (z *ZeroPadding3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return z.Run(s, z, x, nil) }

// Compute returns x with zeros around.
func (z *ZeroPadding3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return padded(s, x, 3, z.Padding, z.DataFormat)
}

// pair returns a list as the numbers before and after; one that isn't of two numbers as
// numbers that [borders] refuses.
func pair(list []int) [2]int {
	if len(list) != 2 {
		return [2]int{-1, -1}
	}
	return [2]int(list)
}

// borders checks the numbers of elements at the borders of images of n dimensions of
// space, and returns a pair for each dimension of the input. The Cropping layers use it too.
func borders(x *ops.Value, n int, list [][2]int, format string) ([][2]int, error) {
	shape := x.Fact().Shape
	if shape.HasRank() && shape.Rank() != n+2 {
		return nil, fmt.Errorf("the input has %d dimensions, want %d", shape.Rank(), n+2)
	}
	if len(list) != n {
		return nil, fmt.Errorf("got %d pairs of numbers, want %d", len(list), n)
	}
	all := make([][2]int, n+2)
	for i, p := range list {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) > maxSize {
			return nil, fmt.Errorf("the numbers at the borders are out of range (got %v, want pairs from 0 to %d)", list, maxSize)
		}
		if format == ChannelsFirst {
			i++
		}
		all[i+1] = p
	}
	return all, checkFormat(format)
}

// padded returns images with zeros around.
func padded(s *ops.Scope, x *ops.Value, n int, list [][2]int, format string) *ops.Value {
	all, err := borders(x, n, list, format)
	if err != nil {
		return s.Fail("ZeroPadding", err)
	}
	return ops.Pad(s, x, all...)
}
