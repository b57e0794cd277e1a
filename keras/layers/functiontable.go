package layers

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The functions that [TFOpLambda] and [SlicingOpLambda] call. Names and parameters are TensorFlow's,
// in its order, and configs contain them. Each function computes the values of TensorFlow's Python
// function, mostly by the same ops; keras/oplayers.go has the names for the ops. A setting that isn't
// supported is an error.

func one(v *ops.Value) []*ops.Value { return []*ops.Value{v} }

// tf describes a function with one result. A first parameter in brackets is a list.
func tf(params string, f func(s *ops.Scope, a *functionArgs) *ops.Value) tensorFlowFunction {
	return tfAll(params, func(s *ops.Scope, a *functionArgs) []*ops.Value { return one(f(s, a)) })
}

func tfAll(params string, f func(s *ops.Scope, a *functionArgs) []*ops.Value) tensorFlowFunction {
	list := strings.HasPrefix(params, "[")
	return tensorFlowFunction{params: strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(params)), list: list, call: f}
}

func unary(param string, f func(s *ops.Scope, x ops.Input) *ops.Value) tensorFlowFunction {
	return tf(param, func(s *ops.Scope, a *functionArgs) *ops.Value { return f(s, a.tensor(param)) })
}

// binary describes a function of two tensors, of which one may be a number that takes the
// other's type.
func binary(x, y string, f func(s *ops.Scope, x, y ops.Input) *ops.Value) tensorFlowFunction {
	return tf(x+" "+y, func(s *ops.Scope, a *functionArgs) *ops.Value { return f(s, a.tensor(x), a.tensor(y)) })
}

type reducer = func(s *ops.Scope, x ops.Input, axes ...int) *ops.Value

func reduction(f, keep reducer) tensorFlowFunction {
	return tf("input_tensor axis keepdims", func(s *ops.Scope, a *functionArgs) *ops.Value {
		x := ops.Const(s, a.tensor("input_tensor"))
		axes, none := a.axes("axis")
		switch {
		case none:
			return ops.Identity(s, x)
		case !a.flag("keepdims", false):
			return f(s, x, axes...)
		case keep != nil:
			return keep(s, x, axes...)
		}
		return keepDims(s, x, f(s, x, axes...), axes)
	})
}

// keepDims inserts dimensions of size 1 in place of the reduced axes of x.
func keepDims(s *ops.Scope, x, y *ops.Value, axes []int) *ops.Value {
	rank := x.Fact().Shape.Rank()
	if rank < 0 {
		return s.Fail("Reduce", fmt.Errorf("the input's rank isn't known, so that keepdims can't be computed"))
	}
	reduced := make([]bool, rank)
	for _, axis := range axes {
		if axis < 0 {
			axis += rank
		}
		if axis >= 0 && axis < rank {
			reduced[axis] = true
		}
	}
	for axis := range rank {
		if reduced[axis] || axes == nil {
			y = ops.ExpandDims(s, y, axis)
		}
	}
	return y
}

// variance describes the variance of a tensor, or its root.
func variance(root bool) tensorFlowFunction {
	return tf("input_tensor axis keepdims", func(s *ops.Scope, a *functionArgs) *ops.Value {
		x := ops.Const(s, a.tensor("input_tensor"))
		axes, none := a.axes("axis")
		if none {
			return ops.ZerosLike(s, x)
		}
		y := ops.MeanKeep(s, ops.Square(s, ops.Sub(s, x, ops.MeanKeep(s, x, axes...))), axes...)
		if root {
			y = ops.Sqrt(s, y)
		}
		if a.flag("keepdims", false) {
			return y
		}
		return ops.Squeeze(s, y, allAxes(x, axes)...)
	})
}

// allAxes returns axes, or all axes of x if it is nil.
func allAxes(x *ops.Value, axes []int) []int {
	if axes != nil {
		return axes
	}
	for axis := range max(0, x.Fact().Shape.Rank()) {
		axes = append(axes, axis)
	}
	return axes
}

// along describes a function with an argument "axis". f is the function over the last axis; for
// another axis, that axis and the last one are exchanged before and after.
func along(param string, f func(s *ops.Scope, x ops.Input) *ops.Value) tensorFlowFunction {
	return tf(param+" axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
		x := ops.Const(s, a.tensor(param))
		axis, rank := a.integer("axis", -1), x.Fact().Shape.Rank()
		if axis == -1 || rank > 0 && axis == rank-1 {
			return f(s, x)
		}
		if rank < 0 {
			return s.Fail("tf."+a.function, fmt.Errorf("the input's rank isn't known (got the axis %d, want -1)", axis))
		}
		if axis < -rank || axis >= rank {
			return s.Fail("tf."+a.function, fmt.Errorf("there is no axis %d in a tensor of %d dimensions", axis, rank))
		}
		if axis < 0 {
			axis += rank
		}
		perm := make([]int, rank)
		for i := range perm {
			perm[i] = i
		}
		perm[axis], perm[rank-1] = rank-1, axis
		return ops.Transpose(s, f(s, ops.Transpose(s, x, perm...)), perm...)
	})
}

func logSigmoid(s *ops.Scope, x ops.Input) *ops.Value {
	return ops.Neg(s, ops.Softplus(s, ops.Neg(s, x)))
}

func logicalXor(s *ops.Scope, x, y ops.Input) *ops.Value { return ops.NotEqual(s, x, y) }

func argOf(f func(s *ops.Scope, x ops.Input, axis int) *ops.Value) tensorFlowFunction {
	return tf("input axis output_type", func(s *ops.Scope, a *functionArgs) *ops.Value {
		y := f(s, a.tensor("input"), a.integer("axis", 0))
		if d := a.dtype("output_type", tensor.Int64); d != tensor.Int64 {
			return ops.Cast(s, y, d)
		}
		return y
	})
}

func cumulative(f func(s *ops.Scope, x ops.Input, axis int, o ...*ops.CumulativeOptions) *ops.Value) tensorFlowFunction {
	return tf("x axis exclusive reverse", func(s *ops.Scope, a *functionArgs) *ops.Value {
		return f(s, a.tensor("x"), a.integer("axis", 0), &ops.CumulativeOptions{Exclusive: a.flag("exclusive", false), Reverse: a.flag("reverse", false)})
	})
}

// tensorFlowFunctions returns the known functions, by their names below tf. The table is made at
// the first call.
var tensorFlowFunctions = sync.OnceValue(func() map[string]tensorFlowFunction {
	return map[string]tensorFlowFunction{
		"math.abs": unary("x", ops.Abs), "math.acos": unary("x", ops.Acos), "math.acosh": unary("x", ops.Acosh),
		"math.asin": unary("x", ops.Asin), "math.asinh": unary("x", ops.Asinh), "math.atan": unary("x", ops.Atan),
		"math.atanh": unary("x", ops.Atanh), "math.ceil": unary("x", ops.Ceil), "math.conj": unary("x", ops.Conj),
		"math.cos": unary("x", ops.Cos), "math.cosh": unary("x", ops.Cosh), "math.digamma": unary("x", ops.Digamma),
		"math.erf": unary("x", ops.Erf), "math.erfc": unary("x", ops.Erfc), "math.exp": unary("x", ops.Exp),
		"math.expm1": unary("x", ops.Expm1), "math.floor": unary("x", ops.Floor), "math.is_finite": unary("x", ops.IsFinite),
		"math.is_inf": unary("x", ops.IsInf), "math.is_nan": unary("x", ops.IsNaN), "math.lgamma": unary("x", ops.Lgamma),
		"math.log": unary("x", ops.Log), "math.log1p": unary("x", ops.Log1p), "math.log_sigmoid": unary("x", logSigmoid),
		"math.logical_not": unary("x", ops.Not), "math.negative": unary("x", ops.Neg), "math.reciprocal": unary("x", ops.Reciprocal),
		"math.rint": unary("x", ops.Round), "math.round": unary("x", ops.Round), "math.rsqrt": unary("x", ops.Rsqrt),
		"math.sigmoid": unary("x", ops.Sigmoid), "math.sign": unary("x", ops.Sign), "math.sin": unary("x", ops.Sin),
		"math.sinh": unary("x", ops.Sinh), "math.softplus": unary("features", ops.Softplus), "math.sqrt": unary("x", ops.Sqrt),
		"math.square": unary("x", ops.Square), "math.tan": unary("x", ops.Tan), "math.tanh": unary("x", ops.Tanh),

		"__operators__.add": binary("x", "y", ops.Add), "math.add": binary("x", "y", ops.Add), "math.subtract": binary("x", "y", ops.Sub),
		"math.multiply": binary("x", "y", ops.Mul), "math.divide": binary("x", "y", ops.Div), "math.truediv": binary("x", "y", ops.Div),
		"math.floordiv": binary("x", "y", ops.FloorDiv), "math.floormod": binary("x", "y", ops.Mod), "math.mod": binary("x", "y", ops.Mod),
		"math.pow": binary("x", "y", ops.Pow), "math.maximum": binary("x", "y", ops.Maximum), "math.minimum": binary("x", "y", ops.Minimum),
		"math.squared_difference": binary("x", "y", ops.SquaredDifference), "math.atan2": binary("y", "x", ops.Atan2),
		"math.divide_no_nan": binary("x", "y", ops.DivNoNan), "math.multiply_no_nan": binary("x", "y", ops.MulNoNan),
		"math.xlogy": binary("x", "y", ops.Xlogy), "math.equal": binary("x", "y", ops.Equal), "math.not_equal": binary("x", "y", ops.NotEqual),
		"math.greater": binary("x", "y", ops.Greater), "math.greater_equal": binary("x", "y", ops.GreaterEqual),
		"math.less": binary("x", "y", ops.Less), "math.less_equal": binary("x", "y", ops.LessEqual),
		"math.logical_and": binary("x", "y", ops.And), "math.logical_or": binary("x", "y", ops.Or), "math.logical_xor": binary("x", "y", logicalXor),
		"__operators__.eq": binary("self", "other", ops.Equal), "__operators__.ne": binary("self", "other", ops.NotEqual),

		"math.reduce_sum": reduction(ops.Sum, ops.SumKeep), "math.reduce_mean": reduction(ops.Mean, ops.MeanKeep),
		"math.reduce_max": reduction(ops.Max, ops.MaxKeep), "math.reduce_min": reduction(ops.Min, ops.MinKeep),
		"math.reduce_prod": reduction(ops.Prod, ops.ProdKeep), "math.reduce_all": reduction(ops.All, nil),
		"math.reduce_any": reduction(ops.Any, nil), "math.reduce_logsumexp": reduction(ops.LogSumExp, nil),
		"math.reduce_variance": variance(false), "math.reduce_std": variance(true),
		"math.argmax": argOf(ops.ArgMax), "math.argmin": argOf(ops.ArgMin),
		"math.cumsum": cumulative(ops.CumSum), "math.cumprod": cumulative(ops.CumProd),
		"math.add_n": tf("[inputs]", func(s *ops.Scope, a *functionArgs) *ops.Value { return ops.AddN(s, a.tensors("inputs")) }),
		"math.l2_normalize": tf("x axis epsilon", func(s *ops.Scope, a *functionArgs) *ops.Value {
			axes, _ := a.axes("axis")
			return ops.L2Normalize(s, a.tensor("x"), a.number("epsilon", 1e-12), axes...)
		}),
		"math.top_k": tfAll("input k sorted index_type", func(s *ops.Scope, a *functionArgs) []*ops.Value {
			a.only("sorted", true)
			a.only("index_type", "int32")
			values, indices := ops.TopK(s, a.tensor("input"), a.integer("k", 1))
			return []*ops.Value{values, indices}
		}),

		"nn.relu": unary("features", ops.Relu), "nn.relu6": unary("features", ops.Relu6), "nn.elu": unary("features", ops.Elu),
		"nn.selu": unary("features", ops.Selu), "nn.softsign": unary("features", ops.Softsign), "nn.l2_loss": unary("t", ops.L2Loss),
		"nn.softmax": along("logits", ops.Softmax), "nn.log_softmax": along("logits", ops.LogSoftmax),
		"nn.bias_add": binary("value", "bias", ops.BiasAdd),
		"nn.gelu": tf("features approximate", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if a.flag("approximate", false) {
				return ops.GeluTanh(s, a.tensor("features"))
			}
			return ops.Gelu(s, a.tensor("features"))
		}),
		"nn.silu": tf("features beta", func(s *ops.Scope, a *functionArgs) *ops.Value {
			x := ops.Const(s, a.tensor("features"))
			if beta := a.number("beta", 1); beta != 1 {
				return ops.Mul(s, x, ops.Sigmoid(s, ops.Mul(s, x, beta)))
			}
			return ops.Swish(s, x)
		}),
		"nn.leaky_relu": tf("features alpha", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.LeakyRelu(s, a.tensor("features"), a.number("alpha", 0.2))
		}),

		"identity": unary("input", ops.Identity), "stop_gradient": unary("input", ops.StopGradient), "rank": unary("input", ops.Rank),
		"cast": tf("x dtype", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if !a.given("dtype") {
				a.fail("dtype", "it is not given, want the name of a type")
			}
			return ops.Cast(s, a.tensor("x"), a.dtype("dtype", tensor.Float32))
		}),
		"zeros_like": like(ops.ZerosLike), "ones_like": like(ops.OnesLike),
		"shape": sizes(ops.Shape), "size": sizes(ops.Size),
		"clip_by_value": tf("t clip_value_min clip_value_max", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.Clip(s, a.tensor("t"), a.tensor("clip_value_min"), a.tensor("clip_value_max"))
		}),
		"where": tf("condition x y", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if !a.given("x") && !a.given("y") {
				return ops.WhereIndices(s, a.tensor("condition"))
			}
			return ops.Where(s, a.tensor("condition"), a.tensor("x"), a.tensor("y"))
		}),

		"reshape": tf("tensor shape", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if dims, ok := a.integers("shape"); ok {
				return ops.Reshape(s, a.tensor("tensor"), dims...)
			}
			return ops.ReshapeTo(s, a.tensor("tensor"), a.tensor("shape"))
		}),
		"broadcast_to": tf("input shape", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if dims, ok := a.integers("shape"); ok {
				return ops.BroadcastTo(s, a.tensor("input"), dims...)
			}
			return ops.BroadcastToShape(s, a.tensor("input"), a.tensor("shape"))
		}),
		"fill": tf("dims value", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.FillTo(s, a.tensor("value"), a.tensor("dims"))
		}),
		"transpose": tf("a perm conjugate", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("conjugate", false)
			perm, ok := a.integers("perm")
			if a.given("perm") && !ok {
				a.fail("perm", "got %v, want integers", a.values["perm"])
			}
			return ops.Transpose(s, a.tensor("a"), perm...)
		}),
		"expand_dims": tf("input axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if !a.given("axis") {
				a.fail("axis", "is missing")
			}
			return ops.ExpandDims(s, a.tensor("input"), a.integer("axis", 0))
		}),
		"squeeze": tf("input axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			axes, _ := a.axes("axis")
			return ops.Squeeze(s, a.tensor("input"), axes...)
		}),
		"concat": tf("[values] axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if !a.given("axis") {
				a.fail("axis", "is missing")
			}
			return ops.Concat(s, a.tensors("values"), a.integer("axis", 0))
		}),
		"stack": tf("[values] axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.Stack(s, a.tensors("values"), a.integer("axis", 0))
		}),
		"unstack": tfAll("value num axis", func(s *ops.Scope, a *functionArgs) []*ops.Value {
			x := ops.Const(s, a.tensor("value"))
			axis := a.integer("axis", 0)
			n := a.integer("num", 0)
			if shape := x.Shape(); n == 0 && axis >= -len(shape) && axis < len(shape) {
				if n = shape[(axis+len(shape))%len(shape)]; n < 0 {
					a.fail("num", "is missing, and the size of the axis %d isn't known", axis)
					return nil
				}
			}
			return ops.Unstack(s, x, n, axis)
		}),
		"split": tfAll("value num_or_size_splits axis num", func(s *ops.Scope, a *functionArgs) []*ops.Value {
			axis := a.integer("axis", 0)
			if n, ok := plainNumber(a.values["num_or_size_splits"]).(int); ok {
				return ops.Split(s, a.tensor("value"), n, axis)
			}
			list, ok := a.integers("num_or_size_splits")
			if !ok {
				a.fail("num_or_size_splits", "got %v, want integers", a.values["num_or_size_splits"])
				return nil
			}
			return ops.SplitSizes(s, a.tensor("value"), list, axis)
		}),
		"tile": tf("input multiples", func(s *ops.Scope, a *functionArgs) *ops.Value {
			if n, ok := a.integers("multiples"); ok {
				return ops.Tile(s, a.tensor("input"), n...)
			}
			return ops.TileBy(s, a.tensor("input"), a.tensor("multiples"))
		}),
		"repeat": tf("input repeats axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			x := ops.Const(s, a.tensor("input"))
			n, rank := a.integer("repeats", 1), x.Fact().Shape.Rank()
			if !a.given("axis") {
				x, rank = ops.Reshape(s, x, -1), 1
			}
			axis := a.integer("axis", 0)
			if axis < 0 {
				axis += rank
			}
			if n < 0 || rank < 1 || axis < 0 || axis >= rank {
				return s.Fail("Repeat", fmt.Errorf("got %d repeats along the axis %d of %d dimensions", n, axis, rank))
			}
			multiples := make([]int, rank+1)
			for i := range multiples {
				multiples[i] = 1
			}
			multiples[axis+1] = n
			tiled := ops.Tile(s, ops.ExpandDims(s, x, axis+1), multiples...)
			sizes := ops.Shape(s, x)
			parts := []ops.Input{ops.StridedSlice(s, sizes, ops.Span(0, axis)),
				ops.Mul(s, ops.StridedSlice(s, sizes, ops.Span(axis, axis+1)), n), ops.StridedSlice(s, sizes, ops.From(axis+1))}
			return ops.ReshapeTo(s, tiled, ops.Concat(s, parts, 0))
		}),
		"pad": tf("tensor paddings mode constant_values", func(s *ops.Scope, a *functionArgs) *ops.Value {
			switch mode := strings.ToUpper(a.text("mode", "CONSTANT")); mode {
			case "CONSTANT":
				if !a.given("constant_values") {
					return ops.PadBy(s, a.tensor("tensor"), ops.ConstOf(s, tensor.Int32, a.matrix("paddings")))
				}
				return ops.PadWithBy(s, a.tensor("tensor"), a.tensor("constant_values"), ops.ConstOf(s, tensor.Int32, a.matrix("paddings")))
			case "REFLECT", "SYMMETRIC":
				var pairs [][2]int
				for _, p := range a.matrix("paddings") {
					if len(p) == 2 {
						pairs = append(pairs, [2]int{p[0], p[1]})
					}
				}
				return ops.MirrorPad(s, a.tensor("tensor"), ops.MirrorMode(mode), pairs...)
			default:
				a.fail("mode", "got %q, want CONSTANT, REFLECT or SYMMETRIC", mode)
				return nil
			}
		}),
		"gather": tf("params indices validate_indices axis batch_dims", func(s *ops.Scope, a *functionArgs) *ops.Value {
			batch := a.integer("batch_dims", 0)
			return ops.GatherBatch(s, a.tensor("params"), a.tensor("indices"), a.integer("axis", batch), batch)
		}),
		"gather_nd": tf("params indices batch_dims", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("batch_dims", 0)
			return ops.GatherND(s, a.tensor("params"), a.tensor("indices"))
		}),
		"one_hot": tf("indices depth on_value off_value axis dtype", func(s *ops.Scope, a *functionArgs) *ops.Value {
			o := &ops.OneHotOptions{}
			if a.given("axis") {
				o.Axis = new(a.integer("axis", -1))
			}
			if a.given("on_value") {
				o.On = a.tensor("on_value")
			}
			if a.given("off_value") {
				o.Off = a.tensor("off_value")
			}
			return ops.OneHotOf(s, a.tensor("indices"), a.tensor("depth"), a.dtype("dtype", tensor.Float32), o)
		}),
		"reverse": tf("tensor axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			axes, _ := a.axes("axis")
			return ops.Reverse(s, a.tensor("tensor"), axes...)
		}),
		"slice": tf("input_ begin size", func(s *ops.Scope, a *functionArgs) *ops.Value {
			begin, ok := a.integers("begin")
			size, ok2 := a.integers("size")
			if !ok || !ok2 {
				a.fail("begin", "got %v and %v, want lists of integers", a.values["begin"], a.values["size"])
			}
			return ops.SliceOf(s, a.tensor("input_"), begin, size)
		}),
		"linalg.matmul": tf("a b transpose_a transpose_b adjoint_a adjoint_b a_is_sparse b_is_sparse output_type", func(s *ops.Scope, a *functionArgs) *ops.Value {
			for _, name := range []string{"adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse"} {
				a.only(name, false)
			}
			a.only("output_type")
			return ops.MatMul(s, a.tensor("a"), a.tensor("b"), &ops.MatMulOptions{TransposeA: a.flag("transpose_a", false), TransposeB: a.flag("transpose_b", false)})
		}),
		"linalg.matvec": tf("a b transpose_a", func(s *ops.Scope, a *functionArgs) *ops.Value {
			y := ops.MatMul(s, a.tensor("a"), ops.ExpandDims(s, a.tensor("b"), -1), &ops.MatMulOptions{TransposeA: a.flag("transpose_a", false)})
			return ops.Squeeze(s, y, -1)
		}),
		"image.resize": tf("images size method preserve_aspect_ratio antialias", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("preserve_aspect_ratio", false)
			a.only("antialias", false)
			method, ok := map[string]ops.ResizeMethod{"bilinear": ops.Bilinear, "nearest": ops.Nearest, "bicubic": ops.Bicubic, "area": ops.Area}[a.text("method", "bilinear")]
			if !ok {
				a.fail("method", "got %v, want bilinear, nearest, bicubic or area", a.values["method"])
			}
			return ops.ResizeTo(s, a.tensor("images"), ops.ConstOf(s, tensor.Int32, a.tensor("size")), &ops.ResizeOptions{Method: method})
		}),
		"__operators__.getitem": tf("tensor slice_spec var", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.StridedSlice(s, a.tensor("tensor"), a.slices("slice_spec")...)
		}),
	}
})

func like(f func(s *ops.Scope, x ops.Input) *ops.Value) tensorFlowFunction {
	return tf("input dtype", func(s *ops.Scope, a *functionArgs) *ops.Value {
		x := ops.Const(s, a.tensor("input"))
		if d := a.dtype("dtype", x.DType()); d != x.DType() {
			x = ops.Cast(s, x, d)
		}
		return f(s, x)
	})
}

func sizes(f func(s *ops.Scope, x ops.Input) *ops.Value) tensorFlowFunction {
	return tf("input out_type", func(s *ops.Scope, a *functionArgs) *ops.Value {
		y := f(s, a.tensor("input"))
		if d := a.dtype("out_type", tensor.Int32); d != tensor.Int32 {
			return ops.Cast(s, y, d)
		}
		return y
	})
}

// matrix returns a list of lists of integers.
func (a *functionArgs) matrix(name string) [][]int {
	rows, ok := plainNumber(a.values[name]).([]any)
	out := make([][]int, len(rows))
	for i, row := range rows {
		sub := &functionArgs{s: a.s, values: map[string]any{name: row}}
		var isRow bool
		out[i], isRow = sub.integers(name)
		ok = ok && isRow
	}
	if !ok {
		a.fail(name, "got %v, want lists of integers", a.values[name])
	}
	return out
}

// slices returns the terms of a slice.
func (a *functionArgs) slices(name string) []ops.Index {
	v := plainNumber(a.values[name])
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var terms []ops.Index
	for _, x := range list {
		switch x := plainNumber(x).(type) {
		case nil:
			terms = append(terms, ops.NewAxis())
		case int:
			terms = append(terms, ops.At(x))
		case string:
			terms = append(terms, ops.Ellipsis())
		case map[string]any:
			sub := &functionArgs{s: a.s, function: a.function, values: x}
			var term ops.Index
			switch start, stop := sub.integer("start", 0), sub.integer("stop", 0); {
			case sub.given("start") && sub.given("stop"):
				term = ops.Span(start, stop)
			case sub.given("start"):
				term = ops.From(start)
			case sub.given("stop"):
				term = ops.To(stop)
			default:
				term = ops.Whole()
			}
			if sub.given("step") {
				term = term.Step(sub.integer("step", 1))
			}
			terms = append(terms, term)
		default:
			a.fail(name, "got %v, want integers, null, \"...\" or objects with start, stop and step", x)
		}
	}
	return terms
}
