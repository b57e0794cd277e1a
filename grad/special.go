package grad

import (
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// specialRules are the rules of special functions, and of NextAfter, Cross and
// CumulativeLogsumexp.
var specialRules = map[string]Rule{
	"NextAfter": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		giveFirst(s, op, func() *ops.Value { return ops.Mul(s, dy, ops.OnesLike(s, op.In(0))) })
		giveSecond(s, op, func() *ops.Value { return ops.Mul(s, dy, ops.ZerosLike(s, op.In(1))) })
	},
	"Cross": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		op.Give(0, s.Emit1("Cross", nil, op.In(1), dy))
		op.Give(1, s.Emit1("Cross", nil, dy, op.In(0)))
	},
	"CumulativeLogsumexp": gradCumulativeLogSumExp,
	"Erfinv": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, math.Sqrt(math.Pi)/2, ops.Exp(s, ops.Square(s, op.Out(0)))))
	}),
	"Ndtri": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, math.Sqrt(2*math.Pi), ops.Exp(s, ops.Div(s, ops.Square(s, op.Out(0)), 2))))
	}),
	"Dawsn": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sub(s, 1, ops.Mul(s, ops.Mul(s, 2, op.In(0)), op.Out(0))))
	}),
	"Expint": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Div(s, ops.Exp(s, op.In(0)), op.In(0)))
	}),
	"FresnelCos": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Cos(s, ops.Mul(s, math.Pi/2, ops.Square(s, op.In(0)))))
	}),
	"FresnelSin": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sin(s, ops.Mul(s, math.Pi/2, ops.Square(s, op.In(0)))))
	}),
	"Spence": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		x := op.In(0)
		slope := ops.Div(s, ops.Log(s, x), ops.Sub(s, 1, x))
		return ops.Mul(s, dy, ops.Where(s, ops.Equal(s, x, 1), ops.Neg(s, ops.OnesLike(s, x)), slope))
	}),
	"BesselI0": byFunction("BesselI1", 1),
	"BesselJ0": byFunction("BesselJ1", -1),
	"BesselK0": byFunction("BesselK1", -1),
	"BesselY0": byFunction("BesselY1", -1),
	"BesselI0e": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		x := op.In(0)
		return ops.Mul(s, dy, ops.Sub(s, s.Emit1("BesselI1e", nil, x), ops.Mul(s, ops.Sign(s, x), op.Out(0))))
	}),
	"BesselK0e": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sub(s, op.Out(0), s.Emit1("BesselK1e", nil, op.In(0))))
	}),
	"BesselI1": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, overArgument(s, op, "BesselI0", 0.5))
	}),
	"BesselJ1": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, overArgument(s, op, "BesselJ0", 0.5))
	}),
	"BesselI1e": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		x := op.In(0)
		zero := ops.Equal(s, x, 0)
		safe := ops.Where(s, zero, ops.OnesLike(s, x), x)
		// The terms nearly cancel out for large x. Half precision shows the order of roundings, so
		// it must stay TensorFlow's.
		by := ops.Add(s, ops.Sign(s, safe), ops.Reciprocal(s, safe))
		slope := ops.Sub(s, s.Emit1("BesselI0e", nil, safe), ops.Mul(s, op.Out(0), by))
		return ops.Mul(s, dy, ops.Where(s, zero, ops.Mul(s, 0.5, ops.OnesLike(s, x)), slope))
	}),
	"BesselK1": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sub(s, ops.Neg(s, s.Emit1("BesselK0", nil, op.In(0))), ops.Div(s, op.Out(0), op.In(0))))
	}),
	"BesselK1e": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		x := op.In(0)
		return ops.Mul(s, dy, ops.Sub(s, ops.Mul(s, op.Out(0), ops.Sub(s, 1, ops.Reciprocal(s, x))), s.Emit1("BesselK0e", nil, x)))
	}),
	"BesselY1": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sub(s, s.Emit1("BesselY0", nil, op.In(0)), ops.Div(s, op.Out(0), op.In(0))))
	}),
	"Igamma":  func(s *ops.Scope, op *Op) { gradIgamma(s, op, op.Grad(0)) },
	"Igammac": func(s *ops.Scope, op *Op) { gradIgamma(s, op, ops.Neg(s, op.Grad(0))) },
	"Betainc": func(s *ops.Scope, op *Op) { // TensorFlow has no gradients of a and b
		a, b, x := op.In(0), op.In(1), op.In(2)
		logBeta := ops.Sub(s, ops.Add(s, ops.Lgamma(s, a), ops.Lgamma(s, b)), ops.Lgamma(s, ops.Add(s, a, b)))
		density := ops.Exp(s, ops.Sub(s, ops.Add(s, s.Emit1("Xlog1py", nil, ops.Sub(s, b, 1), ops.Neg(s, x)), ops.Xlogy(s, ops.Sub(s, a, 1), x)), logBeta))
		giveAt(s, op, 2, func() *ops.Value { return ops.Mul(s, density, op.Grad(0)) })
	},
	"Zeta": func(s *ops.Scope, op *Op) { // TensorFlow has no gradient of x
		x, q := op.In(0), op.In(1)
		giveSecond(s, op, func() *ops.Value {
			return ops.Mul(s, op.Grad(0), ops.Mul(s, ops.Neg(s, x), s.Emit1("Zeta", nil, ops.Add(s, x, 1), q)))
		})
	},
	"Polygamma": func(s *ops.Scope, op *Op) { // TensorFlow has no gradient of n
		n, x := op.In(0), op.In(1)
		giveSecond(s, op, func() *ops.Value {
			return ops.Mul(s, op.Grad(0), s.Emit1("Polygamma", nil, ops.Add(s, n, 1), x))
		})
	},
}

// byFunction returns the rule of a function whose derivative is another one, up
// to a factor.
func byFunction(name string, by float64) Rule {
	return one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, by, s.Emit1(name, nil, op.In(0))))
	})
}

// overArgument returns other(x) - y/x, the slope of the op's output y; atZero for x = 0,
// where y is 0 too.
func overArgument(s *ops.Scope, op *Op, other string, atZero float64) *ops.Value {
	x := op.In(0)
	zero := ops.Equal(s, x, 0)
	safe := ops.Where(s, zero, ops.OnesLike(s, x), x)
	slope := ops.Sub(s, s.Emit1(other, nil, safe), ops.Div(s, op.Out(0), safe))
	return ops.Where(s, zero, ops.Mul(s, atZero, ops.OnesLike(s, x)), slope)
}

// gradIgamma gives the gradients of a and x. The slope along x is the density of the
// gamma distribution.
func gradIgamma(s *ops.Scope, op *Op, dy *ops.Value) {
	a, x := op.In(0), op.In(1)
	giveFirst(s, op, func() *ops.Value { return ops.Mul(s, dy, s.Emit1("IgammaGradA", nil, a, x)) })
	giveSecond(s, op, func() *ops.Value {
		log := ops.Sub(s, ops.Sub(s, ops.Mul(s, ops.Sub(s, a, 1), ops.Log(s, x)), x), ops.Lgamma(s, a))
		return ops.Mul(s, dy, ops.Exp(s, log))
	})
}

// gradCumulativeLogSumExp sums the positive and the negative part of the gradient
// separately, as logarithms.
func gradCumulativeLogSumExp(s *ops.Scope, op *Op) {
	x, axis, y, dy := op.In(0), op.In(1), op.Out(0), op.Grad(0)
	exclusive, reverse := op.Attrs().Bool("exclusive"), op.Attrs().Bool("reverse")
	attrs := graph.Attrs{graph.Bool("exclusive", exclusive), graph.Bool("reverse", !reverse)}
	// Its exponential is 0 in every type.
	lowest := ops.Mul(s, -math.MaxFloat32, ops.OnesLike(s, x))
	part := func(sign float64) *ops.Value {
		g := ops.Mul(s, sign, dy)
		above := ops.Greater(s, g, 0)
		log := ops.Where(s, above, ops.Sub(s, ops.Log(s, ops.Where(s, above, g, ops.OnesLike(s, g))), y), lowest)
		return ops.Exp(s, ops.Add(s, s.Emit1("CumulativeLogsumexp", attrs, log, axis), x))
	}
	op.Give(0, ops.Sub(s, part(1), part(-1)))
}
