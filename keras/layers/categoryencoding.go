package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
)

// CategoryEncoding turns numbers of categories from 0 to NumTokens-1 into vectors. Dense,
// sparse and ragged inputs have at most 2 dimensions.
type CategoryEncoding struct {
	base.Layer
	// NumTokens is the number of categories. It is required.
	NumTokens int
	// OutputMode is OutputOneHot, OutputMultiHot or OutputCount. Default: OutputMultiHot.
	OutputMode string `keras:",default=multi_hot"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
}

// CompleteConfig replaces the older name of a mode.
func (c *CategoryEncoding) CompleteConfig() {
	if c.OutputMode == "binary" {
		c.OutputMode = OutputMultiHot
	}
}

// TakesSparse marks a layer that takes sparse inputs.
func (c *CategoryEncoding) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (c *CategoryEncoding) TakesRagged() {}

// Call returns the vectors of x.
func (c *CategoryEncoding) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

// ComputeAll returns the vectors of the input. The argument "count_weights" is a value of the
// input's form with the weight of each input in the mode OutputCount.
func (c *CategoryEncoding) ComputeAll(s *ops.Scope, i *base.Invocation) []*ops.Value {
	const layer = "CategoryEncoding"
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(layer, err)} }
	err := i.CheckArgs("count_weights")
	if err == nil {
		err = checkMode(c.OutputMode, c.Sparse, OutputCount, OutputOneHot, OutputMultiHot)
	}
	weights, _ := i.Args["count_weights"].(*ops.Value)
	switch {
	case err != nil:
	case len(i.Inputs) != 1:
		err = fmt.Errorf("got %d inputs, want 1", len(i.Inputs))
	case c.NumTokens < 1:
		err = fmt.Errorf("NumTokens is %d, want 1 or more", c.NumTokens)
	case i.Args["count_weights"] != nil && weights == nil:
		err = errors.New("the argument count_weights is no value")
	case weights != nil && c.OutputMode != OutputCount:
		err = fmt.Errorf("the argument count_weights has the OutputMode %s, want count", c.OutputMode)
	}
	if err != nil {
		return fail(err)
	}
	d := c.DType.Compute()
	if weights != nil {
		weights = ops.Cast(s, weights, d)
	}
	x := i.Inputs[0]
	all := ops.Reshape(s, x, -1)
	known := ops.And(s, ops.Less(s, ops.Max(s, all), ops.ConstOf(s, x.DType(), c.NumTokens)), ops.GreaterEqual(s, ops.Min(s, all), ops.ConstOf(s, x.DType(), 0)))
	raw.Assert(s, known, []ops.Input{fmt.Sprintf("Input values must be in the range 0 <= values < num_tokens with num_tokens=%d", c.NumTokens)}, nil)
	e := &encoding{mode: c.OutputMode, depth: c.NumTokens, dtype: d, sparse: c.Sparse, counts: weights}
	return []*ops.Value{e.encode(s, layer, x)}
}
