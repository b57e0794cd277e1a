package layers

import (
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// AdditiveAttention is additive attention, Bahdanau's: [Attention] whose scores are the
// sums of Scale·tanh(query + key).
type AdditiveAttention struct {
	base.Layer
	// Dropout is the part of the weights that are dropped while training. Default: 0.
	Dropout float64
	// NoScale leaves Scale out. Default: it is learned.
	NoScale bool `keras:"use_scale,not"`
	// Random draws the masks of dropout; see [Dropout]. Default: one that differs in every run.
	Random *ops.Random `cairn:"-" keras:"-"`

	// Scale [features] is nil until the layer is built.
	Scale *trackable.Variable `cairn:"-"`

	once sync.Once
}

// Weights lists the scale.
func (a *AdditiveAttention) Weights(in base.Shapes) ([]base.Weight, error) {
	if a.NoScale {
		return nil, nil
	}
	var value base.Shapes
	if len(in) > 1 {
		value = in[1:]
	}
	n, err := value.Last()
	return []base.Weight{{To: &a.Scale, Edge: "scale", Shape: tensor.Shape{n}}}, err
}

// Call returns the weighted means for the inputs xs, a []*ops.Value.
func (a *AdditiveAttention) Call(s *ops.Scope, xs ops.Input) *ops.Value { return a.Run(s, a, xs, nil) }

// ComputeAll returns the weighted means, and the weights if the argument
// "return_attention_scores" is true. With the argument "use_causal_mask" a query uses
// no value after its own time step.
func (a *AdditiveAttention) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return attend(s, "AdditiveAttention", c, a.scores, a.Dropout, func() *ops.Random { return generator(s, &a.once, &a.Random, nil) })
}

// scores returns the scores [batch, queries, keys].
func (a *AdditiveAttention) scores(s *ops.Scope, query, key *ops.Value) *ops.Value {
	sums := ops.Tanh(s, ops.Add(s, ops.ExpandDims(s, query, -2), ops.ExpandDims(s, key, -3)))
	if !a.NoScale {
		sums = ops.Mul(s, a.Read(s, a.Scale), sums)
	}
	return ops.Sum(s, sums, -1)
}

// ComputeMask returns the mask of the queries.
func (a *AdditiveAttention) ComputeMask(_ *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return c.Masks[:1]
}
