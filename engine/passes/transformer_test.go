package passes_test

import (
	"math"
	"testing"

	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// number returns a constant float32.
func (n *network) number(x float64) graph.Output { return n.Value(tensor.Scalar(float32(x))) }

func (n *network) einsum(equation string, a, b graph.Output) graph.Output {
	return n.inferred("Einsum", graph.Attrs{graph.String("equation", equation)}, a, b).Output(0)
}

func (n *network) reshape(x graph.Output, dims ...int32) graph.Output {
	return n.do("Reshape", x, n.Value(tensor.Vector(dims...)))
}

func (n *network) lastMean(x graph.Output, axis int32) graph.Output {
	return n.inferred("Mean", graph.Attrs{graph.Bool("keep_dims", true)}, x, n.Value(tensor.Vector(axis))).Output(0)
}

// TestPassesOfTransformers compares the ops and results of pieces of
// transformers, as several libraries write them, with and without the passes.
func TestPassesOfTransformers(t *testing.T) {
	const d, heads = 24, 4
	dims := []int{2, 5, d}
	split := func(n *network, x graph.Output) graph.Output {
		y := n.einsum("abc,cde->abde", x, n.weight(-1, 1, d, heads, d/heads))
		return n.do("AddV2", y, n.weight(-1, 1, heads, d/heads))
	}
	gelu := func(n *network, inner, sum func(x graph.Output) graph.Output) func(x graph.Output) graph.Output {
		return func(x graph.Output) graph.Output { return n.do("Mul", n.do("Mul", n.number(.5), x), sum(inner(x))) }
	}
	dense := func(n *network, x graph.Output, out int) graph.Output {
		y := n.do("MatMul", n.reshape(x, -1, d), n.weight(-1, 1, d, out))
		return n.do("BiasAdd", n.reshape(y, 2, 5, int32(out)), n.weight(-1, 1, out))
	}
	comparePasses(t, []passCase{
		{"heads with a bias and a scale", dims, func(n *network) graph.Output {
			return n.do("Mul", split(n, n.x), n.number(.3))
		}, 3, map[string]int{"_FusedMatMul": 1, "AddV2": 0, "Einsum": 0}},
		{"the scale of scores", dims, func(n *network) graph.Output {
			q, k := split(n, n.x), split(n, n.do("Tanh", n.x))
			return n.do("RealDiv", n.einsum("aecd,abcd->acbe", k, q), n.number(math.Sqrt(6)))
		}, 8, map[string]int{"_FusedMatMul": 2, "Einsum": 1, "RealDiv": 0}},
		{"the scale of scores that others see", dims, func(n *network) graph.Output {
			q := split(n, n.x)
			s := n.einsum("aecd,abcd->acbe", q, q)
			return n.do("Sub", n.do("Mul", s, n.number(.5)), n.do("Abs", s))
		}, 5, map[string]int{"_FusedMatMul": 1, "Einsum": 1, passes.ElementwiseOp: 1}},
		{"heads joined, a bias and a residual", dims, func(n *network) graph.Output {
			y := n.einsum("abcd,cde->abe", split(n, n.x), n.weight(-1, 1, heads, d/heads, d))
			return n.do("AddV2", n.x, n.do("AddV2", y, n.weight(-1, 1, d)))
		}, 6, map[string]int{"_FusedMatMul": 2, "AddV2": 0}},
		{"an einsum with an ellipsis, the weights transposed", dims, func(n *network) graph.Output {
			return n.do("AddV2", n.einsum("...x,yx->...y", n.x, n.weight(-1, 1, 7, d)), n.weight(-1, 1, 7))
		}, 5, map[string]int{"_FusedMatMul": 1}},
		{"an einsum that is no product of two matrices", dims, func(n *network) graph.Output {
			return n.einsum("abc,cde->adbe", n.x, n.weight(-1, 1, d, heads, d/heads))
		}, 2, map[string]int{"MatMul": 0, "Einsum": 1}},
		{"a batched product with one matrix", dims, func(n *network) graph.Output {
			y := n.inferred("BatchMatMulV2", graph.Attrs{graph.Bool("adj_y", true)}, n.x, n.weight(-1, 1, 9, d)).Output(0)
			return n.do("Relu", n.do("AddV2", y, n.weight(-1, 1, 9)))
		}, 5, map[string]int{"_FusedMatMul": 1, "BatchMatMulV2": 0}},
		{"a bias of another dimension", dims, func(n *network) graph.Output {
			return n.do("AddV2", n.einsum("abc,cde->abde", n.x, n.weight(-1, 1, d, d, 1)), n.weight(-1, 1, d))
		}, 5, map[string]int{"_FusedMatMul": 0, "AddV2": 1}},
		{"gelu by erfc", dims, func(n *network) graph.Output {
			return gelu(n, func(x graph.Output) graph.Output { return n.do("Mul", n.do("Neg", x), n.number(math.Sqrt2/2)) },
				func(x graph.Output) graph.Output { return n.do("Erfc", x) })(dense(n, n.x, 10))
		}, 5, map[string]int{"_FusedMatMul": 1, "Erfc": 0, passes.ElementwiseOp: 0}},
		{"gelu by erf", dims, func(n *network) graph.Output {
			x := n.do("Sinh", n.x)
			e := n.do("Erf", n.do("RealDiv", x, n.number(math.Sqrt2)))
			return n.do("Mul", x, n.do("Mul", n.number(.5), n.do("AddV2", n.number(1), e)))
		}, 2, map[string]int{passes.GeluOp: 1, "Erf": 0}},
		{"gelu by tanh", dims, func(n *network) graph.Output {
			return gelu(n, func(x graph.Output) graph.Output {
				return n.do("Mul", n.number(.7978845608), n.do("AddV2", x, n.do("Mul", n.number(.044715), n.do("Pow", x, n.number(3)))))
			}, func(x graph.Output) graph.Output { return n.do("AddV2", n.number(1), n.do("Tanh", x)) })(dense(n, n.x, 10))
		}, 5, map[string]int{"_FusedMatMul": 1, "Tanh": 0, "Pow": 0}},
		{"no gelu, another number", dims, func(n *network) graph.Output {
			x := n.do("Sinh", n.x)
			e := n.do("Erf", n.do("Mul", x, n.number(.8)))
			return n.do("Mul", x, n.do("Mul", n.number(.5), n.do("AddV2", n.number(1), e)))
		}, 2, map[string]int{passes.GeluOp: 0, passes.ElementwiseOp: 1}},
		{"layer norm by factors", dims, func(n *network) graph.Output {
			m := n.lastMean(n.x, 2)
			v := n.lastMean(n.do("SquaredDifference", n.x, n.do("StopGradient", m)), 2)
			f := n.do("Mul", n.do("Rsqrt", n.do("AddV2", v, n.number(1e-6))), n.weight(.5, 2, d))
			return n.do("AddV2", n.do("Mul", n.x, f), n.do("Sub", n.weight(-1, 1, d), n.do("Mul", m, f)))
		}, 3, map[string]int{passes.LayerNormOp: 1, "Mean": 0}},
		{"layer norm by differences", dims, func(n *network) graph.Output {
			diff := n.do("Sub", n.x, n.lastMean(n.x, -1))
			root := n.do("Sqrt", n.do("AddV2", n.number(1e-5), n.lastMean(n.do("Square", diff), -1)))
			return n.do("AddV2", n.do("Mul", n.weight(.5, 2, d), n.do("RealDiv", diff, root)), n.weight(-1, 1, 1, 1, d))
		}, 2, map[string]int{passes.LayerNormOp: 1, "Mean": 0}},
		{"layer norm without factors", dims, func(n *network) graph.Output {
			diff := n.do("Sub", n.x, n.lastMean(n.x, -1))
			return n.do("Mul", diff, n.do("Rsqrt", n.do("AddV2", n.lastMean(n.do("Mul", diff, diff), -1), n.number(1e-5))))
		}, 1, map[string]int{passes.LayerNormOp: 1}},
		{"layer norm by channels", dims, func(n *network) graph.Output {
			none := n.Value(tensor.Must(tensor.Zeros(tensor.Float32, 0)))
			fill := func(x float64) graph.Output { return n.do("Fill", n.Value(tensor.Vector[int32](10)), n.number(x)) }
			y := n.inferred("FusedBatchNormV3", graph.Attrs{graph.Bool("is_training", true), graph.Float("epsilon", 1e-3), graph.String("data_format", "NCHW")},
				n.reshape(n.reshape(n.x, 2, 5, d), 1, 10, d, 1), fill(1), fill(0), none, none).Output(0)
			return n.do("AddV2", n.do("Mul", n.reshape(y, 2, 5, d), n.weight(.5, 2, d)), n.weight(-1, 1, d))
		}, 4, map[string]int{passes.LayerNormOp: 1, "FusedBatchNormV3": 0}},
		{"moments of another dimension", dims, func(n *network) graph.Output {
			diff := n.do("Sub", n.x, n.lastMean(n.x, 1))
			return n.do("Mul", diff, n.do("Rsqrt", n.do("AddV2", n.lastMean(n.do("Square", diff), 1), n.number(1e-5))))
		}, 6, map[string]int{passes.LayerNormOp: 0, "Mean": 2}},
		{"softmax and tanh", []int{3, 70}, func(n *network) graph.Output {
			return n.do("Tanh", n.do("Softmax", n.do("Mul", n.x, n.do("Sigmoid", n.x))))
		}, 3, map[string]int{"Softmax": 1}},
	})
}
