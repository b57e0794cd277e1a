package function_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestOneTimeEffectsAreErrorsInATrace checks code that reads or changes data
// in Go while a function is traced: the function's calls would not repeat it.
func TestOneTimeEffectsAreErrorsInATrace(t *testing.T) {
	ctx := context.Background()
	type state struct {
		W *trackable.Variable
		N *trackable.Scalar[int64]
	}
	st := &state{trackable.NewVariable(tensor.Vector[float32](1, 2)).Named("w"), trackable.NewScalar[int64](3)}
	ckpt, err := checkpoint.New(st, nil)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := ckpt.Save(ctx, t.TempDir()+"/ckpt")
	if err != nil {
		t.Fatal(err)
	}
	numbers := dataset.FromSlices(struct{ X []float32 }{[]float32{1, 2}})
	it := numbers.Iterator()
	plain := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Neg(s, x) })
	model, err := cairn.Load(ctx, os.DirFS("../savedmodel/testdata/models/mlp"), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkpoints := map[string]bool{"Save": true, "Restore": true} // they stay outside of steps
	for name, do := range map[string]func() error{
		"Load":   func() error { st.W.Load(); return nil },
		"Borrow": func() error { _, release := st.W.Borrow(); release(); return nil },
		"Store":  func() error { return st.W.Store(tensor.Vector[float32](3, 4)) },
		"Update": func() error { return st.W.Update(func(*tensor.Tensor) error { return nil }) },
		"UpdateAll": func() error {
			return trackable.UpdateAll([]*trackable.Variable{st.W}, func([]*tensor.Tensor) error { return nil })
		},
		"Init":    func() error { st.W.Init(tensor.Vector[float32](3, 4)); return nil },
		"Get":     func() error { st.N.Get(); return nil },
		"Set":     func() error { st.N.Set(4); return nil },
		"Add":     func() error { st.N.Add(1); return nil },
		"Save":    func() error { _, err := ckpt.Save(ctx, saved); return err },
		"Restore": func() error { _, err := ckpt.Restore(ctx, saved, nil); return err },
		"Next":    func() error { _, err := it.Next(ctx); return err },
		"Reset":   func() error { it.Reset(); return nil },
		"All": func() error {
			for _, err := range numbers.All(ctx) {
				return err
			}
			return nil
		},
		"Call": func() error { _, err := plain.Call(ctx, vector(1)); return err },
		"Model.Call": func() error {
			_, err := model.Call(ctx, "serving_default", map[string]*tensor.Tensor{"dense_input": tensor.Must(tensor.Zeros(tensor.Float32, 1, 3))})
			return err
		},
		"eager write": func() error {
			s := ops.NewScope(ctx, &ops.ScopeOptions{Kernels: kernel.All()})
			ops.AssignAdd(s, st.N, 1)
			return s.Close()
		},
	} {
		for place, in := range places {
			f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
				return in(s, x, func(s *ops.Scope, x *ops.Value) *ops.Value {
					if err := do(); err != nil {
						return s.Fail("mine", err)
					}
					return x
				})
			}, &function.Options{Mode: function.Traced})
			_, err := f.Call(ctx, vector(9, 9))
			if !errors.Is(err, trackable.ErrInTrace) || !strings.Contains(err.Error(), "intrace_test.go:") || strings.Contains(err.Error(), "panic") {
				t.Errorf("%s in %s: %v", name, place, err)
			}
		}
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			ops.InitScope(func() { err = do() })
			return ops.Neg(s, x)
		}, &function.Options{Mode: function.Traced})
		if _, callErr := f.Call(ctx, vector(9, 9)); callErr != nil || errors.Is(err, trackable.ErrInTrace) != checkpoints[name] {
			t.Errorf("%s in ops.InitScope: %v, %v", name, callErr, err)
		}
	}
}
