package layers

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The scores of [Attention].
const (
	ScoreDot    = "dot"    // the products of queries and keys
	ScoreConcat = "concat" // the sum of tanh(query + key)
)

// Attention is dot-product attention, Luong's: for each query it returns the mean of the
// values, weighted by the softmax of the scores of the query with the keys. Its inputs are
// [query, value] or [query, value, key], of the shape [batch, time, features]. The mask of
// the values ignores values; the mask of the queries sets outputs to 0 and is passed on.
type Attention struct {
	base.Layer
	// Dropout is the part of the weights that are dropped while training. Default: 0.
	Dropout float64
	// UseScale multiplies the scores by a learned number. Default: false.
	UseScale bool
	// ScoreMode is ScoreDot or ScoreConcat. Default: ScoreDot.
	ScoreMode string `keras:",default=dot"`
	// Random draws the masks of dropout; see [Dropout]. Default: one that differs in every run.
	Random *ops.Random `cairn:"-" keras:"-"`

	// Scale and ConcatScoreWeight are scalars, nil until the layer is built and unless
	// they are used.
	Scale, ConcatScoreWeight *trackable.Variable `cairn:"-"`

	once sync.Once
}

// Weights lists the scalars.
func (a *Attention) Weights(base.Shapes) ([]base.Weight, error) {
	var list []base.Weight
	if a.UseScale {
		list = append(list, base.Weight{To: &a.Scale, Edge: "scale", Init: initializers.Ones{}})
	}
	switch a.ScoreMode {
	case ScoreDot:
	case ScoreConcat:
		list = append(list, base.Weight{To: &a.ConcatScoreWeight, Edge: "concat_score_weight", Init: initializers.Ones{}})
	default:
		return nil, fmt.Errorf("the score mode is %q, want %q or %q", a.ScoreMode, ScoreDot, ScoreConcat)
	}
	return list, nil
}

// Call returns the weighted means for the inputs xs, a []*ops.Value.
func (a *Attention) Call(s *ops.Scope, xs ops.Input) *ops.Value { return a.Run(s, a, xs, nil) }

// ComputeAll returns the weighted means, and the weights if the argument
// "return_attention_scores" is true. With the argument "use_causal_mask" a query uses
// no value after its own time step.
func (a *Attention) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return attend(s, "Attention", c, a.scores, a.Dropout, func() *ops.Random { return generator(s, &a.once, &a.Random, nil) })
}

// scores returns the scores [batch, queries, keys].
func (a *Attention) scores(s *ops.Scope, query, key *ops.Value) *ops.Value {
	if a.ScoreMode == ScoreDot {
		scores := ops.MatMul(s, query, key, &ops.MatMulOptions{TransposeB: true})
		if a.UseScale {
			scores = ops.Mul(s, scores, a.Read(s, a.Scale))
		}
		return scores
	}
	sums := ops.Add(s, ops.ExpandDims(s, query, -2), ops.ExpandDims(s, key, -3))
	if a.UseScale {
		sums = ops.Mul(s, a.Read(s, a.Scale), sums)
	}
	return ops.Mul(s, a.Read(s, a.ConcatScoreWeight), ops.Sum(s, ops.Tanh(s, sums), -1))
}

// ComputeMask returns the mask of the queries.
func (a *Attention) ComputeMask(_ *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return c.Masks[:1]
}

// attend computes the outputs of a layer of attention from its scores, for Attention and
// AdditiveAttention: tf_keras's BaseDenseAttention. As there, 1e9 is subtracted from ignored scores, and
// in float16 its largest number, 65504.
func attend(s *ops.Scope, op string, c *base.Invocation, scores func(s *ops.Scope, query, key *ops.Value) *ops.Value,
	dropout float64, random func() *ops.Random) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail(op, err)} }
	withScores, err := flag(c, "return_attention_scores")
	if err != nil {
		return fail(err)
	}
	causal, err := flag(c, "use_causal_mask")
	if err != nil {
		return fail(err)
	}
	if err := c.CheckArgs("return_attention_scores", "use_causal_mask"); err != nil {
		return fail(err)
	}
	if n := len(c.Inputs); n < 2 || n > 3 {
		return fail(fmt.Errorf("got %d inputs, want query and value, or query, value and key", n))
	}
	query, value := c.Inputs[0], c.Inputs[1]
	weights := scores(s, query, c.Inputs[len(c.Inputs)-1])
	var used *ops.Value
	if m := c.Masks[1]; m != nil {
		used = ops.ExpandDims(s, m, -2)
	}
	if causal {
		used = both(s, used, causalMask(s, ops.Shape(s, weights)))
	}
	if used != nil {
		most := 1e9
		if weights.DType() == tensor.Float16 {
			most = 65504
		}
		weights = ops.Sub(s, weights, ops.Mul(s, ops.Cast(s, ops.Not(s, used), weights.DType()), most))
	}
	weights = ops.Softmax(s, weights)
	if dropout > 0 && s.Training() {
		weights = ops.Dropout(s, random(), weights, dropout)
	}
	out := ops.MatMul(s, weights, value)
	if m := c.Masks[0]; m != nil {
		out = ops.Mul(s, out, ops.Cast(s, ops.ExpandDims(s, m, -1), out.DType()))
	}
	if withScores {
		return []*ops.Value{out, weights}
	}
	return []*ops.Value{out}
}

// causalMask returns bools [queries, keys], true unless the key's time step is after the
// query's. Their numbers are the last two sizes of shape.
func causalMask(s *ops.Scope, shape *ops.Value) *ops.Value {
	steps := func(at int) *ops.Value {
		return ops.Range(s, int32(0), ops.StridedSlice(s, shape, ops.At(at)), int32(1))
	}
	return ops.GreaterEqual(s, ops.ExpandDims(s, steps(-2), 1), ops.ExpandDims(s, steps(-1), 0))
}

// both returns the elements that two masks use, of which x may be nil.
func both(s *ops.Scope, x, y *ops.Value) *ops.Value {
	if x == nil {
		return y
	}
	return ops.And(s, x, y)
}

// flag returns the bool of a call argument, false if the call hasn't one.
func flag(c *base.Invocation, name string) (bool, error) {
	v, ok := c.Args[name]
	if !ok || v == nil {
		return false, nil
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("the argument %q is a %T, want a bool", name, v)
	}
	return b, nil
}
