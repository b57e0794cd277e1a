package grad_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func table() *trackable.Variable {
	return trackable.NewVariable(tensor.Must(tensor.New([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2))).Named("table")
}

type slicesOut struct{ Values, Indices, Whole *ops.Value }

// lookups are losses of look-ups in a table, and their gradient's slices: nil
// indices if it is a whole tensor.
var lookups = map[string]struct {
	loss    func(s *ops.Scope, w *trackable.Variable) *ops.Value
	indices []int64
	whole   []float64
	loop    bool // traced it is a whole tensor, as TensorFlow's gradient of a loop is
}{
	"one": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, w, []int{2, 0, 2}))
	}, []int64{2, 0, 2}, []float64{1, 1, 0, 0, 2, 2, 0, 0}, false},
	"of a handle": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, s.Emit1("ResourceGather", graph.Attrs{graph.Type("dtype", tensor.Float64)}, ops.Handle(s, w), []int{3, 3}))
	}, []int64{3, 3}, []float64{0, 0, 0, 0, 0, 0, 2, 2}, false},
	"of indices in a matrix": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, w, [][]int{{2, 0}, {1, 0}}))
	}, []int64{2, 0, 1, 0}, []float64{2, 2, 1, 1, 1, 1, 0, 0}, false},
	"three, with indices of two types": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		a, b := ops.Gather(s, w, []int{1}), ops.Gather(s, w, []int64{2})
		return ops.Sum(s, ops.Mul(s, ops.Mul(s, a, 3), ops.Add(s, b, ops.Gather(s, w, []int{0}))))
	}, []int64{0, 1, 2}, []float64{9, 12, 18, 24, 9, 12, 0, 0}, false},
	"beside a use of all": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Add(s, ops.Sum(s, ops.Gather(s, w, []int{1, 1})), ops.Sum(s, ops.Mul(s, w, 2)))
	}, nil, []float64{2, 2, 4, 4, 2, 2, 2, 2}, false},
	"of what was computed": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, ops.Square(s, w), []int{1}))
	}, nil, []float64{0, 0, 6, 8, 0, 0, 0, 0}, false},
	"of what was negated": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, ops.Neg(s, w), []int{1, 1}))
	}, []int64{1, 1}, []float64{0, 0, -2, -2, 0, 0, 0, 0}, false},
	"of what was cast": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Cast(s, ops.Sum(s, ops.Gather(s, ops.Cast(s, w, tensor.Float32), []int{3, 1})), tensor.Float64)
	}, []int64{3, 1}, []float64{0, 0, 1, 1, 0, 0, 1, 1}, false},
	"of a sum": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, ops.Add(s, w, 1.0), []int{1, 1}))
	}, nil, []float64{0, 0, 2, 2, 0, 0, 0, 0}, false},
	"along another axis": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.Gather(s, w, []int{1}, 1))
	}, nil, []float64{0, 1, 0, 1, 0, 1, 0, 1}, false},
	"in branches": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		return ops.Sum(s, ops.If(s, ops.Const(s, true),
			func(s *ops.Scope) *ops.Value { return ops.Gather(s, w, []int{2, 0, 2}) },
			func(s *ops.Scope) *ops.Value { return ops.Gather(s, w, []int64{1, 1, 1}) }))
	}, []int64{2, 0, 2}, []float64{1, 1, 0, 0, 2, 2, 0, 0}, false},
	"in rounds": {func(s *ops.Scope, w *trackable.Variable) *ops.Value {
		rows := ops.Map(s, ops.Const(s, []int{3, 1, 3}), func(s *ops.Scope, i *ops.Value) *ops.Value { return ops.Gather(s, w, i) })
		return ops.Sum(s, rows)
	}, []int64{3, 1, 3}, []float64{0, 0, 1, 1, 0, 0, 2, 2}, true},
}

func TestTheGradientOfALookUpIsSlices(t *testing.T) {
	for name, c := range lookups {
		for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
			t.Run(name+", "+mode, func(t *testing.T) {
				w, sliced := table(), false
				f := function.New(func(s *ops.Scope, _ *ops.Value) slicesOut {
					loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return c.loss(s, w) })
					g := tape.Gradient(loss, []*trackable.Variable{w})[0].Grad
					x, ok := g.IndexedSlices()
					if sliced = ok; !ok {
						x.Values, x.Indices = g, ops.Const(s, 0)
					}
					return slicesOut{x.Values, ops.Cast(s, x.Indices, tensor.Int64), ops.Add(s, g, 0)}
				}, &function.Options{Mode: m})
				out, err := f.Call(context.Background(), ops.ValueOf(tensor.Scalar[float64](0)))
				if err != nil {
					t.Fatal(err)
				}
				if whole := floats(t, out.Whole); !slices.Equal(whole, c.whole) {
					t.Errorf("the gradient is %v, want %v", whole, c.whole)
				}
				if want := c.indices != nil && !(c.loop && m == function.Traced); sliced != want {
					t.Fatalf("slices: %v", sliced)
				}
				if !sliced {
					return
				}
				indices, err := out.Indices.Tensor()
				if err != nil {
					t.Fatal(err)
				}
				// Rounds may come in any order.
				got, want := slices.Sorted(slices.Values(tensor.Values[int64](indices))), slices.Sorted(slices.Values(c.indices))
				if !slices.Equal(got, want) || len(floats(t, out.Values)) != 2*len(c.indices) {
					t.Errorf("the slices are at %v, want %v", got, want)
				}
			})
		}
	}
}

func floats(t *testing.T, v *ops.Value) []float64 {
	t.Helper()
	x, err := v.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Values[float64](x)
}
