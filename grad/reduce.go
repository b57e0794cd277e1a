package grad

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// reduceRules are the rules of reductions.
var reduceRules = map[string]Rule{
	"Sum": func(s *ops.Scope, op *Op) {
		op.Give(0, spread(s, op, op.Grad(0)))
	},
	"Mean": func(s *ops.Scope, op *Op) {
		n := 1
		if out := op.Out(0).Shape(); len(out) == 0 && len(op.In(0).Shape()) > 0 || !out.Equal(op.In(0).Shape()) {
			n = count(op.In(0).Shape()) / max(1, count(out))
		}
		// Dividing before the gradient is spread takes fewer operations.
		op.Give(0, spread(s, op, ops.Div(s, op.Grad(0), n)))
	},
	"Max":  gradExtremum,
	"Min":  gradExtremum,
	"Prod": gradProd,
	"EuclideanNorm": func(s *ops.Scope, op *Op) {
		x := op.In(0)
		op.Give(0, ops.DivNoNan(s, ops.Mul(s, x, spread(s, op, op.Grad(0))), spread(s, op, op.Out(0))))
	},
	"L2Loss": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Mul(s, op.In(0), dy) }),
	"Cumsum": func(s *ops.Scope, op *Op) {
		exclusive, reverse := op.Attrs().Bool("exclusive"), op.Attrs().Bool("reverse")
		op.Give(0, cumsum(s, op.Grad(0), op.In(1), exclusive, !reverse))
	},
	"Cumprod": func(s *ops.Scope, op *Op) {
		// d cumprod(x)_k / d x_i = cumprod(x)_k / x_i, as TensorFlow has it: x must
		// have no zeros.
		x, axis := op.In(0), op.In(1)
		exclusive, reverse := op.Attrs().Bool("exclusive"), op.Attrs().Bool("reverse")
		out := cumsum(s, ops.Mul(s, conj(s, op.Out(0)), op.Grad(0)), axis, exclusive, !reverse)
		op.Give(0, ops.DivNoNan(s, out, conj(s, x)))
	},
	"ArgMax": none,
	"ArgMin": none,
}

func count(s tensor.Shape) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// keptShape is the output's shape with the reduced axes as 1.
func keptShape(op *Op) tensor.Shape {
	shape := op.In(0).Shape().Clone()
	axes, err := op.In(1).Tensor()
	if err != nil {
		return shape
	}
	list, err := axes.Int64s()
	if err != nil {
		return shape
	}
	for _, a := range list {
		if a < 0 {
			a += int64(len(shape))
		}
		shape[a] = 1
	}
	return shape
}

// spread stretches a value of the output's shape to the input's.
func spread(s *ops.Scope, op *Op, v *ops.Value) *ops.Value {
	in := op.In(0).Shape()
	if v.Shape().Equal(in) || s.Err() != nil {
		return v
	}
	if len(v.Shape()) > 0 {
		if kept := keptShape(op); !v.Shape().Equal(kept) {
			v = ops.Reshape(s, v, kept...)
		}
	}
	return ops.BroadcastTo(s, v, in...)
}

// gradExtremum shares the gradient evenly among equal extremes.
func gradExtremum(s *ops.Scope, op *Op) {
	x := op.In(0)
	kept := keptShape(op)
	y := ops.Reshape(s, op.Out(0), kept...)
	dy := ops.Reshape(s, op.Grad(0), kept...)
	hits := ops.Cast(s, ops.Equal(s, y, x), x.DType())
	axes, _ := op.In(1).Tensor()
	n := ops.Reshape(s, s.Emit1("Sum", nil, hits, axes), kept...)
	op.Give(0, ops.Mul(s, ops.Div(s, hits, n), dy))
}

// gradProd multiplies the gradient by the product of all other elements, by
// running products from both ends, so that zeros do no harm.
func gradProd(s *ops.Scope, op *Op) {
	x := op.In(0)
	shape := x.Shape()
	if len(shape) == 0 {
		op.Give(0, op.Grad(0))
		return
	}
	kept := keptShape(op)
	// The reduced axes come first, as one.
	var perm, rest []int
	reduced, other := 1, 1
	for i := range shape {
		if kept[i] == 1 && shape[i] != 1 {
			perm = append(perm, i)
			reduced *= shape[i]
		} else {
			rest = append(rest, i)
			other *= shape[i]
		}
	}
	perm = append(perm, rest...)
	moved := ops.Transpose(s, x, perm...)
	flat := ops.Reshape(s, moved, reduced, other)
	left := ops.CumProd(s, flat, 0, &ops.CumulativeOptions{Exclusive: true})
	right := ops.CumProd(s, flat, 0, &ops.CumulativeOptions{Exclusive: true, Reverse: true})
	others := ops.ReshapeTo(s, ops.Mul(s, conj(s, left), conj(s, right)), ops.Shape(s, moved))
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	op.Give(0, ops.Mul(s, spread(s, op, op.Grad(0)), ops.Transpose(s, others, back...)))
}

func cumsum(s *ops.Scope, x, axis *ops.Value, exclusive, reverse bool) *ops.Value {
	return s.Emit1("Cumsum", cumulativeAttrs(exclusive, reverse), x, axis)
}
