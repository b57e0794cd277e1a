package ops_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func eager() *ops.Scope { return function.Eager(context.Background()) }

func Example() {
	s := function.Eager(context.Background()) // in a Func the scope is given
	x := ops.Const(s, [][]float32{{1, 2}, {3, 4}})
	y := ops.Add(s, ops.MatMul(s, x, x), 0.5) // the number takes x's type
	fmt.Println(y.DType(), y.Shape())
	fmt.Printf("%.1f\n", ops.Mean(s, y))
	fmt.Println(s.Err())
	// Output:
	// float32 [2,2]
	// 14.0
	// <nil>
}

func ExampleScope_Emit() {
	s := function.Eager(context.Background())
	out := s.Emit("Cumsum", graph.Attrs{graph.Bool("reverse", true)}, []float32{1, 2, 3}, ops.Const(s, 0))
	t, err := out[0].Tensor()
	fmt.Println(tensor.Values[float32](t), err)
	// Output: [6 5 3] <nil>
}

func ExampleStridedSlice() {
	s := function.Eager(context.Background())
	x := ops.Reshape(s, ops.Range(s, 0, 12, 1), 3, 4)
	y := ops.StridedSlice(s, x, ops.From(1), ops.Span(0, -1).Step(2)) // x[1:, 0:-1:2]
	t, err := y.Tensor()
	fmt.Println(t.Shape(), tensor.Values[int32](t), err)
	// Output: [2,2] [4 6 8 10] <nil>
}

func ExampleRandomNormal() {
	s := function.Eager(context.Background())
	r := ops.NewRandom(42) // tf.random.Generator.from_seed(42)
	a, b := ops.RandomNormal(s, r, tensor.Float32, 3), ops.RandomNormal(s, r, tensor.Float32, 3)
	again := ops.RandomNormal(s, ops.NewRandom(42), tensor.Float32, 3)
	same := func(x, y *ops.Value) bool {
		v, err := ops.Item[bool](ops.All(s, ops.Equal(s, x, y)))
		return err == nil && v
	}
	fmt.Println(same(a, b), same(a, again))
	// Output: false true
}

// part embeds a variable, as users' own types do.
type part struct{ trackable.Variable }

func TestInputsOfAllKinds(t *testing.T) {
	p := new(part)
	p.Init(tensor.Vector[float64](1, 2))
	for name, c := range map[string]struct {
		in   ops.Input
		want string
	}{
		"int":             {3, "float64[2] [4 5]"},
		"float":           {0.5, "float64[2] [1.5 2.5]"},
		"float32":         {float32(0.5), "float64[2] [1.5 2.5]"},
		"uint8":           {uint8(7), "float64[2] [8 9]"},
		"ints":            {[]int{1, 2}, "float64[2] [2 4]"},
		"floats":          {[]float64{1, 2}, "float64[2] [2 4]"},
		"array":           {[2]float64{1, 2}, "float64[2] [2 4]"},
		"matrix":          {[][]float64{{1}, {2}}, "float64[2,2] [2 3 3 4]"},
		"tensor":          {tensor.Vector(5.0, 6.0), "float64[2] [6 8]"},
		"value":           {ops.ValueOf(tensor.Scalar(5.0)), "float64[2] [6 7]"},
		"variable":        {&p.Variable, "float64[2] [2 4]"},
		"struct":          {p, "float64[2] [2 4]"},
		"complex":         {1i, "can't become float64"},
		"wrong type":      {[]float32{1, 2}, "the inputs' types differ: float64 and float32"},
		"ragged":          {[][]float64{{1}, {2, 3}}, "ragged"},
		"not an input":    {struct{}{}, "no op takes"},
		"empty":           {[]float64{}, "don't broadcast"},
		"no value":        {new(trackable.Variable), "has no value"},
		"slice of struct": {[]struct{}{{}}, "no op takes"},
	} {
		s := eager()
		v := ops.Add(s, tensor.Vector(1.0, 2.0), c.in)
		got := ""
		if err := s.Err(); err != nil {
			got = err.Error()
			if !strings.Contains(got, c.want) || !strings.Contains(got, "ops_test.go:") {
				t.Errorf("%s: %s, want %q", name, got, c.want)
			}
			continue
		}
		x, _ := v.Tensor()
		if got = fmt.Sprintf("%v%v %v", x.DType(), x.Shape(), tensor.Values[float64](x)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestNumbersTakeTheOthersType(t *testing.T) {
	for _, d := range tensor.DTypes() {
		if !d.IsFloating() && !d.IsInteger() && !d.IsComplex() || d.Size() == 1 && d != tensor.Int8 && d != tensor.Uint8 {
			continue
		}
		s := eager()
		x := ops.Ones(s, d, 3)
		if v := ops.Mul(s, x, 2); v.DType() != d || s.Err() != nil {
			t.Errorf("%v: %v %v", d, v.DType(), s.Err())
		}
		if v := ops.Mul(s, 2, x); v.DType() != d || s.Err() != nil {
			t.Errorf("%v on the right: %v %v", d, v.DType(), s.Err())
		}
	}
	s := eager()
	if ops.Mul(s, ops.Ones(s, tensor.Int32, 1), 2.5); s.Err() == nil {
		t.Error("2.5 became an int32")
	}
	s = eager()
	if ops.Mul(s, ops.Ones(s, tensor.Int8, 1), 300); s.Err() == nil || !strings.Contains(s.Err().Error(), "300 doesn't fit int8") {
		t.Errorf("300 as an int8 gives %v", s.Err())
	}
	s = eager()
	for want, v := range map[tensor.DType]*ops.Value{
		tensor.Int32: ops.Add(s, 1, 2), tensor.Float32: ops.Add(s, 1, 2.5), tensor.Complex128: ops.Add(s, 1, 2i),
		tensor.Bool: ops.Const(s, true), tensor.String: ops.Const(s, "x"), tensor.Int64: ops.Const(s, int64(1)),
	} {
		if v.DType() != want {
			t.Errorf("want %v, got %v (%v)", want, v.DType(), s.Err())
		}
	}
}

// Go numbers don't take the type of a shape, of axes or of indices among the
// other inputs.
func TestNumbersDoNotTakeTheTypeOfSizesOrIndices(t *testing.T) {
	s := eager()
	for name, v := range map[string]*ops.Value{
		"Tile":               ops.Tile(s, []float64{0.5}, 2),
		"Concat":             ops.Concat(s, []ops.Input{[]float64{0.5}, []float64{1.5}}, 0),
		"Split":              ops.Split(s, []float64{0.5, 1.5}, 2, 0)[0],
		"SplitSizes":         ops.SplitSizes(s, []float64{0.5, 1.5}, []int{1, 1}, 0)[0],
		"Sum":                ops.Sum(s, []float64{0.5, 1.5}, 0),
		"LinSpace":           ops.LinSpace(s, 0.5, 1.5, 3),
		"ReshapeTo":          ops.ReshapeTo(s, []float64{0.5, 1.5}, []int{2, 1}),
		"Gather":             ops.Gather(s, []float64{0.5, 1.5}, []int32{1}),
		"GatherND":           ops.GatherND(s, []float64{0.5, 1.5}, [][]int32{{1}}),
		"UnsortedSegmentSum": ops.UnsortedSegmentSum(s, []float64{0.5, 1.5}, []int64{1, 0}, 2),
		"TopK":               ops.Sort(s, []float64{1.5, 0.5}),
	} {
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		if v.DType() != tensor.Float32 {
			t.Errorf("%s makes %v of floats", name, v.DType())
		}
	}
}

func TestSizesBeyond32Bits(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int has 32 bits here")
	}
	s := eager()
	n := math.MaxInt32
	v := ops.Reshape(s, ops.Zeros(s, tensor.Float32, 0, 3), n+1, 0)
	if s.Err() != nil || v.Shape()[0] != n+1 {
		t.Errorf("%v: %v", v.Shape(), s.Err())
	}
}

func TestNumbersBeyondTheFirst64Inputs(t *testing.T) {
	s := eager()
	many := make([]ops.Input, 65)
	for i := range many {
		many[i] = 1
	}
	if ops.AddN(s, many); s.Err() == nil || !strings.Contains(s.Err().Error(), "input 64 is a Go number") {
		t.Errorf("65 numbers give %v", s.Err())
	}
	if k := eager().Kernels(); k.Lookup("AddN") == nil || k.Lookup("NoSuchOp") != nil {
		t.Error("the scope's kernels are not those that it runs")
	}
}

// TestTypesMayGiveMoreThan65536Outputs traces ops whose number of outputs is that of their types.
func TestTypesMayGiveMoreThan65536Outputs(t *testing.T) {
	const n = graph.MaxOutputs + 1
	many := func(v *ops.Value) []*ops.Value { return slices.Repeat([]*ops.Value{v}, n) }
	for name, f := range map[string]func(s *ops.Scope, x *ops.Value) []*ops.Value{
		"IdentityN": func(s *ops.Scope, x *ops.Value) []*ops.Value {
			return s.EmitN(n, "IdentityN", nil, slices.Repeat([]ops.Input{x}, n)...)
		},
		"If": func(s *ops.Scope, x *ops.Value) []*ops.Value {
			return ops.If(s, x, func(*ops.Scope) []*ops.Value { return many(x) }, func(*ops.Scope) []*ops.Value { return many(x) })
		},
		"While": func(s *ops.Scope, x *ops.Value) []*ops.Value {
			return ops.While(s, many(x),
				func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 1) },
				func(_ *ops.Scope, v []*ops.Value) []*ops.Value { return v })
		},
		"call": func(s *ops.Scope, x *ops.Value) []*ops.Value {
			return function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value { return many(ops.Neg(s, x)) }).Apply(s, x)
		},
	} {
		s := eager()
		out := function.New(f).Apply(s, ops.Const(s, 1))
		if err := s.Err(); err != nil || len(out) != n {
			t.Errorf("%s: %d outputs, want %d (%v)", name, len(out), n, err)
		}
	}
}

// TestNumbersOfPartsThatNoOpHasFail asks for as many parts as would fill the memory.
func TestNumbersOfPartsThatNoOpHasFail(t *testing.T) {
	for _, n := range []int{-1, math.MinInt, graph.MaxOutputs + 1, math.MaxInt} {
		for name, f := range map[string]func(s *ops.Scope, x ops.Input) []*ops.Value{
			"Split":   func(s *ops.Scope, x ops.Input) []*ops.Value { return ops.Split(s, x, n, 0) },
			"Unstack": func(s *ops.Scope, x ops.Input) []*ops.Value { return ops.Unstack(s, x, n) },
		} {
			s := eager()
			out := f(s, []float32{1, 2})
			if err := s.Err(); out != nil || err == nil || !strings.Contains(err.Error(), fmt.Sprintf("can't have %d outputs", n)) {
				t.Errorf("%s in %d parts: %d values, error %v", name, n, len(out), err)
			}
		}
	}
	for _, n := range []int{-1, math.MaxInt} {
		s := eager()
		if out := s.EmitN(n, "Split", graph.Attrs{graph.Int("num_split", int64(n))}, 0, []float32{1, 2}); len(out) != 0 || s.Err() == nil {
			t.Errorf("EmitN of %d outputs: %d values, error %v", n, len(out), s.Err())
		}
	}
}

func TestEntropyDiffers(t *testing.T) {
	a, b := ops.NewRandomFromEntropy(), ops.NewRandomFromEntropy()
	if a.State.Load().Equal(b.State.Load()) {
		t.Errorf("two generators start at %v", a.State.Load())
	}
}

func TestValuesPrint(t *testing.T) {
	s := eager()
	var none *ops.Value
	for want, got := range map[string]string{
		"2.50":  fmt.Sprintf("%1.2f", ops.Const(s, 2.5)),
		"7":     fmt.Sprint(ops.Const(s, 7)),
		"true":  fmt.Sprintf("%v", ops.Const(s, true)),
		`"a"`:   fmt.Sprintf("%q", ops.Const(s, "a")),
		"  0.5": fmt.Sprintf("%5v", ops.Cast(s, 0.5, tensor.BFloat16)),
		"<nil>": fmt.Sprint(none),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	bad := ops.MatMul(s, 1.0, 2.0)
	if got := fmt.Sprint(bad); !strings.Contains(got, "takes two matrices") {
		t.Errorf("a failed value prints %q", got)
	}
}

func TestStackTakesSlicesOfParts(t *testing.T) {
	parts := []*part{new(part), new(part)}
	for i, p := range parts {
		p.Init(tensor.Vector(float32(i), 5))
	}
	s := eager()
	v := ops.Stack(s, parts)
	if s.Err() != nil || !v.Shape().Equal(tensor.Shape{2, 2}) {
		t.Fatalf("%v %v", v, s.Err())
	}
	for i, x := range ops.Unstack(s, v, 2) {
		ops.Assign(s, parts[1-i], x)
	}
	if s.Err() != nil || tensor.Values[float32](parts[0].Load())[0] != 1 {
		t.Errorf("%v %v", parts[0].Load(), s.Err())
	}
	if ops.Stack(s, []*part{nil}); s.Err() == nil || !strings.Contains(s.Err().Error(), "Pack: input 0 is nil") {
		t.Errorf("a nil part gives %v", s.Err())
	}
}

func TestStructsThatEmbedAVariableAreWrittenTo(t *testing.T) {
	p, slot := new(part), new(part)
	p.Init(tensor.Vector[float32](1, 2))
	slot.Init(tensor.Vector[float32](0, 0))
	s := eager()
	ops.Assign(s, p, []float32{3, 4})
	ops.AssignAdd(s, p, []float32{1, 1})
	ops.AssignSub(s, p, []float32{2, 2})
	ops.ApplyMomentum(s, p, slot, 0.5, []float32{2, 4}, 0.9)
	if got := fmt.Sprint(ops.ReadVariable(s, p)); s.Err() != nil || got != "[1. 1.]" {
		t.Errorf("got %v (%v)", got, s.Err())
	}
	for name, f := range map[string]func(s *ops.Scope){
		"AssignVariableOp":             func(s *ops.Scope) { ops.Assign(s, (*part)(nil), 1) },
		"AssignAddVariableOp":          func(s *ops.Scope) { ops.AssignAdd(s, nil, 1) },
		"ReadVariableOp":               func(s *ops.Scope) { ops.ReadVariable(s, (*trackable.Variable)(nil)) },
		"VarHandleOp":                  func(s *ops.Scope) { ops.Handle(s, (*part)(nil)) },
		"ResourceApplyGradientDescent": func(s *ops.Scope) { ops.ApplyGradientDescent(s, (*part)(nil), 1, 1) },
	} {
		s := eager()
		if f(s); s.Err() == nil || !strings.Contains(s.Err().Error(), name+": ") || !strings.Contains(s.Err().Error(), "nil") {
			t.Errorf("%s of nil gives %v", name, s.Err())
		}
	}
}

func TestGeneratorEqualsTensorFlows(t *testing.T) {
	// tf.random.Generator.from_seed(1234): uniform, normal, truncated_normal,
	// uniform ints, each of shape [3], one after the other (TensorFlow 2.21).
	s := eager()
	r := ops.NewRandom(1234)
	for _, c := range []struct {
		got  *ops.Value
		want []float64
	}{
		{ops.RandomUniform(s, r, tensor.Float32, 3), generatorUniform},
		{ops.RandomNormal(s, r, tensor.Float32, 3), generatorNormal},
		{ops.RandomTruncatedNormal(s, r, tensor.Float32, 3), generatorTruncated},
		{ops.RandomInt(s, r, tensor.Int32, 0, 1000, 3), generatorInts},
	} {
		x, err := c.got.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		v, _ := x.Float64s()
		for i := range v {
			if math.Abs(v[i]-c.want[i]) > 1e-6*math.Abs(c.want[i]) {
				t.Errorf("got %v, want %v", v, c.want)
				break
			}
		}
	}
	if got := tensor.Values[int64](r.State.Load()); got[0] != 1234+4*3*256 || got[2] != 0 {
		t.Errorf("the state is %v", got)
	}
}

func TestShuffleIsAPermutation(t *testing.T) {
	s := eager()
	v := ops.Shuffle(s, ops.NewRandom(1), ops.Range(s, 0, 100, 1))
	x, err := ops.Sort(s, v).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range tensor.Values[int32](x) {
		if e != int32(i) {
			t.Fatalf("sorted: %v", x)
		}
	}
	y, _ := v.Tensor()
	moved := 0
	for i, e := range tensor.Values[int32](y) {
		if int32(i) != e {
			moved++
		}
	}
	if moved < 50 {
		t.Errorf("only %d moved", moved)
	}
	if ops.RandomUniform(s, nil, tensor.Float32, 2); s.Err() == nil || !strings.Contains(s.Err().Error(), "ops.NewRandom") {
		t.Errorf("no generator gives %v", s.Err())
	}
}

func TestDropoutKeepsTheMean(t *testing.T) {
	s := eager()
	x := ops.Ones(s, tensor.Float32, 100, 100)
	y := ops.Dropout(s, ops.NewRandom(5), x, 0.3)
	mean, err := ops.Item[float32](ops.Mean(s, y))
	if err != nil || math.Abs(float64(mean)-1) > 0.03 {
		t.Errorf("mean %v, %v", mean, err)
	}
	zeros, err := ops.Item[float32](ops.Mean(s, ops.Cast(s, ops.Equal(s, y, 0), tensor.Float32)))
	if err != nil || math.Abs(float64(zeros)-0.3) > 0.03 {
		t.Errorf("zeros %v, %v", zeros, err)
	}
	if ops.Dropout(s, ops.NewRandom(5), x, 1.5); s.Err() == nil {
		t.Error("a rate of 1.5 is taken")
	}
}

func TestRawEmitsWhatHasNoFunction(t *testing.T) {
	s := eager()
	out := raw.Emit(s, "BroadcastGradientArgs", nil, []int32{2, 1}, []int32{3})
	if len(out) != 2 || s.Err() != nil {
		t.Fatalf("%v %v", out, s.Err())
	}
	y := s.Emit1("Cast", graph.Attrs{graph.Type("DstT", tensor.Float64)}, 3)
	if v, err := ops.Item[float64](y); v != 3 || err != nil {
		t.Errorf("%v %v", v, err)
	}
	if raw.Emit(s, "Reshape", nil, []float32{1, 2}, []int32{3}) != nil || s.Err() == nil {
		t.Error("a failed op has outputs")
	}
}

// TestNumbersHaveTheTypesThatDefinitionsSay: a Go number takes no other argument's type.
func TestNumbersHaveTheTypesThatDefinitionsSay(t *testing.T) {
	x, wide := tensor.Vector[float64](1, 2, 3), tensor.Vector[int64](1, 2)
	list := func(s *ops.Scope) *ops.Value {
		return raw.TensorListSetItem(s, raw.TensorListReserve(s, []int32{}, 2, tensor.Float32), 0, 3.0, nil)
	}
	for name, c := range map[string]struct {
		f    func(s *ops.Scope) *ops.Value
		want tensor.DType
	}{
		"an axis":           {func(s *ops.Scope) *ops.Value { return raw.Cumprod(s, x, 0, nil) }, tensor.Float64},
		"a new axis":        {func(s *ops.Scope) *ops.Value { return raw.ExpandDims(s, x, 1) }, tensor.Float64},
		"values of indices": {func(s *ops.Scope) *ops.Value { return raw.OneHot(s, wide, 3, 1.5, 0, nil) }, tensor.Float32},
		"an element":        {func(s *ops.Scope) *ops.Value { return raw.TensorListStack(s, list(s), []int32{}, tensor.Float32, nil) }, tensor.Float32},
		"bounds":            {func(s *ops.Scope) *ops.Value { return raw.ClipByValue(s, x, 1, 2.5) }, tensor.Float64},
		"rows":              {func(s *ops.Scope) *ops.Value { return raw.Mul(s, x, [][]float64{{1, 2, 3}, {4, 5, 6}}) }, tensor.Float64},
		"rows of ints":      {func(s *ops.Scope) *ops.Value { return raw.Mul(s, x, [2][3]int{{1, 2, 3}, {4, 5, 6}}) }, tensor.Float64},
		"rows alone":        {func(s *ops.Scope) *ops.Value { return ops.Const(s, [][]float64{{1, 2}, {3, 4}}) }, tensor.Float32},
		"a factor":          {func(s *ops.Scope) *ops.Value { return raw.Mul(s, 2, x) }, tensor.Float64},
		"indices of a sum":  {func(s *ops.Scope) *ops.Value { return raw.UnsortedSegmentSum(s, x, []int32{0, 1, 0}, 2) }, tensor.Float64},
	} {
		for _, m := range []function.Mode{function.Eagerly, function.Traced} {
			f := function.New(func(s *ops.Scope, _ *ops.Value) *ops.Value { return c.f(s) }, &function.Options{Mode: m})
			if y, err := f.Call(t.Context(), ops.ValueOf(x)); err != nil || y.DType() != c.want {
				t.Errorf("%s, mode %v: %v (%v), want %v", name, m, y, err, c.want)
			}
		}
	}
}

func TestErrorsSayWhatWasMeant(t *testing.T) {
	nothing := func(*ops.Scope) *ops.Value { return nil }
	for want, f := range map[string]func(s *ops.Scope){
		"Mul(float32[1]): input 1 is nil (y); a map's value for a missing key": func(s *ops.Scope) {
			ops.Mul(s, []float32{1}, map[string]*ops.Value{}["w"])
		},
		"int32: FloorDiv and TruncateDiv divide integers":     func(s *ops.Scope) { ops.Div(s, 1, tensor.Scalar(int32(2))) },
		"is nil; a function without values returns a nil []*": func(s *ops.Scope) { ops.If(s, true, nothing, nothing) },
	} {
		s := eager()
		if f(s); s.Err() == nil || !strings.Contains(s.Err().Error(), want) {
			t.Errorf("got %v, want ... %s ...", s.Err(), want)
		}
	}
}
