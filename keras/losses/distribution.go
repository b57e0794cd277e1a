package losses

import "github.com/cairnml/cairn/ops"

// KLDivergence is the Kullback-Leibler divergence of distributions over classes, the last
// dimension: the sum of truth*log(truth/predicted), where both are limited to 1e-7 to 1.
type KLDivergence struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "kl_divergence".
	Name string
	_    struct{} `keras:"fn,const=kl_divergence"` // tf_keras's configs of losses name their functions
}

// Call returns the losses of the examples.
func (l KLDivergence) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	t, p = ops.Clip(s, t, epsilon, 1), ops.Clip(s, p, epsilon, 1)
	return ops.Sum(s, ops.Mul(s, t, ops.Log(s, ops.Div(s, t, p))), -1)
}

// Loss returns the reduced loss.
func (l KLDivergence) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// Poisson is the mean of predicted-truth*log(predicted+1e-7) along the last axis.
type Poisson struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "poisson".
	Name string
	_    struct{} `keras:"fn,const=poisson"`
}

// Call returns the losses of the examples.
func (l Poisson) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	return ops.Mean(s, ops.Sub(s, p, ops.Mul(s, t, ops.Log(s, ops.Add(s, p, epsilon)))), -1)
}

// Loss returns the reduced loss.
func (l Poisson) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}
