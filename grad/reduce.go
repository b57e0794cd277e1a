package grad

import (
	"slices"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// reduceRules are the rules of reductions.
var reduceRules = map[string]Rule{
	"Sum": func(s *ops.Scope, op *Op) {
		op.Give(0, spread(s, op, op.Grad(0)))
	},
	"Mean": func(s *ops.Scope, op *Op) {
		// Dividing before the gradient is spread takes fewer operations.
		op.Give(0, spread(s, op, ops.Div(s, op.Grad(0), reducedCount(s, op))))
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

// reducedCount returns how many elements of the input make one of the output,
// in the output's type.
func reducedCount(s *ops.Scope, op *Op) ops.Input {
	x, y := op.In(0), op.Out(0)
	if !allKnown(x, y) {
		n := ops.FloorDiv(s, ops.Size(s, x), ops.Maximum(s, ops.Size(s, y), 1))
		return ops.Cast(s, n, y.DType())
	}
	if in, out := x.Shape(), y.Shape(); !out.Equal(in) {
		return count(in) / max(1, count(out))
	}
	return 1
}

// reducedAxes returns the axes that the op reduces, none of them negative, if
// they and the input's rank are known.
func reducedAxes(op *Op) ([]int, bool) {
	rank := rankOf(op.In(0))
	axes, ok := ints(op.In(1))
	if !ok || rank < 0 {
		return nil, false
	}
	for i, a := range axes {
		if a < 0 {
			axes[i] += rank
		}
	}
	return axes, true
}

// keepReduced returns v, of the output's shape, with the reduced axes as 1.
func keepReduced(s *ops.Scope, op *Op, v *ops.Value) *ops.Value {
	axes, ok := reducedAxes(op)
	if shape, whole := known(op.In(0)); ok && whole {
		kept := shape.Clone()
		for _, a := range axes {
			kept[a] = 1
		}
		if v.Shape().Equal(kept) && !v.IsSymbolic() {
			return v
		}
		return ops.Reshape(s, v, kept...)
	}
	if op.Attrs().Bool("keep_dims") {
		return v
	}
	sizes := ops.Shape(s, op.In(0))
	return s.Emit1("Reshape", nil, v, ops.Where(s, reducedMask(s, op), ops.OnesLike(s, sizes), sizes))
}

// reducedMask returns a boolean for each dimension of the input: whether it is
// reduced.
func reducedMask(s *ops.Scope, op *Op) *ops.Value {
	if axes, ok := reducedAxes(op); ok {
		mask := make([]bool, rankOf(op.In(0)))
		for _, a := range axes {
			mask[a] = true
		}
		return ops.Const(s, mask)
	}
	axes := ops.Reshape(s, op.In(1), -1)
	if axes.DType() != tensor.Int32 {
		axes = ops.Cast(s, axes, tensor.Int32)
	}
	rank := rankValue(s, op.In(0))
	hot := oneHot(s, ops.Mod(s, axes, ops.Maximum(s, rank, int32(1))), rank, tensor.Int32)
	return ops.Greater(s, ops.Sum(s, hot, 0), 0)
}

// spread stretches a value of the output's shape to the input's.
func spread(s *ops.Scope, op *Op, v *ops.Value) *ops.Value {
	x := op.In(0)
	if s.Err() != nil || alike(v, x) {
		return v
	}
	if rankOf(v) != 0 {
		v = keepReduced(s, op, v)
	}
	return broadcastLike(s, v, x)
}

// gradExtremum shares the gradient evenly among equal extremes.
func gradExtremum(s *ops.Scope, op *Op) {
	x := op.In(0)
	y, dy := keepReduced(s, op, op.Out(0)), keepReduced(s, op, op.Grad(0))
	hits := ops.Cast(s, ops.Equal(s, y, x), x.DType())
	n := keepReduced(s, op, s.Emit1("Sum", op.Attrs().Without("T", "Tidx"), hits, op.In(1)))
	op.Give(0, ops.Mul(s, ops.Div(s, hits, n), dy))
}

// gradProd multiplies the gradient by the product of all other elements, by
// running products from both ends, so that zeros do no harm.
func gradProd(s *ops.Scope, op *Op) {
	x := op.In(0)
	if rankOf(x) == 0 {
		op.Give(0, op.Grad(0))
		return
	}
	// The reduced axes come first, as one.
	perm, reduced, other := reducedFirst(s, op)
	moved := s.Emit1("Transpose", nil, x, perm)
	flat := s.Emit1("Reshape", nil, moved, ops.Stack(s, []*ops.Value{reduced, other}))
	left := ops.CumProd(s, flat, 0, &ops.CumulativeOptions{Exclusive: true})
	right := ops.CumProd(s, flat, 0, &ops.CumulativeOptions{Exclusive: true, Reverse: true})
	others := ops.ReshapeTo(s, ops.Mul(s, conj(s, left), conj(s, right)), ops.Shape(s, moved))
	back := s.Emit1("Transpose", nil, others, ops.InvertPermutation(s, perm))
	op.Give(0, ops.Mul(s, spread(s, op, op.Grad(0)), back))
}

// reducedFirst returns the permutation that puts the reduced axes first, and
// the numbers of elements that the reduced and the other axes span.
func reducedFirst(s *ops.Scope, op *Op) (perm, reduced, other *ops.Value) {
	shape, whole := known(op.In(0))
	if axes, ok := reducedAxes(op); ok && whole {
		var first, rest []int32
		n := [2]int32{1, 1}
		for i := range shape {
			if slices.Contains(axes, i) {
				first = append(first, int32(i))
				n[0] *= int32(shape[i])
			} else {
				rest = append(rest, int32(i))
				n[1] *= int32(shape[i])
			}
		}
		return ops.Const(s, append(first, rest...)), ops.Const(s, n[0]), ops.Const(s, n[1])
	}
	mask, sizes := reducedMask(s, op), ops.Shape(s, op.In(0))
	ones := ops.OnesLike(s, sizes)
	// Of equal elements TopKV2 returns the first ones first.
	order := s.EmitN(2, "TopKV2", nil, ops.Cast(s, mask, tensor.Int32), rankValue(s, op.In(0)))
	return order[1], productOf(s, ops.Where(s, mask, sizes, ones)), productOf(s, ops.Where(s, mask, ones, sizes))
}

func cumsum(s *ops.Scope, x, axis *ops.Value, exclusive, reverse bool) *ops.Value {
	return s.Emit1("Cumsum", cumulativeAttrs(exclusive, reverse), x, axis)
}
