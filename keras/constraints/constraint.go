// Package constraints has the constraints of Keras: they project weights after each
// step of an optimizer.
package constraints

import (
	"encoding/json"
	"fmt"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Constraint projects the value of a weight.
type Constraint interface {
	// Project returns w moved to an allowed value by tf_keras's formula. The result has the
	// type and shape of w.
	Project(s *ops.Scope, w ops.Input) *ops.Value
}

// epsilon is keras.backend.epsilon(), which the formulas of tf_keras add to norms.
const epsilon = 1e-7

// Axes are the axes along which norms are computed. In a config a single one may be a
// plain number.
type Axes []int

// MarshalConfig returns a number for one axis and a list for several.
func (a Axes) MarshalConfig() (any, error) {
	if len(a) == 1 {
		return a[0], nil
	}
	return []int(a), nil
}

// UnmarshalConfig reads a number or a list of numbers.
func (a *Axes) UnmarshalConfig(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make(Axes, len(list))
	for i, x := range list {
		n, ok := x.(json.Number)
		if !ok {
			return fmt.Errorf("an axis must be an integer")
		}
		k, err := n.Int64()
		if err != nil || k != int64(int32(k)) {
			return fmt.Errorf("an axis is %s, want a small integer", n)
		}
		out[i] = int(k)
	}
	*a = out
	return nil
}

func norms(s *ops.Scope, w ops.Input, axes Axes) *ops.Value {
	return ops.Sqrt(s, ops.SumKeep(s, ops.Square(s, w), axes...))
}

// MaxNorm limits the norms of a weight along the given axes.
type MaxNorm struct {
	// MaxValue is the largest norm. Default: 2.
	MaxValue *float64 `keras:",default=2"`
	// Axis are the axes of the norms. Default: axis 0.
	Axis Axes `keras:",default=0"`
}

// Project returns w with its norms cut to MaxValue.
func (m MaxNorm) Project(s *ops.Scope, w ops.Input) *ops.Value {
	m = config.Completed(m)
	n := norms(s, w, m.Axis)
	return ops.Mul(s, w, ops.Div(s, ops.Clip(s, n, 0.0, *m.MaxValue), ops.Add(s, n, epsilon)))
}

// NonNeg replaces negative values by 0.
type NonNeg struct{}

// Project returns w with negative values replaced by 0.
func (NonNeg) Project(s *ops.Scope, w ops.Input) *ops.Value {
	w = ops.Const(s, w)
	positive := ops.GreaterEqual(s, w, 0.0)
	return ops.Mul(s, w, ops.Cast(s, positive, ops.Const(s, w).DType()))
}

// UnitNorm makes the norms of a weight along the given axes 1.
type UnitNorm struct {
	// Axis are the axes of the norms. Default: axis 0.
	Axis Axes `keras:",default=0"`
}

// Project returns w divided by its norms.
func (u UnitNorm) Project(s *ops.Scope, w ops.Input) *ops.Value {
	return ops.Div(s, w, ops.Add(s, norms(s, w, config.Completed(u).Axis), epsilon))
}

// MinMaxNorm moves the norms of a weight along the given axes into a range.
type MinMaxNorm struct {
	// MinValue is the smallest norm. Default: 0.
	MinValue float64
	// MaxValue is the largest norm. Default: 1.
	MaxValue *float64 `keras:",default=1.0"`
	// Rate is the part of the way that a step goes. Default: 1.
	Rate *float64 `keras:",default=1.0"`
	// Axis are the axes of the norms. Default: axis 0.
	Axis Axes `keras:",default=0"`
}

// Project returns w with its norms moved into the range.
func (m MinMaxNorm) Project(s *ops.Scope, w ops.Input) *ops.Value {
	m = config.Completed(m)
	n := norms(s, w, m.Axis)
	want := ops.Add(s, ops.Mul(s, *m.Rate, ops.Clip(s, n, m.MinValue, *m.MaxValue)), ops.Mul(s, 1-*m.Rate, n))
	return ops.Mul(s, w, ops.Div(s, want, ops.Add(s, n, epsilon)))
}

// RadialConstraint makes each window of a convolution's filter [size, size, …, …] radial:
// its elements at one distance from the border are equal.
type RadialConstraint struct{}

// Project returns w with each ring of a window replaced by one element of the window's
// diagonal, the same as in tf_keras. w has four dimensions of known sizes, and square windows of
// two rows or more.
//
// In windows of odd size tf_keras takes each ring from the element before its own on the
// diagonal, and the centre from index half-1. This must stay.
func (RadialConstraint) Project(s *ops.Scope, w ops.Input) *ops.Value {
	v := ops.Const(s, w)
	if s.Err() != nil {
		return v
	}
	shape := v.Shape()
	if len(shape) != 4 || shape[0] < 2 || shape[0] != shape[1] {
		return s.Fail("RadialConstraint", fmt.Errorf("the weight has shape %v, want four dimensions and square windows of two rows or more", shape))
	}
	size := shape[0]
	half, odd := size/2, size%2
	indices := make([]int32, 0, 2*size*size)
	for row := range size {
		for col := range size {
			border := min(row, col, size-1-row, size-1-col)
			ring := half - 1 + odd - border // 0 is the innermost
			at := half - 1
			if ring > 0 {
				at = half + ring - odd
			}
			indices = append(indices, int32(at), int32(at))
		}
	}
	return ops.GatherND(s, v, tensor.Must(tensor.New(indices, size, size, 2)))
}

// Classes lists the constraints for configs.
func Classes() []config.Class {
	const module = "keras.constraints"
	return []config.Class{
		config.Of[MaxNorm](module, "MaxNorm", "max_norm"),
		config.Of[NonNeg](module, "NonNeg", "non_neg", "nonneg"),
		config.Of[UnitNorm](module, "UnitNorm", "unit_norm"),
		config.Of[MinMaxNorm](module, "MinMaxNorm", "min_max_norm"),
		config.Of[RadialConstraint](module, "RadialConstraint", "radial_constraint"),
	}
}
