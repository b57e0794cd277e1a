package grad_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// constant reports whether an op has no gradient by its rule, although small changes of
// its inputs change its outputs at some places. It also does so if the inputs are no
// numbers.
func constant(t *testing.T, op string) bool {
	switch op {
	case "Bitcast", "PreventGradient", "NonMaxSuppressionV3", "NonMaxSuppressionV4", // there is none
		"FloorDiv", "TruncateDiv", "Sign", "Floor", "Ceil", "Rint", "Round", "ZerosLike", "OnesLike", "OneHot", "ArgMax", "ArgMin": // it is zero
		return true
	}
	differentiable, registered := registry(t)[op]
	return registered && !differentiable
}

// byFormula are ops whose rules follow TensorFlow, although its gradients deviate from numeric
// differences: the gradient of a normalization takes the batch's mean and variance, which are
// inputs, for functions of the images; equal channels have an order; rows that others overwrite
// have a gradient; some have no fixtures with numbers. They have separate tests.
var byFormula = map[string]bool{"DebugGradientIdentity": true, "FusedBatchNormGrad": true, "FusedBatchNormGradV2": true, "FusedBatchNormGradV3": true, "RGBToHSV": true,
	"ParallelDynamicStitch": true, "Print": true, "PlaceholderWithDefault": true, "CheckNumerics": true, "CheckNumericsV2": true,
	// Samples are moved within their distribution, not by their generator's numbers.
	"RandomGamma": true, "StatelessRandomGammaV2": true, "StatelessRandomGammaV3": true, "StatelessParameterizedTruncatedNormal": true,
	// Images are seen from the other side, not put together by their weights.
	"ImageProjectiveTransformV2": true, "ImageProjectiveTransformV3": true,
	// Rounding to levels counts as the identity.
	"FakeQuantWithMinMaxArgs": true, "FakeQuantWithMinMaxVars": true, "FakeQuantWithMinMaxVarsPerChannel": true, "QuantizeAndDequantize": true, "QuantizeAndDequantizeV2": true,
	"QuantizeAndDequantizeV3": true, "QuantizeAndDequantizeV4": true, "QuantizeAndDequantizeV4Grad": true}

// byHandle are ops that read variables; they have separate tests.
var byHandle = map[string]bool{"ReadVariableOp": true, "RefIdentity": true, "ResourceGather": true, "ResourceGatherNd": true}

// byFunction are ops that call functions or work on lists; they have tests of
// their own, too.
var byFunction = map[string]bool{
	"PartitionedCall": true, "StatefulPartitionedCall": true, "If": true, "StatelessIf": true, "Case": true, "StatelessCase": true,
	"While": true, "StatelessWhile": true,
	"EmptyTensorList": true, "TensorListReserve": true, "TensorListLength": true, "TensorListPushBack": true, "TensorListPopBack": true,
	"TensorListSetItem": true, "TensorListGetItem": true, "TensorListStack": true, "TensorListFromTensor": true,
	"TensorListConcat": true, "TensorListConcatV2": true, "TensorListSplit": true, "TensorListResize": true, "TensorListGather": true,
	"OptionalFromValue": true, "CompositeTensorVariantFromComponents": true, "CompositeTensorVariantToComponents": true, "OptionalGetValue": true, "RaggedTensorToVariant": true, "RaggedTensorFromVariant": true,
	"TensorListScatter": true, "TensorListScatterV2": true, "TensorListScatterIntoExistingList": true,
	"SparseTensorToCSRSparseMatrix": true, "DenseToCSRSparseMatrix": true, "CSRSparseMatrixToSparseTensor": true, "CSRSparseMatrixToDense": true,
	"SparseMatrixTranspose": true, "SparseMatrixMatMul": true, "SparseMatrixSparseMatMul": true, "SparseMatrixNNZ": true,
}

// single are ops that take no doubles: they are compared with differences in
// single precision.
var single = map[string]bool{"XlaEinsum": true,
	"SparseMatMul":   true,
	"FusedBatchNorm": true, "FusedBatchNormV2": true, "FusedBatchNormV3": true, "LRN": true,
	"MaxPool3D": true, "MaxPool3DGrad": true, "MaxPool3DGradGrad": true,
	"BlockLSTM": true, "BlockLSTMV2": true, "CTCLossV2": true,
	"ResizeBilinear": true, "ResizeBicubic": true, "CropAndResize": true, "ScaleAndTranslate": true, // they return floats for any input type
}

// oneOutput are ops of which TensorFlow differentiates the first output only.
var oneOutput = map[string]bool{"FusedBatchNorm": true, "FusedBatchNormV2": true, "FusedBatchNormV3": true, "CTCLoss": true, "CTCLossV2": true}

// someOutputs are ops of which TensorFlow differentiates these outputs only.
var someOutputs = map[string][]int{"BlockLSTM": {1, 6}, "BlockLSTMV2": {1, 6}, "LogMatrixDeterminant": {1}}

// undifferentiated are inputs by which TensorFlow has no gradient although the
// outputs change with them.
var undifferentiated = map[string][]int{
	"MatrixSolveLs": {2}, "MatrixDiagV2": {4}, "MatrixDiagV3": {4}, "MatrixDiagPartV2": {2}, "MatrixDiagPartV3": {2},
	"ScaleAndTranslate": {2, 3}, "Betainc": {0, 1}, "Zeta": {0}, "Polygamma": {0},
}

// selfAdjoint are ops that read one triangle of matrices which count as
// self-adjoint: they are differentiated as functions of the self-adjoint parts.
var selfAdjoint = map[string]bool{"Cholesky": true}

// part returns the self-adjoint parts of matrices.
func part(s *ops.Scope, x ops.Input) *ops.Value {
	m := ops.Const(s, x)
	one := ops.Diag(s, ops.OnesLike(s, ops.DiagPart(s, m)))
	return ops.Mul(s, ops.Add(s, m, s.Emit1("BatchMatMulV2", graph.Attrs{graph.Bool("adj_x", true)}, m, one)), 0.5)
}

// modes are the ways in which the gradients are computed: all have the same
// results.
var modes = []struct {
	name   string
	traced bool
	spec   func(*tensor.Tensor) *ops.Value // of an argument
	fed    bool                            // inputs that aren't differentiated are arguments too
}{
	{name: "eager"},
	{"shapes known", true, func(x *tensor.Tensor) *ops.Value { return ops.Spec(x.DType(), x.Shape()...) }, false},
	{"sizes unknown", true, func(x *tensor.Tensor) *ops.Value {
		return ops.Spec(x.DType(), slices.Repeat([]int{-1}, len(x.Shape()))...)
	}, false},
	{"rank unknown", true, func(x *tensor.Tensor) *ops.Value { return ops.SpecOf(graph.Fact{DType: x.DType()}) }, false},
	{"nothing known", true, func(x *tensor.Tensor) *ops.Value { return ops.SpecOf(graph.Fact{DType: x.DType()}) }, true},
}

// TestGradientsEqualNumericDifferences runs over the whole table of rules: each
// of TensorFlow's calls of the op is differentiated both ways, and the gradients
// are computed at once and by traces that know more or less of the shapes.
func TestGradientsEqualNumericDifferences(t *testing.T) {
	fixtures := opfixture.Load(t, "../kernel/testdata/tf2.21")
	for _, op := range grad.All().Ops() {
		if constant(t, op) || byHandle[op] || byFunction[op] || byFormula[op] {
			continue
		}
		t.Run(op, func(t *testing.T) {
			n := 0
			for _, f := range fixtures[op] {
				if c, ok := newCall(t, f); ok {
					c.check(t)
					n++
				}
			}
			if n == 0 {
				t.Errorf("no fixture of %s can be differentiated", op)
			}
		})
	}
}

// opCall is an op with its inputs in double precision.
type opCall struct {
	f     opfixture.Fixture
	attrs graph.Attrs
	in    []*tensor.Tensor
	vary  []int // the inputs to differentiate by
}

func newCall(t *testing.T, f opfixture.Fixture) (*opCall, bool) {
	c := &opCall{f: f, attrs: f.EngineAttrs(t)}
	elements := 0
	for i, x := range f.In {
		v := x.Tensor(t)
		if single[f.Op] && v.DType() == tensor.Float32 {
			if !oneOutput[f.Op] || i < 3 {
				c.vary = append(c.vary, i)
			}
			elements += v.Len()
			c.in = append(c.in, v)
			continue
		}
		switch v.DType() {
		case tensor.Float32, tensor.Float64:
			v = tensor.Must(tensor.Cast(v, tensor.Float64))
			c.vary = append(c.vary, i)
		case tensor.Complex64, tensor.Complex128:
			v = tensor.Must(tensor.Cast(v, tensor.Complex128))
			c.vary = append(c.vary, i)
		case tensor.Float16, tensor.BFloat16:
			return nil, false
		}
		if list, err := v.Float64s(); err == nil && slices.ContainsFunc(list, func(x float64) bool { return x-x != 0 }) {
			return nil, false // there are no differences around an infinity or NaN
		}
		elements += v.Len()
		c.in = append(c.in, v)
	}
	for i, a := range c.attrs {
		switch a.Value() {
		case tensor.Float32:
			if single[f.Op] {
				break
			}
			c.attrs[i] = graph.Type(a.Name, tensor.Float64)
		case tensor.Complex64:
			c.attrs[i] = graph.Type(a.Name, tensor.Complex128)
		}
	}
	c.vary = slices.DeleteFunc(c.vary, func(i int) bool { return slices.Contains(undifferentiated[f.Op], i) })
	if strings.HasSuffix(f.Op, "DynamicStitch") && c.repeats(len(c.in)/2) || f.Op == "SparseToDense" && !c.attrs.Bool("validate_indices") && c.attrs.Has("validate_indices") {
		return nil, false // TensorFlow also passes a gradient to elements that others overwrite
	}
	if f.Op == "CropAndResize" { // boxes whose edges are on pixels have no derivative: they have a separate test
		c.vary = slices.DeleteFunc(c.vary, func(i int) bool { return i > 0 })
	}
	if strings.HasPrefix(f.Op, "MaxPool") {
		if f.Op == "MaxPoolGrad" && c.attrs.Has("explicit_paddings") {
			return nil, false // TensorFlow has no op for its gradient
		}
		if !c.unlike() {
			return nil, false // if two elements are the largest, there is no derivative
		}
		if single[f.Op] && len(c.in) == 3 {
			c.vary = []int{2}
		}
	}
	for _, y := range f.Out {
		if list, err := y.Tensor(t).Float64s(); err == nil && slices.ContainsFunc(list, func(x float64) bool { return x-x != 0 }) {
			return nil, false
		}
	}
	if clip := c.attrs.Float("cell_clip", 0); clip > 0 && clip < 1 {
		return nil, false // TensorFlow takes the clip for the identity
	}
	if strings.HasSuffix(f.Op, "MatrixDeterminant") {
		det := tensor.Must(tensor.Cast(f.Out[0].Tensor(t), tensor.Complex128))
		if slices.Contains(tensor.Values[complex128](det), 0) {
			return nil, false // the gradient is computed from the inverse, as in TensorFlow
		}
	}
	if f.Op == "UnsortedSegmentMin" || f.Op == "UnsortedSegmentMax" {
		ids, _ := c.in[1].Int64s()
		n, _ := c.in[2].Int64s()
		for id := range n[0] {
			if !slices.Contains(ids, id) {
				return nil, false // its infinite extreme hides small changes
			}
		}
	}
	if f.Op == "SparseToDense" && c.attrs.Has("validate_indices") && !c.attrs.Bool("validate_indices") {
		return nil, false // of values at one place each gets the gradient, as in TensorFlow
	}
	if f.Op == "Qr" && c.attrs.Bool("full_matrices") && c.in[0].Shape()[len(c.in[0].Shape())-2] > c.in[0].Shape()[len(c.in[0].Shape())-1] {
		return nil, false // columns beyond the rank are anyone's
	}
	if f.Op == "Eig" && !c.in[0].DType().IsComplex() {
		return nil, false // small changes change the order of the values
	}
	if f.Op == "MatrixSolveLs" && !c.attrs.Bool("fast") && c.attrs.Has("fast") {
		return nil, false
	}
	if f.Op == "Xlogy" || f.Op == "Xlog1py" || f.Op == "Xdivy" {
		if slices.Contains(tensor.Values[complex128](tensor.Must(tensor.Cast(c.in[0], tensor.Complex128))), 0) {
			return nil, false // if x is 0, nothing flows to it, as in TensorFlow
		}
	}
	if f.Op == "EuclideanNorm" && c.in[0].DType().IsComplex() {
		return nil, false // a gradient of the imaginary part, which is always 0, flows on, as in TensorFlow
	}
	if f.Op == "Cast" {
		d := c.attrs.Type("DstT", tensor.Invalid)
		if d != tensor.Float64 && d != tensor.Complex128 {
			return nil, false // rounding hides small changes
		}
	}
	return c, len(c.vary) > 0 && elements > 0 && elements < 400
}

// repeats reports whether two elements of the first n inputs are equal.
func (c *opCall) repeats(n int) bool {
	var all []int64
	for _, x := range c.in[:n] {
		list, _ := x.Int64s()
		all = append(all, list...)
	}
	slices.Sort(all)
	return len(slices.Compact(slices.Clone(all))) < len(all)
}

// unlike reports whether all elements of input 0 differ. It takes those in single
// precision apart, in the same order, so that small changes don't change it.
func (c *opCall) unlike() bool {
	x := c.in[0]
	list, _ := x.Float64s()
	sorted := slices.Sorted(slices.Values(list))
	if len(slices.Compact(slices.Clone(sorted))) < len(list) {
		return false
	}
	if x.DType() == tensor.Float32 && len(c.in) == 1 {
		x = x.Clone()
		for i, v := range list {
			at, _ := slices.BinarySearch(sorted, v)
			tensor.Values[float32](x)[i] = float32(at) / 8
		}
		c.in[0] = x
	}
	return true
}

// weights returns factors for the elements of each output, two for a complex
// one; nil for an output that has no derivative.
func (c *opCall) weights(t *testing.T) [][]*tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	s := function.Eager(context.Background())
	in := make([]ops.Input, len(c.in))
	for i, x := range c.in {
		in[i] = x
	}
	outs := s.Emit(c.f.Op, c.attrs, in...)
	if err := s.Err(); err != nil {
		t.Fatalf("%v: %v", c.f, err)
	}
	list := make([][]*tensor.Tensor, len(outs))
	for i, out := range outs {
		n := 0
		switch {
		case i > 0 && oneOutput[c.f.Op], someOutputs[c.f.Op] != nil && !slices.Contains(someOutputs[c.f.Op], i):
		case out.DType().IsFloating():
			n = 1
		case out.DType().IsComplex():
			n = 2
		}
		for range n {
			w := tensor.Must(tensor.Zeros(tensor.Float64, out.Shape()...))
			for e := range tensor.Values[float64](w) {
				tensor.Values[float64](w)[e] = r.Float64()*2 - 1
			}
			list[i] = append(list[i], w)
		}
	}
	return list
}

// value returns the weighted sum of all outputs' elements, nil if none has a
// derivative.
func (c *opCall) value(s *ops.Scope, in []ops.Input, weights [][]ops.Input) *ops.Value {
	var sum *ops.Value
	add := func(out *ops.Value, w ops.Input) {
		part := ops.Sum(s, ops.Reshape(s, ops.Mul(s, out, w), -1), 0)
		if sum != nil {
			part = ops.Add(s, sum, part)
		}
		sum = part
	}
	if selfAdjoint[c.f.Op] {
		in = append([]ops.Input{part(s, in[0])}, in[1:]...)
	}
	for i, out := range s.Emit(c.f.Op, c.attrs, in...) {
		switch w := weights[i]; len(w) {
		case 1:
			if out.DType() != tensor.Float64 {
				out = ops.Cast(s, out, tensor.Float64)
			}
			add(out, w[0])
		case 2:
			double := graph.Attrs{graph.Type("Tout", tensor.Float64)}
			add(s.Emit1("Real", double, out), w[0])
			add(s.Emit1("Imag", double, out), w[1])
		}
	}
	return sum
}

// flat returns a value's elements, two for a complex one.
func flat(v *ops.Value) []float64 {
	t, err := v.Tensor()
	if err != nil {
		return nil
	}
	return flatTensor(t)
}

func flatTensor(t *tensor.Tensor) []float64 {
	if t.DType() == tensor.Complex128 {
		var out []float64
		for _, z := range tensor.Values[complex128](t) {
			out = append(out, real(z), imag(z))
		}
		return out
	}
	out, _ := t.Float64s()
	return out
}

func (c *opCall) check(t *testing.T) {
	t.Helper()
	weights := c.weights(t)
	if !slices.ContainsFunc(weights, func(w []*tensor.Tensor) bool { return len(w) > 0 }) {
		return // no output has a derivative
	}
	want := make([][]float64, len(c.vary))
	for k, i := range c.vary {
		want[k] = c.numeric(t, i, weights)
	}
	for _, m := range modes {
		options := &function.Options{Mode: function.Eagerly}
		if m.traced {
			options.Mode = function.Traced
		}
		args := c.arguments(weights, m.fed)
		f := function.New(func(s *ops.Scope, args []*ops.Value) []*ops.Value { return c.gradients(s, args, weights, m.fed) }, options)
		if m.traced {
			specs := make([]*ops.Value, len(args))
			for i, x := range args {
				specs[i] = m.spec(x)
			}
			if _, err := f.Trace(specs); err != nil {
				t.Errorf("%v, %s: %v", c.f, m.name, err)
				continue
			}
		}
		values := make([]*ops.Value, len(args))
		for i, x := range args {
			values[i] = ops.ValueOf(x)
		}
		grads, err := f.Call(context.Background(), values)
		if err != nil {
			t.Errorf("%v, %s: %v", c.f, m.name, err)
			continue
		}
		for k, i := range c.vary {
			got := flat(grads[k])
			if len(got) != len(want[k]) {
				t.Errorf("%v, %s: input %d: the gradient is %v%v", c.f, m.name, i, grads[k].DType(), grads[k].Shape())
				continue
			}
			for e, want := range want[k] {
				if !(math.Abs(got[e]-want) <= c.tolerance()*(1+math.Abs(want))) {
					t.Errorf("%v, %s: input %d: gradient %v, numeric %v (element %d)", c.f, m.name, i, got, want, e)
					break
				}
			}
		}
	}
}

// tolerance returns how far differences may be from gradients, relatively.
func (c *opCall) tolerance() float64 {
	if single[c.f.Op] {
		return 2e-3
	}
	return 2e-5
}

// arguments returns the inputs that are differentiated, and the weights; then,
// if they are fed, all other inputs.
func (c *opCall) arguments(weights [][]*tensor.Tensor, fed bool) []*tensor.Tensor {
	var args []*tensor.Tensor
	for _, i := range c.vary {
		args = append(args, c.in[i])
	}
	for _, w := range weights {
		args = append(args, w...)
	}
	for i, x := range c.in {
		if fed && !slices.Contains(c.vary, i) {
			args = append(args, x)
		}
	}
	return args
}

// gradients returns the gradients with regard to the inputs that are
// differentiated.
func (c *opCall) gradients(s *ops.Scope, args []*ops.Value, weights [][]*tensor.Tensor, fed bool) []*ops.Value {
	next := func() *ops.Value {
		v := args[0]
		args = args[1:]
		return v
	}
	in := make([]ops.Input, len(c.in))
	var watched []*ops.Value
	for _, i := range c.vary {
		v := next()
		in[i], watched = v, append(watched, v)
	}
	factors := make([][]ops.Input, len(weights))
	for i, w := range weights {
		for range w {
			factors[i] = append(factors[i], next())
		}
	}
	for i, x := range c.in {
		switch {
		case in[i] != nil:
		case fed:
			in[i] = next()
		default:
			in[i] = x
		}
	}
	rec, tape := grad.Record(s)
	tape.Watch(watched...)
	return tape.GradientWith([]*ops.Value{c.value(rec, in, factors)}, watched, &grad.GradientOptions{Zero: true})
}

// numeric differentiates by input i with central differences. For complex
// numbers the gradient is d/d(real) + i*d/d(imag), as TensorFlow has it.
func (c *opCall) numeric(t *testing.T, i int, weights [][]*tensor.Tensor) []float64 {
	t.Helper()
	h := 1e-6
	if single[c.f.Op] {
		h = 0x1p-7
	}
	x := c.in[i]
	n := len(flatTensor(x))
	out := make([]float64, n)
	factors := make([][]ops.Input, len(weights))
	for i, w := range weights {
		for _, w := range w {
			factors[i] = append(factors[i], w)
		}
	}
	at := func(e int, d float64) float64 {
		moved := x.Clone()
		switch x.DType() {
		case tensor.Float32:
			tensor.Values[float32](moved)[e] += float32(d)
		case tensor.Complex128:
			step := complex(d, 0)
			if e%2 == 1 {
				step = complex(0, d)
			}
			tensor.Values[complex128](moved)[e/2] += step
		default:
			tensor.Values[float64](moved)[e] += d
		}
		s := function.Eager(context.Background())
		in := make([]ops.Input, len(c.in))
		for j, y := range c.in {
			in[j] = y
		}
		in[i] = moved
		v, err := ops.Item[float64](c.value(s, in, factors))
		if err != nil {
			t.Fatalf("%v: %v", c.f, err)
		}
		return v
	}
	for e := range out {
		out[e] = (at(e, h) - at(e, -h)) / (2 * h)
	}
	return out
}

func TestGradientsFlowIntoVariables(t *testing.T) {
	s := function.Eager(context.Background())
	v := trackable.NewVariable(tensor.Must(tensor.New([]float64{1, 2, 3, 4, 5, 6}, 3, 2)))
	rec, tape := grad.Record(s)
	rows := rec.Emit1("ResourceGather", nil, ops.Handle(rec, v), []int32{2, 0, 2})
	loss := ops.Sum(rec, ops.Mul(rec, rows, ops.ReadVariable(rec, v)))
	got := flat(tape.Gradient(loss, []*trackable.Variable{v})[0].Grad)
	// sum over rows r_i·v_i with r = (v2, v0, v2)
	want := []float64{5 + 3, 6 + 4, 1, 2, 1 + 2*5, 2 + 2*6}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("gradient %v, want %v", got, want)
		}
	}
}
