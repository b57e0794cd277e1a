package grad_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type three struct{ I, X, Y *ops.Value }

// while returns a loop of n rounds that takes x to step(x, y).
func while(t *testing.T, n int, step body) body {
	t.Helper()
	unknown := ops.SpecOf(graph.Fact{DType: tensor.Float64})
	specs := three{ops.Spec(tensor.Int32), unknown, unknown}
	body, err := function.New(func(s *ops.Scope, in three) three {
		return three{ops.Add(s, in.I, 1), step(s, in.X, in.Y), in.Y}
	}).Trace(specs)
	if err != nil {
		t.Fatal(err)
	}
	cond, err := function.New(func(s *ops.Scope, in three) *ops.Value { return ops.Less(s, in.I, n) }).Trace(specs)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range body.Function.Args[3:] { // handles go round
		body.Function.AddResult(a.Name, a.Output(0))
		if _, err := cond.Function.AddArg(a.Name, a.Out[0]); err != nil {
			t.Fatal(err)
		}
	}
	attrs := graph.Attrs{graph.Func("cond", cond.Function), graph.Func("body", body.Function)}
	return func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		in := []ops.Input{ops.Const(s, 0), x, y}
		for _, c := range body.Captures {
			in = append(in, ops.Handle(s, c.Variable))
		}
		types := append([]tensor.DType{tensor.Int32, tensor.Float64, tensor.Float64}, slices.Repeat([]tensor.DType{tensor.Resource}, len(body.Captures))...)
		return s.EmitN(len(in), "While", attrs.Set(graph.Types("T", types...)), in...)[1]
	}
}

// rounds returns the same loop written out.
func rounds(n int, step body) body {
	return func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		for range n {
			x = step(s, x, y)
		}
		return x
	}
}

func TestGradientsOfLoopsEqualThoseOfTheirRounds(t *testing.T) {
	w := trackable.NewVariable(tensor.Vector(0.5, -1.5, 2)).Named("w")
	step := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return ops.Add(s, ops.Sin(s, ops.Mul(s, x, w)), ops.Mul(s, y, x))
	}
	x, y := tensor.Vector(0.3, 0.7, -1.1), tensor.Vector(0.2)
	for name, c := range map[string]struct{ loop, body body }{
		"no round":     {while(t, 0, step), rounds(0, step)},
		"rounds":       {while(t, 4, step), rounds(4, step)},
		"a call in it": {while(t, 3, call(t, step)), rounds(3, step)},
		"an if in it":  {while(t, 3, cond(t, step, step)), rounds(3, step)},
		"a loop in it": {while(t, 2, while(t, 3, step)), rounds(6, step)},
		"in a call":    {call(t, while(t, 3, step)), rounds(3, step)},
		"in a branch":  {cond(t, step, while(t, 3, step)), rounds(3, step)},
		"one behind another": {func(s *ops.Scope, x, y *ops.Value) *ops.Value {
			l := while(t, 2, step)
			return l(s, l(s, x, y), y)
		}, rounds(4, step)},
	} {
		want := derivatives(t, c.body, function.Eagerly, x, y, w)
		for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
			t.Run(fmt.Sprint(name, ", ", mode), func(t *testing.T) {
				got := derivatives(t, c.loop, m, x, y, w)
				for i := range want {
					if !near(got[i], want[i]) {
						t.Errorf("derivative %d is %v, want %v", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// TestGradientsFlowThroughLists builds a list, changes it, and takes it apart.
func TestGradientsFlowThroughLists(t *testing.T) {
	double := graph.Attrs{graph.Type("element_dtype", tensor.Float64)}
	any := tensor.Scalar(int32(-1))
	lists := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		l := s.Emit1("EmptyTensorList", double, any, any)
		for _, v := range []*ops.Value{x, ops.Mul(s, x, y), ops.Square(s, x)} {
			l = s.Emit1("TensorListPushBack", double, l, v)
		}
		l = s.Emit1("TensorListSetItem", double, l, tensor.Scalar(int32(0)), ops.Mul(s, x, 5))
		item := s.Emit1("TensorListGetItem", double, l, tensor.Scalar(int32(1)), any)
		out := s.EmitN(2, "TensorListPopBack", double, l, any)
		rows := s.Emit1("TensorListStack", double, out[0], any)
		again := s.Emit1("TensorListFromTensor", double, ops.Exp(s, rows), any)
		last := s.Emit1("TensorListGetItem", double, again, tensor.Scalar(int32(1)), any)
		return ops.AddN(s, []*ops.Value{ops.Mul(s, item, item), out[1], ops.Sum(s, rows, 0), last})
	}
	plain := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		item := ops.Mul(s, x, y)
		return ops.AddN(s, []*ops.Value{ops.Mul(s, item, item), ops.Square(s, x), ops.Mul(s, x, 5), item, ops.Exp(s, item)})
	}
	w := trackable.NewVariable(tensor.Vector(1.0)).Named("w")
	x, y := tensor.Vector(0.3, 0.7, -1.1), tensor.Vector(0.2)
	want := derivatives(t, plain, function.Eagerly, x, y, w)
	for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
		got := derivatives(t, lists, m, x, y, w)
		for i := range want {
			if !near(got[i], want[i]) {
				t.Errorf("%s: derivative %d is %v, want %v", mode, i, got[i], want[i])
			}
		}
	}
}

// TestDifferentiatedLoopsSayWhatTheyGive checks output_shapes: TensorFlow takes the
// shapes of a loop's inputs for those of its outputs unless the attribute has others,
// and a value may grow.
func TestDifferentiatedLoopsSayWhatTheyGive(t *testing.T) {
	c, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			rows := ops.While(s, ops.Reshape(s, x, 1, 3),
				func(s *ops.Scope, rows *ops.Value) *ops.Value { return ops.Less(s, ops.Size(s, rows), 9) },
				func(s *ops.Scope, rows *ops.Value) *ops.Value {
					return ops.Concat(s, []*ops.Value{rows, ops.ExpandDims(s, ops.Tanh(s, ops.Sum(s, rows, 0)), 0)}, 0)
				})
			return ops.Sum(s, ops.Square(s, rows))
		}, &grad.Options{Watch: []*ops.Value{x}})
		return tape.GradientOf(y, x)[0]
	}).Trace(ops.Spec(tensor.Float64, 3))
	if err != nil {
		t.Fatal(err)
	}
	loops := 0
	for _, n := range c.Function.Graph.Nodes() {
		if n.Op != "StatelessWhile" {
			continue
		}
		loops++
		said := n.Attrs.Shapes("output_shapes")
		if len(said) != len(n.Out) {
			t.Fatalf("%s says %d shapes of %d outputs", n.Name, len(said), len(n.Out))
		}
		for i, o := range n.Out {
			if said[i].Known() && !o.Shape.Known() {
				t.Errorf("%s: output %d is said to be %v, it may be %v", n.Name, i, said[i], o.Shape)
			}
		}
	}
	if loops != 2 {
		t.Errorf("%d loops, want one forwards and one backwards", loops)
	}
}
