package losses

import "github.com/cairnml/cairn/ops"

// Hinge is the mean of max(1-truth*predicted, 0) along the last axis. The truth is -1 or
// 1; if all of it is 0 or 1, zeros count as -1.
type Hinge struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "hinge".
	Name string
	_    struct{} `keras:"fn,const=hinge"` // tf_keras's configs of losses name their functions
}

// Call returns the losses of the examples.
func (l Hinge) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return ops.Mean(s, margin(s, truth, predicted), -1)
}

// Loss returns the reduced loss.
func (l Hinge) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// SquaredHinge is the mean of max(1-truth*predicted, 0)² along the last axis, with the
// truth of [Hinge].
type SquaredHinge struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "squared_hinge".
	Name string
	_    struct{} `keras:"fn,const=squared_hinge"`
}

// Call returns the losses of the examples.
func (l SquaredHinge) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	return ops.Mean(s, ops.Square(s, margin(s, truth, predicted)), -1)
}

// Loss returns the reduced loss.
func (l SquaredHinge) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// CategoricalHinge is max(neg-pos+1, 0) for a truth of one-hot vectors along the last
// axis: pos is the prediction of the true class, neg the largest one of the others.
type CategoricalHinge struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "categorical_hinge".
	Name string
	_    struct{} `keras:"fn,const=categorical_hinge"`
}

// Call returns the losses of the examples.
func (l CategoricalHinge) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	pos := ops.Sum(s, ops.Mul(s, t, p), -1)
	neg := ops.Max(s, ops.Mul(s, ops.Sub(s, 1, t), p), -1)
	return ops.Maximum(s, ops.Add(s, ops.Sub(s, neg, pos), 1), 0)
}

// Loss returns the reduced loss.
func (l CategoricalHinge) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// margin returns max(1-truth*predicted, 0), after it has made -1 and 1 of a truth of zeros
// and ones: tf_keras's _maybe_convert_labels, which decides it for the whole batch.
func margin(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	binary := ops.All(s, ops.Or(s, ops.Equal(s, t, 0), ops.Equal(s, t, 1)))
	t = ops.Where(s, binary, ops.Sub(s, ops.Mul(s, 2, t), 1), t)
	return ops.Maximum(s, ops.Sub(s, 1, ops.Mul(s, t, p)), 0)
}
