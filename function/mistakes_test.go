package function_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// places are the positions of a traced function's code: in its body, and in
// functions that control flow traces.
var places = map[string]func(s *ops.Scope, x *ops.Value, f func(s *ops.Scope, x *ops.Value) *ops.Value) *ops.Value{
	"body": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value { return f(s, x) },
	"If": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.If(s, ops.Greater(s, ops.Sum(s, x), 0), func(s *ops.Scope) *ops.Value { return f(s, x) }, func(s *ops.Scope) *ops.Value { return x })
	},
	"Case": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.Case(s, ops.Cast(s, ops.Sum(s, x), tensor.Int32), func(s *ops.Scope) *ops.Value { return x }, func(s *ops.Scope) *ops.Value { return f(s, x) })
	},
	"While": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Sum(s, x), 9) }, f)
	},
	"While's condition": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.While(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Sum(s, f(s, x)), 9) },
			func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, 1) })
	},
	"Map": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.Map(s, x, f)
	},
	"Scan": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return ops.Scan(s, ops.Const(s, 0.0), x, func(s *ops.Scope, acc, x *ops.Value) *ops.Value { return ops.Add(s, acc, f(s, x)) })
	},
	"Apply": func(s *ops.Scope, x *ops.Value, f func(*ops.Scope, *ops.Value) *ops.Value) *ops.Value {
		return function.New(f).Apply(s, x)
	},
}

// TestErrorsInTracesNameTheLine checks that each error names the wrong line
// of the program, wherever in a traced function that is, and the remedy.
func TestErrorsInTracesNameTheLine(t *testing.T) {
	var leaked *ops.Value
	other := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		leaked = ops.Neg(s, x)
		return leaked
	})
	if _, err := other.Trace(vector(1)); err != nil {
		t.Fatal(err)
	}
	for mistake, c := range map[string]struct {
		f     func(s *ops.Scope, x *ops.Value) *ops.Value
		wants []string
	}{
		"a leaked value": {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, leaked) }, []string{"return it from the function"}},
		"data": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			if _, err := x.Tensor(); err != nil {
				return s.Fail("my code", err)
			}
			return x
		}, []string{"ops.If and ops.While decide by values"}},
		"a panic": {func(s *ops.Scope, x *ops.Value) *ops.Value { panic("oh no") }, []string{"oh no"}},
		"a nil":   {func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, (*ops.Value)(nil)) }, []string{"input 1 is nil (y)", "missing key"}},
		"integers": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			n := ops.Cast(s, x, tensor.Int32)
			return ops.Div(s, n, n)
		}, []string{"TruncateDiv", "Cast"}},
		"nil result": {func(s *ops.Scope, x *ops.Value) *ops.Value { ops.Neg(s, x); return nil }, []string{"nil"}},
	} {
		for place, in := range places {
			if mistake == "nil result" && (place == "body" || place == "Apply") {
				continue // a function may leave an output out
			}
			f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return in(s, x, c.f) })
			_, err := f.Trace(vector(1, 2))
			if err == nil {
				t.Errorf("%s in %s is no error", mistake, place)
				continue
			}
			for _, want := range append(c.wants, "mistakes_test.go:") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s in %s: %v; want %q", mistake, place, err, want)
				}
			}
			if _, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Neg(s, x) }).Call(context.Background(), vector(1)); err != nil {
				t.Fatalf("after %s in %s: %v", mistake, place, err)
			}
		}
	}
}

// TestValuesOfABranchEndWithIt uses a value of a branch or a loop's body
// outside of it.
func TestValuesOfABranchEndWithIt(t *testing.T) {
	for place, in := range places {
		if place == "body" {
			continue
		}
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			var inner *ops.Value
			out := in(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value {
				inner = ops.Add(s, x, 1)
				return inner
			})
			return ops.Add(s, ops.Sum(s, out), inner)
		})
		if _, err := f.Trace(vector(1, 2)); err == nil || !strings.Contains(err.Error(), "mistakes_test.go:") || !strings.Contains(err.Error(), "return it from the function") {
			t.Errorf("a value of %s: %v", place, err)
		}
	}
}

func TestASecondTraceMakesNoVariablesAnywhere(t *testing.T) {
	for place, in := range places {
		if place == "Apply" {
			continue // a separate function, whose first trace it is
		}
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			return in(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value {
				return ops.Mul(s, x, trackable.NewVariable(tensor.Scalar[float32](1)).Named("again"))
			})
		})
		if _, err := f.Trace(vector(1, 2)); err != nil {
			t.Errorf("%s: the first trace: %v", place, err)
			continue
		}
		_, err := f.Trace(vector(1, 2, 3))
		if !errors.Is(err, ops.ErrNewVariable) || !strings.Contains(err.Error(), "mistakes_test.go:") {
			t.Errorf("%s: the second trace: %v", place, err)
		}
	}
}

func TestFunctionsThatApplyThemselvesAreErrorsAnywhere(t *testing.T) {
	for place, in := range places {
		var f, g *function.Func[*ops.Value, *ops.Value]
		f = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			return in(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value { return g.Apply(s, x) })
		})
		g = function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return f.Apply(s, x) })
		_, err := f.Trace(vector(1, 2))
		if !errors.Is(err, function.ErrRecursive) || !strings.Contains(err.Error(), "mistakes_test.go:") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestAPanicNamesItsLine(t *testing.T) {
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			var list []*ops.Value
			return list[len(x.Shape())]
		}, &function.Options{Mode: mode})
		_, err := f.Call(context.Background(), vector(1))
		var p *engine.PanicError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "mistakes_test.go:") || !strings.Contains(err.Error(), "index out of range") {
			t.Errorf("%v", err)
		}
	}
}

// TestAFunctionThatModifiesItsArgumentIsAnErrorOfTheTrace: TensorFlow refuses it too.
func TestAFunctionThatModifiesItsArgumentIsAnErrorOfTheTrace(t *testing.T) {
	traced := &function.Options{Mode: function.Traced}
	x := func() *ops.Value { return ops.ValueOf(tensor.Scalar[float32](1)) }
	type pair struct {
		A *ops.Value
		N int
	}
	try := func(place string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "modifies its argument "+place) {
			t.Errorf("%s: %v", place, err)
		}
	}
	_, err := function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value { in[1] = ops.Neg(s, in[0]); return in[1] }, traced).
		Call(t.Context(), []*ops.Value{x(), x()})
	try("in[1]", err)
	_, err = function.New(func(s *ops.Scope, in map[string]*ops.Value) *ops.Value { in["a"] = ops.Neg(s, in["a"]); return in["a"] }, traced).
		Call(t.Context(), map[string]*ops.Value{"a": x()})
	try(`in["a"]`, err)
	_, err = function.New(func(s *ops.Scope, in map[string]*ops.Value) *ops.Value { delete(in, "b"); return in["a"] }, traced).
		Call(t.Context(), map[string]*ops.Value{"a": x(), "b": x()})
	try("in;", err)
	_, err = function.New(func(s *ops.Scope, in *pair) *ops.Value { in.A = ops.Neg(s, in.A); return in.A }, traced).Call(t.Context(), &pair{A: x()})
	try("in.A", err)
	_, err = function.New(func(s *ops.Scope, in *pair) *ops.Value { in.N++; return in.A }, traced).Call(t.Context(), &pair{A: x()})
	try("in;", err)
	// Changes that the caller can't see are the function's own.
	if _, err := function.New(func(s *ops.Scope, in pair) *ops.Value { in.A, in.N = ops.Neg(s, in.A), 3; return in.A }, traced).Call(t.Context(), pair{A: x()}); err != nil {
		t.Error(err)
	}
	if _, err := function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value {
		in = append(in, ops.Neg(s, in[0]))
		return in[1]
	}, traced).Call(t.Context(), []*ops.Value{x()}); err != nil {
		t.Error(err)
	}
}
