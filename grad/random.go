package grad

import (
	"math"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// randomRules are the rules of random numbers that are functions of parameters:
// a sample moves with a parameter so that its place in the distribution stays
// (implicit reparameterization).
var randomRules = map[string]Rule{
	"RandomGamma":                           gradGamma(1),
	"StatelessRandomGammaV2":                gradGamma(2),
	"StatelessRandomGammaV3":                gradGamma(4),
	"StatelessParameterizedTruncatedNormal": gradTruncatedNormal,
}

// gradGamma returns the rule of an op whose input at is the shape of gamma
// distributions.
func gradGamma(at int) Rule {
	return func(s *ops.Scope, op *Op) {
		giveAt(s, op, at, func() *ops.Value {
			return ops.Mul(s, op.Grad(0), s.Emit1("RandomGammaGrad", nil, op.In(at), op.Out(0)))
		})
	}
}

// normalCDF returns the part of the normal distribution below x, for each side
// by the function that cancels no digits.
func normalCDF(s *ops.Scope, x *ops.Value) *ops.Value {
	w := ops.Mul(s, x, math.Sqrt(0.5))
	z := ops.Abs(s, w)
	tail := ops.Erfc(s, z)
	y := ops.Where(s, ops.Less(s, z, math.Sqrt(0.5)), ops.Add(s, 1, ops.Erf(s, w)),
		ops.Where(s, ops.Greater(s, w, 0), ops.Sub(s, 2, tail), tail))
	return ops.Mul(s, 0.5, y)
}

// smallest and steps are the smallest normal numbers, and the distances of 1 to
// the next larger number.
var (
	smallest = map[tensor.DType]float64{tensor.Float16: 0x1p-14, tensor.Float32: 0x1p-126, tensor.Float64: 0x1p-1022}
	steps    = map[tensor.DType]float64{tensor.Float16: 0x1p-10, tensor.Float32: 0x1p-23, tensor.Float64: 0x1p-52}
)

// gradTruncatedNormal computes the gradients of the mean, the deviation and the
// two limits. TensorFlow's rule is in random_grad.py.
func gradTruncatedNormal(s *ops.Scope, op *Op) {
	mean, deviation, d := op.In(2), op.In(3), op.In(2).DType()
	standard := func(x *ops.Value) *ops.Value { return ops.Div(s, ops.Sub(s, x, mean), deviation) }
	lo, hi, x := standard(op.In(4)), standard(op.In(5)), standard(op.Out(0))
	below := normalCDF(s, lo)
	part := ops.Div(s, ops.Sub(s, normalCDF(s, x), below), ops.Sub(s, normalCDF(s, hi), below))
	part = ops.Clip(s, part, ops.ConstOf(s, d, smallest[d]), ops.ConstOf(s, d, 1-steps[d]))
	// moves returns how far a sample follows a limit.
	moves := func(limit, log *ops.Value) *ops.Value {
		return ops.Exp(s, ops.Add(s, ops.Mul(s, 0.5, ops.Sub(s, ops.Square(s, x), ops.Square(s, limit))), log))
	}
	give := func(at int, slope func() *ops.Value) {
		giveAt(s, op, at, func() *ops.Value { return ops.Mul(s, op.Grad(0), slope()) })
	}
	give(2, func() *ops.Value { return ops.OnesLike(s, x) })
	give(3, func() *ops.Value { return x })
	give(4, func() *ops.Value { return moves(lo, ops.Log1p(s, ops.Neg(s, part))) })
	give(5, func() *ops.Value { return moves(hi, ops.Log(s, part)) })
}
