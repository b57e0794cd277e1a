package keras3

import (
	"strings"
	"sync"

	"github.com/cairnml/cairn/keras/internal/orderedjson"
)

// functionTable has the functions of TensorFlow that TFOpLambda layers call, and the operations of
// Keras 3 that compute the same. In a line are
//
//   - the names of the function, the one that is written first;
//   - the names of the operation below keras.src.ops, the one that is written first;
//   - the function's parameters that are inputs of the operation, in its order; a list in brackets;
//   - the parameters that are settings of the operation. ":b" is the operation's name for it,
//     "=2|3" the defaults of the function and of the operation if they differ, and
//     "!a=v" names a parameter of the function that must have the value v.
const functionTable = `
math.abs | numpy.Absolute,numpy.Abs | x |
math.ceil | numpy.Ceil | x |
math.cos | numpy.Cos | x |
math.cosh | numpy.Cosh | x |
math.acos | numpy.Arccos | x |
math.acosh | numpy.Arccosh | x |
math.asin | numpy.Arcsin | x |
math.asinh | numpy.Arcsinh | x |
math.atan | numpy.Arctan | x |
math.atanh | numpy.Arctanh | x |
math.atan2 | numpy.Arctan2 | y x |
math.erf | math.Erf | x |
math.exp | numpy.Exp | x |
math.expm1 | numpy.Expm1 | x |
math.floor | numpy.Floor | x |
math.is_finite | numpy.Isfinite | x |
math.is_inf | numpy.Isinf | x |
math.is_nan | numpy.Isnan | x |
math.log | numpy.Log | x |
math.log1p | numpy.Log1p | x |
math.log_sigmoid | nn.LogSigmoid | x |
math.logical_not | numpy.LogicalNot | x |
math.negative | numpy.Negative | x |
math.reciprocal | numpy.Reciprocal | x |
math.round,math.rint | numpy.Round | x | 
math.rsqrt | math.Rsqrt | x |
math.sigmoid,nn.sigmoid | nn.Sigmoid | x |
math.sign | numpy.Sign | x |
math.sin | numpy.Sin | x |
math.sinh | numpy.Sinh | x |
math.softplus,nn.softplus | nn.Softplus | features |
math.sqrt | numpy.Sqrt | x |
math.square | numpy.Square | x |
math.tan | numpy.Tan | x |
math.tanh,nn.tanh | numpy.Tanh | x |

__operators__.add,math.add | numpy.Add | x y |
math.subtract | numpy.Subtract | x y |
math.multiply | numpy.Multiply | x y |
math.truediv,math.divide | numpy.TrueDivide,numpy.Divide | x y |
math.floordiv | numpy.FloorDivide | x y |
math.floormod,math.mod | numpy.Mod | x y |
math.pow | numpy.Power | x y |
math.maximum | numpy.Maximum | x y |
math.minimum | numpy.Minimum | x y |
math.divide_no_nan | numpy.DivideNoNan | x y |
math.equal | numpy.Equal | x y |
__operators__.eq | numpy.Equal | self other |
math.not_equal | numpy.NotEqual | x y |
__operators__.ne | numpy.NotEqual | self other |
math.greater | numpy.Greater | x y |
math.greater_equal | numpy.GreaterEqual | x y |
math.less | numpy.Less | x y |
math.less_equal | numpy.LessEqual | x y |
math.logical_and | numpy.LogicalAnd | x y |
math.logical_or | numpy.LogicalOr | x y |
math.logical_xor | numpy.LogicalXor | x y |

math.reduce_sum | numpy.Sum | input_tensor | axis keepdims
math.reduce_mean | numpy.Mean | input_tensor | axis keepdims
math.reduce_max | numpy.Max,numpy.Amax | input_tensor | axis keepdims
math.reduce_min | numpy.Min,numpy.Amin | input_tensor | axis keepdims
math.reduce_prod | numpy.Prod | input_tensor | axis keepdims
math.reduce_all | numpy.All | input_tensor | axis keepdims
math.reduce_any | numpy.Any | input_tensor | axis keepdims
math.reduce_logsumexp | math.Logsumexp | input_tensor | axis keepdims
math.reduce_variance | numpy.Var | input_tensor | axis keepdims
math.reduce_std | numpy.Std | input_tensor | axis keepdims
math.argmax | numpy.Argmax | input | axis=0|null !output_type="int32"
math.argmin | numpy.Argmin | input | axis=0|null !output_type="int32"
math.cumsum | numpy.Cumsum | x | axis=0|null !exclusive=false !reverse=false
math.cumprod | numpy.Cumprod | x | axis=0|null !exclusive=false !reverse=false
math.top_k | math.TopK | input | k=1|null sorted

nn.relu | nn.Relu | features |
nn.relu6 | nn.Relu6 | features |
nn.elu | nn.Elu | features |
nn.selu | nn.Selu | features |
nn.softsign | nn.Softsign | features |
nn.gelu | nn.Gelu | features | approximate=false|true
nn.silu | nn.Silu | features | !beta=1
nn.leaky_relu | nn.LeakyRelu | features | alpha:negative_slope
nn.softmax | nn.Softmax | logits | axis
nn.log_softmax | nn.LogSoftmax | logits | axis

stop_gradient | core.StopGradient | input |
cast | core.Cast | x | dtype
zeros_like | numpy.ZerosLike | input | dtype
ones_like | numpy.OnesLike | input | dtype
clip_by_value | numpy.Clip | t | clip_value_min:x_min clip_value_max:x_max
where | numpy.Where | condition x y |
reshape | numpy.Reshape | tensor | shape:newshape
broadcast_to | numpy.BroadcastTo | input | shape
transpose | numpy.Transpose | a | perm:axes !conjugate=false
expand_dims | numpy.ExpandDims | input | axis
squeeze | numpy.Squeeze | input | axis
concat | numpy.Concatenate | [values] | axis=null|0
stack | numpy.Stack | [values] | axis
unstack | core.Unstack | value | num axis
split | numpy.Split | value | num_or_size_splits:indices_or_sections axis !num=null
tile | numpy.Tile | input | multiples:repeats
repeat | numpy.Repeat | input | repeats axis
pad | numpy.Pad | tensor constant_values | paddings:pad_width mode=CONSTANT|constant
gather | numpy.Take | params indices | axis=0|null !batch_dims=0 !validate_indices=null
reverse | numpy.Flip | tensor | axis
one_hot | nn.OneHot | indices | depth:num_classes axis dtype !on_value=null !off_value=null
linalg.matmul | numpy.Matmul | a b | !transpose_a=false !transpose_b=false !adjoint_a=false !adjoint_b=false !a_is_sparse=false !b_is_sparse=false !output_type=null
`

// A function is a line of the table.
type function struct {
	names, ops []string // of the function, and of the operation
	call       []string // the parameters that are inputs, in the operation's order
	list       bool     // the first input is a list
	settings   []setting
	only       map[string]any // the parameters that must have one value, and that value
}

// A setting is a parameter of a function that is an option of an operation.
type setting struct {
	two, three               string // the names in Keras 2 and in Keras 3
	defaults                 bool   // the two defaults are set, since they differ
	defaultTwo, defaultThree any
}

// getItem is the function of slices, whose argument has a special form.
var getItem = &function{names: []string{"__operators__.getitem"}, ops: []string{"numpy.GetItem"}, call: []string{"tensor", "slice_spec"}}

// index has the functions by their names, and by the operations.
type index struct{ byName, byOp map[string]*function }

var functions = sync.OnceValue(func() index {
	x := index{map[string]*function{}, map[string]*function{}}
	for line := range strings.Lines(functionTable) {
		if strings.TrimSpace(line) != "" {
			x.enter(parseFunction(line))
		}
	}
	x.enter(getItem)
	return x
})

func (x index) enter(f *function) {
	for _, n := range f.names {
		x.byName[n] = f
	}
	for _, n := range f.ops {
		if x.byOp[n] == nil {
			x.byOp[n] = f
		}
	}
}

// parseFunction reads a line of the table, in which "|" separates defaults too.
func parseFunction(line string) *function {
	parts := strings.SplitN(line, " | ", 4)
	names := func(s string) []string { return strings.Split(strings.TrimSpace(s), ",") }
	f := &function{names: names(parts[0]), ops: names(parts[1]), only: map[string]any{}}
	call := strings.Trim(strings.TrimSpace(parts[2]), "|")
	f.list = strings.HasPrefix(call, "[")
	f.call = strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(call))
	if len(parts) < 4 {
		return f
	}
	for _, word := range strings.Fields(strings.Trim(strings.TrimSpace(parts[3]), "|")) {
		name, value, given := strings.Cut(word, "=")
		if must, ok := strings.CutPrefix(name, "!"); ok {
			f.only[must] = literal(value)
			continue
		}
		two, three, ok := strings.Cut(name, ":")
		if !ok {
			three = two
		}
		s := setting{two: two, three: three, defaults: given}
		if given {
			a, b, _ := strings.Cut(value, "|")
			s.defaultTwo, s.defaultThree = literal(a), literal(b)
		}
		f.settings = append(f.settings, s)
	}
	return f
}

// literal returns a value of the table.
func literal(s string) any {
	v, _, err := orderedjson.Parse([]byte(s))
	if err != nil {
		return s
	}
	return v
}
