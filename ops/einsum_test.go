package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// numbers returns 0, 1, … as float32 of a shape.
func numbers(from float32, dims ...int) *tensor.Tensor {
	x := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](x) {
		tensor.Values[float32](x)[i] = from + float32(i)
	}
	return x
}

// bothWays calls f eagerly and traced, with unknown sizes too.
func bothWays(t *testing.T, f func(s *ops.Scope, x []*ops.Value) []*ops.Value, in ...*tensor.Tensor) (results []string) {
	t.Helper()
	call := func(o *function.Options, args []*ops.Value) {
		out, err := function.New(f, o).Call(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		var say []string
		for _, v := range out {
			x, err := v.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			flat, err := x.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			say = append(say, fmt.Sprint(x.Shape(), flat))
		}
		results = append(results, strings.Join(say, " "))
	}
	args, unknown := make([]*ops.Value, len(in)), make([]*ops.Value, len(in))
	for i, x := range in {
		args[i] = ops.ValueOf(x)
		unknown[i] = ops.Spec(x.DType(), slices.Repeat([]int{-1}, len(x.Shape()))...)
	}
	call(&function.Options{Mode: function.Eagerly}, args)
	call(&function.Options{Mode: function.Traced}, args)
	if _, err := function.New(f).Trace(unknown); err != nil {
		t.Errorf("with unknown sizes: %v", err)
	}
	return results
}

// TestGradientsOfEinsumsWithAnEllipsis compares gradients with TensorFlow's. An
// input without ellipsis is the same for all elements of the other's ellipsis.
func TestGradientsOfEinsumsWithAnEllipsis(t *testing.T) {
	x, w := numbers(1, 2, 1, 2), numbers(1, 2, 2)
	turned := tensor.Must(numbers(1, 2, 2, 1).Reshape(2, 2, 1)) // x with its last dimension first
	copy(tensor.Values[float32](turned), []float32{1, 3, 2, 4})
	for _, c := range []struct {
		equation string
		a, b     *tensor.Tensor
		want     string
	}{
		{"...j,jk->...k", x, w, "[2,1,2] [5 11 11 25] [2,2] [10 14 14 20]"},
		{"jk,...j->...k", w, x, "[2,2] [10 14 14 20] [2,1,2] [5 11 11 25]"},
		{"j...,jk->k...", turned, w, "[2,2,1] [7 10 15 22] [2,2] [7 15 10 22]"},
	} {
		for _, got := range bothWays(t, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				y := ops.Reshape(s, ops.Einsum(s, c.equation, in[0], in[1]), -1)
				return ops.Sum(s, ops.Mul(s, y, []float64{1, 2, 3, 4}))
			}, &grad.Options{Watch: in})
			return tape.GradientOf(loss, in...)
		}, c.a, c.b) {
			if got != c.want {
				t.Errorf("%s: got %s, TensorFlow has %s", c.equation, got, c.want)
			}
		}
	}
}

// TestEinsumsOfManyInputs has TensorFlow's results.
func TestEinsumsOfManyInputs(t *testing.T) {
	a, b, c, d := numbers(0, 2, 3), numbers(0, 3, 4), numbers(0, 4, 2), numbers(1, 2)
	for _, got := range bothWays(t, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		return []*ops.Value{
			ops.Einsum(s, "ij,jk,kl->il", in[0], in[1], in[2]),
			ops.Einsum(s, "ij, jk, kl, l -> i", in[0], in[1], in[2], in[3]),
			ops.Einsum(s, "...ij,jk,kl->...il", ops.ExpandDims(s, in[0], 0), in[1], in[2]),
		}
	}, a, b, c, d) {
		if want := "[2,2] [324 422 1008 1304] [2] [1168 3616] [1,2,2] [324 422 1008 1304]"; got != want {
			t.Errorf("got %s, TensorFlow has %s", got, want)
		}
	}
}

// TestTracesReportWhatEagerCallsReport holds the errors of the shapes against those of
// the kernels: the same, in the same words, and none but in the call.
func TestTracesReportWhatEagerCallsReport(t *testing.T) {
	x := tensor.Must(tensor.Zeros(tensor.Float32, 2, 3))
	einsum := func(equation string, n int) func(s *ops.Scope, x *ops.Value) *ops.Value {
		return func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.Emit1("Einsum", graph.Attrs{graph.String("equation", equation)}, slices.Repeat([]ops.Input{x}, n)...)
		}
	}
	for name, f := range map[string]func(s *ops.Scope, x *ops.Value) *ops.Value{
		"ExpandDims behind the end":   func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.ExpandDims(s, x, 3) },
		"ExpandDims before the start": func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.ExpandDims(s, x, -4) },
		"ExpandDims at two axes":      func(s *ops.Scope, x *ops.Value) *ops.Value { return s.Emit1("ExpandDims", nil, x, []int32{0, 1}) },
		"terms missing":               einsum("ij->i", 2),
		"inputs missing":              einsum("ij,jk->ik", 1),
		"three terms":                 einsum("ij,ij,ij->ij", 3),
		"no arrow":                    einsum("ij", 1),
		"two arrows":                  einsum("ij->i->j", 1),
		"an output from nowhere":      einsum("ij->ikk", 1),
		"two ellipses":                einsum("i...j...->i", 1),
		"two sizes":                   einsum("ii->i", 1),
		"two sizes in two inputs":     einsum("ij,jk->ik", 2),
		"too many labels":             einsum("ijk->i", 1),
		"too few labels":              einsum("i->i", 1),
		"an ellipsis is summed over":  einsum("i...->i", 1),
		"ellipses are summed over":    einsum("i...,j...->ij", 2),
		"a comma in the output":       einsum("ij->i,j", 1),
	} {
		_, eager := function.New(f, &function.Options{Mode: function.Eagerly}).Call(t.Context(), ops.ValueOf(x))
		_, traced := function.New(f).Trace(ops.Spec(tensor.Float32, 2, 3))
		if eager == nil || traced == nil || eager.Error() != traced.Error() {
			t.Errorf("%s:\neagerly  %v\nin trace %v", name, eager, traced)
		}
	}
	loop := func(s *ops.Scope, x *ops.Value) []*ops.Value {
		return ops.While(s, []*ops.Value{ops.Const(s, 0), x}, func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 2) },
			func(s *ops.Scope, v []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Add(s, v[0], 1), ops.Einsum(s, "ij,ij,ij->ij", v[1], v[1], v[1])}
			})
	}
	if _, err := function.New(loop, &function.Options{Mode: function.Traced}).Call(t.Context(), ops.ValueOf(x)); err != nil {
		t.Errorf("three inputs in a loop's body: %v", err)
	}
}

// TestLimitsBroadcast has TensorFlow's results and gradients of tf.clip_by_value.
func TestLimitsBroadcast(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 5, 9, 2, 2, 2}, 2, 3))
	lo := tensor.Vector[float32](1, 2, 2)
	hi := tensor.Must(tensor.New([]float32{4, 6, 8, 2, 3, 3}, 2, 3))
	for _, c := range []struct {
		lo, hi *tensor.Tensor
		want   string
	}{
		{lo, hi, "[2,3] [1 5 8 2 2 2] [2,3] [1 2 0 4 5 6] [3] [0 0 0] [2,3] [0 0 3 0 0 0]"},
		{lo, tensor.Scalar[float32](6), "[2,3] [1 5 6 2 2 2] [2,3] [1 2 0 4 5 6] [3] [0 0 0] [] [3]"},
		{tensor.Scalar[float32](2), hi, "[2,3] [2 5 8 2 2 2] [2,3] [0 2 0 4 5 6] [] [1] [2,3] [0 0 3 0 0 0]"},
	} {
		for _, got := range bothWays(t, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
			var y *ops.Value
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				y = ops.Clip(s, in[0], in[1], in[2])
				return ops.Sum(s, ops.Mul(s, y, [][]float64{{1, 2, 3}, {4, 5, 6}}))
			}, &grad.Options{Watch: in})
			return append([]*ops.Value{y}, tape.GradientWith([]*ops.Value{loss}, in, &grad.GradientOptions{Zero: true})...)
		}, x, c.lo, c.hi) {
			if got != c.want {
				t.Errorf("got %s, TensorFlow has %s", got, c.want)
			}
		}
	}
	s := function.Eager(t.Context())
	if ops.Clip(s, x, tensor.Must(tensor.Zeros(tensor.Float32, 2, 2, 3)), 10); s.Err() == nil {
		t.Error("limits with more dimensions than x are taken")
	}
}

// TestSortKeepsTheOrderOfEqualElements has TensorFlow's gradients of tf.sort.
func TestSortKeepsTheOrderOfEqualElements(t *testing.T) {
	for _, got := range bothWays(t, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Sum(s, ops.Mul(s, ops.Sort(s, in[0]), []float64{1, 2, 3, 4, 5, 6}))
		}, &grad.Options{Watch: in})
		return tape.GradientOf(loss, in...)
	}, tensor.Vector[float32](3, 1, 2, 1, 3, 3)) {
		if want := "[6] [4 1 3 2 5 6]"; got != want {
			t.Errorf("got %s, TensorFlow has %s", got, want)
		}
	}
	s := function.Eager(t.Context())
	for _, c := range []struct{ in, want *tensor.Tensor }{
		{tensor.Vector[int8](3, -128, 127, 0), tensor.Vector[int8](-128, 0, 3, 127)},
		{tensor.Vector[uint8](3, 255, 0), tensor.Vector[uint8](0, 3, 255)},
		{tensor.Vector[uint64](3, 1<<64-1, 0), tensor.Vector[uint64](0, 3, 1<<64-1)},
		{tensor.Vector[int64](3, -1<<63, 1<<63-1), tensor.Vector[int64](-1<<63, 3, 1<<63-1)},
	} {
		got, err := ops.Sort(s, c.in).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(c.want) {
			t.Errorf("%v is sorted as %v", c.in, got)
		}
	}
}

// TestStringFormatOfNoElements has TensorFlow's texts for summarize=0.
func TestStringFormatOfNoElements(t *testing.T) {
	s := function.Eager(t.Context())
	in := []ops.Input{5, tensor.Must(tensor.Zeros(tensor.Float32, 0)), tensor.Must(tensor.Zeros(tensor.Float32, 2, 0)), []string{"a", "b", "c", "d"},
		tensor.Must(tensor.Zeros(tensor.Float32, 2, 2, 2))}
	attrs := graph.Attrs{graph.String("template", "{}|{}|{}|{}|{}"), graph.String("placeholder", "{}"), graph.Int("summarize", 0)}
	got, err := s.Emit1("StringFormat", attrs, in...).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if want := "...|[]|[\n ...]|[ ...]|[\n\n ...]"; got.Strings()[0] != want {
		t.Errorf("got %q, TensorFlow has %q", got.Strings()[0], want)
	}
}

// TestVariablesOfUnknownSizeAreAssigned has the attribute as TensorFlow writes it: a value
// of another size than the last one would be refused otherwise.
func TestVariablesOfUnknownSizeAreAssigned(t *testing.T) {
	sized := trackable.NewVariable(tensor.Vector[float32](1, 2))
	unsized := trackable.NewVariable(tensor.Vector[float32](1, 2)).SetShape(tensor.Shape{-1})
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		ops.Assign(s, sized, ops.SliceOf(s, x, []int{0}, []int{2}))
		ops.Assign(s, unsized, x)
		return x
	})
	c, err := f.Trace(ops.Spec(tensor.Float32, -1))
	if err != nil {
		t.Fatal(err)
	}
	var validate []bool
	for _, n := range c.Function.Graph.Nodes() {
		if n.Op == "AssignVariableOp" {
			validate = append(validate, n.Attrs.Bool("validate_shape"))
		}
	}
	if fmt.Sprint(validate) != "[true false]" {
		t.Errorf("validate_shape is %v, TensorFlow has [true false]", validate)
	}
	if _, err := f.Call(t.Context(), ops.ValueOf(tensor.Vector[float32](4, 5, 6))); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sized.Load(), unsized.Load()); got != "[4. 5.] [4. 5. 6.]" {
		t.Errorf("the variables hold %s", got)
	}
	matrix := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { ops.Assign(s, unsized, x); return x })
	if _, err := matrix.Trace(ops.SpecOf(graph.Fact{DType: tensor.Float32})); err != nil {
		t.Fatal(err)
	}
	if _, err := matrix.Call(t.Context(), ops.ValueOf(numbers(0, 2, 2))); err == nil {
		t.Error("a matrix is assigned to a variable of vectors")
	}
}
