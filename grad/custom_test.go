package grad_test

import (
	"context"
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

// log1pexp is log(1+exp(x)) with a gradient that is right even if exp
// overflows: the example of tf.custom_gradient.
var log1pexp = grad.NewCustom("TestLog1pExp",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Log(s, ops.Add(s, 1, ops.Exp(s, x[0])))}
	},
	func(s *ops.Scope, x, _, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, dy[0], ops.Sub(s, 1, ops.Div(s, 1, ops.Add(s, 1, ops.Exp(s, x[0])))))}
	})

func ExampleNewCustom() {
	s := function.Eager(context.Background())
	x := ops.ValueOf(tensor.Scalar(1000.0))
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return log1pexp.Call(s, x)[0] }, &grad.Options{Watch: []*ops.Value{x}})
	fmt.Println(tape.GradientOf(y, x)[0], s.Err())
	// Output: 1 <nil>
}

func TestACustomGradientIsUsedWhereverItsFunctionIsCalled(t *testing.T) {
	direct := func(s *ops.Scope, x, _ *ops.Value) *ops.Value { return log1pexp.Call(s, x)[0] }
	for name, f := range map[string]body{
		"as it is":  direct,
		"in a call": call(t, direct),
		"in an if":  cond(t, direct, direct),
		"in a loop": while(t, 1, direct),
	} {
		for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
			fn := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				watch := &grad.Options{Watch: []*ops.Value{x}}
				dy, second := grad.Of(s, func(s *ops.Scope) *ops.Value {
					y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return f(s, x, x) }, watch)
					return tape.GradientOf(y, x)[0]
				}, watch)
				return []*ops.Value{dy, second.GradientOf(dy, x)[0]}
			}, &function.Options{Mode: m})
			out, err := fn.Call(context.Background(), scalar(1000))
			if err != nil {
				t.Fatalf("%s, %s: %v", name, mode, err)
			}
			if dy, d2y := item(t, out[0]), item(t, out[1]); dy != 1 || d2y == d2y && d2y != 0 {
				t.Errorf("%s, %s: the derivatives are %v and %v, want 1 and 0 or NaN", name, mode, dy, d2y)
			}
		}
	}
}

// manyCopies is a function of more than 65536 results.
var manyCopies = grad.NewCustom("TestManyCopies",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value { return slices.Repeat(x, 65537) },
	func(s *ops.Scope, _, _, dy []*ops.Value) []*ops.Value { return dy[:1] })

func TestACustomGradientHasMoreThan65536Results(t *testing.T) {
	s := function.Eager(t.Context())
	if y := manyCopies.Call(s, 1.5); s.Err() != nil || len(y) != 65537 {
		t.Errorf("%d results, want 65537 (%v)", len(y), s.Err())
	}
}

func TestATraceNamesACustomGradientAsTensorFlowDoes(t *testing.T) {
	c, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return log1pexp.Call(s, x)[0] }).Trace(ops.Spec(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Function.Graph.Nodes(), func(n *graph.Node) bool { return n.Op == "IdentityN" })
	if i < 0 {
		t.Fatal("there is no IdentityN")
	}
	n := c.Function.Graph.Nodes()[i]
	if name := n.Attrs.String("_gradient_op_type", ""); name != "TestLog1pExp" || len(n.In) != 2 || !n.In[1].Node.IsArg() {
		t.Errorf("the gradient is named %q, of a node with the inputs %v", name, n.In)
	}
}

func TestAVariableThatACustomGradientMissesIsRefused(t *testing.T) {
	w := trackable.NewVariable(tensor.Scalar(2.0)).Named("w")
	scale := grad.NewCustom("",
		func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Mul(s, x[0], w)} },
		func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value { return make([]*ops.Value, len(x)) })
	s := scope()
	if scale.Call(s, tensor.Scalar(1.0)); s.Err() == nil || !strings.Contains(s.Err().Error(), `"w"`) {
		t.Errorf("the error is %v", s.Err())
	}
	s = scope()
	if scale.Call(s, tensor.Scalar(1.0), w); s.Err() != nil {
		t.Errorf("given the variable: %v", s.Err())
	}
}

// named returns a function of one node whose gradient has a name.
func named(name string) func(s *ops.Scope, x *ops.Value) *ops.Value {
	return func(s *ops.Scope, x *ops.Value) *ops.Value {
		return s.EmitN(1, "IdentityN", graph.Attrs{graph.String("_gradient_op_type", name)}, x)[0]
	}
}

func TestANodesGradientIsTheOneItNames(t *testing.T) {
	triple, err := function.New(func(s *ops.Scope, dy *ops.Value) *ops.Value { return ops.Mul(s, dy, 3) }).Trace(ops.Spec(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	lib := &graph.Library{Registered: []graph.RegisteredGradient{{Type: "CustomGradient-7", Gradient: graph.Callee{Function: triple.Function}}}}
	for name, c := range map[string]struct {
		rules *grad.Rules
		want  float64
		err   string
	}{
		"a rule":     {grad.All().With("CustomGradient-7", func(s *ops.Scope, op *grad.Op) { op.Give(0, ops.Mul(s, op.Grad(0), 5)) }), 5, ""},
		"a library":  {grad.All().WithLibrary(lib), 3, ""},
		"no rule":    {grad.All(), 0, "CustomGradient-7"},
		"both, rule": {grad.All().With("CustomGradient-7", func(s *ops.Scope, op *grad.Op) { op.Give(0, ops.Mul(s, op.Grad(0), 5)) }).WithLibrary(lib), 5, ""},
	} {
		s, x := scope(), scalar(2)
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return named("CustomGradient-7")(s, x) },
			&grad.Options{Watch: []*ops.Value{x}, Rules: c.rules})
		dx := tape.GradientOf(y, x)[0]
		if c.err != "" {
			if s.Err() == nil || !strings.Contains(s.Err().Error(), c.err) {
				t.Errorf("%s: the error is %v", name, s.Err())
			}
			continue
		}
		if s.Err() != nil || item(t, dx) != c.want {
			t.Errorf("%s: the gradient is %v, want %v (%v)", name, dx, c.want, s.Err())
		}
	}
}

// TestAFunctionsGradientIsTheLibrarys: a GradientDef is a function of the
// arguments and of the gradients with regard to the results.
func TestAFunctionsGradientIsTheLibrarys(t *testing.T) {
	f, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, x) }).Trace(ops.Spec(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	g, err := function.New(func(s *ops.Scope, in two) *ops.Value { return ops.Mul(s, ops.Mul(s, in.X, 10), in.Y) }).Trace(two{ops.Spec(tensor.Float64), ops.Spec(tensor.Float64)})
	if err != nil {
		t.Fatal(err)
	}
	lib := &graph.Library{Gradients: []graph.FunctionGradient{{Function: graph.Callee{Function: f.Function}, Gradient: graph.Callee{Function: g.Function}}}}
	s, x := scope(), scalar(2)
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return s.Emit1("PartitionedCall", graph.Attrs{graph.Func("f", f.Function), graph.Types("Tout", tensor.Float64)}, x)
	}, &grad.Options{Watch: []*ops.Value{x}, Rules: grad.All().WithLibrary(lib)})
	if dx := tape.GradientOf(y, x)[0]; s.Err() != nil || item(t, dx) != 20 {
		t.Errorf("the gradient is %v, want 20 (%v)", dx, s.Err())
	}
}

// TestAResultInACustomGradientIsWhatTheFunctionComputed checks a gradient that is differentiated again. A result
// that it uses has the derivative of the ops that computed it, as in TensorFlow, not the custom one.
func TestAResultInACustomGradientIsWhatTheFunctionComputed(t *testing.T) {
	f := grad.NewCustom("TestResultInGradient",
		func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Exp(s, x[0])} },
		func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
			return []*ops.Value{ops.Mul(s, dy[0], ops.Mul(s, 3, y[0]))}
		})
	if got := upToSecond(t, func(s *ops.Scope, x *ops.Value) *ops.Value { return f.Call(s, x)[0] }, scalar(0)); !slices.Equal(got, []float64{1, 3, 3}) {
		t.Errorf("the value and its derivatives are %v, not 1, 3, 3", got)
	}
}
