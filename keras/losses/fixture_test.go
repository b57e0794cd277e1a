package losses_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// lossFixture is the file that testdata/gen_losses.py writes.
type lossFixture struct {
	Cases []struct {
		Name           string
		Config, Legacy json.RawMessage
	}
	Named map[string]string
}

func fixture(t *testing.T) (f lossFixture, arrays map[string]*tensor.Tensor) {
	kerastest.JSON(t, "testdata/losses.json", &f)
	return f, kerastest.Arrays(t, "testdata/losses.npz")
}

// tolerance returns the relative difference that is allowed.
func tolerance(d tensor.DType) float64 {
	if d == tensor.Float16 {
		return 4e-3
	}
	return 2e-5
}

type outputs struct{ Call, Loss, Gradient *ops.Value }

func TestLossesAreTfKeras(t *testing.T) {
	f, arrays := fixture(t)
	if len(f.Cases) < 250 {
		t.Fatalf("only %d cases", len(f.Cases))
	}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for form, data := range map[string]json.RawMessage{"new": c.Config, "legacy": c.Legacy} {
				obj, err := keras.FromConfig(data, nil)
				if form == "legacy" { // names that metrics share
					obj, err = losses.Get(data)
				}
				kerastest.Must(t, err)
				got, err := keras.Config(obj, &keras.ConfigOptions{Legacy: form == "legacy"})
				kerastest.Must(t, err)
				kerastest.SameJSON(t, form, data, got)
			}
			loss, err := losses.Get([]byte(c.Config))
			kerastest.Must(t, err)
			in := func(name string) *tensor.Tensor { return arrays[c.Name+"/"+name] }
			run := func(s *ops.Scope, p *ops.Value) (out outputs) {
				rec, tape := grad.Record(s)
				tape.Watch(p)
				q := p
				if m := in("mask"); m != nil {
					q = base.WithMask(rec, p, ops.ValueOf(m))
				}
				var weights ops.Input
				if w := in("weights"); w != nil {
					weights = w
				}
				out.Loss = loss.Loss(rec, in("truth"), q, weights)
				out.Gradient = ops.Const(s, tape.GradientOf(out.Loss, p)[0])
				if out.Call = out.Loss; in("call") != nil {
					out.Call = loss.Call(s, in("truth"), p)
				}
				return out
			}
			check := func(t *testing.T, out outputs) {
				tol := tolerance(in("predicted").DType())
				if want := in("call"); want != nil {
					kerastest.Near(t, "call", out.Call, want, tol)
				}
				kerastest.Near(t, "loss", out.Loss, in("loss"), tol)
				kerastest.Near(t, "gradient", out.Gradient, in("gradient"), 5*tol)
			}
			t.Run("eager", func(t *testing.T) {
				s := function.Eager(context.Background())
				out := run(s, ops.ValueOf(in("predicted")))
				kerastest.Must(t, s.Err())
				check(t, out)
			})
			t.Run("traced", func(t *testing.T) {
				out, err := function.New(run, &function.Options{Mode: function.Traced}).Call(t.Context(), ops.ValueOf(in("predicted")))
				kerastest.Must(t, err)
				check(t, out)
			})
		})
	}
}

func TestGetKnowsTfKerasNames(t *testing.T) {
	f, arrays := fixture(t)
	if len(f.Named) < 30 {
		t.Fatalf("only %d names", len(f.Named))
	}
	for name, want := range f.Named {
		loss, err := losses.Get(name)
		kerastest.Must(t, err)
		s := function.Eager(context.Background())
		truth, predicted := arrays["get/"+name+"/truth"], arrays["get/"+name+"/predicted"]
		var got *ops.Value
		if fn, ok := loss.(*losses.Function); ok {
			if fn.Name() != want {
				t.Errorf("%s is the function %s, want %s", name, fn.Name(), want)
			}
			got = fn.Call(s, truth, predicted)
		} else {
			if name != want {
				t.Errorf("%s is a %T, want the function %s", name, loss, want)
			}
			got = loss.Loss(s, truth, predicted, nil)
		}
		kerastest.Must(t, s.Err())
		kerastest.Near(t, name, got, arrays["get/"+name+"/call"], 1e-5)
	}
	if _, err := losses.Get("mean_square_error"); err == nil || !strings.Contains(err.Error(), "mean_squared_error") {
		t.Errorf("an unknown name: %v", err)
	}
	for _, id := range []any{3, []byte(`{"class_name": "Huber", "config": {"delta": 1, "reduction": "mean"}}`), []byte(`{"class_name": "Huber", "config": {"fn": "mse"}}`), []byte(`{`)} {
		if l, err := losses.Get(id); err == nil {
			t.Errorf("Get(%s) = %v", id, l)
		}
	}
	if l, err := losses.Get(nil); l != nil || err != nil {
		t.Errorf("Get(nil) = %v, %v", l, err)
	}
}

// TestCrossentropiesUseTheLogitsOfActivations: probabilities of such logits are 0 and 1,
// whose logarithms would hide them.
func TestCrossentropiesUseTheLogitsOfActivations(t *testing.T) {
	_, arrays := fixture(t)
	for name, c := range map[string]struct {
		activation activations.Activation
		loss       losses.Loss
	}{
		"softmax":        {activations.Softmax, losses.CategoricalCrossentropy{}},
		"sparse_softmax": {activations.Softmax, losses.SparseCategoricalCrossentropy{}},
		"sigmoid":        {activations.Sigmoid, losses.BinaryCrossentropy{}},
	} {
		x := ops.ValueOf(arrays["activation/"+name+"/logits"])
		s := function.Eager(context.Background())
		rec, tape := grad.Record(s)
		tape.Watch(x)
		loss := c.loss.Loss(rec, arrays["activation/"+name+"/truth"], c.activation.Call(rec, x), nil)
		g := tape.GradientOf(loss, x)[0]
		kerastest.Must(t, s.Err())
		kerastest.Near(t, name, loss, arrays["activation/"+name+"/loss"], 1e-6)
		kerastest.Near(t, name+" gradient", ops.Const(s, g), arrays["activation/"+name+"/gradient"], 1e-6)
	}
}

func TestLossesRefuse(t *testing.T) {
	x := [][]float32{{1, 2}, {3, 4}}
	for name, f := range map[string]func(s *ops.Scope){
		"nil truth":     func(s *ops.Scope) { losses.MeanAbsoluteError{}.Loss(s, nil, x, nil) },
		"bad reduction": func(s *ops.Scope) { losses.MeanSquaredError{Reduction: "mean"}.Loss(s, x, x, nil) },
		"scalar": func(s *ops.Scope) {
			losses.CategoricalCrossentropy{LabelSmoothing: 1}.Loss(s, float32(1), float32(1), nil)
		},
		"axis": func(s *ops.Scope) { losses.CategoricalCrossentropy{FromLogits: true, Axis: new(2)}.Loss(s, x, x, nil) },
	} {
		s := function.Eager(context.Background())
		f(s)
		if s.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAFuncIsALoss weights a program's own function.
func TestAFuncIsALoss(t *testing.T) {
	cubes := losses.Func(func(s *ops.Scope, truth, predicted ops.Input) *ops.Value {
		d := ops.Sub(s, predicted, truth)
		return ops.Mean(s, ops.Mul(s, d, ops.Square(s, d)), -1)
	})
	s := function.Eager(context.Background())
	got := cubes.Loss(s, [][]float32{{1}, {0}}, [][]float32{{3}, {1}}, []float32{0.5, 2})
	kerastest.Must(t, s.Err())
	if x, err := ops.Item[float32](got); err != nil || x != 3 {
		t.Errorf("got %v, %v, want (8*0.5+1*2)/2", x, err)
	}
}
