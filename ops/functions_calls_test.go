package ops_test

import (
	"maps"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// functionCalls returns the calls by function; a word after the name
// distinguishes several calls of one function. testdata/tf2.21/gen_functions.py
// has the same calls in TensorFlow.
func functionCalls() map[string]call {
	all := map[string]call{}
	for _, part := range []map[string]call{mathCalls(), nnCalls(), reduceCalls(), shapeCalls(), indexCalls(), variableCalls(), imageCalls(), stringCalls(), linalgCalls()} {
		maps.Copy(all, part)
	}
	return all
}

// unary and binary are the calls of functions of one and two inputs.
func unary(f func(*ops.Scope, ops.Input) *ops.Value, x string) call {
	return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in[x])) }
}

func binary(f func(s *ops.Scope, x, y ops.Input) *ops.Value, x, y string) call {
	return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in[x], in[y])) }
}

func mathCalls() map[string]call {
	return map[string]call{
		"Add": binary(ops.Add, "x", "z"), "Sub": binary(ops.Sub, "x", "z"), "Mul": binary(ops.Mul, "x", "z"),
		"Div": binary(ops.Div, "x", "z"), "DivNoNan": binary(ops.DivNoNan, "x", "z"),
		"MulNoNan": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MulNoNan(s, in["special"], ops.Mul(s, in["special"], 0)))
		},
		"FloorDiv": binary(ops.FloorDiv, "ints", "divisors"), "Mod": binary(ops.Mod, "ints", "divisors"),
		"TruncateDiv": binary(ops.TruncateDiv, "ints", "divisors"),
		"Pow":         func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Pow(s, in["positive"], 1.5)) },
		"Maximum":     binary(ops.Maximum, "x", "z"), "Minimum": binary(ops.Minimum, "x", "z"),
		"SquaredDifference": binary(ops.SquaredDifference, "x", "z"),
		"Atan2": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Atan2(s, in["x"], ops.Sub(s, in["z"], 0.5)))
		},
		"Xlogy": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Xlogy(s, in["z"], ops.Abs(s, in["x"]))) },
		"Equal": binary(ops.Equal, "x", "z"), "NotEqual": binary(ops.NotEqual, "x", "z"),
		"Less": binary(ops.Less, "x", "z"), "LessEqual": binary(ops.LessEqual, "x", "z"),
		"Greater": binary(ops.Greater, "x", "z"), "GreaterEqual": binary(ops.GreaterEqual, "x", "z"),
		"And": binary(ops.And, "p", "q"), "Or": binary(ops.Or, "p", "q"), "Not": unary(ops.Not, "p"),
		"BitwiseAnd": binary(ops.BitwiseAnd, "ints", "divisors"), "BitwiseOr": binary(ops.BitwiseOr, "ints", "divisors"),
		"BitwiseXor": binary(ops.BitwiseXor, "ints", "divisors"),
		"Neg":        unary(ops.Neg, "x"), "Abs": unary(ops.Abs, "x"), "Abs complex": unary(ops.Abs, "complex"),
		"Sign": unary(ops.Sign, "x"), "Square": unary(ops.Square, "x"), "Sqrt": unary(ops.Sqrt, "positive"),
		"Rsqrt": unary(ops.Rsqrt, "positive"), "Reciprocal": unary(ops.Reciprocal, "positive"),
		"Exp": unary(ops.Exp, "x"), "Expm1": unary(ops.Expm1, "x"),
		"Log": unary(ops.Log, "positive"), "Log1p": unary(ops.Log1p, "positive"),
		"Sin": unary(ops.Sin, "x"), "Cos": unary(ops.Cos, "x"), "Tan": unary(ops.Tan, "x"),
		"Asin": unary(ops.Asin, "unit"), "Acos": unary(ops.Acos, "unit"), "Atan": unary(ops.Atan, "x"),
		"Sinh": unary(ops.Sinh, "x"), "Cosh": unary(ops.Cosh, "x"), "Tanh": unary(ops.Tanh, "x"),
		"Asinh": unary(ops.Asinh, "x"), "Acosh": unary(ops.Acosh, "above1"), "Atanh": unary(ops.Atanh, "unit"),
		"Erf": unary(ops.Erf, "x"), "Erfc": unary(ops.Erfc, "x"), "Lgamma": unary(ops.Lgamma, "positive"),
		"Digamma": unary(ops.Digamma, "positive"),
		"Floor":   unary(ops.Floor, "special"), "Ceil": unary(ops.Ceil, "special"), "Round": unary(ops.Round, "special"),
		"IsNaN": unary(ops.IsNaN, "special"), "IsInf": unary(ops.IsInf, "special"), "IsFinite": unary(ops.IsFinite, "special"),
		"Conj": unary(ops.Conj, "complex"),
		"AddN": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.AddN(s, []*ops.Value{in["x"], in["z"], in["x"]}))
		},
		"Clip": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Clip(s, in["x"], -1, 2)) },
		"Where": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Where(s, ops.Greater(s, in["z"], 0.5), in["x"], -1))
		},
		"Cast":      func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Cast(s, in["x"], tensor.Int32)) },
		"Cast bool": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Cast(s, in["x"], tensor.Bool)) },
		"MatMul": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MatMul(s, in["x"], ops.Transpose(s, in["z"])))
		},
		"MatMul transposed": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MatMul(s, in["x"], in["z"], &ops.MatMulOptions{TransposeB: true}),
				ops.MatMul(s, in["x"], in["z"], &ops.MatMulOptions{TransposeA: true}))
		},
		"MatMul batch": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.MatMul(s, in["batch"], in["batch"], &ops.MatMulOptions{TransposeA: true}))
		},
		"BiasAdd": binary(ops.BiasAdd, "cube", "vector"),
	}
}

func nnCalls() map[string]call {
	return map[string]call{
		"Relu":      unary(ops.Relu, "x"),
		"Relu6":     func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Relu6(s, ops.Mul(s, in["x"], 2))) },
		"LeakyRelu": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.LeakyRelu(s, in["x"], 0.3)) },
		"Elu":       unary(ops.Elu, "x"), "Selu": unary(ops.Selu, "x"), "Gelu": unary(ops.Gelu, "x"), "GeluTanh": unary(ops.GeluTanh, "x"),
		"Sigmoid": unary(ops.Sigmoid, "x"), "HardSigmoid": unary(ops.HardSigmoid, "x"), "Softplus": unary(ops.Softplus, "x"),
		"Softsign": unary(ops.Softsign, "x"), "Swish": unary(ops.Swish, "x"), "Mish": unary(ops.Mish, "x"),
		"Softmax": unary(ops.Softmax, "x"), "LogSoftmax": unary(ops.LogSoftmax, "x"),
		"L2Normalize": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.L2Normalize(s, in["x"], 1e-12, -1)) },
		"SoftmaxCrossEntropy": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.SoftmaxCrossEntropy(s, ops.Div(s, in["z"], ops.SumKeep(s, in["z"], -1)), in["x"]))
		},
		"SoftmaxCrossEntropy of rank 3": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.SoftmaxCrossEntropy(s, ops.OneHot(s, in["labels"], 3, tensor.Float32), in["logits"]))
		},
		"SparseSoftmaxCrossEntropy": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.SparseSoftmaxCrossEntropy(s, []int{2, 0}, in["x"]))
		},
		"SparseSoftmaxCrossEntropy of rank 3": binary(ops.SparseSoftmaxCrossEntropy, "labels", "logits"),
		"SigmoidCrossEntropy":                 binary(ops.SigmoidCrossEntropy, "z", "x"),
	}
}

func reduceCalls() map[string]call {
	type reduction = func(s *ops.Scope, x ops.Input, axes ...int) *ops.Value
	over := func(f reduction) call {
		return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in["cube"]), f(s, in["cube"], 0, 2)) }
	}
	keeping := func(f reduction) call {
		return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in["cube"], 1)) }
	}
	flags := func(f reduction) call {
		return func(s *ops.Scope, in inputs) []*ops.Value { return values(f(s, in["flags"]), f(s, in["flags"], 1)) }
	}
	running := func(f func(s *ops.Scope, x ops.Input, axis int, o ...*ops.CumulativeOptions) *ops.Value) call {
		return func(s *ops.Scope, in inputs) []*ops.Value {
			return values(f(s, in["cube"], 1), f(s, in["cube"], -1, &ops.CumulativeOptions{Exclusive: true, Reverse: true}))
		}
	}
	return map[string]call{
		"Sum": over(ops.Sum), "Mean": over(ops.Mean), "Prod": over(ops.Prod), "Max": over(ops.Max), "Min": over(ops.Min),
		"SumKeep": keeping(ops.SumKeep), "MeanKeep": keeping(ops.MeanKeep), "ProdKeep": keeping(ops.ProdKeep),
		"MaxKeep": keeping(ops.MaxKeep), "MinKeep": keeping(ops.MinKeep),
		"All": flags(ops.All), "Any": flags(ops.Any),
		"ArgMax": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.ArgMax(s, in["cube"], 1)) },
		"ArgMin": func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.ArgMin(s, in["cube"], -1)) },
		"CumSum": running(ops.CumSum), "CumProd": running(ops.CumProd),
		"LogSumExp": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.LogSumExp(s, in["x"], -1), ops.LogSumExp(s, in["x"]))
		},
		"Moments":     func(s *ops.Scope, in inputs) []*ops.Value { return pair(ops.Moments(s, in["x"], 0)) },
		"MomentsKeep": func(s *ops.Scope, in inputs) []*ops.Value { return pair(ops.MomentsKeep(s, in["cube"], 0, 2)) },
		"L2Loss":      unary(ops.L2Loss, "x"),
		"Norm":        func(s *ops.Scope, in inputs) []*ops.Value { return values(ops.Norm(s, in["x"], 0)) },
	}
}
