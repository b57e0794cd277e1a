package layers

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/constraints"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Softmax computes exp(x) divided by its sum along some dimensions. Elements that a mask
// ignores become 0.
type Softmax struct {
	base.Layer
	// Axis are the dimensions of the sum. Default: the last one.
	Axis constraints.Axes `keras:",default=-1"`
	// RobustMasking replaces ignored elements by a large negative number instead of adding
	// one to them.
	RobustMasking bool `keras:",omitempty"`
}

// MapsElements allows ragged inputs: each innermost row is computed independently.
func (l *Softmax) MapsElements() (string, error) {
	if len(l.Axis) != 1 || l.Axis[0] != -1 {
		return "", errors.New("the input is ragged and Axis isn't -1")
	}
	return "rows", nil
}

// Call returns the softmax of x.
func (l *Softmax) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

// ComputeAll returns the softmax of the input. The argument "mask", by default the input's
// mask, broadcasts to the input.
func (l *Softmax) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs("mask"); err != nil || len(c.Inputs) != 1 {
		if err == nil {
			err = fmt.Errorf("got %d inputs, want 1", len(c.Inputs))
		}
		return []*ops.Value{s.Fail("Softmax", err)}
	}
	x := c.Inputs[0]
	if mask := l.maskOf(s, c); mask != nil {
		x = l.ignore(s, x, mask)
	}
	return []*ops.Value{activations.WithLogits(softmax(s, x, l.Axis), x)}
}

// ComputeMask returns the mask that the call used.
func (l *Softmax) ComputeMask(s *ops.Scope, c *base.Invocation, _ []*ops.Value) []*ops.Value {
	return []*ops.Value{l.maskOf(s, c)}
}

// maskOf returns the mask of a call, nil if it has none.
func (l *Softmax) maskOf(s *ops.Scope, c *base.Invocation) *ops.Value {
	if given, ok := c.Args["mask"]; ok && given != nil {
		return ops.Const(s, given)
	}
	return c.Masks[0]
}

// ignore makes the elements of x that mask ignores large negative numbers: those of tf_keras's
// _large_compatible_negative.
func (l *Softmax) ignore(s *ops.Scope, x, mask *ops.Value) *ops.Value {
	least := -1e9
	if x.DType() == tensor.Float16 {
		least = -65504 / 2
	}
	if l.RobustMasking {
		if mask.DType() != tensor.Bool {
			mask = ops.Greater(s, mask, ops.ConstOf(s, mask.DType(), 0.5))
		}
		return ops.Where(s, mask, x, ops.ConstOf(s, x.DType(), least))
	}
	return ops.Add(s, x, ops.Mul(s, ops.Sub(s, 1.0, ops.Cast(s, mask, x.DType())), least))
}

// softmax computes the softmax along the given dimensions.
func softmax(s *ops.Scope, x *ops.Value, axes []int) *ops.Value {
	rank := x.Fact().Shape.Rank()
	if len(axes) == 1 && (axes[0] == -1 || axes[0] == rank-1) {
		return ops.Softmax(s, x)
	}
	most := ops.StopGradient(s, ops.MaxKeep(s, x, axes...))
	most = ops.Where(s, ops.IsFinite(s, most), most, ops.ZerosLike(s, most))
	e := ops.Exp(s, ops.Sub(s, x, most))
	return ops.Div(s, e, ops.SumKeep(s, e, axes...))
}
