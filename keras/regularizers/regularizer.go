// Package regularizers has the regularizers of Keras: losses that depend on weights or
// on the outputs of layers.
package regularizers

import (
	"fmt"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
)

// Regularizer computes a loss of a weight or of a layer's output.
type Regularizer interface {
	// Penalty returns a scalar of the type of x.
	Penalty(s *ops.Scope, x ops.Input) *ops.Value
}

// L1 is L1 times the sum of |x|.
type L1 struct {
	// L1 is the factor. Default: 0.01.
	L1 *float64 `keras:"l1,single,default=0.01"`
}

// Penalty returns the loss of x.
func (l L1) Penalty(s *ops.Scope, x ops.Input) *ops.Value {
	return ops.Mul(s, ops.Sum(s, ops.Abs(s, x)), *config.Completed(l).L1)
}

// L2 is L2 times the sum of x².
type L2 struct {
	// L2 is the factor. Default: 0.01.
	L2 *float64 `keras:"l2,single,default=0.01"`
}

// Penalty returns the loss of x.
func (l L2) Penalty(s *ops.Scope, x ops.Input) *ops.Value {
	return ops.Mul(s, ops.Sum(s, ops.Square(s, x)), *config.Completed(l).L2)
}

// L1L2 is L1 times the sum of |x| plus L2 times the sum of x².
type L1L2 struct {
	// L1 is the factor of the sum of |x|. Default: 0.
	L1 float64 `keras:"l1,single"`
	// L2 is the factor of the sum of squares. Default: 0.
	L2 float64 `keras:"l2,single"`
}

// Penalty returns the loss of x.
func (l L1L2) Penalty(s *ops.Scope, x ops.Input) *ops.Value {
	x = ops.Const(s, x)
	loss := ops.ConstOf(s, ops.Const(s, x).DType(), 0.0)
	if l.L1 != 0 {
		loss = ops.Add(s, loss, L1{&l.L1}.Penalty(s, x))
	}
	if l.L2 != 0 {
		loss = ops.Add(s, loss, L2{&l.L2}.Penalty(s, x))
	}
	return loss
}

// The modes of [OrthogonalRegularizer].
const (
	Rows    = "rows"    // the rows of the matrix
	Columns = "columns" // the columns of the matrix
)

// OrthogonalRegularizer is Factor times half the mean of |cosine| over all pairs of
// rows, or of columns, of a matrix.
type OrthogonalRegularizer struct {
	// Factor is the factor. Default: 0.01.
	Factor *float64 `keras:",single,default=0.01"`
	// Mode is Rows or Columns. Default: Rows.
	Mode string `keras:",default=rows"`
}

// Penalty returns the loss of x, a matrix of known sizes. One row or column has no pairs, and the
// loss is NaN, as in tf_keras.
func (o OrthogonalRegularizer) Penalty(s *ops.Scope, x ops.Input) *ops.Value {
	o = config.Completed(o)
	v := ops.Const(s, x)
	if s.Err() != nil {
		return v
	}
	shape := v.Shape()
	if len(shape) != 2 {
		return s.Fail("OrthogonalRegularizer", fmt.Errorf("the input has shape %v, want a matrix", shape))
	}
	var n int
	switch o.Mode {
	case Rows:
		n, v = shape[0], ops.L2Normalize(s, v, 1e-12, 1)
		v = ops.MatMul(s, v, v, &ops.MatMulOptions{TransposeB: true})
	case Columns:
		n, v = shape[1], ops.L2Normalize(s, v, 1e-12, 0)
		v = ops.MatMul(s, v, v, &ops.MatMulOptions{TransposeA: true})
	default:
		return s.Fail("OrthogonalRegularizer", fmt.Errorf("unknown Mode %q (want %q or %q)", o.Mode, Rows, Columns))
	}
	off := ops.Mul(s, v, ops.Sub(s, 1, ops.Eye(s, v.DType(), n)))
	sum := ops.Mul(s, 0.5**o.Factor, ops.Sum(s, ops.Abs(s, off)))
	return ops.Div(s, sum, float64(n)*float64(n-1)/2)
}

// Classes lists the regularizers for configs.
func Classes() []config.Class {
	const module = "keras.regularizers"
	return []config.Class{
		config.Of[L1](module, "L1"),
		config.Of[L2](module, "L2"),
		config.Of[L1L2](module, "L1L2"),
		config.Of[OrthogonalRegularizer](module, "OrthogonalRegularizer"),
	}
}
