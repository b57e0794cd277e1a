package grad_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestTapesGiveWhatTensorFlowsGive compares gradients at x = 3 and y = 2 with TensorFlow's, eagerly and in a trace
// that knows no shapes.
func TestTapesGiveWhatTensorFlowsGive(t *testing.T) {
	type V = *ops.Value
	vs := func(v ...V) []V { return v }
	show := func(s *ops.Scope, v []V) []V {
		for i := range v {
			if v[i] == nil {
				v[i] = ops.Const(s, "nil")
			}
		}
		return v
	}
	w := trackable.NewVariable(tensor.Scalar(3.0)).Named("w")
	dbl := grad.NewCustom("TwiceTheGradient", func(s *ops.Scope, x []V) []V { return vs(ops.Identity(s, x[0])) }, func(s *ops.Scope, x, y, dy []V) []V { return vs(ops.Mul(s, dy[0], 2.0)) })
	empty := grad.NewCustom("NoGradients", func(s *ops.Scope, x []V) []V { return vs(ops.Identity(s, x[0])) }, func(s *ops.Scope, x, y, dy []V) []V { return nil })
	inCustom := grad.NewCustom("DerivativeOfSquare", func(s *ops.Scope, x []V) []V {
		y, tape := grad.Of(s, func(s *ops.Scope) V { return ops.Square(s, x[0]) }, &grad.Options{Watch: vs(x[0])})
		return tape.GradientOf(y, x[0])
	}, func(s *ops.Scope, x, y, dy []V) []V { return vs(ops.Mul(s, dy[0], 2.0)) })
	second := grad.NewCustom("MinusOneTenth", func(s *ops.Scope, x []V) []V { return vs(ops.ConstOf(s, tensor.Float64, -1.1)) }, func(s *ops.Scope, x, y, dy []V) []V { return vs(ops.Mul(s, dy[0], -2.1)) })
	plus10 := grad.NewCustom("PlusTen", func(s *ops.Scope, x []V) []V { return vs(ops.Add(s, x[0], 10.0)) }, func(s *ops.Scope, x, y, dy []V) []V {
		return vs(ops.Mul(s, dy[0], second.Call(s, x[0])[0]))
	})
	for _, c := range []struct {
		name string
		f    func(s *ops.Scope, x, y V) []V
		want string
	}{
		{"noops", func(s *ops.Scope, x, _ V) []V {
			x1, x2, x3, x4 := ops.Identity(s, x), ops.Add(s, x, 0.0), ops.Sub(s, x, 0.0), ops.Mul(s, x, 1.0)
			l, tape := grad.Of(s, func(s *ops.Scope) V {
				return ops.AddN(s, vs(ops.Mul(s, x, 2.0), ops.Mul(s, x1, 3.0), ops.Mul(s, x2, 3.0), ops.Mul(s, x3, 3.0), ops.Mul(s, x4, 3.0)))
			}, &grad.Options{Watch: vs(x, x1, x2, x3, x4)})
			return tape.GradientOf(l, x, x1, x2, x3, x4)
		}, "2 3 3 3 3"},
		{"two targets", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return tape.GradientWith(vs(ops.Mul(rec, x, 2.0), ops.Mul(rec, y, 3.0)), vs(x, y))
		}, "2 3"},
		{"output gradient used", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return tape.GradientWith(vs(ops.Mul(rec, x, y), x), vs(x), &grad.GradientOptions{OutputGradients: vs(ops.ConstOf(s, tensor.Float64, 1), ops.ConstOf(s, tensor.Float64, 2))})
		}, "4"},
		{"target is source", func(s *ops.Scope, x, y V) []V {
			_, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return tape.GradientWith(vs(x, x), vs(x, x))
		}, "2 2"},
		{"target is source in part", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return tape.GradientWith(vs(x, y, ops.Mul(rec, y, y)), vs(x, y))
		}, "1 5"},
		{"string target", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return show(s, tape.GradientWith(vs(ops.Const(rec, "a")), vs(x)))
		}, "nil"},
		{"string source", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			z := ops.Const(s, "a")
			return show(s, tape.GradientWith(vs(ops.Mul(rec, y, y), z), vs(y, z)))
		}, "4 nil"},
		{"int target", func(s *ops.Scope, x, y V) []V {
			rec, tape := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return show(s, tape.GradientWith(vs(ops.Cast(rec, x, tensor.Int32)), vs(x)))
		}, "nil"},
		{"nested inner gradient", func(s *ops.Scope, x, _ V) []V {
			outer, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			y := ops.Mul(outer, x, x)
			inner, gg := grad.Record(outer, &grad.Options{Watch: vs(y)})
			z := ops.Mul(inner, y, 2.0)
			d := gg.GradientOf(z, y)[0]
			return vs(d, g.GradientOf(ops.Add(outer, y, d), x)[0])
		}, "2 6"},
		{"persistent nested", func(s *ops.Scope, x, _ V) []V {
			outer, g := grad.Record(s, &grad.Options{Watch: vs(x), Persistent: true})
			y := ops.Mul(outer, x, x)
			inner, gg := grad.Record(outer, &grad.Options{Watch: vs(y), Persistent: true})
			z := ops.Mul(inner, y, 2.0)
			gg.GradientOf(z, y)
			d := gg.GradientOf(z, y)[0]
			y2 := ops.Add(outer, y, d)
			return vs(g.GradientOf(y2, x)[0], g.GradientOf(z, x)[0])
		}, "6 12"},
		{"watching is a tape's", func(s *ops.Scope, x, y V) []V {
			r1, t1 := grad.Record(s)
			r2, t2 := grad.Record(r1)
			t1.Watch(x)
			t2.Watch(x, y)
			a, b := ops.Mul(r2, x, ops.Mul(r2, x, x)), ops.Mul(r2, y, y)
			d := t2.GradientWith(vs(a, b), vs(x, y))
			return show(s, t1.GradientWith(d, vs(x, y)))
		}, "18 nil"},
		{"stop and go on", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x), Persistent: true})
			x2 := ops.Mul(rec, x, 2.0)
			go_ := g.Stop()
			y := ops.Mul(rec, x2, x2)
			go_()
			z := ops.Mul(rec, x2, x2)
			return show(s, append(g.GradientOf(y, x2), g.GradientOf(z, x2)...))
		}, "nil 12"},
		{"reset", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s)
			l := ops.Square(rec, w)
			g.Reset()
			l = ops.Add(rec, l, ops.Square(rec, w))
			return vs(g.Gradient(l, []*trackable.Variable{w})[0].Grad)
		}, "6"},
		{"unread variable is target", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s)
			return vs(g.Gradient(ops.ReadVariable(rec, w), []*trackable.Variable{w})[0].Grad)
		}, "1"},
		{"intermediate", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			y := ops.Mul(rec, x, x)
			return g.GradientOf(ops.Mul(rec, y, y), x, y)
		}, "108 18"},
		{"through a function, stopped", func(s *ops.Scope, x, _ V) []V {
			h := function.New(func(s *ops.Scope, x V) V { return ops.StopGradient(s, ops.Square(s, x)) })
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			return g.GradientWith(vs(h.Apply(rec, ops.Add(rec, x, 2.0))), vs(x), &grad.GradientOptions{Zero: true})
		}, "0"},
		{"empty custom", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			return show(s, g.GradientOf(empty.Call(rec, x)[0], x))
		}, "error"},
		{"gradient in custom", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			y := inCustom.Call(rec, x)[0]
			return append(vs(y), g.GradientOf(y, x)...)
		}, "6 2"},
		{"custom identity", func(s *ops.Scope, x, _ V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			return g.GradientOf(dbl.Call(rec, x)[0], x)
		}, "2"},
		{"custom second order", func(s *ops.Scope, x, _ V) []V {
			outer, g2 := grad.Record(s, &grad.Options{Watch: vs(x)})
			inner, g1 := grad.Record(outer, &grad.Options{Watch: vs(x)})
			y := plus10.Call(inner, x)[0]
			y2 := ops.Square(inner, y)
			d := g1.GradientOf(ops.Square(inner, y2), x)[0]
			return append(vs(d), g2.GradientOf(d, x)...)
		}, "-9666.8 -16000.92"},
		{"gradient of max picks", func(s *ops.Scope, x, y V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			return g.GradientOf(ops.Where(rec, ops.Less(rec, x, 10.0), x, ops.Mul(rec, x, x)), x)
		}, "1"},
		{"unrelated constants are apart", func(s *ops.Scope, x, y V) []V {
			a, b := ops.Const(s, 2.0), ops.Const(s, 2.0)
			rec, g := grad.Record(s, &grad.Options{Watch: vs(a, b)})
			return g.GradientWith(vs(ops.Mul(rec, a, ops.Mul(rec, a, a)), ops.Mul(rec, b, b)), vs(a, b))
		}, "12 4"},
		{"a constant in a branch", func(s *ops.Scope, x, y V) []V {
			a, b := ops.Const(s, 2.0), ops.Const(s, 2.0)
			rec, g := grad.Record(s, &grad.Options{Watch: vs(a)})
			z := ops.If(rec, ops.Greater(rec, x, y), func(s *ops.Scope) V {
				return ops.While(s, ops.Mul(s, a, b), func(s *ops.Scope, v V) V { return ops.Less(s, v, 30.0) }, func(s *ops.Scope, v V) V { return ops.Mul(s, v, a) })
			}, func(s *ops.Scope) V { return ops.Identity(s, b) })
			return vs(z, g.GradientOf(z, a)[0])
		}, "32 64"},
		{"a node's constant in a branch", func(s *ops.Scope, x, y V) []V {
			a := ops.ZerosLike(s, ops.Const(s, 2.0))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(a)})
			z := ops.If(rec, ops.Greater(rec, x, y), func(s *ops.Scope) V { return ops.Exp(s, ops.Mul(s, a, 3.0)) }, func(s *ops.Scope) V { return ops.Identity(s, a) })
			return vs(z, g.GradientOf(z, a)[0])
		}, "1 3"},
		{"gather of a function's result", func(s *ops.Scope, x, y V) []V {
			f := function.New(func(s *ops.Scope, x V) V { return ops.Add(s, x, 1.0) })
			v := ops.Stack(s, vs(x))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(v)})
			return g.GradientOf(ops.Gather(rec, f.Apply(rec, v), []int32{0}), v)
		}, "[1]"},
		{"aggregate gathers", func(s *ops.Scope, x, y V) []V {
			v := ops.Stack(s, vs(x, y, x, y))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(v)})
			at := func(i ...int32) V { return ops.Gather(rec, v, i) }
			return g.GradientOf(ops.AddN(rec, vs(ops.Mul(rec, at(0, 1), ops.Mul(rec, at(2, 3), at(1, 3))))), v)
		}, "[6 13 6 8]"},
		{"gathers and dense", func(s *ops.Scope, x, y V) []V {
			v := ops.Stack(s, vs(x, y, x, y))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(v)})
			return g.GradientOf(ops.Mul(rec, ops.Gather(rec, v, []int32{0, 1}), ops.Sum(rec, ops.Mul(rec, v, 2.0))), v)
		}, "[30 30 10 10]"},
		{"cond's derivatives", func(s *ops.Scope, x, y V) []V {
			pred := ops.Greater(s, x, y)
			outer, g2 := grad.Record(s, &grad.Options{Watch: vs(x)})
			inner, g1 := grad.Record(outer, &grad.Options{Watch: vs(x)})
			z := ops.If(inner, pred, func(s *ops.Scope) V { return ops.Pow(s, x, 3.0) }, func(s *ops.Scope) V { return ops.Identity(s, x) })
			d := g1.GradientOf(z, x)[0]
			return append(vs(d), g2.GradientOf(d, x)...)
		}, "27 18"},
		{"cond that returns a constant", func(s *ops.Scope, x, y V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x, y)})
			z := ops.If(rec, ops.Greater(s, x, y), func(s *ops.Scope) V { return ops.ConstOf(s, tensor.Float64, 2.0) }, func(s *ops.Scope) V {
				return ops.If(s, ops.Greater(s, x, 0.0), func(s *ops.Scope) V { return ops.Mul(s, x, y) }, func(s *ops.Scope) V { return ops.Mul(s, x, 5.0) })
			})
			return show(s, g.GradientWith(vs(z), vs(x, y), &grad.GradientOptions{Zero: true}))
		}, "0 0"},
		{"mixed optionals", func(s *ops.Scope, x, y V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			z := ops.If(rec, ops.Greater(s, x, y), func(s *ops.Scope) []V {
				return vs(ops.Pow(s, x, 2.0), raw.OptionalFromValue(s, []ops.Input{ops.Const(s, 1)}))
			}, func(s *ops.Scope) []V {
				return vs(ops.Pow(s, x, 3.0), raw.OptionalFromValue(s, []ops.Input{ops.Const(s, 1.0)}))
			})
			return g.GradientOf(z[0], x)
		}, "6"},
		{"popback", func(s *ops.Scope, x, y V) []V {
			f := function.New(func(s *ops.Scope, x V) V {
				return ops.While(s, vs(ops.Const(s, 0), ops.ConstOf(s, tensor.Float64, []float64{1})), func(s *ops.Scope, v []V) V { return ops.Less(s, v[0], 3) }, func(s *ops.Scope, v []V) []V {
					return vs(ops.Add(s, v[0], 1), ops.Mul(s, v[1], x))
				})[1]
			})
			outer, g2 := grad.Record(s, &grad.Options{Watch: vs(x)})
			inner, g1 := grad.Record(outer, &grad.Options{Watch: vs(x)})
			return g2.GradientOf(g1.GradientOf(f.Apply(inner, x), x)[0], x)
		}, "18"},
		{"slices in incoming grads of a loop", func(s *ops.Scope, x, y V) []V {
			v := ops.Stack(s, vs(y))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(v)})
			r := ops.While(rec, v, func(s *ops.Scope, v V) V { return ops.Const(s, true) }, func(s *ops.Scope, v V) V { return ops.Mul(s, v, v) }, &ops.WhileOptions{MaxIterations: 2})
			return g.GradientOf(ops.Gather(rec, r, []int32{0}), v)
		}, "[32]"},
		{"nil outputs of functions", func(s *ops.Scope, x, y V) []V {
			type out struct{ A, B, C, D V }
			foo := function.New(func(s *ops.Scope, in struct{ A, B V }) out {
				return out{B: ops.Mul(s, in.A, ops.Add(s, in.A, in.B)), D: ops.Mul(s, in.A, 2.0)}
			})
			bar := function.New(func(s *ops.Scope, x V) out {
				return foo.Apply(s, struct{ A, B V }{x, ops.ConstOf(s, tensor.Float64, 1.0)})
			})
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x), Persistent: true})
			o := bar.Apply(rec, x)
			if o.A != nil || o.C != nil {
				return nil
			}
			return append(vs(o.B, o.D), append(g.GradientOf(o.B, x), g.GradientOf(o.D, x)...)...)
		}, "12 6 7 2"},
		{"sparse xent's function without a second order", func(s *ops.Scope, x, y V) []V {
			f := function.New(func(s *ops.Scope, in struct{ L, X V }) V {
				return ops.SparseSoftmaxCrossEntropy(s, in.L, ops.Add(s, in.X, w))
			})
			lg := ops.Stack(s, vs(ops.Stack(s, vs(x, y))))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(lg)})
			return vs(ops.Shape(s, g.GradientOf(f.Apply(rec, struct{ L, X V }{ops.Const(s, []int32{1}), lg}), lg)[0]))
		}, "[1 2]"},
		{"while with a branch over arrays", func(s *ops.Scope, x, y V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x)})
			acc := raw.TensorListReserve(rec, []int32{}, 10, tensor.Float64)
			elem := func(s *ops.Scope, l V, i ops.Input) V {
				return raw.TensorListGetItem(s, l, i, []int32{}, tensor.Float64)
			}
			st := ops.While(rec, vs(ops.Const(s, int32(0)), acc), func(s *ops.Scope, v []V) V { return ops.Less(s, v[0], int32(5)) }, func(s *ops.Scope, v []V) []V {
				e := ops.If(s, ops.Equal(s, v[0], int32(0)), func(s *ops.Scope) V { return ops.Identity(s, x) }, func(s *ops.Scope) V { return ops.Mul(s, elem(s, v[1], ops.Sub(s, v[0], int32(1))), 2.0) })
				return vs(ops.Add(s, v[0], int32(1)), raw.TensorListSetItem(s, v[1], v[0], e, nil))
			})
			st = ops.While(rec, st, func(s *ops.Scope, v []V) V { return ops.Less(s, v[0], int32(10)) }, func(s *ops.Scope, v []V) []V {
				return vs(ops.Add(s, v[0], int32(1)), raw.TensorListSetItem(s, v[1], v[0], ops.ConstOf(s, tensor.Float64, 0), nil))
			})
			return g.GradientOf(raw.TensorListStack(rec, st[1], []int32{}, tensor.Float64, nil), x)
		}, "31"},
		{"repeated source, twice", func(s *ops.Scope, x, y V) []V {
			rec, g := grad.Record(s, &grad.Options{Watch: vs(x, y), Persistent: true})
			z := ops.Add(rec, ops.Mul(rec, x, x), ops.Mul(rec, x, y))
			return append(g.GradientOf(z, x, x), g.GradientOf(z, y, x)...)
		}, "8 8 3 8"},
		{"concat with a constant", func(s *ops.Scope, x, y V) []V {
			v := ops.Stack(s, vs(x, y))
			rec, g := grad.Record(s, &grad.Options{Watch: vs(v)})
			h := ops.Split(rec, v, 2, 0)
			return g.GradientOf(ops.Concat(rec, vs(ops.Square(rec, h[0]), ops.ConstOf(s, tensor.Float64, []float64{1, 2})), 0), v)
		}, "[6 0]"},
		{"hessian vector", func(s *ops.Scope, x, y V) []V {
			v := ops.Stack(s, vs(x, y))
			outer, g2 := grad.Record(s, &grad.Options{Watch: vs(v)})
			inner, g1 := grad.Record(outer, &grad.Options{Watch: vs(v)})
			q := ops.Sum(inner, ops.Mul(inner, v, ops.Einsum(inner, "ij,j->i", ops.ConstOf(s, tensor.Float64, [][]float64{{1, 2}, {3, 4}}), v)))
			return g2.GradientWith(g1.GradientOf(q, v), vs(v), &grad.GradientOptions{OutputGradients: vs(ops.ConstOf(s, tensor.Float64, []float64{1, -1}))})
		}, "[-3 -3]"},
	} {
		type in struct{ X, Y V }
		any64 := ops.SpecOf(graph.Fact{DType: tensor.Float64, Shape: graph.UnknownShape})
		for mode, o := range map[string]*function.Options{"eager": {Mode: function.Eagerly}, "traced": {Mode: function.Traced, Signature: in{any64, any64}}} {
			out, err := function.New(func(s *ops.Scope, in in) []V { return c.f(s, in.X, in.Y) }, o).Call(t.Context(), in{scalar(3), scalar(2)})
			got := written(t, out)
			if err != nil {
				got = "error"
			}
			if got != c.want {
				t.Errorf("%s, %s: %s, want %s (%v)", c.name, mode, got, c.want, err)
			}
		}
	}
}

// written returns scalars, vectors and strings as text, rounded.
func written(t *testing.T, values []*ops.Value) string {
	t.Helper()
	var text []string
	for _, v := range values {
		x, err := v.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		if x.DType() == tensor.String {
			text = append(text, x.Strings()...)
			continue
		}
		f, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range f {
			f[i] = math.Round(f[i]*1e9) / 1e9
		}
		if len(x.Shape()) == 0 {
			text = append(text, fmt.Sprint(f[0]))
		} else {
			text = append(text, fmt.Sprint(f))
		}
	}
	return strings.Join(text, " ")
}
