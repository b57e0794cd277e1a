package grad_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// constant are ops whose rule says that there is no gradient although small
// changes show through at some places, or whose inputs are no numbers to vary.
var constant = map[string]bool{
	"FloorDiv": true, "TruncateDiv": true, "Sign": true, "Floor": true, "Ceil": true, "Rint": true, "Round": true,
	"ZerosLike": true, "OnesLike": true, "OneHot": true, "ArgMax": true, "ArgMin": true, "Bitcast": true,
}

// byHandle are ops that read variables; they have tests of their own.
var byHandle = map[string]bool{"ReadVariableOp": true, "ResourceGather": true}

// TestGradientsEqualNumericDifferences runs over the whole table of rules: each
// of TensorFlow's calls of the op is differentiated both ways.
func TestGradientsEqualNumericDifferences(t *testing.T) {
	fixtures := opfixture.Load(t, "../kernel/testdata/tf2.21")
	for _, op := range grad.All().Ops() {
		if constant[op] || byHandle[op] {
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

// call is an op with its inputs in double precision.
type call struct {
	f     opfixture.Fixture
	attrs graph.Attrs
	in    []*tensor.Tensor
	vary  []int // the inputs to differentiate by
}

func newCall(t *testing.T, f opfixture.Fixture) (*call, bool) {
	c := &call{f: f, attrs: f.EngineAttrs(t)}
	elements := 0
	for i, x := range f.In {
		v := x.Tensor(t)
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
			c.attrs[i] = graph.Type(a.Name, tensor.Float64)
		case tensor.Complex64:
			c.attrs[i] = graph.Type(a.Name, tensor.Complex128)
		}
	}
	if f.Op == "Cast" {
		d := c.attrs.Type("DstT", tensor.Invalid)
		if d != tensor.Float64 && d != tensor.Complex128 {
			return nil, false // rounding hides small changes
		}
	}
	return c, len(c.vary) > 0 && elements > 0 && elements < 400
}

// value is the sum of all outputs' elements, each with a weight of its own.
func (c *call) value(s *ops.Scope, in []ops.Input) *ops.Value {
	weights := rand.New(rand.NewPCG(1, 2))
	var sum *ops.Value
	for _, out := range s.Emit(c.f.Op, c.attrs, in...) {
		if !out.DType().IsFloating() && !out.DType().IsComplex() {
			continue
		}
		w := make([]float64, len(flat(out)))
		for i := range w {
			w[i] = weights.Float64()*2 - 1
		}
		var part *ops.Value
		if out.DType().IsComplex() {
			n := len(w) / 2
			re, im := tensor.Must(tensor.New(w[:n], out.Shape()...)), tensor.Must(tensor.New(w[n:], out.Shape()...))
			part = ops.Add(s, ops.Sum(s, ops.Mul(s, s.Emit1("Real", nil, out), re)), ops.Sum(s, ops.Mul(s, s.Emit1("Imag", nil, out), im)))
		} else {
			part = ops.Sum(s, ops.Mul(s, out, tensor.Must(tensor.New(w, out.Shape()...))))
		}
		if sum == nil {
			sum = part
		} else {
			sum = ops.Add(s, sum, part)
		}
	}
	return sum
}

// flat are a value's elements, two for a complex one.
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

func (c *call) check(t *testing.T) {
	t.Helper()
	s := function.Eager(context.Background())
	rec, tape := grad.Record(s)
	in := make([]ops.Input, len(c.in))
	var watched []*ops.Value
	for i, x := range c.in {
		in[i] = ops.ValueOf(x)
	}
	for _, i := range c.vary {
		watched = append(watched, in[i].(*ops.Value))
	}
	tape.Watch(watched...)
	loss := c.value(rec, in)
	if loss == nil {
		return // no output has a derivative
	}
	grads := tape.GradientWith(&grad.GradientOptions{Zero: true}, []*ops.Value{loss}, watched...)
	if err := s.Err(); err != nil {
		t.Errorf("%v: %v", c.f, err)
		return
	}
	for k, i := range c.vary {
		got, want := flat(grads[k]), c.numeric(t, i)
		for e := range want {
			if !(math.Abs(got[e]-want[e]) <= 2e-5*(1+math.Abs(want[e]))) {
				t.Errorf("%v: input %d: gradient %v, numeric %v (element %d)", c.f, i, got, want, e)
				break
			}
		}
	}
}

// numeric differentiates by input i with central differences. For complex
// numbers the gradient is d/d(real) + i*d/d(imag), as TensorFlow has it.
func (c *call) numeric(t *testing.T, i int) []float64 {
	t.Helper()
	const h = 1e-6
	x := c.in[i]
	n := len(flatTensor(x))
	out := make([]float64, n)
	at := func(e int, d float64) float64 {
		moved := x.Clone()
		if x.DType() == tensor.Complex128 {
			step := complex(d, 0)
			if e%2 == 1 {
				step = complex(0, d)
			}
			tensor.Values[complex128](moved)[e/2] += step
		} else {
			tensor.Values[float64](moved)[e] += d
		}
		s := function.Eager(context.Background())
		in := make([]ops.Input, len(c.in))
		for j, y := range c.in {
			in[j] = y
		}
		in[i] = moved
		v, err := ops.Item[float64](c.value(s, in))
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
