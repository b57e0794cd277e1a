package function_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestARecordedCallHasItsGradient: a Call inside of a recording is differentiated,
// as TensorFlow differentiates the functions that a tape sees; x and w are 3 and 2.
func TestARecordedCallHasItsGradient(t *testing.T) {
	ctx := context.Background()
	for name, mode := range map[string]function.Mode{"eager": function.Eagerly, "auto": function.Auto, "traced": function.Traced} {
		w := trackable.NewVariable(tensor.Vector[float32](2)).Named("w")
		inner := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { // w x²
			return ops.Mul(s, ops.Square(s, x), w)
		}, &function.Options{Mode: mode})
		call := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { // through another call, with its context
			y, err := inner.Call(s.Context(), x)
			if err != nil {
				return s.Fail("call", err)
			}
			return y
		})
		if _, err := inner.Call(ctx, vector(1)); err != nil { // and with an existing trace
			t.Fatal(err)
		}
		gradients := func(f body) []float32 {
			t.Helper()
			out, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
				o := &grad.Options{Watch: []*ops.Value{x}}
				var dw *ops.Value
				dx, outer := grad.Of(s, func(s *ops.Scope) *ops.Value {
					y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, f(s, x)) }, o, &grad.Options{Watch: []*ops.Value{x}, Persistent: true})
					dw = tape.Gradient(y, []*trackable.Variable{w})[0].Grad
					return ops.Sum(s, tape.GradientOf(y, x)[0])
				}, o)
				dxx := outer.GradientOf(dx, x)[0]
				return ops.Stack(s, []*ops.Value{dx, ops.Sum(s, dxx), ops.Sum(s, dw)})
			}, &function.Options{Mode: function.Eagerly}).Call(ctx, vector(3))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return floats(t, out)
		}
		for how, f := range map[string]body{
			"Call": func(s *ops.Scope, x *ops.Value) *ops.Value {
				y, err := inner.Call(s.Context(), x)
				if err != nil {
					return s.Fail("call", err)
				}
				return y
			},
			"Call of a Call": func(s *ops.Scope, x *ops.Value) *ops.Value {
				y, err := call.Call(s.Context(), x)
				if err != nil {
					return s.Fail("call", err)
				}
				return y
			},
			"Apply": inner.Apply,
		} {
			if got := gradients(f); got[0] != 12 || got[1] != 4 || got[2] != 9 {
				t.Errorf("%s, %s: %v, want 12, 4 and 9", name, how, got)
			}
		}
		// On a scope that isn't recorded it would miss the tape.
		_, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			y, tape := grad.Of(s, func(rec *ops.Scope) *ops.Value {
				y, err := inner.Call(s.Context(), x)
				if err != nil {
					return rec.Fail("call", err)
				}
				return ops.Sum(rec, y)
			})
			return tape.Gradient(y, []*trackable.Variable{w})[0].Grad
		}, &function.Options{Mode: function.Eagerly}).Call(ctx, vector(3))
		if err == nil || !strings.Contains(err.Error(), "ops.StopGradient") || !strings.Contains(err.Error(), "recorded_test.go:") {
			t.Errorf("%s, a Call beside the recording: %v", name, err)
		}
	}
}

// TestACallInAnotherGoroutineIsNotRecorded: a scope belongs to one.
func TestACallInAnotherGoroutineIsNotRecorded(t *testing.T) {
	square := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, x) })
	out, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			done := make(chan error)
			ctx := s.Context()
			for range 4 {
				go func() {
					_, err := square.Call(ctx, vector(5))
					done <- err
				}()
			}
			y := ops.Sum(s, ops.Square(s, x))
			for range 4 {
				if err := <-done; err != nil {
					return s.Fail("call", err)
				}
			}
			return y
		}, &grad.Options{Watch: []*ops.Value{x}})
		return tape.GradientOf(y, x)[0]
	}).Call(context.Background(), vector(3))
	if err != nil || floats(t, out)[0] != 6 {
		t.Errorf("%v (%v)", out, err)
	}
}
