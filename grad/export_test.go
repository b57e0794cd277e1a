package grad_test

import (
	"context"
	"math"
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

// savedScaled is x·y with gradients that are 10 times those of x and none of y.
var savedScaled = grad.NewCustom("Test/Saved Scaled",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Mul(s, x[0], x[1])} },
	func(s *ops.Scope, x, _, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, dy[0], ops.Mul(s, x[1], 10)), nil}
	})

// savedExp is exp, whose gradient calls it again.
var savedExp *grad.Custom

func init() {
	savedExp = grad.NewCustom("TestSavedExp",
		func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Exp(s, x[0])} },
		func(s *ops.Scope, x, _, dy []*ops.Value) []*ops.Value {
			return []*ops.Value{ops.Mul(s, dy[0], ops.Mul(s, 3, savedExp.Call(s, x[0])[0]))}
		})
}

// reread returns the first function of a library as another program reads it: with the
// names of gradients that this program doesn't know, and with their captures, as the
// objects of a SavedModel list them.
func reread(t *testing.T, lib *graph.Library) *graph.Function {
	t.Helper()
	raw, err := (&graph.Graph{Library: lib}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Unmarshal(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Library.Registered {
		r, from := &g.Library.Registered[i], lib.Registered[i]
		r.Gives = from.Gives
		for _, o := range from.Captures {
			found := false
			for k, f := range lib.Functions() {
				if n := f.Graph.Lookup(o.Node.Name); n == o.Node {
					r.Captures, found = append(r.Captures, graph.Output{Node: g.Library.Functions()[k].Graph.Lookup(n.Name), Index: o.Index}), true
				}
			}
			if !found {
				t.Fatalf("%s captures %v of no function", r.Type, o)
			}
		}
	}
	return g.Library.Functions()[0]
}

func TestASavedFunctionHasItsCustomGradients(t *testing.T) {
	f := function.New(func(s *ops.Scope, in two) *ops.Value {
		a := savedScaled.Call(s, in.X, in.Y)[0]
		b := savedScaled.Call(s, ops.Square(s, in.X), ops.Add(s, in.Y, 1))[0]
		return ops.Add(s, a, ops.Mul(s, b, 2))
	})
	c, err := f.Trace(two{ops.Spec(tensor.Float64), ops.Spec(tensor.Float64)})
	if err != nil {
		t.Fatal(err)
	}
	lib, err := grad.Library(context.Background(), c.Function)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range lib.Registered {
		names = append(names, r.Type)
		if lib.NameOf(r.Gradient.Function) == "" || !slices.Equal(r.Gives, []int{1}) || len(r.Captures) != 1 || len(r.Gradient.Function.Args) != 4 {
			t.Errorf("%s gives %v and captures %v: %v", r.Type, r.Gives, r.Captures, r.Gradient.Function)
		}
	}
	if want := []string{"Test/Saved Scaled", "Test/Saved Scaled_1"}; !slices.Equal(names, want) {
		t.Fatalf("the gradients are %q, want %q", names, want)
	}
	read := reread(t, lib)
	s := scope()
	x, y := scalar(2), scalar(3)
	out, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return s.Emit1("PartitionedCall", graph.Attrs{graph.Func("f", read), graph.Types("Tout", tensor.Float64)}, x, y)
	}, &grad.Options{Watch: []*ops.Value{x, y}, Persistent: true})
	dx, dy := tape.GradientOf(out, x)[0], tape.GradientOf(out, y)[0]
	// x·y and 2·x²·(y+1): 10·y and 2·10·(y+1)·2·x.
	if s.Err() != nil || item(t, out) != 6+2*16 || item(t, dx) != 30+2*10*4*4 || dy != nil {
		t.Errorf("%v, differentiated %v and %v: %v", out, dx, dy, s.Err())
	}
}

func TestASavedGradientIsDifferentiatedOnceMore(t *testing.T) {
	c, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return savedExp.Call(s, x)[0] }).Trace(ops.Spec(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	lib, err := grad.Library(context.Background(), c.Function)
	if err != nil {
		t.Fatal(err)
	}
	read, s, x := reread(t, lib), scope(), scalar(0)
	watch := &grad.Options{Watch: []*ops.Value{x}}
	var d []*ops.Value
	var derive func(s *ops.Scope, n int) *ops.Value
	derive = func(s *ops.Scope, n int) *ops.Value {
		if n == 0 {
			return s.Emit1("PartitionedCall", graph.Attrs{graph.Func("f", read), graph.Types("Tout", tensor.Float64)}, x)
		}
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return derive(s, n-1) }, watch)
		return tape.GradientOf(y, x)[0]
	}
	for n := range 3 {
		d = append(d, derive(s, n))
	}
	if s.Err() != nil || item(t, d[0]) != 1 || item(t, d[1]) != 3 || item(t, d[2]) != 9 {
		t.Errorf("the derivatives are %v: %v", d, s.Err())
	}
	if derive(s, 3); s.Err() == nil || !strings.Contains(s.Err().Error(), "TestSavedExp_2") {
		t.Errorf("the third derivative: %v", s.Err())
	}
}

func TestAGradientThatCantBeSavedSaysWhy(t *testing.T) {
	w := trackable.NewVariable(tensor.Scalar(2.0)).Named("w")
	identity := func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Identity(s, x[0])} }
	for want, backward := range map[string]func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value{
		"isn't given": func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
			return []*ops.Value{ops.Mul(s, dy[0], w)}
		},
		"no luck":   func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value { panic("no luck") },
		"2 results": func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value { return []*ops.Value{nil, nil} },
		"has no data": func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
			_, err := x[0].Tensor()
			s.Fail("f", err)
			return nil
		},
	} {
		custom := grad.NewCustom("", identity, backward)
		c, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return custom.Call(s, x)[0] }).Trace(ops.Spec(tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		_, err = grad.Library(context.Background(), c.Function)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), custom.Name()) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}

// savedNested calls custom gradients in its function and in its gradient. That is
// 2·steep(x)·dy, with three times steep's derivative.
var savedNested = grad.NewCustom("TestSavedNested",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.Mul(s, savedExp.Call(s, x[0])[0], savedScaled.Call(s, x[0], x[1])[0])}
	},
	func(s *ops.Scope, x, y, dy []*ops.Value) []*ops.Value {
		inner, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return savedExp.Call(s, x[0])[0] }, &grad.Options{Watch: x[:1]})
		d := tape.GradientOf(inner, x[0])[0] // 3·exp(x)
		return []*ops.Value{
			ops.Mul(s, dy[0], savedScaled.Call(s, ops.Add(s, d, y[0]), x[1])[0]),
			ops.Mul(s, dy[0], savedNestedToo.Call(s, x[0])[0]),
		}
	})

// savedNestedToo is sin, whose custom derivative is 2·cos, in a branch.
var savedNestedToo = grad.NewCustom("TestSavedNestedToo",
	func(s *ops.Scope, x []*ops.Value) []*ops.Value { return []*ops.Value{ops.Sin(s, x[0])} },
	func(s *ops.Scope, x, _, dy []*ops.Value) []*ops.Value {
		return []*ops.Value{ops.If(s, ops.Less(s, x[0], 100), func(s *ops.Scope) *ops.Value { return ops.Mul(s, dy[0], ops.Mul(s, 2, ops.Cos(s, x[0]))) },
			func(s *ops.Scope) *ops.Value { return dy[0] })}
	})

// TestCustomGradientsInEachOtherAreSavedWithTheirNames checks functions and gradients that call others, in
// branches, loops and calls. A program that knows none of them reads them and computes the same first and
// second derivatives as the program that wrote them.
func TestCustomGradientsInEachOtherAreSavedWithTheirNames(t *testing.T) {
	nested := func(s *ops.Scope, x *ops.Value) *ops.Value { return savedNested.Call(s, x, ops.Mul(s, x, x))[0] }
	called := function.New(nested)
	for name, f := range map[string]func(s *ops.Scope, x *ops.Value) *ops.Value{
		"one": nested,
		"twice": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Mul(s, nested(s, x), nested(s, ops.Tanh(s, x)))
		},
		"branch": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.If(s, ops.Greater(s, x, 0), func(s *ops.Scope) *ops.Value { return nested(s, ops.Sin(s, x)) }, func(s *ops.Scope) *ops.Value { return x })
		},
		"loop": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.While(s, []*ops.Value{ops.Const(s, 0), x}, func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], 3) },
				func(s *ops.Scope, v []*ops.Value) []*ops.Value {
					return []*ops.Value{ops.Add(s, v[0], 1), ops.Tanh(s, savedNested.Call(s, v[1], x)[0])}
				})[1]
		},
		"call": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Add(s, called.Apply(s, x), called.Apply(s, ops.Cos(s, x)))
		},
		"variant": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return savedNestedToo.Call(s, savedNestedToo.Call(s, x)[0])[0]
		},
	} {
		c, err := function.New(f).Trace(ops.Spec(tensor.Float64))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lib, err := grad.Library(context.Background(), c.Function)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		read := reread(t, lib)
		saved := func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.Emit1("PartitionedCall", graph.Attrs{graph.Func("f", read), graph.Types("Tout", tensor.Float64)}, x)
		}
		x := scalar(0.4)
		ours, theirs := upToSecond(t, f, x), upToSecond(t, saved, x)
		for i := range ours {
			if math.Abs(ours[i]-theirs[i]) > 1e-12*math.Abs(ours[i]) {
				t.Errorf("%s: value and derivatives %v, saved %v", name, ours, theirs)
				break
			}
		}
	}
}

// upToSecond returns the value of f at x and its first two derivatives.
func upToSecond(t *testing.T, f func(s *ops.Scope, x *ops.Value) *ops.Value, x *ops.Value) []float64 {
	t.Helper()
	s, watch := scope(), &grad.Options{Watch: []*ops.Value{x}}
	var y *ops.Value
	d, outer := grad.Of(s, func(s *ops.Scope) *ops.Value {
		v, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return f(s, x) }, watch)
		y = v
		return tape.GradientOf(v, x)[0]
	}, watch)
	dd := outer.GradientOf(d, x)[0]
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return []float64{item(t, y), item(t, d), item(t, dd)}
}
