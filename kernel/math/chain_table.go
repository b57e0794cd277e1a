package math

import (
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// chainLoop is the loop of an op over a part of its elements. It is the loop of
// the op's own kernel, so that the bits are the same.
type chainLoop[T vec.Float] struct {
	unary  func(dst, x []T)
	binary elementwise.Loops[T, T]
	ns     float64 // nanoseconds an element
}

// chainLoops returns the loops of the ops that chains are made of.
func chainLoops[T float32 | float64]() map[string]chainLoop[T] {
	loops := map[string]chainLoop[T]{}
	binary := func(op string, vv func(dst, a, b []T), vs func(dst, a []T, b T), sv func(dst []T, a T, b []T), ns float64) {
		loops[op] = chainLoop[T]{binary: elementwise.Loops[T, T]{VV: vv, VS: vs, SV: sv}, ns: ns}
	}
	unary := func(op string, f func(dst, x []T), ns float64) { loops[op] = chainLoop[T]{unary: f, ns: ns} }
	for _, op := range []string{"AddV2", "Add", "BiasAdd"} {
		binary(op, vec.AddVV[T], vec.AddVS[T], vec.AddSV[T], 0.1)
	}
	binary("Sub", vec.SubVV[T], vec.SubVS[T], vec.SubSV[T], 0.1)
	binary("Mul", vec.MulVV[T], vec.MulVS[T], vec.MulSV[T], 0.1)
	binary("RealDiv", vec.DivVV[T], vec.DivVS[T], vec.DivSV[T], 0.3)
	binary("Div", vec.DivVV[T], vec.DivVS[T], vec.DivSV[T], 0.3)
	binary("Maximum", vec.MaxVV[T], vec.MaxVS[T], vec.MaxSV[T], 0.7)
	binary("Minimum", vec.MinVV[T], vec.MinVS[T], vec.MinSV[T], 0.7)
	binary("SquaredDifference", vec.SquaredDifferenceVV[T], vec.SquaredDifferenceVS[T], vec.SquaredDifferenceSV[T], 0.3)
	binary("TanhGrad", vec.TanhGradVV[T], vec.TanhGradVS[T], vec.TanhGradSV[T], 0.7)
	binary("SigmoidGrad", vec.SigmoidGradVV[T], vec.SigmoidGradVS[T], vec.SigmoidGradSV[T], 0.7)
	binary("SqrtGrad", vec.SqrtGradVV[T], vec.SqrtGradVS[T], vec.SqrtGradSV[T], 1)
	binary("RsqrtGrad", vec.RsqrtGradVV[T], vec.RsqrtGradVS[T], vec.RsqrtGradSV[T], 1)
	binary("ReluGrad", vec.ReluGradVV[T], vec.ReluGradVS[T], vec.ReluGradSV[T], 0.2)
	unary("Neg", vec.Neg[T], 0.3)
	unary("Abs", vec.AbsFloat[T], 0.5)
	unary("Square", vec.Square[T], 0.3)
	unary("Sqrt", vec.Sqrt[T], 1)
	unary("Rsqrt", vec.Rsqrt[T], 1.5)
	unary("Reciprocal", vec.Reciprocal[T], 0.5)
	unary("Inv", vec.Reciprocal[T], 0.5)
	unary("Exp", vec.Exp[T], 3)
	unary("Expm1", vec.Expm1[T], 4)
	unary("Log", vec.Log[T], 3)
	unary("Log1p", vec.Log1p[T], 4)
	unary("Sin", vec.Sin[T], 8)
	unary("Cos", vec.Cos[T], 8)
	unary("Tanh", vec.Tanh[T], 3)
	unary("Erf", vec.Erf[T], 3)
	unary("Erfc", vec.Erfc[T], 4)
	unary("Sigmoid", vec.Sigmoid[T], 3)
	unary("Softplus", vec.Softplus[T], 6)
	unary("Softsign", vec.Softsign[T], 0.7)
	unary("Elu", vec.Elu[T], 3)
	unary("Selu", vec.Selu[T], 3)
	unary("Relu", vec.Relu[T], 0.1)
	unary("Relu6", relu6Of[T], 0.6)
	return loops
}

// fastLoops returns the loops of float32 for chains with [passes.FastAttr].
func fastLoops() map[string]chainLoop[float32] {
	loops := chainLoops[float32]()
	for op, f := range map[string]func(dst, x []float32){
		"Exp": vec.FastExp, "Sigmoid": vec.FastSigmoid, "Tanh": vec.FastTanh, "Erf": vec.FastErf,
	} {
		loops[op] = chainLoop[float32]{unary: f, ns: 0.3}
	}
	return loops
}

var (
	chains32 = chainLoops[float32]()
	quick32  = fastLoops()
	chains64 = chainLoops[float64]()
)
