package grad_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// body is a function of two values.
type body func(s *ops.Scope, x, y *ops.Value) *ops.Value

type two struct{ X, Y *ops.Value }

// traced returns the function of a body, of which no shapes are known, and its
// captures.
func traced(t *testing.T, f body) *graph.Concrete {
	t.Helper()
	unknown := ops.SpecOf(graph.Fact{DType: tensor.Float64})
	c, err := function.New(func(s *ops.Scope, in two) *ops.Value { return f(s, in.X, in.Y) }).Trace(two{unknown, unknown})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// emit emits an op that calls functions of x and y, which all capture the same
// variables.
func emit(s *ops.Scope, op string, attrs graph.Attrs, c *graph.Concrete, in ...ops.Input) *ops.Value {
	for _, c := range c.Captures {
		in = append(in, ops.Handle(s, c.Variable))
	}
	return s.Emit1(op, append(attrs, graph.Types("Tout", tensor.Float64)), in...)
}

func call(t *testing.T, f body) body {
	c := traced(t, f)
	return func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return emit(s, "StatefulPartitionedCall", graph.Attrs{graph.Func("f", c.Function)}, c, x, y)
	}
}

func cond(t *testing.T, yes, no body) body {
	a, b := traced(t, yes), traced(t, no)
	return func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		positive := ops.Greater(s, ops.Sum(s, ops.Reshape(s, x, -1), 0), 0)
		return emit(s, "If", graph.Attrs{graph.Func("then_branch", a.Function), graph.Func("else_branch", b.Function)}, a, positive, x, y)
	}
}

func choice(t *testing.T, branches ...body) body {
	var fs []graph.Callee
	var c *graph.Concrete
	for _, f := range branches {
		c = traced(t, f)
		fs = append(fs, graph.Callee{Function: c.Function})
	}
	return func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		index := ops.Cast(s, ops.Greater(s, ops.Sum(s, ops.Reshape(s, x, -1), 0), 0), tensor.Int32)
		return emit(s, "Case", graph.Attrs{graph.Funcs("branches", fs...)}, c, index, x, y)
	}
}

// TestGradientsOfFunctionsEqualThoseOfTheirBodies compares the first and second
// derivatives of calls with those of the ops without a call.
func TestGradientsOfFunctionsEqualThoseOfTheirBodies(t *testing.T) {
	w := trackable.NewVariable(tensor.Vector(0.5, -1.5, 2)).Named("w")
	waves := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return ops.Mul(s, ops.Tanh(s, ops.Mul(s, x, w)), ops.Add(s, ops.Exp(s, y), w))
	}
	powers := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return ops.Mul(s, ops.Mul(s, x, ops.Square(s, x)), ops.Mul(s, w, 3))
	}
	ifBody := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		if v, err := x.Tensor(); err == nil && sum(v) <= 0 {
			return powers(s, x, y)
		}
		return waves(s, x, y)
	}
	for name, c := range map[string]struct{ call, body body }{
		"call":         {call(t, waves), waves},
		"nested calls": {call(t, call(t, waves)), waves},
		"if":           {cond(t, waves, powers), ifBody},
		"if in a call": {call(t, cond(t, waves, powers)), ifBody},
		"call in if":   {cond(t, call(t, waves), call(t, powers)), ifBody},
		"case":         {choice(t, powers, waves), ifBody},
	} {
		for _, sign := range []float64{1, -1} {
			x, y := tensor.Vector(sign*0.3, sign*0.7, sign*1.1), tensor.Vector(0.2)
			want := derivatives(t, c.body, function.Eagerly, x, y, w)
			for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
				got := derivatives(t, c.call, m, x, y, w)
				for i := range want {
					if !near(got[i], want[i]) {
						t.Errorf("%s, %s, sign %v: derivative %d is %v, want %v", name, mode, sign, i, got[i], want[i])
					}
				}
			}
		}
	}
}

func sum(x *tensor.Tensor) (sum float64) {
	for _, e := range tensor.Values[float64](x) {
		sum += e
	}
	return sum
}

func near(a, b []float64) bool {
	for i := range b {
		if len(a) != len(b) || !(math.Abs(a[i]-b[i]) <= 1e-12*(1+math.Abs(b[i]))) {
			return false
		}
	}
	return true
}

// derivatives returns f's value, its gradients with regard to x, y and w, and
// the gradients of the sum of squares of these.
func derivatives(t *testing.T, f body, m function.Mode, x, y *tensor.Tensor, w *trackable.Variable) [][]float64 {
	t.Helper()
	g := function.New(func(s *ops.Scope, in two) []*ops.Value {
		watch := &grad.Options{Watch: []*ops.Value{in.X, in.Y}}
		zero := &grad.GradientOptions{Zero: true}
		outer, second := grad.Record(s, watch)
		inner, first := grad.Record(outer, watch, &grad.Options{Watch: watch.Watch, Persistent: true})
		out := f(inner, in.X, in.Y)
		d := append(first.GradientWith([]*ops.Value{out}, []*ops.Value{in.X, in.Y}, zero), first.Gradient(out, []*trackable.Variable{w}, zero)[0].Grad)
		var norm *ops.Value
		for i, g := range d {
			n := ops.Sum(outer, ops.Reshape(outer, ops.Square(outer, g), -1), 0)
			if i > 0 {
				n = ops.Add(outer, norm, n)
			}
			norm = n
		}
		dd := second.GradientWith([]*ops.Value{norm}, []*ops.Value{in.X, in.Y}, zero)
		return append(append([]*ops.Value{out}, d...), dd...)
	}, &function.Options{Mode: m})
	out, err := g.Call(context.Background(), two{ops.ValueOf(x), ops.ValueOf(y)})
	if err != nil {
		t.Fatal(err)
	}
	list := make([][]float64, len(out))
	for i, v := range out {
		list[i] = flat(v)
	}
	return list
}

// TestTheBackwardFunctionSeesWhatTheForwardOneDrew shows that nothing is
// computed twice: random numbers would differ.
func TestTheBackwardFunctionSeesWhatTheForwardOneDrew(t *testing.T) {
	noisy := call(t, func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return ops.Mul(s, x, s.Emit1("RandomUniform", graph.Attrs{graph.Type("dtype", tensor.Float64)}, ops.Shape(s, x)))
	})
	x := ops.ValueOf(tensor.Vector(1.0, 1, 1))
	for _, m := range []function.Mode{function.Eagerly, function.Traced} {
		out, err := function.New(func(s *ops.Scope, in two) two {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return noisy(s, in.X, in.Y) }, &grad.Options{Watch: []*ops.Value{in.X}})
			return two{y, tape.GradientOf(y, in.X)[0]}
		}, &function.Options{Mode: m}).Call(context.Background(), two{x, x})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := flat(out.X), flat(out.Y); !near(a, b) || a[0] == a[1] {
			t.Errorf("the function gave %v, its gradient is %v", a, b)
		}
	}
}

func TestFunctionsWithoutEndHaveNoGradient(t *testing.T) {
	f := graph.NewFunction("again")
	x, err := f.AddArg("x", graph.Fact{DType: tensor.Float64})
	if err != nil {
		t.Fatal(err)
	}
	attrs := graph.Attrs{graph.Func("f", f), graph.Types("Tin", tensor.Float64), graph.Types("Tout", tensor.Float64)}
	n := &graph.Node{Name: "call", Op: "PartitionedCall", Def: graph.LookupOp("PartitionedCall"), In: []graph.Output{x},
		Attrs: attrs, Out: []graph.Fact{{DType: tensor.Float64}}}
	if err := f.Graph.Add(n); err != nil {
		t.Fatal(err)
	}
	f.AddResult("y", n.Output(0))
	s := function.Eager(context.Background())
	v := ops.ValueOf(tensor.Vector(1.0))
	grad.Of(s, func(s *ops.Scope) *ops.Value { return s.Emit1("PartitionedCall", attrs[:1:1].Set(attrs[2]), v) },
		&grad.Options{Watch: []*ops.Value{v}})
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "without end") {
		t.Errorf("got %v", err)
	}
}

// TestDerivativesOfFunctionsOfHighOrder: the derivatives of cos up to the fourth, of a function that is called, traced, or
// both around each derivative; and the gradient with regard to the gradient that flows in.
func TestDerivativesOfFunctionsOfHighOrder(t *testing.T) {
	x := scalar(1)
	watch := &grad.Options{Watch: []*ops.Value{x}}
	want := []float64{math.Cos(1), -math.Sin(1), -math.Cos(1), math.Sin(1), math.Cos(1)}
	traced := &function.Options{Mode: function.Traced}
	type body = func(s *ops.Scope, x *ops.Value) *ops.Value
	derived := func(f body) body {
		return func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return f(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
			return tape.GradientOf(y, x)[0]
		}
	}
	cos := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Cos(s, x) }, traced)
	plain, each := body(cos.Apply), body(cos.Apply)
	for order, want := range want {
		for name, f := range map[string]body{"eager": plain, "traced": function.New(plain, traced).Apply, "traced each time": each} {
			got, err := function.New(f, traced).Call(t.Context(), x)
			if err != nil || math.Abs(item(t, got)-want) > 1e-12 {
				t.Errorf("%s, order %d: %v, want %v: %v", name, order, got, want, err)
			}
		}
		plain, each = derived(plain), function.New(derived(each), traced).Apply
	}
	s, d := scope(), scalar(2)
	g, outer := grad.Of(s, func(s *ops.Scope) *ops.Value {
		y, inner := grad.Of(s, func(s *ops.Scope) *ops.Value { return cos.Apply(s, x) }, watch)
		return inner.GradientWith([]*ops.Value{y}, []*ops.Value{x}, &grad.GradientOptions{OutputGradients: []*ops.Value{d}})[0]
	}, &grad.Options{Watch: []*ops.Value{d}})
	if gg := outer.GradientOf(g, d); s.Err() != nil || gg[0] == nil || math.Abs(item(t, gg[0])+math.Sin(1)) > 1e-12 {
		t.Errorf("with regard to the gradient that flows in: %v: %v", gg, s.Err())
	}
}
