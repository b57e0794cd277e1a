package grad_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestJacobians has tf.GradientTape.jacobian's values, and they are plain to derive: of
// [x0*x1, x0*x0] at [2, 3], of x*v at v = [5, 7], and of a value that doesn't depend on
// x.
func TestJacobians(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](5, 7))
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		out, err := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
			var y *ops.Value
			_, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
				x0, x1 := ops.StridedSlice(s, x, ops.At(0)), ops.StridedSlice(s, x, ops.At(1))
				y = ops.Stack(s, []*ops.Value{ops.Mul(s, x0, x1), ops.Mul(s, x0, x0)})
				return y
			}, &grad.Options{Watch: []*ops.Value{x}})
			first := tape.Jacobian(y, x)[0]
			var z *ops.Value
			_, tape = grad.Of(s, func(s *ops.Scope) *ops.Value {
				z = ops.Reshape(s, ops.Mul(s, x, v), 1, 2)
				return z
			})
			return []*ops.Value{first, tape.VariableJacobian(z, v)[0]}
		}, &function.Options{Mode: mode}).Call(t.Context(), ops.ValueOf(tensor.Vector[float32](2, 3)))
		if err != nil {
			t.Fatalf("%v: %v", mode, err)
		}
		var got []string
		for _, j := range out {
			x, err := j.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(x.Shape(), tensor.Values[float32](x)))
		}
		if s := fmt.Sprint(got); s != "[[2,2] [3 2 4 0] [1,2,2] [2 0 0 3]]" {
			t.Errorf("%v: %s", mode, s)
		}
	}
	s := function.Eager(t.Context())
	x := ops.Const(s, []float64{2, 3})
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Mul(s, x, x) }, &grad.Options{Watch: []*ops.Value{x}})
	if j := tape.Jacobian(y, ops.Const(s, 1.0)); j[0] != nil || s.Err() != nil {
		t.Errorf("of what it doesn't depend on: %v, %v", j[0], s.Err())
	}
	if tape.Jacobian(y, x); s.Err() == nil {
		t.Error("a tape that isn't persistent answers twice")
	}
}

// TestGradientsOfSeveralTargetsAddUp takes variables as sources.
func TestGradientsOfSeveralTargetsAddUp(t *testing.T) {
	v := trackable.NewVariable(tensor.Scalar[float32](3))
	s := function.Eager(t.Context())
	var square, twice *ops.Value
	_, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		square, twice = ops.Square(s, v), ops.Mul(s, v, 2)
		return square
	})
	got, err := tape.Gradients([]*ops.Value{square, twice}, []*trackable.Variable{v})[0].Grad.Tensor()
	if err != nil || !got.Equal(tensor.Scalar[float32](8)) {
		t.Errorf("got %v, %v, want 8", got, err)
	}
}
