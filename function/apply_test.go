package function_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestApplyTracedEqualsEager(t *testing.T) {
	ctx := context.Background()
	x := ops.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, -4, .1, .2, .3, .4}, 2, 4)))
	for told, spec := range map[string]*ops.Value{
		"shape": ops.Spec(tensor.Float32, 2, 4), "sizes": ops.Spec(tensor.Float32, -1, -1), "nothing": ops.SpecOf(graph.Fact{DType: tensor.Float32}),
	} {
		l := newLinear()
		predict := function.New(l.predict)
		steps := trackable.NewVariable(tensor.Scalar[float32](0)).Named("steps")
		count := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			ops.AssignAdd(s, steps, 1)
			return ops.ReadVariable(s, steps)
		})
		outer := function.New(func(s *ops.Scope, in linearIn) []*ops.Value {
			a := predict.Apply(s, in)
			b := predict.Apply(s, linearIn{ops.Neg(s, in.X)})
			return []*ops.Value{ops.Add(s, a.Probs, b.Logits), count.Apply(s, in.X), count.Apply(s, in.X)}
		})
		eager, err := outer.Call(ctx, linearIn{x})
		if err != nil {
			t.Fatal(err)
		}
		steps.Store(tensor.Scalar[float32](0))
		c, err := outer.Trace(linearIn{spec})
		if err != nil {
			t.Fatal(err)
		}
		traced, err := outer.Call(ctx, linearIn{x})
		if err != nil {
			t.Fatalf("%v\n%v", err, c)
		}
		for i := range eager {
			a, _ := eager[i].Tensor()
			b, _ := traced[i].Tensor()
			if !a.Equal(b) {
				t.Errorf("told %s: value %d is %v, eagerly %v\n%v", told, i, b, a, c)
			}
		}
		called := map[*graph.Function]int{}
		for _, n := range c.Function.Graph.Nodes() {
			if f, ok := n.Attrs.Func("f"); ok {
				called[f.Function]++
			}
		}
		if len(called) != 2 || len(c.Captures) != 3 {
			t.Errorf("told %s: %d functions are called, %d things captured\n%v", told, len(called), len(c.Captures), c)
		}
	}
}

func TestApplyTracesForTrainingApart(t *testing.T) {
	inner := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		if s.Training() {
			return ops.Mul(s, x, 10)
		}
		return x
	})
	outer := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
		return []*ops.Value{inner.Apply(s, x), inner.Apply(s.WithTraining(true), x)}
	}, &function.Options{Mode: function.Traced})
	got, err := outer.Call(context.Background(), ops.ValueOf(tensor.Vector[float32](2)))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := floats(t, got[0])[0], floats(t, got[1])[0]; a != 2 || b != 20 {
		t.Errorf("%v without training, %v with", a, b)
	}
	plain, err := inner.Call(context.Background(), ops.ValueOf(tensor.Vector[float32](2)))
	if err != nil || floats(t, plain)[0] != 2 {
		t.Errorf("a call from outside: %v, %v", plain, err)
	}
}

func TestApplyReturnsErrors(t *testing.T) {
	var f, g *function.Func[linearIn, *ops.Value]
	f = function.New(func(s *ops.Scope, in linearIn) *ops.Value { return g.Apply(s, in) })
	g = function.New(func(s *ops.Scope, in linearIn) *ops.Value { return f.Apply(s, in) })
	bad := function.New(func(s *ops.Scope, in linearIn) *ops.Value { return ops.MatMul(s, in.X, in.X) })
	x := ops.ValueOf(tensor.Vector[float32](1))
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		call := func(h func(s *ops.Scope, in linearIn) *ops.Value) error {
			_, err := function.New(h, &function.Options{Mode: mode}).Call(context.Background(), linearIn{x})
			return err
		}
		if err := call(func(s *ops.Scope, in linearIn) *ops.Value { return f.Apply(s, in) }); !errors.Is(err, function.ErrRecursive) || !strings.Contains(err.Error(), "apply_test.go:") {
			t.Errorf("recursion: %v", err)
		}
		if err := call(func(s *ops.Scope, in linearIn) *ops.Value { return bad.Apply(s, in) }); err == nil || !strings.Contains(err.Error(), "MatMul") || !strings.Contains(err.Error(), "apply_test.go:") {
			t.Errorf("a failing op: %v", err)
		}
		if err := call(func(s *ops.Scope, in linearIn) *ops.Value { return bad.Apply(s, linearIn{}) }); err == nil || !strings.Contains(err.Error(), "in.X is nil") {
			t.Errorf("a nil value: %v", err)
		}
	}
}
