package layers

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// The hash must stay TensorFlow's, with its key and types: models are trained with its bins.
// Programs use the layer, and classes.go lists it for package keras/models.

// HashedCrossing hashes each combination of its inputs' values to a bin. Its inputs are two
// or more features of strings or integers with the same shape: [], [batch] or [batch, 1].
type HashedCrossing struct {
	base.Layer
	// NumBins is the number of bins. Default: 0, which tf_keras accepts too: with OutputInt
	// the bins are then whole hashes of 63 bits.
	NumBins int
	// OutputMode is OutputInt or OutputOneHot. Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
}

// CompleteConfig sets the type of the outputs.
func (h *HashedCrossing) CompleteConfig() { h.DType = categoryType(h.DType, h.OutputMode) }

// Call returns the bins of x, a list of features.
func (h *HashedCrossing) Call(s *ops.Scope, x ops.Input) *ops.Value { return h.Run(s, h, x, nil) }

// ComputeAll returns the bins of the features.
func (h *HashedCrossing) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	const layer = "HashedCrossing"
	rank, err := h.check(c)
	if err != nil {
		return []*ops.Value{s.Fail(layer, err)}
	}
	internal := tensor.String // SparseCross hashes as int64 if an input is an integer
	in, types := make([]ops.Input, len(c.Inputs)), make([]tensor.DType, len(c.Inputs))
	for i, x := range c.Inputs {
		if rank < 2 {
			x = ops.Reshape(s, x, -1, 1)
		}
		if x.DType() != tensor.String {
			internal = tensor.Int64
			x = ops.Cast(s, x, tensor.Int64)
		}
		in[i], types[i] = x, x.DType()
	}
	const key = 0xDECAFCAFFE // TensorFlow's default
	crossed := s.EmitN(3, "SparseCross", graph.Attrs{
		graph.Int("N", 0), // no sparse inputs
		graph.Types("sparse_types"), graph.Types("dense_types", types...),
		graph.Bool("hashed_output", true), graph.Int("num_buckets", int64(h.NumBins)), graph.Int("hash_key", key),
		graph.Type("out_type", tensor.Int64), graph.Type("internal_type", internal),
	}, in...)
	indices, values, shape := crossed[0], crossed[1], crossed[2]
	bins := raw.SparseToDense(s, indices, shape, values, int64(0), nil)
	switch rank {
	case 0:
		bins = ops.Reshape(s, bins)
	case 1:
		bins = ops.Reshape(s, bins, -1)
	default:
		bins = ops.Reshape(s, bins, -1, 1)
	}
	e := &encoding{mode: h.OutputMode, depth: h.NumBins, dtype: h.DType.Compute(), sparse: h.Sparse}
	return []*ops.Value{e.encode(s, layer, bins)}
}

// check returns the rank of the features.
func (h *HashedCrossing) check(c *base.Invocation) (int, error) {
	err := c.CheckArgs()
	if err == nil {
		err = checkMode(h.OutputMode, h.Sparse && h.OutputMode != OutputInt, OutputInt, OutputOneHot)
	}
	if err == nil {
		err = checkNumbers(h.DType, h.OutputMode)
	}
	switch {
	case err != nil:
		return 0, err
	case h.NumBins < 0:
		return 0, fmt.Errorf("NumBins is %d, want 0 or more", h.NumBins)
	case len(c.Inputs) < 2:
		return 0, fmt.Errorf("got %d inputs, want 2 or more", len(c.Inputs))
	}
	first := c.Inputs[0].Fact().Shape
	rank := first.Rank()
	if rank < 0 || rank > 2 || rank == 2 && first.Dim(1) != 1 {
		return 0, fmt.Errorf("input 0 has the shape %v, want [], [batch] or [batch, 1]", first)
	}
	for i, x := range c.Inputs {
		if shape := x.Fact().Shape; shape.String() != first.String() {
			return 0, fmt.Errorf("input %d has the shape %v, input 0 has %v; want equal ones", i, shape, first)
		}
		if d := x.DType(); d != tensor.String && !d.IsInteger() {
			return 0, fmt.Errorf("input %d is of %v, want strings or integers", i, d)
		}
	}
	return rank, nil
}
