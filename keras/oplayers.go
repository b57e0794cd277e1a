package keras

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// opLayers turns ops between layers into layers: each op becomes a [layers.TFOpLambda]
// with the public function of TensorFlow that emits it. walk.resolve uses it while a model is
// connected. The names of functions and arguments are part of the model's config, so they must
// stay; layers.TFOpLambda computes the functions (functiontable.go).
type opLayers struct{ graph *base.Graph }

// value returns the output of an op as an output of a layer. It visits the ops that it depends on
// first. An op is converted once: Alias records its outputs.
func (o *opLayers) value(out graph.Output) (*ops.Value, error) {
	if v, ok := o.graph.ValueAt(out); ok {
		return v, nil
	}
	n := out.Node
	rule, ok := opFunctions()[n.Op]
	switch {
	case n.Op == "ReadVariableOp" || n.IsArg():
		return nil, fmt.Errorf("it reads a variable outside of a layer; a layer that has the variable can read it")
	case !ok:
		return nil, fmt.Errorf("the op %s between layers has no layer; compute it in a separate layer or in a Lambda", n.Op)
	}
	args := make([]any, len(n.In))
	for i, in := range n.In {
		var err error
		if args[i], err = o.argument(in); err != nil {
			return nil, err
		}
	}
	call, err := rule(n, args)
	if err != nil {
		return nil, fmt.Errorf("the op %s: %w", n.Op, err)
	}
	results := o.call(call)
	if err := o.graph.Scope().Err(); err != nil {
		return nil, err
	}
	for i, v := range results {
		o.graph.Alias(graph.Output{Node: n, Index: i}, v)
	}
	if out.Index >= len(results) {
		return nil, fmt.Errorf("the op %s has no output %d as a layer", n.Op, out.Index)
	}
	return results[out.Index], nil
}

// argument returns an input of an op: a Go number or list if it is a constant, else an
// output of a layer.
func (o *opLayers) argument(in graph.Output) (any, error) {
	if v, ok := o.graph.ValueAt(in); ok {
		if form := base.FormOf(v); form != "" {
			return nil, fmt.Errorf("an op between layers has a %s tensor as its input, want a dense one; compute it in a layer, or use keras.ToDense", form)
		}
		return v, nil
	}
	if t := in.Node.Attrs.Tensor("value"); in.Node.Op == "Const" && t != nil {
		return pythonList(t)
	}
	return o.value(in)
}

// pythonList returns a tensor as Python's lists of numbers are in JSON. The limit on the number of
// elements is ours: a larger constant would make the config huge.
func pythonList(t *tensor.Tensor) (any, error) {
	if t.Len() > 1<<16 {
		return nil, fmt.Errorf("a constant has %d elements, want at most %d; keep it in a layer", t.Len(), 1<<16)
	}
	var flat []any
	switch d := t.DType(); {
	case d == tensor.String:
		for _, s := range tensor.Values[string](t) {
			flat = append(flat, s)
		}
	case d == tensor.Bool:
		for _, b := range tensor.Values[bool](t) {
			flat = append(flat, b)
		}
	case d.IsComplex():
		return nil, fmt.Errorf("a constant is complex, which a config can't hold")
	case d == tensor.Int64:
		for _, x := range tensor.Values[int64](t) {
			flat = append(flat, wholeNumber(x, int64(int(x)) == x))
		}
	case d == tensor.Uint64:
		for _, x := range tensor.Values[uint64](t) {
			flat = append(flat, wholeNumber(x, x <= math.MaxInt))
		}
	default:
		list, err := t.AppendFloat64s(nil, 0, t.Len())
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			if d.IsFloating() {
				flat = append(flat, x)
			} else {
				flat = append(flat, int(x))
			}
		}
	}
	return nest(flat, t.Shape()), nil
}

// wholeNumber returns an integer as an int if it fits, else as the number of a JSON text.
func wholeNumber[T int64 | uint64](x T, fits bool) any {
	if fits {
		return int(x)
	}
	return json.Number(fmt.Sprint(x))
}

// nest returns a list of elements as nested lists of a shape.
func nest(flat []any, shape tensor.Shape) any {
	if len(shape) == 0 {
		return flat[0]
	}
	list := make([]any, shape[0])
	for i := range list {
		size := len(flat) / max(1, shape[0])
		list[i] = nest(flat[i*size:(i+1)*size], shape[1:])
	}
	return list
}

// functionCall is a call of a public function of TensorFlow.
type functionCall struct {
	function string
	first    any // the first argument: a value, a number or a list
	args     map[string]any
	slicing  bool
}

// call calls the layer of a function on symbolic tensors.
func (o *opLayers) call(c functionCall) []*ops.Value {
	var layer base.Callable = &layers.TFOpLambda{Function: c.function}
	if c.slicing {
		layer = &layers.SlicingOpLambda{Function: c.function}
	}
	return callFunction(o.graph.Scope(), layer, c.first, c.args, nil)
}

// callFunction calls the layer of a function. A first argument that is a number becomes an
// argument by its name, since inputs are tensors.
func callFunction(s *ops.Scope, layer Callable, first any, args map[string]any, order []string) []*ops.Value {
	l := layer.(firstArgument)
	name, list, _ := l.FirstArgument()
	var inputs []*ops.Value
	switch x := first.(type) {
	case *ops.Value:
		inputs = []*ops.Value{x}
	case []any:
		if list && allValues(x) {
			for _, v := range x {
				inputs = append(inputs, v.(*ops.Value))
			}
		}
	}
	if inputs == nil {
		if args == nil {
			args = map[string]any{}
		}
		args[name] = first
	}
	return l.AsLayer().RunAll(s, layer, inputs, &base.CallOptions{Args: args, ArgOrder: order})
}

func allValues(list []any) bool {
	for _, x := range list {
		if _, ok := x.(*ops.Value); !ok {
			return false
		}
	}
	return len(list) > 0
}

// firstArgument is implemented by the layers of functions.
type firstArgument interface {
	base.LayerLike
	FirstArgument() (name string, list, ok bool)
}

// opRule returns the call for a node. in are its inputs as argument returns them: a *ops.Value, a
// number, or nested lists.
type opRule func(n *graph.Node, in []any) (functionCall, error)

// simple returns the rule of an op whose inputs are the function's arguments in order: the first
// one, then params. Configs of tf_keras also have the argument name, None.
func simple(function string, params ...string) opRule {
	return func(_ *graph.Node, in []any) (functionCall, error) {
		c := functionCall{function: function, first: in[0], args: map[string]any{}}
		for i, name := range params {
			if i+1 < len(in) {
				c.args[name] = in[i+1]
			}
		}
		c.args["name"] = nil
		return c, nil
	}
}

// typed returns the rule of a function with an argument param, a type that is the op's attribute
// attr.
func typed(function, param, attr string) opRule {
	return func(n *graph.Node, in []any) (functionCall, error) {
		return functionCall{function: function, first: in[0], args: map[string]any{param: n.Attrs.Type(attr, tensor.Float32).String()}}, nil
	}
}

// reduce returns the rule of a reduction along axes.
func reduce(function string) opRule {
	return func(n *graph.Node, in []any) (functionCall, error) {
		return functionCall{function: function, first: in[0], args: map[string]any{"axis": in[1], "keepdims": n.Attrs.Bool("keep_dims")}}, nil
	}
}

// matMul returns the rule of a product whose attributes determine which inputs are
// transposed.
func matMul(a, b string) opRule {
	return func(n *graph.Node, in []any) (functionCall, error) {
		return functionCall{function: "linalg.matmul", first: in[0], args: map[string]any{
			"b": in[1], "transpose_a": n.Attrs.Bool(a), "transpose_b": n.Attrs.Bool(b)}}, nil
	}
}

// stridedSlice returns the slice as __operators__.getitem has it.
func stridedSlice(n *graph.Node, in []any) (functionCall, error) {
	begin, ok := intsOf(in[1])
	end, ok2 := intsOf(in[2])
	step, ok3 := intsOf(in[3])
	if !ok || !ok2 || !ok3 {
		return functionCall{}, fmt.Errorf("its bounds are tensors, which isn't supported between layers")
	}
	mask := func(name string, i int) bool { return n.Attrs.Int(name, 0)>>i&1 == 1 }
	var spec []any
	for i := range begin {
		switch {
		case mask("ellipsis_mask", i):
			rank := n.In[0].Fact().Shape.Rank() // a config can't hold an ellipsis
			if rank < 0 {
				return functionCall{}, fmt.Errorf("it has an ellipsis, and the rank of its input isn't known")
			}
			terms := 0
			for j := range begin {
				if j != i && !mask("new_axis_mask", j) {
					terms++
				}
			}
			for range rank - terms {
				spec = append(spec, map[string]any{"start": nil, "stop": nil, "step": nil})
			}
		case mask("new_axis_mask", i):
			spec = append(spec, nil)
		case mask("shrink_axis_mask", i):
			spec = append(spec, begin[i])
		default:
			term := map[string]any{"start": nil, "stop": nil, "step": nil}
			if !mask("begin_mask", i) {
				term["start"] = begin[i]
			}
			if !mask("end_mask", i) {
				term["stop"] = end[i]
			}
			if step[i] != 1 {
				term["step"] = step[i]
			}
			spec = append(spec, term)
		}
	}
	return functionCall{function: "__operators__.getitem", first: in[0], args: map[string]any{"slice_spec": spec}, slicing: true}, nil
}

// intsOf returns the integers of a constant list, and false for a tensor or another list.
func intsOf(v any) ([]int, bool) {
	list, ok := v.([]any)
	out := make([]int, len(list))
	for i, x := range list {
		var is bool
		out[i], is = x.(int)
		ok = ok && is
	}
	return out, ok
}

// opFunctions has the rule of each op that may be between layers. A rule names the public function
// of TensorFlow that emits the op, and the arguments that tf_keras writes to a config.
var opFunctions = sync.OnceValue(func() map[string]opRule {
	return map[string]opRule{
		"Abs": simple("math.abs"), "Acos": simple("math.acos"), "Acosh": simple("math.acosh"), "Asin": simple("math.asin"),
		"Asinh": simple("math.asinh"), "Atan": simple("math.atan"), "Atanh": simple("math.atanh"), "Ceil": simple("math.ceil"),
		"Cos": simple("math.cos"), "Cosh": simple("math.cosh"), "Digamma": simple("math.digamma"), "Erf": simple("math.erf"),
		"Erfc": simple("math.erfc"), "Exp": simple("math.exp"), "Expm1": simple("math.expm1"), "Floor": simple("math.floor"),
		"IsFinite": simple("math.is_finite"), "IsInf": simple("math.is_inf"), "IsNan": simple("math.is_nan"), "Lgamma": simple("math.lgamma"),
		"Log": simple("math.log"), "Log1p": simple("math.log1p"), "LogicalNot": simple("math.logical_not"), "Neg": simple("math.negative"),
		"Reciprocal": simple("math.reciprocal"), "Round": simple("math.round"), "Rsqrt": simple("math.rsqrt"), "Sigmoid": simple("math.sigmoid"),
		"Sign": simple("math.sign"), "Sin": simple("math.sin"), "Sinh": simple("math.sinh"), "Softplus": simple("math.softplus"),
		"Sqrt": simple("math.sqrt"), "Square": simple("math.square"), "Tan": simple("math.tan"), "Tanh": simple("math.tanh"),
		"Relu": simple("nn.relu"), "Relu6": simple("nn.relu6"), "Elu": simple("nn.elu"), "Selu": simple("nn.selu"), "Softsign": simple("nn.softsign"),
		"Softmax": simple("nn.softmax"), "LogSoftmax": simple("nn.log_softmax"), "L2Loss": simple("nn.l2_loss"),
		"Identity": simple("identity"), "StopGradient": simple("stop_gradient"), "ZerosLike": simple("zeros_like"), "OnesLike": simple("ones_like"),
		"Rank": simple("rank"), "Shape": typed("shape", "out_type", "out_type"), "Size": typed("size", "out_type", "out_type"), "Cast": typed("cast", "dtype", "DstT"),
		"Add": simple("math.add", "y"), "AddV2": simple("math.add", "y"), "Sub": simple("math.subtract", "y"), "Mul": simple("math.multiply", "y"),
		"RealDiv": simple("math.divide", "y"), "FloorDiv": simple("math.floordiv", "y"), "FloorMod": simple("math.floormod", "y"),
		"Pow": simple("math.pow", "y"), "Maximum": simple("math.maximum", "y"), "Minimum": simple("math.minimum", "y"),
		"SquaredDifference": simple("math.squared_difference", "y"), "Atan2": simple("math.atan2", "x"), "DivNoNan": simple("math.divide_no_nan", "y"),
		"MulNoNan": simple("math.multiply_no_nan", "y"), "Xlogy": simple("math.xlogy", "y"), "Equal": simple("math.equal", "y"),
		"NotEqual": simple("math.not_equal", "y"), "Greater": simple("math.greater", "y"), "GreaterEqual": simple("math.greater_equal", "y"),
		"Less": simple("math.less", "y"), "LessEqual": simple("math.less_equal", "y"), "LogicalAnd": simple("math.logical_and", "y"),
		"LogicalOr": simple("math.logical_or", "y"), "BiasAdd": simple("nn.bias_add", "bias"),
		"Sum": reduce("math.reduce_sum"), "Mean": reduce("math.reduce_mean"), "Max": reduce("math.reduce_max"), "Min": reduce("math.reduce_min"),
		"Prod": reduce("math.reduce_prod"), "All": reduce("math.reduce_all"), "Any": reduce("math.reduce_any"),
		"ArgMax": argMax("math.argmax"), "ArgMin": argMax("math.argmin"),
		"Reshape": simple("reshape", "shape"), "BroadcastTo": simple("broadcast_to", "shape"), "Transpose": simple("transpose", "perm"),
		"ExpandDims": simple("expand_dims", "axis"), "Tile": simple("tile", "multiples"), "ClipByValue": simple("clip_by_value", "clip_value_min", "clip_value_max"),
		"SelectV2": simple("where", "x", "y"), "GatherNd": simple("gather_nd", "indices"), "Pad": simple("pad", "paddings"),
		"PadV2": simple("pad", "paddings", "constant_values"), "ReverseV2": simple("reverse", "axis"), "Slice": simple("slice", "begin", "size"),
		"OneHot": oneHot, "StridedSlice": stridedSlice, "MatMul": matMul("transpose_a", "transpose_b"), "BatchMatMulV2": matMul("adj_x", "adj_y"),
		"Squeeze": func(n *graph.Node, in []any) (functionCall, error) {
			c := functionCall{function: "squeeze", first: in[0], args: map[string]any{"axis": nil}}
			if dims := n.Attrs.Ints("squeeze_dims"); len(dims) > 0 {
				c.args["axis"] = intList(dims)
			}
			return c, nil
		},
		"ConcatV2": func(_ *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "concat", first: in[:len(in)-1], args: map[string]any{"axis": in[len(in)-1]}}, nil
		},
		"Pack": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "stack", first: in, args: map[string]any{"axis": int(n.Attrs.Int("axis", 0))}}, nil
		},
		"Unpack": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "unstack", first: in[0], args: map[string]any{"num": int(n.Attrs.Int("num", 0)), "axis": int(n.Attrs.Int("axis", 0))}}, nil
		},
		"Split": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "split", first: in[1], args: map[string]any{"num_or_size_splits": int(n.Attrs.Int("num_split", 0)), "axis": in[0]}}, nil
		},
		"SplitV": func(_ *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "split", first: in[0], args: map[string]any{"num_or_size_splits": in[1], "axis": in[2]}}, nil
		},
		"GatherV2": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "gather", first: in[0], args: map[string]any{
				"indices": in[1], "axis": in[2], "batch_dims": int(n.Attrs.Int("batch_dims", 0))}}, nil
		},
		"TopKV2": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "math.top_k", first: in[0], args: map[string]any{"k": in[1], "sorted": true}}, nil
		},
		"LeakyRelu": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "nn.leaky_relu", first: in[0], args: map[string]any{"alpha": n.Attrs.Float("alpha", 0.2), "name": nil}}, nil
		},
		"Cumsum": func(n *graph.Node, in []any) (functionCall, error) {
			return functionCall{function: "math.cumsum", first: in[0], args: map[string]any{
				"axis": in[1], "exclusive": n.Attrs.Bool("exclusive"), "reverse": n.Attrs.Bool("reverse")}}, nil
		},
	}
})

func intList(dims []int64) []any {
	list := make([]any, len(dims))
	for i, d := range dims {
		list[i] = int(d)
	}
	return list
}

func argMax(function string) opRule {
	return func(n *graph.Node, in []any) (functionCall, error) {
		return functionCall{function: function, first: in[0], args: map[string]any{
			"axis": in[1], "output_type": n.Attrs.Type("output_type", tensor.Int64).String()}}, nil
	}
}

func oneHot(n *graph.Node, in []any) (functionCall, error) {
	return functionCall{function: "one_hot", first: in[0], args: map[string]any{"depth": in[1], "on_value": in[2], "off_value": in[3],
		"axis": int(n.Attrs.Int("axis", -1)), "dtype": n.Attrs.Type("T", tensor.Float32).String()}}, nil
}
