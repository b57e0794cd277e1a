package layers

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// UpSampling1D repeats each step of lines, [batch, steps, channels].
type UpSampling1D struct {
	base.Layer
	// Size is how many times each step is repeated. Default: 2.
	Size int `keras:",default=2"`
}

// UpSampling2D makes images, [batch, height, width, channels], larger.
type UpSampling2D struct {
	base.Layer
	// Size are the factors of the height and the width, or one number for both. Default: 2.
	Size []int `keras:",default=[2]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// Interpolation is "nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5",
	// "gaussian" or "mitchellcubic". All but the first return float32. Default: nearest.
	Interpolation string `keras:",default=nearest"`
}

// UpSampling3D repeats the elements of volumes, [batch, depth, height, width, channels].
type UpSampling3D struct {
	base.Layer
	// Size is how many times depth, height and width are repeated, or one number for all.
	// Default: 2.
	Size []int `keras:",default=[2]"`
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// CompleteConfig completes the sizes to one for each dimension.
func (u *UpSampling2D) CompleteConfig() { u.Size = forEach(2, u.Size) }

// CompleteConfig completes the sizes to one for each dimension.
func (u *UpSampling3D) CompleteConfig() { u.Size = forEach(3, u.Size) }

// repeat repeats each element along dimension first+i of x, times[i] times. x has two
// dimensions besides those of times: the batch and the channels.
func repeat(s *ops.Scope, x *ops.Value, first int, times []int) *ops.Value {
	rank := len(times) + 2
	shape := x.Fact().Shape
	if shape.HasRank() && shape.Rank() != rank {
		return s.Fail("UpSampling", fmt.Errorf("the input has %d dimensions, want %d", shape.Rank(), rank))
	}
	for i, n := range times {
		if n < 1 || n > maxSize {
			return s.Fail("UpSampling", fmt.Errorf("the size is out of range (got %v, want numbers from 1 to %d)", times, maxSize))
		}
		if n == 1 {
			continue
		}
		at := first + i
		dims := ops.Shape(s, x)
		multiples := slices.Repeat([]int{1}, rank+1)
		multiples[at+1] = n
		size := ops.Mul(s, ops.StridedSlice(s, dims, ops.Span(at, at+1)), int32(n))
		parts := []*ops.Value{ops.StridedSlice(s, dims, ops.To(at)), size, ops.StridedSlice(s, dims, ops.From(at+1))}
		x = ops.ReshapeTo(s, ops.Tile(s, ops.ExpandDims(s, x, at+1), multiples...), ops.Concat(s, parts, 0))
	}
	return x
}

// Call returns x with each step repeated.
func (u *UpSampling1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return u.Run(s, u, x, nil) }

// Compute returns x with each step repeated.
func (u *UpSampling1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return repeat(s, x, 1, []int{u.Size})
}

// Call returns larger images.
func (u *UpSampling2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return u.Run(s, u, x, nil) }

// methods are the interpolations by their names.
var methods = map[string]ops.ResizeMethod{
	"nearest": ops.Nearest, "bilinear": ops.Bilinear, "bicubic": ops.Bicubic, "area": ops.Area,
	"lanczos3": ops.Lanczos3, "lanczos5": ops.Lanczos5, "gaussian": ops.Gaussian, "mitchellcubic": ops.MitchellCubic,
}

// Compute returns larger images.
func (u *UpSampling2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	w := &window{rank: 2, size: u.Size, strides: []int{1, 1}, dilation: []int{1, 1}, padding: "valid", format: u.DataFormat}
	err := w.check("valid")
	method, ok := methods[u.Interpolation]
	if !ok {
		err = fmt.Errorf("unknown interpolation %q", u.Interpolation)
	}
	if shape := x.Fact().Shape; err == nil && shape.HasRank() && shape.Rank() != 4 {
		err = fmt.Errorf("the input has %d dimensions, want 4", shape.Rank())
	}
	if err != nil {
		return s.Fail("UpSampling2D", err)
	}
	x = w.toLast(s, x)
	shape := x.Fact().Shape
	if height, width := shape.Dim(1), shape.Dim(2); height >= 0 && width >= 0 {
		x = ops.Resize(s, x, height*u.Size[0], width*u.Size[1], &ops.ResizeOptions{Method: method})
	} else {
		size := ops.Mul(s, ops.StridedSlice(s, ops.Shape(s, x), ops.Span(1, 3)), []int32{int32(u.Size[0]), int32(u.Size[1])})
		x = ops.ResizeTo(s, x, size, &ops.ResizeOptions{Method: method})
	}
	return w.fromLast(s, x)
}

// Call returns larger volumes.
func (u *UpSampling3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return u.Run(s, u, x, nil) }

// Compute returns larger volumes.
func (u *UpSampling3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if err := checkFormat(u.DataFormat); err != nil {
		return s.Fail("UpSampling3D", err)
	}
	if len(u.Size) != 3 {
		return s.Fail("UpSampling3D", fmt.Errorf("got %d sizes, want 3", len(u.Size)))
	}
	first := 1
	if u.DataFormat == ChannelsFirst {
		first = 2
	}
	return repeat(s, x, first, u.Size)
}
