package losses

import (
	"math"

	"github.com/cairnml/cairn/keras/internal/samples"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// epsilon is the default of tf_keras's backend.epsilon and must stay. It keeps logarithms and
// quotients finite.
const epsilon = 1e-7

// MeanSquaredError is the mean of (predicted-truth)² along the last axis.
type MeanSquaredError struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "mean_squared_error".
	Name string
	_    struct{} `keras:"fn,const=mean_squared_error"` // tf_keras's configs of losses name their functions
}

// Call returns the losses of the examples.
func (l MeanSquaredError) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	return ops.Mean(s, ops.SquaredDifference(s, p, t), -1)
}

// Loss returns the reduced loss.
func (l MeanSquaredError) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// MeanAbsoluteError is the mean of |predicted-truth| along the last axis.
type MeanAbsoluteError struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "mean_absolute_error".
	Name string
	_    struct{} `keras:"fn,const=mean_absolute_error"`
}

// Call returns the losses of the examples.
func (l MeanAbsoluteError) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	return ops.Mean(s, ops.Abs(s, ops.Sub(s, p, t)), -1)
}

// Loss returns the reduced loss.
func (l MeanAbsoluteError) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// MeanAbsolutePercentageError is 100 times the mean of |truth-predicted|/|truth| along
// the last axis. A |truth| below 1e-7 counts as 1e-7.
type MeanAbsolutePercentageError struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "mean_absolute_percentage_error".
	Name string
	_    struct{} `keras:"fn,const=mean_absolute_percentage_error"`
}

// Call returns the losses of the examples.
func (l MeanAbsolutePercentageError) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	diff := ops.Abs(s, ops.Div(s, ops.Sub(s, t, p), ops.Maximum(s, ops.Abs(s, t), epsilon)))
	return ops.Mul(s, 100, ops.Mean(s, diff, -1))
}

// Loss returns the reduced loss.
func (l MeanAbsolutePercentageError) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// MeanSquaredLogarithmicError is the mean of (log(predicted+1)-log(truth+1))² along the
// last axis. Numbers below 1e-7 count as 1e-7.
type MeanSquaredLogarithmicError struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "mean_squared_logarithmic_error".
	Name string
	_    struct{} `keras:"fn,const=mean_squared_logarithmic_error"`
}

// Call returns the losses of the examples.
func (l MeanSquaredLogarithmicError) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	log := func(x *ops.Value) *ops.Value {
		return ops.Log(s, ops.Add(s, ops.Maximum(s, x, epsilon), 1))
	}
	return ops.Mean(s, ops.SquaredDifference(s, log(p), log(t)), -1)
}

// Loss returns the reduced loss.
func (l MeanSquaredLogarithmicError) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// LogCosh is the mean of log(cosh(predicted-truth)) along the last axis.
type LogCosh struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "log_cosh".
	Name string
	_    struct{} `keras:"fn,const=log_cosh"`
}

// Call returns the losses of the examples.
func (l LogCosh) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	t, p := pair(s, truth, predicted)
	x := ops.Sub(s, p, t)
	log := ops.Sub(s, ops.Add(s, x, ops.Softplus(s, ops.Mul(s, -2, x))), math.Ln2)
	return ops.Mean(s, log, -1)
}

// Loss returns the reduced loss.
func (l LogCosh) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// Huber is half the squared error up to Delta and grows linearly after it; the mean along
// the last axis. It computes in float32.
type Huber struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "huber_loss".
	Name string `keras:",default=huber_loss"`
	// Delta is the error from which the loss is linear. Default: 1.
	Delta *float64 `keras:",default=1.0"`
	_     struct{} `keras:"fn,const=huber"`
}

// Call returns the losses of the examples.
func (l Huber) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	delta := float32(or(l.Delta, 1))
	p, t := samples.CastTo(s, predicted, tensor.Float32), samples.CastTo(s, truth, tensor.Float32)
	diff := ops.Sub(s, p, t)
	size := ops.Abs(s, diff)
	losses := ops.Where(s, ops.LessEqual(s, size, delta),
		ops.Mul(s, 0.5, ops.Square(s, diff)),
		ops.Sub(s, ops.Mul(s, delta, size), 0.5*(delta*delta)))
	return ops.Mean(s, losses, -1)
}

// Loss returns the reduced loss.
func (l Huber) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}

// CosineSimilarity is the cosine of the angle between the truth and the predictions along
// an axis, times -1: -1 for equal directions.
type CosineSimilarity struct {
	// Reduction joins the losses of the examples. Default: AutoReduction.
	Reduction Reduction `keras:",default=auto"`
	// Name is the loss's name. Default: "cosine_similarity".
	Name string
	// Axis is the axis of the vectors. Default: -1.
	Axis *int     `keras:",default=-1"`
	_    struct{} `keras:"fn,const=cosine_similarity"`
}

// Call returns the losses of the examples.
func (l CosineSimilarity) Call(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
	axis := or(l.Axis, -1)
	t := ops.L2Normalize(s, truth, 1e-12, axis)
	p := ops.L2Normalize(s, predicted, 1e-12, axis)
	return ops.Neg(s, ops.Sum(s, ops.Mul(s, t, p), axis))
}

// Loss returns the reduced loss.
func (l CosineSimilarity) Loss(s *ops.Scope, truth, predicted, weights ops.Input) *ops.Value {
	return reduced(s, l.Call, l.Reduction, truth, predicted, weights)
}
