package grad_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func scope() *ops.Scope { return function.Eager(context.Background()) }

func scalar(x float64) *ops.Value { return ops.ValueOf(tensor.Scalar(x)) }

func item(t testing.TB, v *ops.Value) float64 {
	t.Helper()
	x, err := ops.Item[float64](v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ExampleOf() {
	s := function.Eager(context.Background())
	w := trackable.NewVariable(tensor.Vector[float32](1, 2, 3))

	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, w)) })
	for _, p := range tape.Gradient(loss, []*trackable.Variable{w}) {
		t, err := p.Grad.Tensor()
		fmt.Println(tensor.Values[float32](t), err)
	}
	fmt.Println(s.Err())
	// Output:
	// [2 4 6] <nil>
	// <nil>
}

func ExampleTape_GradientOf_secondOrder() {
	s := function.Eager(context.Background())
	x := ops.ValueOf(tensor.Scalar[float32](2))

	watch := &grad.Options{Watch: []*ops.Value{x}}
	dy, second := grad.Of(s, func(s *ops.Scope) *ops.Value {
		y, first := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Mul(s, x, ops.Mul(s, x, x)) }, watch) // x³
		return first.GradientOf(y, x)[0]
	}, watch)
	d2y := second.GradientOf(dy, x)[0]
	fmt.Printf("%v %v\n", dy, d2y)
	// Output: 12 12
}

func TestNestedTapesGiveHigherDerivatives(t *testing.T) {
	s := scope()
	x := scalar(1.3)
	// sin's derivatives come round again.
	var at func(s *ops.Scope, n int) *ops.Value
	at = func(s *ops.Scope, n int) *ops.Value {
		if n == 0 {
			return ops.Sin(s, x)
		}
		rec, tape := grad.Record(s)
		tape.Watch(x)
		return tape.GradientOf(at(rec, n-1), x)[0]
	}
	for n, want := range []float64{math.Sin(1.3), math.Cos(1.3), -math.Sin(1.3), -math.Cos(1.3), math.Sin(1.3)} {
		v := at(s, n)
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		if got := item(t, v); math.Abs(got-want) > 1e-12 {
			t.Errorf("derivative %d is %v, want %v", n, got, want)
		}
	}
}

func TestAPersistentTapeIsAskedTwice(t *testing.T) {
	s := scope()
	x := scalar(3)
	rec, tape := grad.Record(s, &grad.Options{Persistent: true})
	tape.Watch(x)
	y := ops.Square(rec, x)
	z := ops.Square(rec, y)
	if a, b := item(t, tape.GradientOf(y, x)[0]), item(t, tape.GradientOf(z, x, y)[0]); a != 6 || b != 108 {
		t.Errorf("got %v and %v", a, b)
	}
	rec, tape = grad.Record(s)
	tape.Watch(x)
	y = ops.Square(rec, x)
	tape.GradientOf(y, x)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	tape.GradientOf(y, x)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "Persistent") {
		t.Errorf("a used tape gives %v", err)
	}
}

func TestWhatDoesNotDependIsNilOrZero(t *testing.T) {
	s := scope()
	x, y := scalar(3), scalar(4)
	rec, tape := grad.Record(s, &grad.Options{Persistent: true})
	tape.Watch(x, y)
	z := ops.Square(rec, x)
	if g := tape.GradientOf(z, y); g[0] != nil {
		t.Errorf("got %v", g)
	}
	if g := tape.GradientWith([]*ops.Value{z}, []*ops.Value{y}, &grad.GradientOptions{Zero: true}); item(t, g[0]) != 0 {
		t.Errorf("got %v", g)
	}
	v := trackable.NewVariable(tensor.Vector(1.0, 2.0))
	if p := tape.Gradient(z, []*trackable.Variable{v}); p[0].Grad != nil || p[0].Variable != v {
		t.Errorf("got %v", p)
	}
	p := tape.Gradient(z, []*trackable.Variable{v}, &grad.GradientOptions{Zero: true})
	if got := fmt.Sprint(flat(p[0].Grad)); got != "[0 0]" {
		t.Errorf("got %v", got)
	}
}

func TestGradientsStopWhereAsked(t *testing.T) {
	s := scope()
	x := scalar(3)
	rec, tape := grad.Record(s)
	tape.Watch(x)
	y := ops.Mul(rec, x, ops.StopGradient(rec, ops.Square(rec, x)))
	if g := item(t, tape.GradientOf(y, x)[0]); g != 9 {
		t.Errorf("stop gradient: got %v, want 9", g)
	}
	rec, tape = grad.Record(s)
	tape.Watch(x)
	resume := tape.Stop()
	sq := ops.Square(rec, x)
	resume()
	if g := item(t, tape.GradientOf(ops.Mul(rec, sq, x), x)[0]); g != 9 {
		t.Errorf("a paused tape: got %v, want 9", g)
	}
}

func TestOnlyTrainableVariablesAreWatched(t *testing.T) {
	s := scope()
	a := trackable.NewVariable(tensor.Scalar(2.0))
	b := trackable.NewVariable(tensor.Scalar(5.0)).SetTrainable(false)
	both := []*trackable.Variable{a, b}
	rec, tape := grad.Record(s)
	g := tape.Gradient(ops.Mul(rec, a, b), both)
	if item(t, g[0].Grad) != 5 || g[1].Grad != nil {
		t.Errorf("got %v", g)
	}
	rec, tape = grad.Record(s)
	tape.WatchVariable(b)
	if g = tape.Gradient(ops.Mul(rec, a, b), both); item(t, g[1].Grad) != 2 {
		t.Errorf("a watched variable: got %v", g)
	}
	rec, tape = grad.Record(s, &grad.Options{WatchNothing: true})
	if g = tape.Gradient(ops.Mul(rec, a, b), both); g[0].Grad != nil {
		t.Errorf("nothing is to be watched: got %v", g)
	}
}

func TestAVariableReadTwiceCollectsBothGradients(t *testing.T) {
	s := scope()
	v := trackable.NewVariable(tensor.Scalar(3.0))
	rec, tape := grad.Record(s)
	y := ops.Add(rec, ops.Square(rec, v), ops.Mul(rec, ops.ReadVariable(rec, v), 10))
	if g := tape.Gradient(y, []*trackable.Variable{v}); item(t, g[0].Grad) != 16 {
		t.Errorf("got %v", g[0].Grad)
	}
}

func TestTargetsAndOutputGradientsWeigh(t *testing.T) {
	s := scope()
	x := ops.ValueOf(tensor.Vector(1.0, 2.0))
	rec, tape := grad.Record(s)
	tape.Watch(x)
	y, z := ops.Square(rec, x), ops.Mul(rec, x, 5)
	g := tape.GradientWith([]*ops.Value{y, z}, []*ops.Value{x}, &grad.GradientOptions{OutputGradients: []*ops.Value{ops.ValueOf(tensor.Vector(10.0, 100.0))}})
	if got := fmt.Sprint(flat(g[0])); got != "[25 405]" {
		t.Errorf("got %v", got)
	}
}

func TestMistakesAreNamed(t *testing.T) {
	v := trackable.NewVariable(tensor.Scalar(3.0))
	for want, f := range map[string]func(s *ops.Scope){
		"has no gradient rule": func(s *ops.Scope) {
			rec, tape := grad.Record(s, &grad.Options{Rules: new(grad.Rules)})
			tape.Gradient(ops.Square(rec, v), []*trackable.Variable{v})
		},
		"a value of int32 has no gradient": func(s *ops.Scope) {
			_, tape := grad.Record(s)
			tape.Watch(ops.Const(s, 1))
		},
		"target 0 is nil": func(s *ops.Scope) {
			_, tape := grad.Record(s)
			tape.Gradient(nil, []*trackable.Variable{v})
		},
		"source 0 is nil": func(s *ops.Scope) {
			rec, tape := grad.Record(s)
			tape.Gradient(ops.Square(rec, v), []*trackable.Variable{nil})
		},
		"OutputGradients has": func(s *ops.Scope) {
			rec, tape := grad.Record(s)
			tape.Gradient(ops.Square(rec, v), []*trackable.Variable{v}, &grad.GradientOptions{OutputGradients: []*ops.Value{ops.ValueOf(tensor.Vector(1.0))}})
		},
		"the gradient rule returned": func(s *ops.Scope) {
			rules := grad.All().With("Square", func(s *ops.Scope, op *grad.Op) { op.Give(0, ops.Const(s, []float32{1, 2})) })
			rec, tape := grad.Record(s, &grad.Options{Rules: rules})
			tape.Gradient(ops.Square(rec, v), []*trackable.Variable{v})
		},
	} {
		s := scope()
		f(s)
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

func TestCompositesHaveGradients(t *testing.T) {
	x0 := tensor.Must(tensor.New([]float64{-1.5, -0.3, 0.2, 0.9, 1.7, 3}, 2, 3))
	for name, f := range map[string]func(s *ops.Scope, x ops.Input) *ops.Value{
		"Gelu":        ops.Gelu,
		"GeluTanh":    ops.GeluTanh,
		"Swish":       ops.Swish,
		"Mish":        ops.Mish,
		"HardSigmoid": ops.HardSigmoid,
		"LogSumExp":   func(s *ops.Scope, x ops.Input) *ops.Value { return ops.LogSumExp(s, x, -1) },
		"L2Normalize": func(s *ops.Scope, x ops.Input) *ops.Value { return ops.L2Normalize(s, x, 1e-12, -1) },
		"Norm":        func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Norm(s, x, 0) },
		"Moments": func(s *ops.Scope, x ops.Input) *ops.Value {
			m, v := ops.Moments(s, x, 0)
			return ops.Add(s, m, v)
		},
		"SigmoidCrossEntropy": func(s *ops.Scope, x ops.Input) *ops.Value {
			return ops.SigmoidCrossEntropy(s, [][]float64{{0, 1, 0.5}, {1, 0, 0.2}}, x)
		},
		"SparseSoftmaxCrossEntropy": func(s *ops.Scope, x ops.Input) *ops.Value {
			return ops.SparseSoftmaxCrossEntropy(s, []int{2, 0}, x)
		},
		"Variable": func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Square(s, x) },
	} {
		value := func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Sum(s, ops.Square(s, f(s, x))) }
		s := scope()
		v := trackable.NewVariable(x0.Clone())
		rec, tape := grad.Record(s)
		got := flat(tape.Gradient(value(rec, v), []*trackable.Variable{v})[0].Grad)
		if s.Err() != nil {
			t.Errorf("%s: %v", name, s.Err())
			continue
		}
		for e := range got {
			at := func(d float64) float64 {
				moved := x0.Clone()
				tensor.Values[float64](moved)[e] += d
				return item(t, value(s, moved))
			}
			if want := (at(1e-6) - at(-1e-6)) / 2e-6; math.Abs(got[e]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: gradient %v, element %d is numerically %v", name, got, e, want)
			}
		}
	}
}

func TestSecondDerivativesOfFusedOps(t *testing.T) {
	// Each is differentiated twice by nested tapes, and once numerically.
	x0 := tensor.Must(tensor.New([]float64{-1.4, -0.3, 0.4, 0.9, 1.7, 2.5}, 2, 3))
	for name, f := range map[string]func(s *ops.Scope, x ops.Input) *ops.Value{
		"Tanh": ops.Tanh, "Sigmoid": ops.Sigmoid, "Softplus": ops.Softplus, "Softsign": ops.Softsign,
		"Elu": ops.Elu, "Selu": ops.Selu, "Relu": func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Relu(s, ops.Square(s, x)) },
		"Sqrt":       func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Sqrt(s, ops.Add(s, ops.Square(s, x), 1)) },
		"Rsqrt":      func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Rsqrt(s, ops.Add(s, ops.Square(s, x), 1)) },
		"Reciprocal": func(s *ops.Scope, x ops.Input) *ops.Value { return ops.Reciprocal(s, ops.Add(s, x, 4)) },
		"Softmax":    ops.Softmax,
		"LogSoftmax": ops.LogSoftmax,
		"CrossEntropy": func(s *ops.Scope, x ops.Input) *ops.Value {
			return ops.SoftmaxCrossEntropy(s, [][]float64{{0.2, 0.3, 0.5}, {1, 0, 0}}, x)
		},
		"SparseCrossEntropy": func(s *ops.Scope, x ops.Input) *ops.Value {
			return ops.SparseSoftmaxCrossEntropy(s, []int{1, 2}, x)
		},
		"MatMul": func(s *ops.Scope, x ops.Input) *ops.Value {
			return ops.MatMul(s, x, x, &ops.MatMulOptions{TransposeB: true})
		},
	} {
		first := func(s *ops.Scope, x *ops.Value) *ops.Value {
			rec, tape := grad.Record(s)
			tape.Watch(x)
			y := ops.Sum(rec, ops.Square(rec, f(rec, x)))
			return ops.Sum(s, ops.Square(s, tape.GradientOf(y, x)[0]))
		}
		s := scope()
		x := ops.ValueOf(x0)
		rec, tape := grad.Record(s)
		tape.Watch(x)
		got := flat(tape.GradientOf(first(rec, x), x)[0])
		if s.Err() != nil {
			t.Errorf("%s: %v", name, s.Err())
			continue
		}
		for e := range got {
			at := func(d float64) float64 {
				moved := x0.Clone()
				tensor.Values[float64](moved)[e] += d
				return item(t, first(s, ops.ValueOf(moved)))
			}
			if want := (at(1e-5) - at(-1e-5)) / 2e-5; math.Abs(got[e]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: gradient %v, element %d is numerically %v", name, got, e, want)
			}
		}
	}
}
