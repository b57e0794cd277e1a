package grad_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestGradientsHoldWhatTheyNeed counts the tensors that the gradient of one more layer,
// or of one more round of a loop, keeps: those that the op's rule needs for the
// requested sources, and no others.
func TestGradientsHoldWhatTheyNeed(t *testing.T) {
	const n = 64
	k := tensor.Must(tensor.Zeros(tensor.Float32, n, n))
	type x = *ops.Value
	for _, l := range []struct {
		name    string
		f       func(s *ops.Scope, v x) x
		tensors float64
	}{
		{"AddV2", func(s *ops.Scope, v x) x { return ops.Add(s, v, k) }, 0},
		{"Mul", func(s *ops.Scope, v x) x { return ops.Mul(s, v, k) }, 0},
		{"RealDiv", func(s *ops.Scope, v x) x { return ops.Div(s, v, k) }, 0},
		{"MatMul", func(s *ops.Scope, v x) x { return ops.MatMul(s, v, k) }, 0},
		{"BatchMatMulV2", func(s *ops.Scope, v x) x { return s.Emit1("BatchMatMulV2", nil, v, k) }, 0},
		{"Transpose", func(s *ops.Scope, v x) x { return ops.Transpose(s, v) }, 0},
		{"Reshape", func(s *ops.Scope, v x) x { return ops.Reshape(s, ops.Reshape(s, v, -1), n, n) }, 0},
		{"ConcatV2, StridedSlice", func(s *ops.Scope, v x) x {
			return ops.StridedSlice(s, ops.Concat(s, []x{v, v}, 0), ops.Span(0, n))
		}, 0},
		{"Sum", func(s *ops.Scope, v x) x { return ops.Add(s, ops.Sum(s, v), k) }, 0},
		{"StopGradient", func(s *ops.Scope, v x) x { return ops.Add(s, v, s.Emit1("StopGradient", nil, ops.Exp(s, v))) }, 0},
		{"Where", func(s *ops.Scope, v x) x { return ops.Where(s, ops.Greater(s, v, float32(0)), v, k) }, 0.25},
		{"Exp", func(s *ops.Scope, v x) x { return ops.Exp(s, v) }, 1},
		{"Tanh", func(s *ops.Scope, v x) x { return ops.Tanh(s, v) }, 1},
		{"Softmax", func(s *ops.Scope, v x) x { return ops.Softmax(s, v) }, 1},
	} {
		for _, loop := range []bool{false, true} {
			one := (heldBy(t, l.f, k.Shape(), 20, loop) - heldBy(t, l.f, k.Shape(), 10, loop)) / 10 / float64(k.NumBytes())
			if one > l.tensors+0.01 {
				t.Errorf("%s, in a loop %v: one more holds %.2f tensors, want %v", l.name, loop, one, l.tensors)
			}
		}
	}
}

// heldBy returns the most bytes that the gradient of f, applied so often, holds at once.
func heldBy(t *testing.T, f func(s *ops.Scope, v *ops.Value) *ops.Value, shape tensor.Shape, times int, loop bool) float64 {
	t.Helper()
	all := function.New(func(s *ops.Scope, v *ops.Value) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			if loop {
				return ops.Sum(s, ops.While(s, []*ops.Value{ops.Const(s, 0), v},
					func(s *ops.Scope, v []*ops.Value) *ops.Value { return ops.Less(s, v[0], times) },
					func(s *ops.Scope, v []*ops.Value) []*ops.Value {
						return []*ops.Value{ops.Add(s, v[0], 1), f(s, v[1])}
					})[1])
			}
			y := v
			for range times {
				y = f(s, y)
			}
			return ops.Sum(s, y)
		}, &grad.Options{Watch: []*ops.Value{v}})
		return tape.GradientOf(y, v)[0]
	})
	c, err := all.Trace(ops.Spec(tensor.Float32, shape...))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(c.Function, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	args := []engine.Value{engine.ValueOf(tensor.Must(tensor.Zeros(tensor.Float32, shape...)))}
	for _, c := range c.Captures {
		args = append(args, engine.ValueOf(c.Tensor))
	}
	var used engine.Usage
	if _, err := plan.Run(context.Background(), args, &engine.RunOptions{Used: &used}); err != nil {
		t.Fatal(err)
	}
	return float64(used.Peak)
}
