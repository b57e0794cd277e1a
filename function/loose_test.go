package function_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestSizesThatMayChangeArentThoseOfTheFirstCall checks that in a trace a variable's
// Shape has -1 for a size that may change. Zeros for missing gradients have the size of
// each call.
func TestSizesThatMayChangeArentThoseOfTheFirstCall(t *testing.T) {
	ctx := context.Background()
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		rows := trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 3, 2))).SetShape(tensor.Shape{-1, 2})
		any := trackable.NewVariable(tensor.Vector[float32](1, 2)).SetUnranked()
		fixed := trackable.NewVariable(tensor.Vector[float32](1, 2))
		var saw string
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			saw = fmt.Sprint(rows.Shape(), any.Shape(), any.Shape() == nil, fixed.Shape())
			y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Mul(s, x, fixed)) })
			g := tape.Gradient(y, []*trackable.Variable{rows}, &grad.GradientOptions{Zero: true})
			return ops.Shape(s, g[0].Grad)
		}, &function.Options{Mode: mode})
		for _, n := range []int{3, 5} {
			if err := rows.Store(tensor.Must(tensor.Zeros(tensor.Float32, n, 2))); err != nil {
				t.Fatal(err)
			}
			out, err := f.Call(ctx, vector(1, 1))
			if err != nil {
				t.Fatal(err)
			}
			d, err := out.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			if got := tensor.Values[int32](d); got[0] != int32(n) || got[1] != 2 {
				t.Errorf("%v: zeros of shape %v for a variable of %d rows", mode, got, n)
			}
			want := fmt.Sprintf("[%d,2] [2] false [2]", n)
			if mode == function.Traced {
				want = "[?,2] [] true [2]"
			}
			if saw != want {
				t.Errorf("%v: the function saw %s, want %s", mode, saw, want)
			}
		}
	}
}
