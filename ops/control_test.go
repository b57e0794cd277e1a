package ops_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func vectorIn(x ...float32) inputs {
	return inputs{"x": ops.ValueOf(tensor.Vector(x...)), "n": ops.ValueOf(tensor.Scalar(int32(len(x))))}
}

// controlCalls returns functions with control flow that depends on x, a vector,
// and n, a scalar.
func controlCalls() map[string]call {
	big := tensor.Must(tensor.Zeros(tensor.Float32, 200))
	tensor.Values[float32](big)[7] = 3
	return map[string]call{
		"if": func(s *ops.Scope, in inputs) []*ops.Value {
			y := ops.If(s, ops.Greater(s, ops.Sum(s, in["x"]), 0),
				func(s *ops.Scope) *ops.Value { return ops.Mul(s, in["x"], 2) },
				func(s *ops.Scope) *ops.Value { return ops.Sub(s, in["x"], ops.Cast(s, in["n"], tensor.Float32)) })
			return values(y)
		},
		"if of several, with an outer tensor": func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.If(s, in["n"],
				func(s *ops.Scope) []*ops.Value { return values(ops.Sum(s, big), in["x"], ops.Const(s, 1)) },
				func(s *ops.Scope) []*ops.Value { return values(ops.Const(s, 1.5), ops.Neg(s, in["x"]), in["n"]) })
		},
		"nested": func(s *ops.Scope, in inputs) []*ops.Value {
			hidden := ops.Exp(s, in["x"])
			return values(ops.If(s, ops.Less(s, in["n"], 3),
				func(s *ops.Scope) *ops.Value { return in["x"] },
				func(s *ops.Scope) *ops.Value {
					return ops.While(s, in["x"],
						func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Sum(s, x), 100) },
						func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, hidden) })
				}))
		},
		"case": func(s *ops.Scope, in inputs) (out []*ops.Value) {
			for i := -1; i < 4; i++ {
				out = append(out, ops.Case(s, ops.Sub(s, ops.Add(s, in["n"], i), 3),
					func(s *ops.Scope) *ops.Value { return ops.Neg(s, in["x"]) },
					func(s *ops.Scope) *ops.Value { return ops.Square(s, in["x"]) },
					func(s *ops.Scope) *ops.Value { return ops.Sum(s, in["x"]) }))
			}
			return out
		},
		"while": func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.While(s, values(ops.Const(s, 0), in["x"]),
				func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], in["n"]) },
				func(s *ops.Scope, v []*ops.Value) []*ops.Value {
					return values(ops.Add(s, v[0], 1), ops.Mul(s, v[1], ops.Add(s, v[1], 0.5)))
				})
		},
		"while that grows": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.While(s, in["x"],
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Less(s, ops.Size(s, x), 20) },
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Concat(s, values(x, x), 0) }))
		},
		"while with a limit": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.While(s, in["x"],
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Const(s, true) },
				func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, 2) }, &ops.WhileOptions{MaxIterations: 5}))
		},
		"variables": func(s *ops.Scope, in inputs) []*ops.Value {
			v := trackable.NewVariable(tensor.Scalar[float32](1)).Named("v")
			before := ops.ReadVariable(s, v)
			ops.If(s, ops.Greater(s, in["n"], 0),
				func(s *ops.Scope) []*ops.Value { ops.AssignAdd(s, v, ops.Sum(s, in["x"])); return nil },
				func(s *ops.Scope) []*ops.Value { return nil })
			between := ops.Add(s, v, 0)
			n := ops.While(s, ops.Const(s, 0),
				func(s *ops.Scope, i *ops.Value) *ops.Value { return ops.Less(s, i, in["n"]) },
				func(s *ops.Scope, i *ops.Value) *ops.Value {
					ops.Assign(s, v, ops.Mul(s, v, 2))
					return ops.Add(s, i, 1)
				})
			return values(before, between, n, ops.ReadVariable(s, v))
		},
		"map": func(s *ops.Scope, in inputs) []*ops.Value {
			m := ops.Reshape(s, ops.Concat(s, values(in["x"], in["x"]), 0), 2, -1)
			return values(
				ops.Map(s, in["x"], func(s *ops.Scope, x *ops.Value) *ops.Value {
					return ops.Mul(s, x, ops.Cast(s, in["n"], tensor.Float32))
				}),
				ops.Map(s, ops.Transpose(s, m), func(s *ops.Scope, row *ops.Value) *ops.Value { return ops.Cast(s, ops.Sum(s, row), tensor.Int32) }))
		},
		"scan": func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Scan(s, ops.Const(s, 1.0), in["x"],
				func(s *ops.Scope, acc, x *ops.Value) *ops.Value { return ops.Add(s, ops.Mul(s, acc, 0.5), x) }))
		},
		"scan of several": func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.Scan(s, values(ops.Const(s, 0), ops.Zeros(s, tensor.Float32, 2)), values(in["x"], ops.Square(s, in["x"])),
				func(s *ops.Scope, acc, x []*ops.Value) []*ops.Value {
					return values(ops.Add(s, acc[0], 1), ops.Add(s, acc[1], ops.Stack(s, x)))
				})
		},
		"loop": func(s *ops.Scope, in inputs) []*ops.Value {
			end, out := ops.Loop(s, values(ops.Const(s, 0), ops.Zeros(s, tensor.Float32, 2)), values(in["x"]),
				func(s *ops.Scope, state, x []*ops.Value) (next, out []*ops.Value) {
					sum := ops.Add(s, state[1], x[0])
					return values(ops.Add(s, state[0], 1), sum), values(ops.Mul(s, sum, ops.Cast(s, state[0], tensor.Float32)))
				})
			return append(end, out...)
		},
		"loop without outputs": func(s *ops.Scope, in inputs) []*ops.Value {
			end, _ := ops.Loop(s, values(ops.Const(s, 1.0)), values(in["x"]),
				func(s *ops.Scope, state, x []*ops.Value) (next, out []*ops.Value) {
					return values(ops.Add(s, ops.Mul(s, state[0], 0.5), x[0])), nil
				})
			return end
		},
	}
}

func TestControlFlowTracedEqualsEager(t *testing.T) {
	for name, f := range controlCalls() {
		for told, spec := range knowledge {
			for _, x := range [][]float32{{1, 2, 3, 4}, {-1, -2}, {0.25}} {
				t.Run(name+"/"+told, func(t *testing.T) { sameTraced(t, vectorIn(x...), spec, f) })
			}
		}
	}
}

func TestLoopsOverNoSlices(t *testing.T) {
	for _, name := range []string{"scan", "scan of several", "loop without outputs", "map over rows"} {
		f := controlCalls()[name]
		if f == nil {
			f = func(s *ops.Scope, in inputs) []*ops.Value {
				rows := ops.Reshape(s, in["x"], 0, 3)
				return values(ops.Map(s, rows, func(s *ops.Scope, row *ops.Value) *ops.Value { return ops.Stack(s, values(row, row)) }))
			}
		}
		for told, spec := range knowledge {
			t.Run(name+"/"+told, func(t *testing.T) { sameTraced(t, vectorIn(), spec, f) })
		}
	}
}

// TestCallsKeepTheOrderOfTheirEffects writes a variable in branches and reads it
// around them.
func TestCallsKeepTheOrderOfTheirEffects(t *testing.T) {
	c := sameTraced(t, vectorIn(1, 2), knowledge["shapes known"], func(s *ops.Scope, in inputs) []*ops.Value {
		v := trackable.NewVariable(tensor.Scalar[float32](1)).Named("v")
		look := func(s *ops.Scope) *ops.Value { return ops.ReadVariable(s, v) }
		double := func(s *ops.Scope) *ops.Value {
			ops.Assign(s, v, ops.Mul(s, v, 2))
			return ops.ReadVariable(s, v)
		}
		a := ops.If(s, in["n"], look, look)
		b := ops.If(s, in["n"], double, look)
		return values(a, b, ops.If(s, in["n"], look, look))
	})
	if len(c.Captures) != 1 {
		t.Errorf("one variable is captured %d times\n%v", len(c.Captures), c)
	}
	// The ops that only read needn't run for their own sake.
	if len(c.Function.Control) != 1 {
		t.Errorf("control results %v\n%v", c.Function.Control, c)
	}
}

func TestTracedControlFlowIsFunctionalOps(t *testing.T) {
	for name, ops := range map[string][]string{
		"if": {" StatelessIf("}, "case": {" StatelessCase("}, "while": {" StatelessWhile("},
		"variables": {" If(", " While("}, "map": {" StatelessWhile(", "TensorListStack("}, "scan": {" StatelessWhile("},
	} {
		c := sameTraced(t, vectorIn(1, 2, 3), knowledge["sizes unknown"], controlCalls()[name])
		for _, op := range ops {
			if text := c.String(); !strings.Contains(text, op) {
				t.Errorf("%s: no%sin\n%s", name, op, text)
			}
		}
	}
}

// TestALoopBeginsWithItsCounterAndLimit checks the two arguments that TensorFlow's
// gradient of a loop expects first.
func TestALoopBeginsWithItsCounterAndLimit(t *testing.T) {
	for name, limit := range map[string]int64{"while": -1, "while that grows": -1, "while with a limit": 5, "map": -1, "scan": -1} {
		c := sameTraced(t, vectorIn(1, 2, 3), knowledge["shapes known"], controlCalls()[name])
		loops := 0
		for _, n := range c.Function.Graph.Nodes() {
			if !strings.HasSuffix(n.Op, "While") {
				continue
			}
			loops++
			for i, want := range []int64{0, limit} {
				elems, ok := n.In[i].Fact().Ints()
				if !ok || len(elems) != 1 {
					t.Fatalf("%s: input %d is %v", name, i, n.In[i].Fact())
				}
				if got, ok := elems[0].Int(); !ok || got != want || n.In[i].Fact().DType != tensor.Int32 {
					t.Errorf("%s: input %d is %v, want %d", name, i, n.In[i].Fact(), want)
				}
			}
			body, _ := n.Attrs.Func("body")
			if o := body.Function.Results[1].Output; o.Node.Op != "Identity" || o.Node.In[0].Node != body.Function.Args[1] {
				t.Errorf("%s: the limit changes to %v", name, o)
			}
			if o := body.Function.Results[0].Output; o.Node.Op != "AddV2" || o.Node.In[0].Node != body.Function.Args[0] {
				t.Errorf("%s: the counter becomes %v", name, o)
			}
		}
		if loops == 0 {
			t.Errorf("%s: there is no loop", name)
		}
	}
}

func TestShapesOfTracedControlFlow(t *testing.T) {
	for name, want := range map[string]string{"while": "[]", "while that grows": "[?]", "if": "[3]", "scan": "[3]", "map": "[3]"} {
		c := sameTraced(t, vectorIn(1, 2, 3), knowledge["shapes known"], controlCalls()[name])
		if got := c.Function.Results[0].Output.Fact().Shape.Anonymous().String(); got != want {
			t.Errorf("%s: the first result has shape %s, want %s\n%v", name, got, want, c)
		}
	}
}

func TestWhatControlFlowRefuses(t *testing.T) {
	two := func(s *ops.Scope) []*ops.Value { return values(ops.Const(s, 1), ops.Const(s, 2)) }
	for name, c := range map[string]struct {
		f    call
		want string
		both bool // eagerly too
	}{
		"counts differ": {func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.If(s, in["n"], two, func(s *ops.Scope) []*ops.Value { return values(ops.Const(s, 1)) })
		}, "then returns 2 values, otherwise returns 1", false},
		"types differ": {func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.If(s, in["n"], func(s *ops.Scope) *ops.Value { return ops.Const(s, 1) },
				func(s *ops.Scope) *ops.Value { return in["x"] }))
		}, "value 0 is int32 from then and float32 from otherwise", false},
		"condition that isn't known": {func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.If(s, raw.AsString(s, in["n"], nil), two, two)
		}, "must be a bool or a number", true},
		"condition": {func(s *ops.Scope, in inputs) []*ops.Value { return ops.If(s, ops.Const(s, "maybe"), two, two) }, "must be a bool or a number", true},
		"vector":    {func(s *ops.Scope, in inputs) []*ops.Value { return ops.If(s, ops.Const(s, []int{1, 2}), two, two) }, "must be one element", true},
		"index":     {func(s *ops.Scope, in inputs) []*ops.Value { return ops.Case(s, in["x"], two, two) }, "not an integer", true},
		"no branch": {func(s *ops.Scope, in inputs) []*ops.Value { return ops.Case[[]*ops.Value](s, in["n"]) }, "at least one branch", true},
		"loop type": {func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.While(s, in["n"], func(s *ops.Scope, n *ops.Value) *ops.Value { return ops.Greater(s, n, 0) },
				func(s *ops.Scope, n *ops.Value) *ops.Value { return ops.Cast(s, n, tensor.Float32) }))
		}, "returns a float32 for variable 0, which is int32", true},
		"loop count": {func(s *ops.Scope, in inputs) []*ops.Value {
			return ops.While(s, values(in["n"]), func(s *ops.Scope, n []*ops.Value) *ops.Value { return ops.Greater(s, n[0], 0) },
				func(s *ops.Scope, n []*ops.Value) []*ops.Value { return append(n, n[0]) })
		}, "returns 2 values for 1 variables", true},
		"scan that grows": {func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Scan(s, in["x"], in["x"], func(s *ops.Scope, acc, x *ops.Value) *ops.Value { return ops.Concat(s, values(acc, acc), 0) }))
		}, "keep their shapes", true},
		"map of a scalar": {func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.Map(s, in["n"], func(s *ops.Scope, n *ops.Value) *ops.Value { return n }))
		}, "has no slices", true},
		"nil": {func(s *ops.Scope, in inputs) []*ops.Value {
			return values(ops.If(s, in["n"], func(s *ops.Scope) *ops.Value { return nil }, func(s *ops.Scope) *ops.Value { return nil }))
		}, "nil", true},
		"outer scope": {func(s *ops.Scope, in inputs) []*ops.Value {
			outer := s
			var inner *ops.Value
			ops.If(s, in["n"], func(s *ops.Scope) *ops.Value { inner = ops.Neg(s, in["x"]); return inner },
				func(s *ops.Scope) *ops.Value { return in["x"] })
			return values(ops.Neg(outer, inner))
		}, "traced function", false},
	} {
		modes := []function.Mode{function.Traced}
		if c.both {
			modes = append(modes, function.Eagerly)
		}
		for _, mode := range modes {
			_, err := function.New(func(s *ops.Scope, in inputs) []*ops.Value { return c.f(s, in) }, &function.Options{Mode: mode}).Call(context.Background(), vectorIn(1, 2))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "control_test.go:") {
				t.Errorf("%s, mode %d: %v, want %q", name, mode, err, c.want)
			}
		}
	}
}
