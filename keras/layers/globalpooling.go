package layers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
)

// GlobalMaxPooling2D takes the largest element of each channel of images, [batch, height,
// width, channels]. The result is [batch, channels].
type GlobalMaxPooling2D struct {
	base.Layer
	// DataFormat is ChannelsLast or ChannelsFirst. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
	// KeepDims keeps the dimensions of space with size 1.
	KeepDims bool `keras:"keepdims"`
}

// GlobalMaxPooling1D is [GlobalMaxPooling2D] for lines, [batch, steps, channels].
type GlobalMaxPooling1D GlobalMaxPooling2D

// GlobalMaxPooling3D is [GlobalMaxPooling2D] for volumes, [batch, depth, height, width,
// channels].
type GlobalMaxPooling3D GlobalMaxPooling2D

// GlobalAveragePooling2D takes the mean of each channel of images.
type GlobalAveragePooling2D GlobalMaxPooling2D

// GlobalAveragePooling1D is [GlobalAveragePooling2D] for lines. Steps that the mask of its
// input ignores don't count.
type GlobalAveragePooling1D GlobalMaxPooling2D

// GlobalAveragePooling3D is [GlobalAveragePooling2D] for volumes.
type GlobalAveragePooling3D GlobalMaxPooling2D

// axes returns the dimensions of space of the input x.
func (g *GlobalMaxPooling2D) axes(x *ops.Value, rank int) ([]int, error) {
	if err := checkFormat(g.DataFormat); err != nil {
		return nil, err
	}
	shape := x.Fact().Shape
	if shape.HasRank() && shape.Rank() != rank+2 {
		return nil, fmt.Errorf("the input has %d dimensions, want %d", shape.Rank(), rank+2)
	}
	var axes []int
	for i := range rank {
		at := i + 1
		if g.DataFormat == ChannelsFirst {
			at++
		}
		if shape.Dim(at) == 0 {
			return nil, fmt.Errorf("the input has no elements along dimension %d", at)
		}
		axes = append(axes, at)
	}
	return axes, nil
}

// pool reduces the dimensions of space.
func (g *GlobalMaxPooling2D) pool(s *ops.Scope, x *ops.Value, rank int, largest bool) *ops.Value {
	axes, err := g.axes(x, rank)
	switch {
	case err != nil:
		return s.Fail("GlobalPooling", err)
	case largest && g.KeepDims:
		return ops.MaxKeep(s, x, axes...)
	case largest:
		return ops.Max(s, x, axes...)
	case g.KeepDims:
		return ops.MeanKeep(s, x, axes...)
	}
	return ops.Mean(s, x, axes...)
}

// TakesRagged marks a layer that takes ragged inputs.
func (g *GlobalMaxPooling1D) TakesRagged() {}

// TakesRagged marks a layer that takes ragged inputs.
func (g *GlobalAveragePooling1D) TakesRagged() {}

// rows returns the largest element, or the mean, of each channel of the rows of a ragged
// tensor, [rows, channels]. It is for the layers of one dimension.
func (g *GlobalMaxPooling2D) rows(s *ops.Scope, x base.Ragged, largest bool) *ops.Value {
	if rank := x.Values.Fact().Shape.Rank(); len(x.Splits) != 1 || rank != 2 || g.DataFormat == ChannelsFirst {
		return s.Fail("GlobalPooling1D", fmt.Errorf("the ragged input has %d ragged dimensions and elements of the shape %v, want one, of the steps, and channels last",
			len(x.Splits), x.Values.Fact().Shape))
	}
	n := ops.Sub(s, ops.Size(s, x.Splits[0]), int32(1))
	var y *ops.Value
	if rows := x.Rows(s); largest {
		y = raw.UnsortedSegmentMax(s, x.Values, rows, n)
	} else {
		y = ops.UnsortedSegmentSumOf(s, x.Values, rows, n)
		y = ops.Div(s, y, ops.ExpandDims(s, ops.Cast(s, x.Lengths(s), y.DType()), 1))
	}
	if g.KeepDims {
		y = ops.ExpandDims(s, y, 1)
	}
	return y
}

// Call returns the largest element of each channel of x.
func (g *GlobalMaxPooling1D) Call(s *ops.Scope, x ops.Input) *ops.Value { return g.Run(s, g, x, nil) }

// Compute returns the largest element of each channel of x.
func (g *GlobalMaxPooling1D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if t, ok := base.RaggedOf(x); ok {
		return (*GlobalMaxPooling2D)(g).rows(s, t, true)
	}
	return (*GlobalMaxPooling2D)(g).pool(s, x, 1, true)
}

// Call returns the largest element of each channel of x.
func (g *GlobalMaxPooling2D) Call(s *ops.Scope, x ops.Input) *ops.Value { return g.Run(s, g, x, nil) }

// Compute returns the largest element of each channel of x.
func (g *GlobalMaxPooling2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return g.pool(s, x, 2, true)
}

// Call returns the largest element of each channel of x.
func (g *GlobalMaxPooling3D) Call(s *ops.Scope, x ops.Input) *ops.Value { return g.Run(s, g, x, nil) }

// Compute returns the largest element of each channel of x.
func (g *GlobalMaxPooling3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*GlobalMaxPooling2D)(g).pool(s, x, 3, true)
}

// Call returns the mean of each channel of x.
func (g *GlobalAveragePooling2D) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return g.Run(s, g, x, nil)
}

// Compute returns the mean of each channel of x.
func (g *GlobalAveragePooling2D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*GlobalMaxPooling2D)(g).pool(s, x, 2, false)
}

// Call returns the mean of each channel of x.
func (g *GlobalAveragePooling3D) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return g.Run(s, g, x, nil)
}

// Compute returns the mean of each channel of x.
func (g *GlobalAveragePooling3D) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return (*GlobalMaxPooling2D)(g).pool(s, x, 3, false)
}

// Call returns the mean of each channel of x.
func (g *GlobalAveragePooling1D) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return g.Run(s, g, x, nil)
}

// ComputeAll returns the mean of each channel over the steps that the mask doesn't ignore.
func (g *GlobalAveragePooling1D) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	all := (*GlobalMaxPooling2D)(g)
	err := c.CheckArgs()
	if err == nil && len(c.Inputs) != 1 {
		err = fmt.Errorf("got %d inputs, want 1", len(c.Inputs))
	}
	if err != nil {
		return []*ops.Value{s.Fail("GlobalAveragePooling1D", err)}
	}
	x, mask := c.Inputs[0], c.Masks[0]
	if t, ok := base.RaggedOf(x); ok {
		return []*ops.Value{all.rows(s, t, false)}
	}
	if mask == nil {
		return []*ops.Value{all.pool(s, x, 1, false)}
	}
	axes, err := all.axes(x, 1)
	if err != nil {
		return []*ops.Value{s.Fail("GlobalAveragePooling1D", err)}
	}
	weights := ops.ExpandDims(s, ops.Cast(s, mask, x.DType()), 3-axes[0])
	x = ops.Mul(s, x, weights)
	if g.KeepDims {
		return []*ops.Value{ops.Div(s, ops.SumKeep(s, x, axes...), ops.SumKeep(s, weights, axes...))}
	}
	return []*ops.Value{ops.Div(s, ops.Sum(s, x, axes...), ops.Sum(s, weights, axes...))}
}
