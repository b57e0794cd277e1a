package run_test

import (
	"encoding/json"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestArraysOfTensorFlow1AreDifferentiated holds the gradients of a model with
// TensorArrays in the loops and branches of TensorFlow 1 against tf.gradients.
func TestArraysOfTensorFlow1AreDifferentiated(t *testing.T) {
	fsys := files(t, "finetune_arrays")
	var want struct {
		X, W       plainTensor
		Signatures map[string]struct{ Loss, DX, DW plainTensor }
	}
	if err := json.Unmarshal(fsys["gradients.json"].Data, &want); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fn.Mode{fn.Eagerly, fn.Traced} {
		m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
		if err != nil {
			t.Fatal(err)
		}
		for name, answers := range want.Signatures {
			signature, err := m.Signature(name)
			if err != nil {
				t.Fatal(err)
			}
			c, err := signature.Concrete(ctx)
			if err != nil {
				t.Fatal(err)
			}
			w := m.Variables()[0]
			if !w.Load().Equal(want.W.tensor()) {
				t.Fatalf("the variable %s isn't the model's", w.Name())
			}
			step := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					return ops.Sum(s, ops.Square(s, fn.Apply(s, c, x)[0]))
				}, &grad.Options{Watch: []*ops.Value{x}, Persistent: true})
				dx := tape.GradientOf(loss, x)[0]
				again := tape.GradientOf(loss, x)[0] // as often as one asks
				return []*ops.Value{loss, dx, again, tape.Gradient(loss, []*trackable.Variable{w})[0].Grad}
			}, &fn.Options{Mode: mode})
			out, err := step.Call(ctx, ops.ValueOf(want.X.tensor()))
			if err != nil {
				t.Errorf("%s, %v: %v", name, mode, err)
				continue
			}
			for i, w := range []plainTensor{answers.Loss, answers.DX, answers.DX, answers.DW} {
				got, err := out[i].Tensor()
				if err != nil {
					t.Fatal(err)
				}
				closeTo(t, name+", "+[]string{"the loss", "x", "x again", "w"}[i], got, w, 0)
			}
		}
	}
}

// TestSecondDerivativesOfArrays compares with a difference of first ones, which
// TensorFlow has no rules for.
func TestSecondDerivativesOfArrays(t *testing.T) {
	m, err := run.Load(ctx, files(t, "finetune_arrays"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recurrent", "reread", "gather", "nested"} {
		signature, err := m.Signature(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := signature.Concrete(ctx)
		if err != nil {
			t.Fatal(err)
		}
		first := func(s *ops.Scope, x *ops.Value) *ops.Value { // the first element's weighs most
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, fn.Apply(s, c, x)[0])) }, &grad.Options{Watch: []*ops.Value{x}})
			return ops.Sum(s, ops.Mul(s, tape.GradientOf(loss, x)[0], []float32{1, -2, 0.5}))
		}
		f := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return first(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
			return []*ops.Value{y, tape.GradientOf(y, x)[0]}
		}, &fn.Options{Mode: fn.Traced})
		at := func(v []float32) (y float64, dx []float32) {
			out, err := f.Call(ctx, ops.ValueOf(tensor.Must(tensor.New(v, 2, 3))))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			a, _ := out[0].Tensor()
			b, _ := out[1].Tensor()
			return float64(tensor.Values[float32](a)[0]), tensor.Values[float32](b)
		}
		x := []float32{0.5, -0.25, 0.75, -0.5, 1, 0.25}
		_, dx := at(x)
		for i := range x {
			const h = 1.0 / 64
			moved := append([]float32(nil), x...)
			moved[i] = x[i] + h
			up, _ := at(moved)
			moved[i] = x[i] - h
			down, _ := at(moved)
			if d := (up - down) / (2 * h); d-float64(dx[i]) > 0.02*(1+abs(d)) || float64(dx[i])-d > 0.02*(1+abs(d)) {
				t.Errorf("%s: element %d is %v, the difference says %v", name, i, dx[i], d)
			}
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

// TestReferenceVariablesAreTrained differentiates a signature whose variables are
// references, as TensorFlow 1's were, and sees the step in the model.
func TestReferenceVariablesAreTrained(t *testing.T) {
	m, err := run.Load(ctx, files(t, "tf1_refs"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := m.Signature("serving_default")
	if err != nil {
		t.Fatal(err)
	}
	c, err := signature.Concrete(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var w *trackable.Variable
	for _, v := range m.Variables() {
		if v.Name() == "net/w" {
			w = v
		}
	}
	if w == nil {
		t.Fatal("the model has no variable net/w")
	}
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 4, -1, 0, 1, 2}, 2, 4))
	f := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
		args := []ops.Input{x, float32(2)}
		if signature.Inputs()[0].Name == "scale" {
			args[0], args[1] = args[1], args[0]
		}
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return fn.Apply(s, c, args...)[0] }, nil)
		return []*ops.Value{y, tape.Gradient(y, []*trackable.Variable{w})[0].Grad}
	})
	out, err := f.Call(ctx, ops.ValueOf(x))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := out[1].Tensor()
	column := []float32{0, 4, 8, 12} // twice the sum of x's column
	for i, v := range tensor.Values[float32](got) {
		if v != column[i/3] {
			t.Errorf("element %d of the gradient is %v, want %v", i, v, column[i/3])
		}
	}
	before, _ := out[0].Tensor()
	if err := w.Store(tensor.Must(tensor.New(make([]float32, 12), 4, 3))); err != nil {
		t.Fatal(err)
	}
	in := map[string]*tensor.Tensor{"x": x, "scale": tensor.Scalar[float32](2)}
	after, err := signature.Call(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	if before.Equal(after["y"]) {
		t.Error("the model doesn't see the variable's new value")
	}
}
