package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestCallsWithTensorsFailUnderATape checks that a loaded model's Call
// fails while a tape records, with an error that names the alternatives. After
// the recording, and with another context, it runs.
func TestCallsWithTensorsFailUnderATape(t *testing.T) {
	fsys := files(t, "finetune_dense")
	var want recorded
	if err := json.Unmarshal(fsys["gradients.json"].Data, &want); err != nil {
		t.Fatal(err)
	}
	m, err := run.Load(ctx, fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("forward")
	if err != nil {
		t.Fatal(err)
	}
	step := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		v, err := x.Tensor()
		if err != nil {
			return s.Fail("step", err)
		}
		calls := map[string]func(s *ops.Scope) error{
			"Call":     func(s *ops.Scope) error { _, err := f.Call(s.Context(), []any{v}, nil); return err },
			"CallFlat": func(s *ops.Scope) error { _, err := f.CallFlat(s.Context(), 0, []*tensor.Tensor{v}); return err },
		}
		for name, call := range calls {
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				if err := call(s); err == nil || !strings.Contains(err.Error(), "function.Apply") || !strings.Contains(err.Error(), "recorded_test.go:") {
					t.Errorf("%s in a recording: %v", name, err)
				}
				if _, err := f.Call(ctx, []any{v}, nil); err != nil {
					t.Errorf("%s with a context from outside: %v", name, err)
				}
				return ops.Sum(s, x)
			}, &grad.Options{Watch: []*ops.Value{x}})
			tape.GradientOf(y, x)
			if err := call(s); err != nil {
				t.Errorf("%s behind the recording: %v", name, err)
			}
		}
		return x
	}, &fn.Options{Mode: fn.Eagerly})
	if _, err := step.Call(ctx, ops.ValueOf(want.X.tensor())); err != nil {
		t.Fatal(err)
	}
}
