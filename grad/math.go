package grad

import (
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// mathRules are the rules of ops that work element by element, and of AddN and BiasAdd.
// For complex types the derivative is conjugated, as in TensorFlow. TensorFlow lacks this
// in MulNoNan and SquaredDifference (docs/differences.md).
var mathRules = map[string]Rule{
	"AddV2": func(s *ops.Scope, op *Op) { giveBoth(s, op, op.Grad(0), op.Grad(0)) },
	"Add":   func(s *ops.Scope, op *Op) { giveBoth(s, op, op.Grad(0), op.Grad(0)) },
	"Sub": func(s *ops.Scope, op *Op) {
		giveFirst(s, op, func() *ops.Value { return op.Grad(0) })
		giveSecond(s, op, func() *ops.Value { return ops.Neg(s, op.Grad(0)) })
	},
	"Mul": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		giveFirst(s, op, func() *ops.Value { return ops.Mul(s, dy, conj(s, op.In(1))) })
		giveSecond(s, op, func() *ops.Value { return ops.Mul(s, conj(s, op.In(0)), dy) })
	},
	"RealDiv":  gradDiv,
	"Div":      gradDiv,
	"DivNoNan": gradDivNoNan,
	"MulNoNan": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		giveFirst(s, op, func() *ops.Value { return s.Emit1("MulNoNan", nil, dy, conj(s, op.In(1))) })
		giveSecond(s, op, func() *ops.Value { return s.Emit1("MulNoNan", nil, conj(s, op.In(0)), dy) })
	},
	"FloorDiv":    none,
	"TruncateDiv": none,
	"FloorMod": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		giveFirst(s, op, func() *ops.Value { return dy })
		giveSecond(s, op, func() *ops.Value {
			return ops.Neg(s, ops.Mul(s, dy, ops.FloorDiv(s, op.In(0), op.In(1))))
		})
	},
	"Pow":               gradPow,
	"Maximum":           func(s *ops.Scope, op *Op) { gradExtreme(s, op, ops.GreaterEqual) },
	"Minimum":           func(s *ops.Scope, op *Op) { gradExtreme(s, op, ops.LessEqual) },
	"SquaredDifference": gradSquaredDifference,
	"Atan2": func(s *ops.Scope, op *Op) {
		y, x, dy := op.In(0), op.In(1), op.Grad(0)
		unit := ops.Div(s, dy, ops.Add(s, ops.Square(s, x), ops.Square(s, y)))
		giveFirst(s, op, func() *ops.Value { return ops.Mul(s, x, unit) })
		giveSecond(s, op, func() *ops.Value { return ops.Neg(s, ops.Mul(s, y, unit)) })
	},
	"Xlogy": func(s *ops.Scope, op *Op) {
		x, y, dy := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
		giveFirst(s, op, func() *ops.Value {
			notZero := ops.Cast(s, ops.NotEqual(s, x, 0), x.DType())
			return ops.Mul(s, ops.Xlogy(s, notZero, y), dy)
		})
		giveSecond(s, op, func() *ops.Value { return ops.Mul(s, s.Emit1("Xdivy", nil, x, y), dy) })
	},
	"Xlog1py": func(s *ops.Scope, op *Op) {
		x, y, dy := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
		giveFirst(s, op, func() *ops.Value {
			notZero := ops.Cast(s, ops.NotEqual(s, x, 0), x.DType())
			return ops.Mul(s, s.Emit1("Xlog1py", nil, notZero, y), dy)
		})
		giveSecond(s, op, func() *ops.Value { return ops.Mul(s, s.Emit1("Xdivy", nil, x, ops.Add(s, y, 1)), dy) })
	},
	"Xdivy": func(s *ops.Scope, op *Op) {
		x, y, dy := conj(s, op.In(0)), conj(s, op.In(1)), op.Grad(0)
		giveFirst(s, op, func() *ops.Value {
			notZero := ops.Cast(s, ops.NotEqual(s, x, 0), x.DType())
			return ops.Mul(s, s.Emit1("Xdivy", nil, notZero, y), dy)
		})
		giveSecond(s, op, func() *ops.Value {
			return ops.Mul(s, s.Emit1("Xdivy", nil, ops.Neg(s, x), ops.Square(s, y)), dy)
		})
	},
	"AddN": func(s *ops.Scope, op *Op) {
		for i := range op.NumIn() {
			op.Give(i, op.Grad(0))
		}
	},
	"BiasAdd": func(s *ops.Scope, op *Op) {
		op.Give(0, op.Grad(0))
		if op.Needs(1) {
			op.Give(1, s.Emit1("BiasAddGrad", op.Attrs(), op.Grad(0)))
		}
	},
	"ClipByValue": gradClip,
	"Cast": func(s *ops.Scope, op *Op) {
		if differentiable(op.In(0).DType()) {
			op.Give(0, onSlices(s, op.Grad(0), func(dy *ops.Value) *ops.Value { return ops.Cast(s, dy, op.In(0).DType()) }))
		}
	},
	"Select":   gradSelect,
	"SelectV2": gradSelect,

	"Neg": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return onSlices(s, dy, func(dy *ops.Value) *ops.Value { return ops.Neg(s, dy) })
	}),
	"Abs":   one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Mul(s, dy, ops.Sign(s, op.In(0))) }),
	"Sign":  one1(func(s *ops.Scope, op *Op, _ *ops.Value) *ops.Value { return ops.ZerosLike(s, op.In(0)) }), // as TensorFlow has it
	"Floor": none,
	"Ceil":  none,
	"Rint":  none,
	"Round": none,
	"Square": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, 2, conj(s, op.In(0))))
	}),
	"Sqrt":       byOutput("SqrtGrad"),
	"Rsqrt":      byOutput("RsqrtGrad"),
	"Reciprocal": byOutput("ReciprocalGrad"),
	"Inv":        byOutput("InvGrad"),
	"Tanh":       byConjugate("TanhGrad"),
	"Sigmoid":    byConjugate("SigmoidGrad"),
	"Exp":        one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Mul(s, dy, conj(s, op.Out(0))) }),
	"Expm1": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, conj(s, ops.Exp(s, op.In(0))))
	}),
	"Log": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Div(s, dy, conj(s, op.In(0))) }),
	"Log1p": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Div(s, dy, ops.Add(s, 1, conj(s, op.In(0))))
	}),
	"Sin": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Cos(s, conj(s, op.In(0))))
	}),
	"Cos": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Neg(s, ops.Mul(s, dy, ops.Sin(s, conj(s, op.In(0)))))
	}),
	"Tan": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Square(s, ops.Reciprocal(s, ops.Cos(s, conj(s, op.In(0))))))
	}),
	"Asin": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Rsqrt(s, ops.Sub(s, 1, ops.Square(s, conj(s, op.In(0))))))
	}),
	"Acos": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Neg(s, ops.Mul(s, dy, ops.Rsqrt(s, ops.Sub(s, 1, ops.Square(s, conj(s, op.In(0)))))))
	}),
	"Atan": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Div(s, dy, ops.Add(s, 1, ops.Square(s, conj(s, op.In(0)))))
	}),
	"Sinh": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Cosh(s, conj(s, op.In(0))))
	}),
	"Cosh": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Sinh(s, conj(s, op.In(0))))
	}),
	"Asinh": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Div(s, dy, ops.Cosh(s, conj(s, op.Out(0))))
	}),
	"Acosh": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Div(s, dy, ops.Sinh(s, conj(s, op.Out(0))))
	}),
	"Atanh": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Div(s, dy, ops.Sub(s, 1, ops.Square(s, conj(s, op.In(0)))))
	}),
	"Erf": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, 2/math.SqrtPi, ops.Exp(s, ops.Neg(s, ops.Square(s, op.In(0))))))
	}),
	"Erfc": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, dy, ops.Mul(s, -2/math.SqrtPi, ops.Exp(s, ops.Neg(s, ops.Square(s, op.In(0))))))
	}),
	"Digamma": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		x := op.In(0)
		return ops.Mul(s, dy, s.Emit1("Polygamma", nil, ops.OnesLike(s, x), x))
	}),
	"Lgamma": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Mul(s, dy, ops.Digamma(s, op.In(0))) }),
	"Conj":   one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return ops.Conj(s, dy) }),
	"Real": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return complexOf(s, dy, ops.ZerosLike(s, dy))
	}),
	"Imag": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return ops.Mul(s, complexOf(s, dy, ops.ZerosLike(s, dy)), complex(0, 1))
	}),
	"Complex": func(s *ops.Scope, op *Op) {
		giveFirst(s, op, func() *ops.Value { return realOf(s, op.Grad(0)) })
		giveSecond(s, op, func() *ops.Value { return imagOf(s, op.Grad(0)) })
	},
	"Angle": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		z := op.In(0)
		turned := complexOf(s, imagOf(s, z), realOf(s, z))
		return ops.Neg(s, ops.Mul(s, complexOf(s, dy, ops.ZerosLike(s, dy)), ops.Reciprocal(s, turned)))
	}),
	"ComplexAbs": one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		zero := ops.ZerosLike(s, dy)
		return ops.DivNoNan(s, ops.Mul(s, complexOf(s, dy, zero), op.In(0)), complexOf(s, op.Out(0), zero))
	}),
}

// partOf returns the real or the imaginary part, by the op's name.
func partOf(s *ops.Scope, op string, z *ops.Value) *ops.Value {
	d := tensor.Float32
	if z.DType() == tensor.Complex128 {
		d = tensor.Float64
	}
	return s.Emit1(op, graph.Attrs{graph.Type("Tout", d)}, z)
}

func realOf(s *ops.Scope, z *ops.Value) *ops.Value { return partOf(s, "Real", z) }

func imagOf(s *ops.Scope, z *ops.Value) *ops.Value { return partOf(s, "Imag", z) }

// complexOf returns re + i·im.
func complexOf(s *ops.Scope, re, im *ops.Value) *ops.Value {
	d := tensor.Complex64
	if re.DType() == tensor.Float64 {
		d = tensor.Complex128
	}
	return s.Emit1("Complex", graph.Attrs{graph.Type("Tout", d)}, re, im)
}

// none gives no input a gradient. It is the rule of ops that are constant almost
// everywhere, or that have no gradient in TensorFlow.
func none(*ops.Scope, *Op) {}

// one1 returns the rule of an op of one input and one output. f returns the gradient with
// regard to the input.
func one1(f func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value) Rule {
	return func(s *ops.Scope, op *Op) { op.Give(0, f(s, op, op.Grad(0))) }
}

// byOutput returns the rule of an op whose gradient is an op of its output. The
// kernels of SqrtGrad, RsqrtGrad, ReciprocalGrad and InvGrad conjugate it themselves.
func byOutput(name string) Rule {
	return one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value { return s.Emit1(name, nil, op.Out(0), dy) })
}

// byConjugate returns the rule of an op whose gradient is an op of its output's
// conjugate.
func byConjugate(name string) Rule {
	return one1(func(s *ops.Scope, op *Op, dy *ops.Value) *ops.Value {
		return s.Emit1(name, nil, conj(s, op.Out(0)), dy)
	})
}

func conj(s *ops.Scope, x *ops.Value) *ops.Value {
	if x.DType().IsComplex() {
		return ops.Conj(s, x)
	}
	return x
}

// giveBoth passes gradients on to both inputs of a broadcasting op.
func giveBoth(s *ops.Scope, op *Op, dx, dy *ops.Value) {
	giveFirst(s, op, func() *ops.Value { return dx })
	giveSecond(s, op, func() *ops.Value { return dy })
}

// giveFirst passes the gradient f() on to the first input, summed to the input's shape. f is called
// only if the input needs a gradient.
func giveFirst(s *ops.Scope, op *Op, f func() *ops.Value)  { giveAt(s, op, 0, f) }
func giveSecond(s *ops.Scope, op *Op, f func() *ops.Value) { giveAt(s, op, 1, f) }

func giveAt(s *ops.Scope, op *Op, i int, f func() *ops.Value) {
	if op.Needs(i) {
		op.Give(i, Unbroadcast(s, f(), op.In(i)))
	}
}

// Unbroadcast sums x over the axes along which like was stretched to x's shape:
// the rule of a broadcasting op does that with each gradient.
func Unbroadcast(s *ops.Scope, x, like *ops.Value) *ops.Value {
	if s.Err() != nil {
		return x
	}
	if _, sliced := x.IndexedSlices(); sliced {
		x = ops.Identity(s, x) // a whole tensor, as TensorFlow's broadcasting ops return
	}
	if s.Err() != nil || alike(x, like) {
		return x
	}
	axes, ok := stretched(x, like)
	if !ok {
		args := s.EmitN(2, "BroadcastGradientArgs", nil, ops.Shape(s, like), ops.Shape(s, x))
		return reshapeLike(s, s.Emit1("Sum", nil, x, args[0]), like)
	}
	sum := x
	if len(axes) > 0 {
		sum = ops.Sum(s, x, axes...)
	}
	if s.Err() != nil || alike(sum, like) {
		return sum
	}
	return reshapeLike(s, sum, like)
}

// stretched returns the axes of x along which like was stretched, if the known
// parts of the shapes determine them.
func stretched(x, like *ops.Value) (axes []int, ok bool) {
	if rankOf(x) < 0 || rankOf(like) < 0 {
		return nil, false
	}
	var from, to graph.PartialShape
	if x.IsSymbolic() || like.IsSymbolic() {
		from, to = like.Fact().Shape, x.Fact().Shape
	} else {
		from, to = graph.Whole(like.Shape()), graph.Whole(x.Shape())
	}
	lead := to.Rank() - from.Rank()
	axes = make([]int, 0, to.Rank())
	for i, d := range to.Dims() {
		switch {
		case i < lead:
			axes = append(axes, i)
		case graph.SameDim(from.Dim(i-lead), d): // not stretched
		case from.Dim(i-lead) == 1:
			axes = append(axes, i)
		case !graph.KnownDim(from.Dim(i - lead)):
			return nil, false
		}
	}
	return axes, true
}

func gradDiv(s *ops.Scope, op *Op) {
	x, y, dy := op.In(0), op.In(1), op.Grad(0)
	giveFirst(s, op, func() *ops.Value { return ops.Div(s, dy, conj(s, y)) })
	giveSecond(s, op, func() *ops.Value {
		cy := conj(s, y)
		return ops.Mul(s, dy, ops.Div(s, ops.Div(s, ops.Neg(s, conj(s, x)), cy), cy))
	})
}

func gradDivNoNan(s *ops.Scope, op *Op) {
	x, y, dy := op.In(0), op.In(1), op.Grad(0)
	giveFirst(s, op, func() *ops.Value { return ops.DivNoNan(s, dy, conj(s, y)) })
	giveSecond(s, op, func() *ops.Value {
		cy := conj(s, y)
		return ops.Mul(s, dy, ops.DivNoNan(s, ops.DivNoNan(s, ops.Neg(s, conj(s, x)), cy), cy))
	})
}

// gradPow avoids the logarithm of numbers that aren't positive, as TensorFlow
// does.
func gradPow(s *ops.Scope, op *Op) {
	x, y, z, dy := conj(s, op.In(0)), conj(s, op.In(1)), conj(s, op.Out(0)), op.Grad(0)
	giveFirst(s, op, func() *ops.Value { return ops.Mul(s, dy, ops.Mul(s, y, ops.Pow(s, x, ops.Sub(s, y, 1)))) })
	giveSecond(s, op, func() *ops.Value {
		var fine *ops.Value
		if x.DType().IsComplex() {
			fine = ops.NotEqual(s, x, 0)
		} else {
			fine = ops.Greater(s, x, 0)
		}
		log := ops.Where(s, fine, ops.Log(s, ops.Where(s, fine, x, ops.OnesLike(s, x))), ops.ZerosLike(s, x))
		return ops.Mul(s, dy, ops.Mul(s, z, log))
	})
}

// gradExtreme differentiates Maximum and Minimum. first selects the elements whose gradient goes to
// the first input: also at equal elements, as in TensorFlow.
func gradExtreme(s *ops.Scope, op *Op, first func(*ops.Scope, ops.Input, ops.Input) *ops.Value) {
	dy := op.Grad(0)
	mask, zero := first(s, op.In(0), op.In(1)), ops.ZerosLike(s, dy)
	giveFirst(s, op, func() *ops.Value { return ops.Where(s, mask, dy, zero) })
	giveSecond(s, op, func() *ops.Value { return ops.Where(s, mask, zero, dy) })
}

func gradSquaredDifference(s *ops.Scope, op *Op) {
	dy := op.Grad(0)
	if dy.DType().IsComplex() { // |x-y|² is real
		re := realOf(s, dy)
		dy = complexOf(s, re, ops.ZerosLike(s, re))
	}
	dx := ops.Mul(s, ops.Mul(s, 2, dy), ops.Sub(s, op.In(0), op.In(1)))
	giveFirst(s, op, func() *ops.Value { return dx })
	giveSecond(s, op, func() *ops.Value { return ops.Neg(s, dx) })
}

func gradClip(s *ops.Scope, op *Op) {
	x, lo, hi, dy := op.In(0), op.In(1), op.In(2), op.Grad(0)
	zero := ops.ZerosLike(s, dy)
	below, above := ops.Less(s, x, lo), ops.Greater(s, x, hi)
	giveAt(s, op, 0, func() *ops.Value { return ops.Where(s, ops.Or(s, below, above), zero, dy) })
	giveAt(s, op, 1, func() *ops.Value { return ops.Where(s, below, dy, zero) })
	giveAt(s, op, 2, func() *ops.Value { return ops.Where(s, above, dy, zero) })
}

func gradSelect(s *ops.Scope, op *Op) {
	cond, dy := op.In(0), op.Grad(0)
	zero := ops.ZerosLike(s, dy)
	pick := func(a, b *ops.Value) *ops.Value {
		if op.Name() == "Select" {
			return s.Emit1("Select", nil, cond, a, b) // a vector condition picks rows
		}
		return ops.Where(s, cond, a, b)
	}
	giveAt(s, op, 1, func() *ops.Value { return pick(dy, zero) })
	giveAt(s, op, 2, func() *ops.Value { return pick(zero, dy) })
}
