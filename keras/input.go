package keras

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Symbolic returns a scope on which layers are connected instead of computed: see
// [NewModel]. Layers without a name get one, numbered in the order of their first calls:
// dense, dense_1.
func Symbolic(ctx context.Context) *ops.Scope { return base.NewGraph(ctx).Scope() }

// InputOptions are the options of [Input].
type InputOptions struct {
	// Name is the input's name. Default: input_1, input_2, ….
	Name string
	// BatchSize is the number of examples of each call. Default: any.
	BatchSize int
	// DType is the type of the elements. Default: tensor.Float32.
	DType tensor.DType
	// Sparse makes an input of sparse tensors: see [base.Sparse].
	Sparse bool
	// Ragged makes an input of ragged tensors: see [base.Ragged]. The shape needs a size of -1;
	// all dimensions up to the last one of -1 are ragged.
	Ragged bool
}

// Input returns a symbolic tensor, an input of a model. shape is that of one example; -1
// is a size that differs from call to call. s is a scope that [Symbolic] made, else the
// result is an error of s.
func Input(s *ops.Scope, shape tensor.Shape, opts *InputOptions) *ops.Value {
	if opts == nil {
		opts = &InputOptions{}
	}
	layer := &layers.InputLayer{}
	layer.Name, layer.Sparse, layer.Ragged = opts.Name, opts.Sparse, opts.Ragged
	layer.BatchInputShape = base.Shape{-1}
	if opts.BatchSize > 0 {
		layer.BatchInputShape[0] = opts.BatchSize
	}
	layer.BatchInputShape = append(layer.BatchInputShape, shape...)
	if opts.DType != tensor.Invalid {
		layer.DType = base.Policy(opts.DType.String())
	}
	return inputOf(s, layer)
}

// inputOf returns the symbolic tensor of an input layer. Input calls it; the reader of configs for
// each InputLayer; and NewModel for an input that is another layer's output.
func inputOf(s *ops.Scope, layer *layers.InputLayer) *ops.Value {
	fail := func(err error) *ops.Value { return s.Fail("Input", err) }
	g := base.RecordingGraph(s)
	if g == nil {
		return fail(fmt.Errorf("the scope computes; connect layers on one that keras.Symbolic returns"))
	}
	if s.Err() != nil {
		return fail(s.Err())
	}
	if layer.Sparse && layer.Ragged {
		return fail(fmt.Errorf("the input %q is both sparse and ragged", layer.Name))
	}
	if layer.DType == "" {
		layer.DType = "float32"
	}
	d, err := tensor.ParseDType(string(layer.DType))
	if err != nil {
		return fail(err)
	}
	fact := graph.Fact{DType: d}
	if layer.BatchInputShape != nil {
		fact.Shape = graph.ShapeOf(layer.BatchInputShape...)
	}
	var v *ops.Value
	if form := layer.Form(); form != "" {
		v, err = g.FormInput(layer, form, d, tensor.Shape(layer.BatchInputShape))
	} else {
		v, err = g.Input(layer, fact)
	}
	if err != nil {
		return fail(err)
	}
	return v
}
