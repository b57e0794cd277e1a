package layers

import (
	"errors"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
)

// The orders of an image's dimensions: values of the fields DataFormat of all layers.
const (
	ChannelsLast  = "channels_last"  // batch, height, width, channels
	ChannelsFirst = "channels_first" // batch, channels, height, width
)

// Flatten makes a matrix of its input: the first dimension, a batch's, is kept, all
// others become one. A vector gets a second dimension of 1, as in Keras.
type Flatten struct {
	base.Layer
	// DataFormat is ChannelsLast or ChannelsFirst; the latter moves the second dimension to
	// the end before. Default: ChannelsLast.
	DataFormat string `keras:",default=channels_last"`
}

// Call reshapes x.
func (f *Flatten) Call(s *ops.Scope, x ops.Input) *ops.Value { return f.Run(s, f, x, nil) }

// Compute reshapes x.
func (f *Flatten) Compute(s *ops.Scope, v *ops.Value) *ops.Value {
	shape := v.Fact().Shape
	if shape.Rank() == 0 {
		return s.Fail("Flatten", errors.New("the input is a scalar, want a batch's dimension"))
	}
	if r := shape.Rank(); f.DataFormat == ChannelsFirst && r > 2 {
		perm := []int{0}
		for i := 2; i < r; i++ {
			perm = append(perm, i)
		}
		v = ops.Transpose(s, v, append(perm, 1)...)
		shape = v.Fact().Shape
	}
	if shape.HasRank() {
		batch := shape.Dim(0)
		rest, err := shape.From(1, shape.Rank())
		if err != nil {
			return s.Fail("Flatten", err)
		}
		switch n, known := rest.NumElements(); {
		case known && batch >= 0:
			return ops.Reshape(s, v, batch, n)
		case known && n > 0:
			return ops.Reshape(s, v, -1, n)
		}
	}
	// A product replaces the sizes that aren't known: -1 couldn't be computed for an
	// empty batch.
	dims := ops.Shape(s, v)
	rest := ops.ProdKeep(s, ops.StridedSlice(s, dims, ops.From(1)), 0)
	return ops.ReshapeTo(s, v, ops.Concat(s, []*ops.Value{ops.StridedSlice(s, dims, ops.To(1)), rest}, 0))
}
