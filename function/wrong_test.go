package function_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type body = func(s *ops.Scope, x *ops.Value) *ops.Value

// inGradient differentiates the results of f.
func inGradient(s *ops.Scope, x *ops.Value, f body) *ops.Value {
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, f(s, x)) }, &grad.Options{Watch: []*ops.Value{x}})
	return tape.GradientOf(y, x)[0]
}

// remains are the values that programs wrongly keep of functions that have
// ended.
type remains struct {
	traced, dead             *ops.Value
	tracedScope, eagerScope  *ops.Scope
	variable, empty, another *trackable.Variable
}

func remainsOfCalls(t *testing.T) *remains {
	t.Helper()
	r := &remains{variable: trackable.NewVariable(tensor.Vector[float32](1, 2)).Named("w"), empty: new(trackable.Variable)}
	if _, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		r.tracedScope, r.traced = s, ops.Neg(s, x)
		return r.traced
	}).Trace(vector(1, 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		r.eagerScope, r.dead = s, ops.Neg(s, x)
		return ops.Neg(s, r.dead)
	}).Call(context.Background(), vector(1, 2)); err != nil {
		t.Fatal(err)
	}
	return r
}

func isSmall(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Sum(s, x), 100) }

// wrongPrograms returns bodies that are errors: want is part of the error, eager is
// "-" if it is no error eagerly.
func wrongPrograms(r *remains) map[string]struct {
	f           body
	want, eager string
} {
	asInt := func(s *ops.Scope, x *ops.Value, y ops.Input) *ops.Value {
		return ops.Cast(s, ops.Add(s, ops.Cast(s, x, tensor.Int32), y), tensor.Float32)
	}
	return map[string]struct {
		f           body
		want, eager string
	}{
		"returns what a trace leaked":      {func(s *ops.Scope, x *ops.Value) *ops.Value { return r.traced }, "is a value of a traced function", ""},
		"returns what has ended":           {func(s *ops.Scope, x *ops.Value) *ops.Value { return r.dead }, "belongs to a call that has ended", ""},
		"uses what has ended":              {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, r.dead) }, "belongs to a call that has ended", ""},
		"uses the scope of a call":         {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(r.eagerScope, x, 1) }, "use the scope that the function is given", ""},
		"uses the scope of a trace":        {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(r.tracedScope, 2, 1) }, "the function's trace has ended", ""},
		"uses a spec":                      {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, ops.Spec(tensor.Float32, 2)) }, "is a spec, which has no value", ""},
		"returns a spec":                   {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Spec(tensor.Float32, 2) }, "is a spec, which has no value", ""},
		"reads a variable without a value": {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, r.empty) }, "which has no value", ""},
		"reads a variable that is nil":     {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, r.another) }, "is nil", ""},
		"gives an op a channel":            {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, make(chan int)) }, "which no op takes", ""},
		"adds a fraction to integers":      {func(s *ops.Scope, x *ops.Value) *ops.Value { return asInt(s, x, 1.5) }, "can't become int32; cast one of them", ""},
		"adds NaN to integers":             {func(s *ops.Scope, x *ops.Value) *ops.Value { return asInt(s, x, math.NaN()) }, "can't become int32; cast one of them", ""},
		"adds a number that is too large":  {func(s *ops.Scope, x *ops.Value) *ops.Value { return asInt(s, x, int64(40_000)*100_000) }, "doesn't fit int32", ""},
		"assigns another shape":            {func(s *ops.Scope, x *ops.Value) *ops.Value { ops.Assign(s, r.variable, []float64{1, 2, 3}); return x }, "float32[2]", ""},
		"assigns another type":             {func(s *ops.Scope, x *ops.Value) *ops.Value { ops.Assign(s, r.variable, []int32{1, 2}); return x }, "int32", ""},
		"fails with nil":                   {func(s *ops.Scope, x *ops.Value) *ops.Value { return s.Fail("Mine", nil) }, "failed without an error", ""},
		"gives an op too many inputs":      {func(s *ops.Scope, x *ops.Value) *ops.Value { return s.Emit1("Relu", nil, x, x) }, "takes 1 input", ""},
		"sets an attribute of another kind": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.Emit1("Softplus", graph.Attrs{graph.Int("T", 1)}, x)
		}, "attribute", ""},
		"calls an op that isn't":        {func(s *ops.Scope, x *ops.Value) *ops.Value { return s.Emit1("Rellu", nil, x) }, "Rellu", ""},
		"indexes a failed op's outputs": {func(s *ops.Scope, x *ops.Value) *ops.Value { return s.Emit("Relu", nil, x, x)[0] }, "takes 1 input", ""},
		"asks for gradients twice": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
			tape.GradientOf(y, x)
			return tape.GradientOf(y, x)[0]
		}, "Options.Persistent keeps it", ""},
		"differentiates integers": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			n := ops.Cast(s, x, tensor.Int32)
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, n) }, &grad.Options{Watch: []*ops.Value{n}})
			return tape.GradientOf(y, n)[0]
		}, "int32 has no gradient", ""},
		"decides by a value": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			if n, err := ops.Item[float32](ops.Sum(s, x)); err != nil || n < 0 {
				return s.Fail("Mine", err)
			}
			return x
		}, "ops.If and ops.While decide by values", "-"},
		"decides by a vector": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			two := ops.Less(s, ops.Stack(s, []*ops.Value{ops.Sum(s, x), ops.Sum(s, x)}), 9)
			return ops.If(s, two, func(s *ops.Scope) *ops.Value { return x }, func(s *ops.Scope) *ops.Value { return x })
		}, "must be one element, not bool[2]; ops.All and ops.Any join several", ""},
		"has branches of two types": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, isSmall(s, x), func(s *ops.Scope) *ops.Value { return ops.Neg(s, x) }, func(s *ops.Scope) *ops.Value { return ops.Cast(s, x, tensor.Int32) })
		}, "ops.Cast converts", "-"},
		"has branches of two lengths": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, isSmall(s, x), func(s *ops.Scope) []*ops.Value { return []*ops.Value{x} }, func(s *ops.Scope) []*ops.Value { return nil })[0]
		}, "all branches must return as many", "-"},
		"loops by a number": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Cast(s, isSmall(s, x), tensor.Int32) },
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, 10) })
		}, "not bool; ops.NotEqual compares with 0", ""},
		"loops by a vector": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value {
				return ops.Stack(s, []*ops.Value{isSmall(s, x), isSmall(s, x)})
			},
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, 10) })
		}, "must be one element, not bool[2]", ""},
		"loops by nothing": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return nil }, func(s *ops.Scope, x *ops.Value) *ops.Value { return x })
		}, "the condition returns nil", ""},
		"loops to another type": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, x, isSmall, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Cast(s, x, tensor.Float64) })
		}, "ops.Cast converts", ""},
		"loops on the outer scope": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, x, isSmall, func(_ *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, 100) })
		}, "use the scope that the branch or the body is given", "-"},
		"writes on the outer scope": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, isSmall(s, x), func(*ops.Scope) *ops.Value {
				ops.Assign(s, r.variable, []float64{1, 2})
				return x
			}, func(*ops.Scope) *ops.Value { return x })
		}, "use the scope that the branch or the body is given", "-"},
	}
}

// TestErrorsOfProgramsHaveHintsAndLines runs each eagerly and traced, in all
// positions of a program's code.
func TestErrorsOfProgramsHaveHintsAndLines(t *testing.T) {
	r := remainsOfCalls(t)
	all := map[string]func(*ops.Scope, *ops.Value, body) *ops.Value{"a gradient": inGradient}
	for place, in := range places {
		all[place] = in
	}
	delete(all, "While's condition") // its result is summed first
	for name, c := range wrongPrograms(r) {
		for place, in := range all {
			for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
				want := c.want
				if mode == function.Eagerly && c.eager == "-" || place == "Case" && mode == function.Eagerly {
					continue // its second branch is taken for another input
				}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				_, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return in(s, x, c.f) }, &function.Options{Mode: mode}).Call(ctx, vector(1, 2))
				cancel()
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "_test.go:") {
					t.Errorf("%s, in %s, mode %d: %v; want %q", name, place, mode, err, want)
				}
			}
		}
	}
}

// TestFunctionsThatCallThemselvesEndWithAnError: without one they would take the
// process along, or wait for themselves.
func TestFunctionsThatCallThemselvesEndWithAnError(t *testing.T) {
	ctx := context.Background()
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		o := &function.Options{Mode: mode}
		var call, outside, a, b *function.Func[*ops.Value, *ops.Value]
		call = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			if _, err := call.Call(s.Context(), x); err != nil {
				return s.Fail("call", err)
			}
			return x
		}, o)
		outside = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			if _, err := outside.Call(ctx, x); err != nil {
				return s.Fail("call", err)
			}
			return x
		}, o)
		var plain, branch, each body
		plain = func(s *ops.Scope, x *ops.Value) *ops.Value { return plain(s, ops.Neg(s, x)) }
		branch = func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, ops.Less(s, ops.Sum(s, x), 9), func(s *ops.Scope) *ops.Value { return branch(s, x) }, func(s *ops.Scope) *ops.Value { return x })
		}
		each = func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Map(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return each(s, ops.Stack(s, []*ops.Value{x})) })
		}
		a = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return b.Apply(s, x) }, o)
		b = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			time.Sleep(5 * time.Millisecond) // both are in the midst of it
			return a.Apply(s, x)
		}, o)
		programs := map[string]*function.Func[*ops.Value, *ops.Value]{
			"Call": call, "Call with another context": outside, "Go": function.New(plain, o), "If": function.New(branch, o), "Map": function.New(each, o),
		}
		for name, f := range programs {
			want := function.ErrRecursive
			if mode == function.Traced && strings.HasPrefix(name, "Call") {
				want = trackable.ErrInTrace
			}
			if _, err := f.Call(ctx, vector(1)); !errors.Is(err, want) || !strings.Contains(err.Error(), "wrong_test.go:") {
				t.Errorf("%s, mode %d: %.300v", name, mode, err)
			}
		}
		// Each waits for the function that the other traces.
		errs := make(chan error, 2)
		for _, f := range []*function.Func[*ops.Value, *ops.Value]{a, b} {
			go func() {
				_, err := f.Call(ctx, vector(1))
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, function.ErrRecursive) {
				t.Errorf("two goroutines, mode %d: %v", mode, err)
			}
		}
	}
}

// TestConditionsAreOfOneElement: of any rank, known or not; the op If would be true of any tensor with elements.
func TestConditionsAreOfOneElement(t *testing.T) {
	type cond = *ops.Value
	branches := func(s *ops.Scope, x cond) *ops.Value {
		return ops.If(s, x, func(s *ops.Scope) *ops.Value { return ops.Const(s, 1.0) }, func(s *ops.Scope) *ops.Value { return ops.Const(s, 0.0) })
	}
	loop := func(s *ops.Scope, x cond) *ops.Value {
		return ops.While(s, []*ops.Value{ops.Const(s, 0.0), x}, func(s *ops.Scope, v []*ops.Value) *ops.Value { return v[1] },
			func(s *ops.Scope, v []*ops.Value) []*ops.Value {
				return []*ops.Value{ops.Const(s, 1.0), ops.ZerosLike(s, v[1])}
			})[0]
	}
	unknown := ops.SpecOf(graph.Fact{DType: tensor.Bool, Shape: graph.UnknownShape})
	for name, f := range map[string]func(*ops.Scope, cond) *ops.Value{"If": branches, "While": loop} {
		for how, o := range map[string]*function.Options{"eager": {Mode: function.Eagerly}, "traced": {Mode: function.Traced, ExactShapes: true}, "of unknown rank": {Mode: function.Traced, Signature: unknown}} {
			g := function.New(f, o)
			for _, shape := range []tensor.Shape{{}, {1}, {1, 1}, {1, 1, 1}} {
				for i, c := range []bool{false, true} {
					x := ops.ValueOf(tensor.Must(tensor.New([]bool{c}, shape...)))
					if y, err := g.Call(t.Context(), x); err != nil || floats(t, y)[0] != float32(i) {
						t.Errorf("%s %s of %v%v gives %v (%v)", name, how, c, shape, y, err)
					}
				}
			}
			for _, x := range []*tensor.Tensor{tensor.Vector(false, true), tensor.Vector[bool](), tensor.Must(tensor.New([]bool{}, 1, 0))} {
				if _, err := g.Call(t.Context(), ops.ValueOf(x)); err == nil {
					t.Errorf("%s %s takes %v", name, how, x)
				}
			}
		}
	}
}
