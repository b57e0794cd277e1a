package layers

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// MultiHeadAttention is the attention of "Attention is all you need": it projects queries,
// keys and values for each head, weighs the values by the softmax of the scaled products of
// queries and keys, and projects the results of all heads.
//
// The inputs are [query, value] or [query, value, key], or the query alone with the call
// arguments "value" and "key". Further arguments are "attention_mask", which broadcasts to
// [batch, queries, keys], "use_causal_mask", and "return_attention_scores" for a second output.
type MultiHeadAttention struct {
	base.Layer
	// NumHeads is the number of heads. It is required.
	NumHeads int
	// KeyDim is the size of a head's queries and keys. It is required.
	KeyDim int
	// ValueDim is the size of a head's values. Default: KeyDim.
	ValueDim int
	// Dropout is the part of the weights that are dropped while training. Default: 0.
	Dropout float64
	// NoBias leaves the projections' biases out. Default: there are some.
	NoBias bool `keras:"use_bias,not"`
	// OutputShape are the sizes of the output after the query's dimensions. Default: the
	// query's last size.
	OutputShape Lengths
	// AttentionAxes are the dimensions that attention goes over. Default: all but the
	// batch's and the features'.
	AttentionAxes []int
	// KernelInitializer makes the kernels' first values. Default: GlorotUniform.
	KernelInitializer initializers.Initializer `keras:",default=GlorotUniform"`
	// BiasInitializer makes the biases' first values. Default: Zeros.
	BiasInitializer initializers.Initializer `keras:",default=Zeros"`
	// KernelRegularizer and BiasRegularizer add losses of the weights. Default: none.
	KernelRegularizer, BiasRegularizer regularizers.Regularizer
	// ActivityRegularizer adds a loss of the outputs, and of each projection's. Default: none.
	ActivityRegularizer regularizers.Regularizer
	// KernelConstraint and BiasConstraint project the weights after a step. Default: none.
	KernelConstraint, BiasConstraint constraints.Constraint
	// QueryShape, KeyShape and ValueShape are the shapes for which the layer was built.
	QueryShape, KeyShape, ValueShape SavedShape
	// SoftmaxRobustMasking is RobustMasking of the layer's [Softmax].
	SoftmaxRobustMasking bool

	// Query, Key, Value and Output are the projections. The layer makes them.
	Query  *EinsumDense `keras:"-" cairn:"_query_dense"`
	Key    *EinsumDense `keras:"-" cairn:"_key_dense"`
	Value  *EinsumDense `keras:"-" cairn:"_value_dense"`
	Output *EinsumDense `keras:"-" cairn:"_output_dense"`
	// Softmax and Drop are applied to the scores. The layer makes them.
	Softmax *Softmax `keras:"-" cairn:"_softmax"`
	Drop    *Dropout `keras:"-" cairn:"_dropout_layer"`

	dot, combine string // the equations
}

// CompleteConfig sets ValueDim.
func (m *MultiHeadAttention) CompleteConfig() {
	if m.ValueDim == 0 {
		m.ValueDim = m.KeyDim
	}
}

// CompleteLayer makes the inner layers. The kernels' shapes don't depend on the number of
// the input's dimensions; BuildLayer sets the equations.
func (m *MultiHeadAttention) CompleteLayer() error {
	if m.NumHeads < 1 || m.KeyDim < 1 || m.ValueDim < 1 {
		return fmt.Errorf("there are %d heads, and sizes of %d and %d; want 1 or more", m.NumHeads, m.KeyDim, m.ValueDim)
	}
	dense := func(name string) *EinsumDense {
		d := &EinsumDense{KernelInitializer: m.KernelInitializer, BiasInitializer: m.BiasInitializer,
			KernelRegularizer: m.KernelRegularizer, BiasRegularizer: m.BiasRegularizer, ActivityRegularizer: m.ActivityRegularizer,
			KernelConstraint: m.KernelConstraint, BiasConstraint: m.BiasConstraint}
		d.Name, d.DType = name, m.DType
		return d
	}
	m.Query, m.Key, m.Value, m.Output = dense("query"), dense("key"), dense("value"), dense("attention_output")
	m.project(m.Query, 3, 1, m.NumHeads, m.KeyDim)
	m.project(m.Key, 3, 1, m.NumHeads, m.KeyDim)
	m.project(m.Value, 3, 1, m.NumHeads, m.ValueDim)
	m.project(m.Output, 3, 2, m.outputShape(-1)...)
	m.Softmax = &Softmax{RobustMasking: m.SoftmaxRobustMasking}
	m.Drop = &Dropout{Rate: m.Dropout}
	m.Softmax.DType, m.Drop.DType = m.DType, m.DType
	return nil
}

func (m *MultiHeadAttention) outputShape(last int) []int {
	if len(m.OutputShape) > 0 {
		return m.OutputShape
	}
	return []int{last}
}

// project sets the equation of a projection: of an input of the given rank it replaces the
// last dimensions, as many as bound, by new ones of the given sizes.
func (m *MultiHeadAttention) project(d *EinsumDense, rank, bound int, sizes ...int) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	free := rank - 1
	kept, summed, made := letters[:free], letters[free:free+bound], letters[free+bound:free+bound+len(sizes)]
	d.Equation = fmt.Sprintf("%s%s,%s%s->%s%s", kept, summed, summed, made, kept, made)
	d.OutputShape = nil
	for range free - 1 {
		d.OutputShape = append(d.OutputShape, -1)
	}
	d.OutputShape = append(d.OutputShape, sizes...)
	if !m.NoBias {
		d.BiasAxes = &made
	}
}

// BuildLayer builds the projections for inputs of the given shapes. If there is one shape, the
// others are those of call arguments, and ComputeAll builds the projections.
func (m *MultiHeadAttention) BuildLayer(s *ops.Scope, in base.Shapes) error {
	switch len(in) {
	case 1: // with the arguments of a call; ComputeAll builds the rest
		return nil
	case 2:
		return m.buildFor(s, in[0], in[1], in[1])
	case 3:
		return m.buildFor(s, in[0], in[1], in[2])
	}
	return fmt.Errorf("got %d inputs, want query, value and key", len(in))
}

// buildFor builds the projections for inputs of the given shapes.
func (m *MultiHeadAttention) buildFor(s *ops.Scope, query, value, key tensor.Shape) error {
	for _, shape := range []tensor.Shape{query, value, key} {
		if len(shape) < 3 || len(shape) > 20 { // for 20 dimensions, the equations have enough letters
			return fmt.Errorf("an input has the shape %v, want a batch's dimension, times and features", shape)
		}
	}
	m.project(m.Query, len(query), 1, m.NumHeads, m.KeyDim)
	m.project(m.Key, len(key), 1, m.NumHeads, m.KeyDim)
	m.project(m.Value, len(value), 1, m.NumHeads, m.ValueDim)
	out := m.outputShape(query[len(query)-1])
	m.project(m.Output, len(query), 2, out...)
	if m.AttentionAxes == nil {
		for axis := 1; axis < len(value)-1; axis++ {
			m.AttentionAxes = append(m.AttentionAxes, axis)
		}
	}
	if err := m.equations(len(value) + 1); err != nil {
		return err
	}
	heads := append(slices.Clone(query[:len(query)-1]), m.NumHeads, m.ValueDim)
	for _, p := range []struct {
		d  *EinsumDense
		in tensor.Shape
	}{{m.Query, query}, {m.Key, key}, {m.Value, value}, {m.Output, heads}} {
		if err := base.Build(s, p.d, p.in); err != nil {
			return err
		}
	}
	m.QueryShape, m.ValueShape, m.KeyShape = SavedShape(query), SavedShape(value), SavedShape(key)
	return nil
}

// equations sets the equations for projected inputs of a rank: [batch, times…, heads, size]. They sum
// the dimensions as tf_keras's _build_attention_equation does.
func (m *MultiHeadAttention) equations(rank int) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	target := letters[:rank]
	source := []byte(target)
	next := rank
	for axis := range rank - 1 {
		if slices.Contains(m.AttentionAxes, axis) {
			source[axis] = letters[next]
			next++
		}
	}
	var product []byte
	for axis := range rank - 1 {
		if !slices.Contains(m.AttentionAxes, axis) {
			product = append(product, target[axis])
		}
	}
	for _, axis := range m.AttentionAxes {
		if axis < 1 || axis > rank-3 {
			return fmt.Errorf("there is no attention axis %d in an input of %d dimensions", axis, rank-1)
		}
		product = append(product, target[axis])
	}
	for _, axis := range m.AttentionAxes {
		product = append(product, source[axis])
	}
	m.dot = fmt.Sprintf("%s,%s->%s", source, target, product)
	m.combine = fmt.Sprintf("%s,%s->%s", product, source, target)
	m.Softmax.Axis = nil
	for i := range m.AttentionAxes {
		m.Softmax.Axis = append(m.Softmax.Axis, i-len(m.AttentionAxes))
	}
	return nil
}

// ArgumentNames returns the names of the call's further arguments.
func (m *MultiHeadAttention) ArgumentNames() []string {
	return []string{"value", "key", "attention_mask", "return_attention_scores", "training", "use_causal_mask"}
}

// Call returns the attention of the inputs xs, a []*ops.Value.
func (m *MultiHeadAttention) Call(s *ops.Scope, xs ops.Input) *ops.Value { return m.Run(s, m, xs, nil) }

// FoldCall moves the value and the key from the inputs to the arguments, as tf_keras does.
func (m *MultiHeadAttention) FoldCall(inputs []ops.Input, args map[string]any) ([]ops.Input, map[string]any) {
	if len(inputs) < 2 || len(inputs) > 3 {
		return inputs, args
	}
	if args == nil {
		args = map[string]any{}
	}
	for i, name := range []string{"value", "key"}[:len(inputs)-1] {
		args[name] = inputs[i+1]
	}
	return inputs[:1], args
}

// ComputeAll returns the attention, and the weights if the argument
// "return_attention_scores" is true.
func (m *MultiHeadAttention) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("MultiHeadAttention", err)} }
	if err := c.CheckArgs("value", "key", "attention_mask", "return_attention_scores", "use_causal_mask"); err != nil {
		return fail(err)
	}
	withScores, err := flag(c, "return_attention_scores")
	if err != nil {
		return fail(err)
	}
	xs := slices.Clone(c.Inputs)
	masks := slices.Clone(c.Masks)
	for _, name := range []string{"value", "key"} {
		if v, ok := c.Args[name]; ok && v != nil {
			x := ops.Const(s, v)
			xs, masks = append(xs, x), append(masks, base.MaskOf(x))
		}
	}
	if len(xs) < 2 || len(xs) > 3 {
		return fail(fmt.Errorf("got %d inputs, want query, value and at most a key", len(xs)))
	}
	query, value, key := xs[0], xs[1], xs[len(xs)-1]
	if m.dot == "" {
		if err := m.buildFor(s, query.Shape(), value.Shape(), key.Shape()); err != nil {
			return fail(err)
		}
	}
	mask, err := m.mask(s, c, query, value, masks)
	if err != nil {
		return fail(err)
	}
	q := ops.Mul(s, m.Query.Call(s, query), 1/math.Sqrt(float64(m.KeyDim)))
	scores := ops.Einsum(s, m.dot, m.Key.Call(s, key), q)
	opts := &base.CallOptions{Masks: []*ops.Value{nil}}
	if mask != nil {
		for scores.Fact().Shape.Rank() > mask.Fact().Shape.Rank() && s.Err() == nil {
			mask = ops.ExpandDims(s, mask, -len(m.AttentionAxes)*2-1)
		}
		opts.Args = map[string]any{"mask": mask}
	}
	scores = m.Softmax.Run(s, m.Softmax, scores, opts)
	y := m.Output.Call(s, ops.Einsum(s, m.combine, m.Drop.Call(s, scores), m.Value.Call(s, value)))
	if withScores {
		return []*ops.Value{y, scores}
	}
	return []*ops.Value{y}
}

// mask returns the combination of the masks of the inputs, the causal one and
// the argument "attention_mask", nil if there is none.
func (m *MultiHeadAttention) mask(s *ops.Scope, c *base.Invocation, query, value *ops.Value, masks []*ops.Value) (*ops.Value, error) {
	causal, err := flag(c, "use_causal_mask")
	if err != nil {
		return nil, err
	}
	var used *ops.Value
	for i, mask := range masks {
		if mask != nil {
			axis := 1 // of values and keys: [batch, 1, keys]
			if i == 0 {
				axis = 2
			}
			used = both(s, used, ops.ExpandDims(s, ops.Cast(s, mask, tensor.Bool), axis))
		}
	}
	if causal {
		sizes := []ops.Input{ops.StridedSlice(s, ops.Shape(s, query), ops.Span(1, 2)), ops.StridedSlice(s, ops.Shape(s, value), ops.Span(1, 2))}
		used = both(s, used, ops.ExpandDims(s, causalMask(s, ops.Concat(s, sizes, 0)), 0))
	}
	given, ok := c.Args["attention_mask"]
	switch {
	case !ok || given == nil:
		return used, nil
	case used == nil:
		return ops.Const(s, given), nil
	}
	return ops.And(s, ops.Cast(s, given, tensor.Bool), used), nil
}

// ComputeMask returns the mask of the query, and for the weights the mask of the scores.
func (m *MultiHeadAttention) ComputeMask(_ *ops.Scope, c *base.Invocation, out []*ops.Value) []*ops.Value {
	masks := []*ops.Value{c.Masks[0]}
	for _, scores := range out[1:] {
		masks = append(masks, base.MaskOf(scores))
	}
	return masks
}

// SavedShape is a shape in a config, a list or a tf.TensorShape: -1 is a size that isn't
// known.
type SavedShape tensor.Shape

// MarshalConfig returns a list of sizes and nulls.
func (s SavedShape) MarshalConfig() (any, error) { return base.Shape(s).MarshalConfig() }

// UnmarshalConfig reads a list of sizes and nulls, or a tf.TensorShape with one.
func (s *SavedShape) UnmarshalConfig(v any) error {
	if o, ok := v.(map[string]any); ok && o["class_name"] == "TensorShape" && len(o) == 2 {
		v = o["items"]
	}
	return (*base.Shape)(s).UnmarshalConfig(v)
}
