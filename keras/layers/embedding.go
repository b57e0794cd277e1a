package layers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Embedding replaces each integer of its input by a row of a matrix. The output has the
// dimensions of the input and one more, of OutputDim.
type Embedding struct {
	base.Layer
	// InputDim is the number of rows; the input is from 0 up to but not including it. It is
	// required.
	InputDim int
	// OutputDim is the size of a row. It is required.
	OutputDim int
	// EmbeddingsInitializer makes the matrix's first value. Default: RandomUniform.
	EmbeddingsInitializer initializers.Initializer `keras:",default=RandomUniform"`
	// EmbeddingsRegularizer adds a loss of the matrix. Default: none.
	EmbeddingsRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the outputs. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// EmbeddingsConstraint projects the matrix after a step. Default: none.
	EmbeddingsConstraint constraints.Constraint
	// MaskZero sets a mask on the output that ignores zeros of the input.
	MaskZero bool
	// InputLength are the sizes of the input without the batch's, -1 for one that isn't
	// known. Default: one that isn't known.
	InputLength Lengths

	// Embeddings [InputDim, OutputDim] is nil until the layer is built.
	Embeddings *trackable.Variable `cairn:"-"`
}

// CompleteConfig sets the input's shape, which tf_keras always stores for this layer.
func (e *Embedding) CompleteConfig() {
	if e.BatchInputShape != nil {
		return
	}
	e.BatchInputShape = base.Shape{-1, -1}
	if len(e.InputLength) > 0 {
		e.BatchInputShape = append(base.Shape{-1}, e.InputLength...)
	}
}

// EncodeConfig returns the config. tf_keras stores several lengths as a list within the
// input's shape.
func (e *Embedding) EncodeConfig(enc *config.Encoder) (config.Fields, error) {
	fields, err := enc.Fields(e)
	if len(e.InputLength) > 1 && slices.Equal(e.BatchInputShape, append(base.Shape{-1}, e.InputLength...)) {
		for i := range fields {
			if fields[i].Name == "batch_input_shape" {
				fields[i].Value = []any{nil, e.InputLength}
			}
		}
	}
	return fields, err
}

// DecodeConfig reads the config.
func (e *Embedding) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	if shape, ok := fields["batch_input_shape"].([]any); ok && len(shape) == 2 {
		if inner, ok := shape[1].([]any); ok {
			fields = maps.Clone(fields)
			fields["batch_input_shape"] = append([]any{shape[0]}, inner...)
		}
	}
	return d.Fields("Embedding", e, fields)
}

// Weights lists the matrix.
func (e *Embedding) Weights(base.Shapes) ([]base.Weight, error) {
	if e.InputDim < 1 || e.OutputDim < 1 {
		return nil, fmt.Errorf("the matrix has the shape %v, want sizes of 1 or more", tensor.Shape{e.InputDim, e.OutputDim})
	}
	return []base.Weight{{To: &e.Embeddings, Edge: "embeddings", Shape: tensor.Shape{e.InputDim, e.OutputDim},
		Init: e.EmbeddingsInitializer, Regularizer: e.EmbeddingsRegularizer, Constraint: e.EmbeddingsConstraint}}, nil
}

// IsEmbedding marks a layer that TensorBoard's projector shows.
func (e *Embedding) IsEmbedding() {}

// KeepsInputTypes marks a layer that casts no inputs.
func (e *Embedding) KeepsInputTypes() {}

// TakesSparse marks a layer that takes sparse inputs, which it makes dense.
func (e *Embedding) TakesSparse() {}

// MapsElements allows ragged inputs: each element is computed independently.
func (e *Embedding) MapsElements() (string, error) { return "elements", nil }

// Call returns the rows that x names.
func (e *Embedding) Call(s *ops.Scope, x ops.Input) *ops.Value { return e.Run(s, e, x, nil) }

// Compute returns the rows that x names. Numbers that are neither int32 nor int64 are
// converted to int32, as in tf_keras. Numbers out of range are the error of the op Gather.
func (e *Embedding) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	x = base.ToDense(s, x)
	if d := x.DType(); d != tensor.Int32 && d != tensor.Int64 {
		x = ops.Cast(s, x, tensor.Int32)
	}
	return ops.Cast(s, ops.Gather(s, e.Embeddings, x), e.DType.Compute())
}

// ComputeMask returns a mask that ignores zeros, if MaskZero is set.
func (e *Embedding) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	if !e.MaskZero {
		return nil
	}
	if base.FormOf(c.Inputs[0]) == "ragged" {
		return nil // layers that take ragged tensors need none
	}
	x := base.ToDense(s, c.Inputs[0])
	return []*ops.Value{ops.NotEqual(s, x, ops.ConstOf(s, x.DType(), 0))}
}

// Lengths are sizes of an input, -1 for one that isn't known. In a config a single one
// is a plain number.
type Lengths []int

// MarshalConfig returns a number for one size and a list for several.
func (l Lengths) MarshalConfig() (any, error) {
	if len(l) == 1 && l[0] >= 0 {
		return l[0], nil
	}
	return base.Shape(l).MarshalConfig()
}

// UnmarshalConfig reads a number or a list of numbers and nulls.
func (l *Lengths) UnmarshalConfig(v any) error {
	if _, ok := v.(json.Number); ok {
		v = []any{v}
	}
	return (*base.Shape)(l).UnmarshalConfig(v)
}
