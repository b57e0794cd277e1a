package grad_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/programs"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var steep = programs.Steep

// TestProgramsGiveTheSameDerivativesTracedAndEager runs mixtures of control flow, calls,
// captures and custom gradients, to the second order.
func TestProgramsGiveTheSameDerivativesTracedAndEager(t *testing.T) {
	type (
		S = *ops.Scope
		V = *ops.Value
	)
	w := trackable.NewVariable(tensor.Vector(0.5, -1.5, 2)).Named("w")
	u := trackable.NewVariable(tensor.Vector(1.5, 0.25, -1)).Named("u")
	total := func(s S, x V) V { return ops.Sum(s, ops.Reshape(s, x, -1), 0) }
	wave := function.New(func(s S, x V) V { return ops.Mul(s, ops.Sin(s, x), w) })
	twice := function.New(func(s S, x V) V { return ops.Add(s, wave.Apply(s, x), wave.Apply(s, ops.Square(s, x))) })
	times := func(s S, n int, x V, f func(s S, x V) V) V {
		return ops.While(s, []V{ops.Const(s, 0), x},
			func(s S, v []V) V { return ops.Less(s, v[0], n) },
			func(s S, v []V) []V { return []V{ops.Add(s, v[0], 1), f(s, v[1])} })[1]
	}
	loops := func(s S, x, y V) V {
		return ops.If(s, ops.Greater(s, total(s, x), 0),
			func(s S) V { return times(s, 3, x, func(s S, x V) V { return ops.Mul(s, u, ops.Cos(s, x)) }) },
			func(s S) V {
				return ops.Mul(s, w, times(s, 2, x, func(s S, x V) V { return ops.Sin(s, ops.Add(s, x, y)) }))
			})
	}
	for name, f := range map[string]body{
		"a function twice": func(s S, x, y V) V { return ops.Mul(s, twice.Apply(s, x), wave.Apply(s, ops.Mul(s, x, y))) },
		"a function in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V { return ops.Add(s, twice.Apply(s, x), y) })
		},
		"a function in branches": func(s S, x, y V) V {
			return ops.If(s, ops.Greater(s, total(s, x), 0), func(s S) V { return twice.Apply(s, x) }, func(s S) V { return ops.Mul(s, wave.Apply(s, y), x) })
		},
		"a custom gradient in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V { return ops.Mul(s, steep.Call(s, ops.Mul(s, x, y))[0], w) })
		},
		"a custom gradient in a branch in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V {
				return ops.If(s, ops.Greater(s, total(s, x), 0.1), func(s S) V { return steep.Call(s, ops.Add(s, x, y))[0] }, func(s S) V { return ops.Mul(s, x, -2) })
			})
		},
		"a loop in a custom gradient's argument": func(s S, x, y V) V {
			return steep.Call(s, times(s, 2, x, func(s S, x V) V { return ops.Add(s, ops.Sin(s, x), ops.Mul(s, w, y)) }))[0]
		},
		"a map in a loop": func(s S, x, y V) V {
			return times(s, 2, x, func(s S, x V) V {
				return ops.Map(s, x, func(s S, e V) V { return ops.Add(s, ops.Sin(s, e), ops.Sum(s, ops.Mul(s, ops.Mul(s, x, w), e))) })
			})
		},
		"a scan over a map": func(s S, x, y V) V {
			return ops.Scan(s, ops.Sum(s, y), ops.Map(s, x, func(s S, e V) V { return ops.Exp(s, e) }), func(s S, acc, e V) V { return ops.Tanh(s, ops.Add(s, ops.Mul(s, acc, e), 0.1)) })
		},
		"a scan in a scan": func(s S, x, y V) V {
			return ops.Scan(s, y, x, func(s S, acc, e V) V {
				in := ops.Scan(s, acc, x, func(s S, a, b V) V { return ops.Mul(s, ops.Sin(s, ops.Add(s, a, b)), e) })
				return ops.Reshape(s, ops.SliceOf(s, in, []int{2, 0}, []int{1, 1}), 1)
			})
		},
		"a choice among loops": func(s S, x, y V) V {
			return ops.Case(s, ops.Cast(s, ops.Greater(s, total(s, x), 0), tensor.Int32),
				func(s S) V { return times(s, 2, x, func(s S, x V) V { return ops.Mul(s, x, ops.Add(s, y, x)) }) },
				func(s S) V { return times(s, 3, ops.Mul(s, x, w), func(s S, x V) V { return ops.Cos(s, x) }) })
		},
		"loops of different variables in branches": func(s S, x, y V) V { return loops(s, x, y) },
		"loops of different variables in branches in a loop": func(s S, x, y V) V {
			return times(s, 2, x, func(s S, x V) V { return ops.Mul(s, loops(s, x, y), x) })
		},
		"a gradient in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V {
				z, tape := grad.Of(s, func(s S) V { return total(s, ops.Mul(s, ops.Sin(s, x), ops.Mul(s, x, y))) }, &grad.Options{Watch: []V{x}})
				return ops.Sub(s, x, ops.Mul(s, 0.1, tape.GradientOf(z, x)[0]))
			})
		},
		"a gradient in a branch": func(s S, x, y V) V {
			return ops.If(s, ops.Less(s, total(s, y), 9), func(s S) V {
				z, tape := grad.Of(s, func(s S) V { return total(s, twice.Apply(s, x)) }, &grad.Options{Watch: []V{x}})
				return ops.Mul(s, tape.GradientOf(z, x)[0], y)
			}, func(s S) V { return x })
		},
		"rows in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V {
				return ops.Add(s, ops.Mul(s, ops.Gather(s, w, []int32{2, 0, 2}), ops.Gather(s, x, []int32{1, 1, 0})), y)
			})
		},
		"rows in a branch in a loop": func(s S, x, y V) V {
			return times(s, 2, x, func(s S, x V) V {
				return ops.If(s, ops.Greater(s, total(s, x), 0), func(s S) V { return ops.Mul(s, ops.Gather(s, w, []int32{2, 0, 2}), x) }, func(s S) V { return ops.Mul(s, ops.Add(s, w, y), x) })
			})
		},
		"a size that changes": func(s S, x, y V) V {
			v := ops.While(s, []V{ops.Const(s, 0), x},
				func(s S, v []V) V { return ops.Less(s, v[0], 2) },
				func(s S, v []V) []V {
					return []V{ops.Add(s, v[0], 1), ops.If(s, ops.Less(s, v[0], 9), func(s S) V { return ops.Concat(s, []ops.Input{ops.Mul(s, v[1], y), v[1]}, 0) }, func(s S) V { return v[1] })}
				})
			return ops.Mul(s, total(s, ops.Square(s, v[1])), w)
		},
		"a stopped gradient in a loop": func(s S, x, y V) V {
			return times(s, 3, x, func(s S, x V) V { return ops.Mul(s, ops.StopGradient(s, ops.Mul(s, x, w)), ops.Add(s, x, y)) })
		},
		"a loop that makes no round": func(s S, x, y V) V {
			return ops.Mul(s, times(s, 0, x, func(s S, x V) V { return ops.Mul(s, x, y) }), w)
		},
		"what a branch doesn't use": func(s S, x, y V) V {
			return ops.Mul(s, ops.If(s, ops.Greater(s, total(s, x), 0), func(s S) V { return ops.Square(s, x) }, func(s S) V { return ops.Mul(s, ops.Ones(s, tensor.Float64, 3), y) }), w)
		},
		"through whole numbers and strings": func(s S, x, y V) V {
			n := ops.Cast(s, ops.Cast(s, ops.Mul(s, x, 10), tensor.Int32), tensor.Float64)
			text := s.Emit1("AsString", nil, ops.Cast(s, total(s, x), tensor.Int32))
			long := ops.Cast(s, s.Emit1("StringLength", nil, text), tensor.Float64)
			return ops.Mul(s, ops.Mul(s, ops.Add(s, n, x), ops.Mul(s, y, long)), w)
		},
	} {
		for _, sign := range []float64{1, -1} {
			t.Run(name, func(t *testing.T) {
				x, y := tensor.Vector(sign*0.3, sign*0.7, sign*1.1), tensor.Vector(0.2)
				want := derivatives(t, f, function.Eagerly, x, y, w)
				got := derivatives(t, f, function.Traced, x, y, w)
				for i := range want {
					if !near(got[i], want[i]) {
						t.Errorf("sign %v: derivative %d is %v traced, %v eager", sign, i, got[i], want[i])
					}
				}
			})
		}
	}
}

// TestArraysOutsideOfFunctionsSayThatTheyHaveNoGradient: those of TensorFlow 1 that a
// differentiated function doesn't make and use as a whole, and those of its first versions.
func TestArraysOutsideOfFunctionsSayThatTheyHaveNoGradient(t *testing.T) {
	zero, one := tensor.Scalar(int32(0)), tensor.Scalar(int32(1))
	flow := tensor.Scalar(float32(0))
	v3 := func(s *ops.Scope, x *ops.Value) *ops.Value {
		handle, flow := raw.TensorArrayV3(s, one, tensor.Float64, nil)
		flow = raw.TensorArrayWriteV3(s, handle, zero, x, flow)
		return s.Emit1("TensorArrayReadV3", graph.Attrs{graph.Type("dtype", tensor.Float64)}, handle, zero, flow)
	}
	v2 := func(s *ops.Scope, x *ops.Value) *ops.Value {
		handle := raw.TensorArrayV2(s, one, tensor.Float64, nil)
		return raw.TensorArrayReadV2(s, handle, zero, raw.TensorArrayWriteV2(s, handle, zero, x, flow), tensor.Float64)
	}
	apply := func(f func(s *ops.Scope, x *ops.Value) *ops.Value) func(s *ops.Scope, x *ops.Value) *ops.Value {
		return func(s *ops.Scope, x *ops.Value) *ops.Value { return function.New(f).Apply(s, x) }
	}
	for name, c := range map[string]struct {
		f    func(s *ops.Scope, x *ops.Value) *ops.Value
		mode function.Mode
		want string
	}{
		"V3 eager":         {v3, function.Eagerly, "in a separate function"},
		"V3 traced":        {v3, function.Traced, "in a separate function"},
		"V3 in a function": {apply(v3), function.Traced, ""},
		"V2 traced":        {v2, function.Traced, "TensorArrayV3 or ops.Scan"},
		"V2 in a function": {apply(v2), function.Traced, "TensorArrayV3 or ops.Scan"},
		"V1's ops in a function": {apply(func(s *ops.Scope, x *ops.Value) *ops.Value {
			handle := s.Emit1("TensorArray", graph.Attrs{graph.Type("dtype", tensor.Float64)}, one)
			f := s.Emit1("TensorArrayWrite", nil, handle, zero, x, flow)
			return s.Emit1("TensorArrayRead", graph.Attrs{graph.Type("dtype", tensor.Float64)}, handle, zero, f)
		}), function.Traced, "TensorArrayV3 or ops.Scan"},
	} {
		_, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return c.f(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
			return tape.GradientOf(y, x)[0]
		}, &function.Options{Mode: c.mode}).Call(context.Background(), ops.ValueOf(tensor.Vector(1.0, 2)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.want)
		}
	}
}
