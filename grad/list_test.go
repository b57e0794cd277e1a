package grad_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var ofDoubles = graph.Attrs{graph.Type("element_dtype", tensor.Float64)}

// listOf returns the rows of x as a list.
func listOf(s *ops.Scope, x *ops.Value) *ops.Value {
	return s.Emit1("TensorListFromTensor", ofDoubles, x, []int32{2})
}

func stacked(s *ops.Scope, list *ops.Value) *ops.Value {
	return s.Emit1("TensorListStack", ofDoubles, list, []int32{2})
}

// TestGradientsOfListOps compares the gradient of functions that lists of the
// rows of a matrix compute, each element of the result times its own weight.
func TestGradientsOfListOps(t *testing.T) {
	x := tensor.Must(tensor.New([]float64{1, 2, 3, 4, 5, 6}, 3, 2))
	for name, c := range map[string]struct {
		f    func(s *ops.Scope, x *ops.Value) *ops.Value
		want []float64
	}{
		"concat": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.EmitN(2, "TensorListConcatV2", ofDoubles, listOf(s, x), []int32{2}, []int64{})[0]
		}, []float64{1, 2, 3, 4, 5, 6}},
		"concat, the first form": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.EmitN(2, "TensorListConcat", ofDoubles, listOf(s, x))[0]
		}, []float64{1, 2, 3, 4, 5, 6}},
		"split": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			parts := s.Emit1("TensorListSplit", ofDoubles, x, []int32{-1, 2}, []int64{1, 2})
			return s.Emit1("TensorListGetItem", ofDoubles, parts, tensor.Scalar(int32(1)), []int32{2, 2})
		}, []float64{0, 0, 1, 2, 3, 4}},
		"gather": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.Emit1("TensorListGather", ofDoubles, listOf(s, x), []int32{2, 0}, []int32{2})
		}, []float64{3, 4, 0, 0, 1, 2}},
		"gather the same twice": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return s.Emit1("TensorListGather", ofDoubles, listOf(s, x), []int32{2, 0, 2}, []int32{2})
		}, []float64{3, 4, 0, 0, 6, 8}},
		"resize": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stacked(s, s.Emit1("TensorListResize", nil, listOf(s, x), tensor.Scalar(int32(2))))
		}, []float64{1, 2, 3, 4, 0, 0}},
		"scatter": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stacked(s, s.Emit1("TensorListScatterV2", ofDoubles, x, []int32{2, 0, 1}, []int32{2}, tensor.Scalar(int32(3))))
		}, []float64{5, 6, 1, 2, 3, 4}},
		"scatter, the first form": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			return stacked(s, s.Emit1("TensorListScatter", ofDoubles, x, []int32{2, 0, 1}, []int32{2}))
		}, []float64{5, 6, 1, 2, 3, 4}},
		"scatter into a list": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			rows := ops.Mul(s, ops.StridedSlice(s, x, ops.To(1)), 10) // replaces row 2 by ten times row 0
			return stacked(s, s.Emit1("TensorListScatterIntoExistingList", ofDoubles, listOf(s, x), rows, []int32{2}))
		}, []float64{51, 62, 3, 4, 0, 0}},
		"set an element behind the end": {func(s *ops.Scope, x *ops.Value) *ops.Value {
			attrs := ofDoubles.Set(graph.Bool("resize_if_index_out_of_bounds", true))
			row := ops.StridedSlice(s, x, ops.At(1))
			return stacked(s, s.Emit1("TensorListSetItem", attrs, listOf(s, x), tensor.Scalar(int32(3)), row))
		}, []float64{1, 2, 10, 12, 5, 6}},
	} {
		for mode, m := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
			f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
				loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
					y := ops.Reshape(s, c.f(s, x), -1)
					weights := ops.Cast(s, ops.Range(s, 1, ops.Add(s, ops.Size(s, y), 1), 1), tensor.Float64)
					return ops.Sum(s, ops.Mul(s, y, weights))
				}, &grad.Options{Watch: []*ops.Value{x}})
				return tape.GradientOf(loss, x)[0]
			}, &function.Options{Mode: m})
			dx, err := f.Call(context.Background(), ops.ValueOf(x))
			if err != nil {
				t.Errorf("%s, %s: %v", name, mode, err)
				continue
			}
			if got := floats(t, dx); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: the gradient is %v, want %v", name, mode, got, c.want)
			}
		}
	}
}

// TestTheGradientOfALoopOverAListIsLinear checks that twice the rows cost twice
// the memory. A copy of the gradients' list in each round would cost four times.
func TestTheGradientOfALoopOverAListIsLinear(t *testing.T) {
	for name, loop := range map[string]func(s *ops.Scope, x *ops.Value) *ops.Value{
		"map": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Map(s, x, func(s *ops.Scope, row *ops.Value) *ops.Value { return ops.Square(s, row) })
		},
		"scan": func(s *ops.Scope, x *ops.Value) *ops.Value {
			return ops.Scan(s, ops.Const(s, tensor.Scalar(0.0)), x, func(s *ops.Scope, acc, row *ops.Value) *ops.Value { return ops.Add(s, acc, row) })
		},
	} {
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
			loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, loop(s, x)) }, &grad.Options{Watch: []*ops.Value{x}})
			return tape.GradientOf(loss, x)[0]
		}, &function.Options{Mode: function.Traced})
		if _, err := f.Trace(ops.Spec(tensor.Float64, -1)); err != nil {
			t.Fatal(err)
		}
		bytes := func(n int) float64 {
			x := ops.ValueOf(tensor.Must(tensor.Zeros(tensor.Float64, n)))
			var before, after runtime.MemStats
			for range 2 { // the first call of a size compiles
				runtime.ReadMemStats(&before)
				if _, err := f.Call(context.Background(), x); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
			}
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if once, twice := bytes(1000), bytes(2000); twice > 2.6*once {
			t.Errorf("%s: 1000 rows take %.0f bytes, 2000 rows %.0f: %.1f times as many", name, once, twice, twice/once)
		}
	}
}

// TestCompositeTensorsPassGradientsOn takes one apart twice, so that its gradients add up.
func TestCompositeTensorsPassGradientsOn(t *testing.T) {
	w := trackable.NewVariable(tensor.Vector(0.5, -1.5, 2)).Named("w")
	plain := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		return ops.Add(s, ops.Mul(s, ops.Mul(s, x, w), ops.Sin(s, y)), ops.Square(s, x))
	}
	packed := func(s *ops.Scope, x, y *ops.Value) *ops.Value {
		types := []tensor.DType{tensor.Float64, tensor.Int64, tensor.Float64}
		v := raw.CompositeTensorVariantFromComponents(s, []ops.Input{x, tensor.Vector(int64(0), 3), y}, "")
		a, b := raw.CompositeTensorVariantToComponents(s, v, "", types), raw.CompositeTensorVariantToComponents(s, v, "", types)
		if s.Err() != nil {
			return x
		}
		return ops.Add(s, ops.Mul(s, ops.Mul(s, a[0], w), ops.Sin(s, b[2])), ops.Square(s, b[0]))
	}
	x, y := tensor.Vector(0.3, 0.7, 1.1), tensor.Vector(0.2)
	want := derivatives(t, plain, function.Eagerly, x, y, w)
	for _, m := range []function.Mode{function.Eagerly, function.Traced} {
		got := derivatives(t, packed, m, x, y, w)
		for i := range want {
			if !near(got[i], want[i]) {
				t.Errorf("mode %v: derivative %d is %v, want %v", m, i, got[i], want[i])
			}
		}
	}
}
