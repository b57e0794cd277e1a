package layers

import (
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// furtherFunctions are known functions of fewer uses, by their names below tf; see tensorFlowFunctions.
var furtherFunctions = sync.OnceValue(func() map[string]tensorFlowFunction {
	return map[string]tensorFlowFunction{
		"floor_div": binary("x", "y", ops.FloorDiv), "linalg.cross": binary("a", "b", ops.Cross), "math.zero_fraction": unary("value", zeroFraction),
		"keras.backend.batch_flatten": unary("x", func(s *ops.Scope, x ops.Input) *ops.Value { return new(Flatten).Compute(s, ops.Const(s, x)) }),
		"linalg.band_part": tf("input num_lower num_upper", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return ops.BandPart(s, a.tensor("input"), a.integer("num_lower", 0), a.integer("num_upper", 0))
		}),
		"linalg.diag_part": tf("input k padding_value align", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("k", 0)
			a.only("align", "RIGHT_LEFT")
			return raw.MatrixDiagPart(s, a.tensor("input"))
		}),
		"linalg.trace": unary("x", func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Sum(s, raw.MatrixDiagPart(s, x), -1) }),
		"math.count_nonzero": tf("input axis keepdims dtype", func(s *ops.Scope, a *functionArgs) *ops.Value {
			x := ops.Const(s, a.tensor("input"))
			zero := ops.Input(tensor.Scalar(""))
			if x.DType() != tensor.String {
				zero = ops.ZerosLike(s, x)
			}
			y := ops.Cast(s, ops.NotEqual(s, x, zero), tensor.Int64)
			axes, none := a.axes("axis")
			switch {
			case none:
			case a.flag("keepdims", false):
				y = ops.SumKeep(s, y, axes...)
			default:
				y = ops.Sum(s, y, axes...)
			}
			return ops.Cast(s, y, a.dtype("dtype", tensor.Int64))
		}),
		"norm": norm(), "linalg.norm": norm(),
		"nn.max_pool1d": pool1D(ops.MaxPool), "nn.avg_pool1d": pool1D(ops.AvgPool), "nn.max_pool2d": pool2D(ops.MaxPool), "nn.avg_pool2d": pool2D(ops.AvgPool),
		"nn.conv1d": tf("input filters stride padding use_cudnn_on_gpu data_format value dilations", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("data_format", "NWC")
			w := ops.ExpandDims(s, floats(a, "filters"), 0)
			y := ops.Conv2D(s, ops.ExpandDims(s, a.tensor("input"), 1), w, &ops.WindowOptions{
				Strides: []int{1, a.integer("stride", 1)}, Dilations: []int{1, a.integer("dilations", 1)}, Padding: padding(a)})
			return ops.Squeeze(s, y, 1)
		}),
		"nn.conv2d": tf("input filters filter strides padding use_cudnn_on_gpu data_format dilations", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("data_format", "NHWC")
			filters := "filters"
			if a.given("filter") { // TensorFlow 1's name
				filters = "filter"
			}
			return ops.Conv2D(s, a.tensor("input"), floats(a, filters), &ops.WindowOptions{Strides: windowSizes(a, "strides"), Dilations: windowSizes(a, "dilations"), Padding: padding(a)})
		}),
		"nn.moments": tfAll("x axes shift keepdims", func(s *ops.Scope, a *functionArgs) []*ops.Value {
			axes, _ := a.axes("axes")
			moments := ops.Moments
			if a.flag("keepdims", false) {
				moments = ops.MomentsKeep
			}
			mean, variance := moments(s, a.tensor("x"), axes...)
			return []*ops.Value{mean, variance}
		}),
		"roll": tf("input shift axis", func(s *ops.Scope, a *functionArgs) *ops.Value {
			return raw.Roll(s, a.tensor("input"), ops.ConstOf(s, tensor.Int32, a.tensor("shift")), ops.ConstOf(s, tensor.Int32, a.tensor("axis")))
		}),
		"sequence_mask": tf("lengths maxlen dtype", func(s *ops.Scope, a *functionArgs) *ops.Value {
			lengths := ops.Const(s, a.tensor("lengths"))
			most := ops.Max(s, lengths)
			if a.given("maxlen") {
				most = ops.Cast(s, a.tensor("maxlen"), lengths.DType())
			}
			places := ops.Range(s, ops.ConstOf(s, lengths.DType(), 0), most, ops.ConstOf(s, lengths.DType(), 1))
			return ops.Cast(s, ops.Less(s, places, ops.ExpandDims(s, lengths, -1)), a.dtype("dtype", tensor.Bool))
		}),
		"sort": tf("values axis direction", func(s *ops.Scope, a *functionArgs) *ops.Value {
			falling := false
			switch d := a.text("direction", "ASCENDING"); d {
			case "ASCENDING":
			case "DESCENDING":
				falling = true
			default:
				a.fail("direction", "got %q, want ASCENDING or DESCENDING", d)
			}
			x := ops.Const(s, a.tensor("values"))
			if axis := a.integer("axis", -1); axis != -1 && (axis < 0 || axis != x.Fact().Shape.Rank()-1) {
				a.fail("axis", "got %d, want -1", axis)
			}
			y := ops.Sort(s, x)
			if falling {
				y = ops.Reverse(s, y, -1)
			}
			return y
		}),
		"strings.length": tf("input unit", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("unit", "BYTE")
			return raw.StringLength(s, a.tensor("input"), nil)
		}),
		"strings.lower": tf("input encoding", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("encoding", "")
			return raw.StringLower(s, a.tensor("input"), nil)
		}),
		"strings.upper": tf("input encoding", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("encoding", "")
			return raw.StringUpper(s, a.tensor("input"), nil)
		}),
		"strings.as_string": tf("input precision scientific shortest width fill", func(s *ops.Scope, a *functionArgs) *ops.Value {
			a.only("precision", -1)
			a.only("scientific", false)
			a.only("shortest", false)
			a.only("width", -1)
			a.only("fill", "")
			return raw.AsString(s, a.tensor("input"), nil)
		}),
		"tensordot": tf("a b axes", func(s *ops.Scope, a *functionArgs) *ops.Value {
			x, y := ops.Const(s, a.tensor("a")), ops.Const(s, floats(a, "b"))
			if n, ok := plainNumber(a.values["axes"]).(int); ok {
				return tensorDot(s, x, y, n)
			}
			a.fail("axes", "got %v, want the number of axes", a.values["axes"])
			return x
		}),
	}
})

// floats returns a tensor; nested lists of any depth are floats.
func floats(a *functionArgs, name string) ops.Input {
	list, ok := plainNumber(a.values[name]).([]any)
	if !ok {
		return a.tensor(name)
	}
	var flat []float32
	var shape tensor.Shape
	number := func(x float64, depth int) {
		if depth != len(shape) {
			a.fail(name, "got a number and lists in one list")
		}
		flat = append(flat, float32(x))
	}
	var read func(v any, depth int)
	read = func(v any, depth int) {
		switch v := plainNumber(v).(type) {
		case []any:
			if depth == len(shape) && len(flat) == 0 {
				shape = append(shape, len(v))
			}
			if depth > 8 || depth == len(shape) || len(v) != shape[depth] {
				a.fail(name, "the lists have different lengths or depths, or nest deeper than 8")
				return
			}
			for _, x := range v {
				read(x, depth+1)
			}
		case int:
			number(float64(v), depth)
		case float64:
			number(v, depth)
		default:
			a.fail(name, "got %T in a list, want numbers", v)
		}
	}
	read(list, 0)
	t, err := tensor.New(flat, shape...)
	if err != nil {
		a.fail(name, "%v", err)
		return 0
	}
	return t
}

func zeroFraction(s *ops.Scope, x ops.Input) *ops.Value {
	v := ops.Const(s, x)
	return ops.Mean(s, ops.Cast(s, ops.Equal(s, v, ops.ZerosLike(s, v)), tensor.Float32))
}

// norm describes tf.norm: Euclidean norms, sums and maxima of absolute values.
func norm() tensorFlowFunction {
	return tf("tensor ord axis keepdims keep_dims", func(s *ops.Scope, a *functionArgs) *ops.Value {
		x := ops.Const(s, a.tensor("tensor"))
		axes, _ := a.axes("axis")
		axes = allAxes(x, axes)
		var y *ops.Value
		switch ord := plainNumber(a.values["ord"]); ord {
		case nil, "euclidean", "fro", 2, 2.0:
			if n, ok := ord.(int); ok && n == 2 && len(axes) > 1 {
				a.fail("ord", "is 2 for matrices, want \"euclidean\"")
			}
			y = ops.Sqrt(s, ops.SumKeep(s, ops.Square(s, x), axes...))
		case 1, 1.0:
			if len(axes) > 1 {
				a.fail("ord", "is 1 for matrices, want \"euclidean\"")
			}
			y = ops.SumKeep(s, ops.Abs(s, x), axes...)
		default:
			a.fail("ord", "got %v, want \"euclidean\", 1 or 2", ord)
			return x
		}
		if a.flag("keepdims", false) || a.flag("keep_dims", false) {
			return y
		}
		return ops.Squeeze(s, y, axes...)
	})
}

type pooling = func(s *ops.Scope, x ops.Input, size []int, o ...*ops.WindowOptions) *ops.Value

func padding(a *functionArgs) ops.Padding {
	switch p := strings.ToUpper(a.text("padding", "VALID")); p {
	case "VALID":
		return ops.Valid
	case "SAME":
		return ops.Same
	default:
		a.fail("padding", "got %q, want VALID or SAME", p)
		return ops.Valid
	}
}

// windowSizes returns one size for both dimensions of space, or two, or those of four dimensions.
func windowSizes(a *functionArgs, name string) []int {
	if !a.given(name) {
		return []int{1, 1}
	}
	list, ok := a.integers(name)
	switch {
	case ok && len(list) == 1:
		return []int{list[0], list[0]}
	case ok && len(list) == 2:
		return list
	case ok && len(list) == 4 && list[0] == 1 && list[3] == 1:
		return list[1:3]
	}
	a.fail(name, "got %v, want one or two integers", a.values[name])
	return []int{1, 1}
}

func pool1D(f pooling) tensorFlowFunction {
	return tf("input ksize strides padding data_format", func(s *ops.Scope, a *functionArgs) *ops.Value {
		a.only("data_format", "NWC")
		y := f(s, ops.ExpandDims(s, a.tensor("input"), 1), []int{1, a.integer("ksize", 1)}, &ops.WindowOptions{Strides: []int{1, a.integer("strides", 1)}, Padding: padding(a)})
		return ops.Squeeze(s, y, 1)
	})
}

func pool2D(f pooling) tensorFlowFunction {
	return tf("input ksize strides padding data_format", func(s *ops.Scope, a *functionArgs) *ops.Value {
		a.only("data_format", "NHWC")
		return f(s, a.tensor("input"), windowSizes(a, "ksize"), &ops.WindowOptions{Strides: windowSizes(a, "strides"), Padding: padding(a)})
	})
}

// tensorDot sums products over the last n axes of x and the first n of y.
func tensorDot(s *ops.Scope, x, y *ops.Value, n int) *ops.Value {
	p, q := x.Fact().Shape.Rank(), y.Fact().Shape.Rank()
	if n < 0 || p < n || q < n || p+q-n > 26 {
		return s.Fail("Tensordot", fmt.Errorf("%d axes of tensors of %d and %d dimensions", n, p, q))
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	left, right := letters[:p], letters[p-n:p+q-n]
	return ops.Einsum(s, left+","+right+"->"+left[:p-n]+right[n:], x, y)
}
