package grad_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// gradientsOf returns the gradients of the sum of f's squares.
func gradientsOf(t *testing.T, f func(s *ops.Scope, in []*ops.Value) *ops.Value, in ...*tensor.Tensor) [][]float64 {
	t.Helper()
	s := function.Eager(context.Background())
	var xs []*ops.Value
	for _, x := range in {
		xs = append(xs, ops.ValueOf(x))
	}
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, f(s, xs))) }, &grad.Options{Watch: xs})
	var out [][]float64
	for i, g := range tape.GradientWith([]*ops.Value{loss}, xs, &grad.GradientOptions{Zero: true}) {
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		x, err := g.Tensor()
		if err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
		list, _ := x.Float64s()
		out = append(out, list)
	}
	return out
}

func nearly(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	scale := 0.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestASecondDerivativeGoesThroughANormalization compares with the normalization spelled
// out by simpler ops.
func TestASecondDerivativeGoesThroughANormalization(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 2, -4, 8, 3, 0.5, -1, 7}, 1, 2, 2, 2))
	scale := tensor.Vector[float32](2, 0.5)
	mean, variance := tensor.Vector[float32](0.25, -1), tensor.Vector[float32](1.5, 4)
	for _, c := range []struct {
		format   string
		training bool
	}{{"NHWC", true}, {"NCHW", true}, {"NHWC", false}, {"NCHW", false}} {
		axes, dims := []int{0, 1, 2}, []int{1, 1, 1, 2}
		if c.format == "NCHW" {
			axes, dims = []int{0, 2, 3}, []int{1, 2, 1, 1}
		}
		fused := func(s *ops.Scope, x, scale *ops.Value) *ops.Value {
			var m, v ops.Input = tensor.Vector[float32](), tensor.Vector[float32]()
			if !c.training {
				m, v = mean, variance
			}
			attrs := graph.Attrs{graph.Float("epsilon", 0.01), graph.String("data_format", c.format), graph.Bool("is_training", c.training)}
			return s.EmitN(6, "FusedBatchNormV3", attrs, x, scale, []float32{0, 0}, m, v)[0]
		}
		plain := func(s *ops.Scope, x, scale *ops.Value) *ops.Value {
			m, v := ops.Reshape(s, mean, dims...), ops.Reshape(s, variance, dims...)
			if c.training {
				m, v = ops.MomentsKeep(s, x, axes...)
			}
			return ops.Mul(s, ops.Mul(s, ops.Sub(s, x, m), ops.Rsqrt(s, ops.Add(s, v, 0.01))), ops.Reshape(s, scale, dims...))
		}
		twice := func(f func(*ops.Scope, *ops.Value, *ops.Value) *ops.Value) [][]float64 {
			return gradientsOf(t, func(s *ops.Scope, in []*ops.Value) *ops.Value {
				y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Exp(s, f(s, in[0], in[1]))) }, &grad.Options{Watch: in})
				g := tape.GradientOf(y, in...)
				return ops.Concat(s, []ops.Input{ops.Reshape(s, g[0], -1), g[1]}, 0)
			}, x, scale)
		}
		got, want := twice(fused), twice(plain)
		for i := range want {
			nearly(t, c.format, got[i], want[i], 1e-4)
		}
		inner := function.New(func(s *ops.Scope, in []*ops.Value) *ops.Value { return fused(s, in[0], in[1]) })
		outer := function.New(func(s *ops.Scope, in []*ops.Value) []*ops.Value {
			loss, second := grad.Of(s, func(s *ops.Scope) *ops.Value {
				y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Exp(s, inner.Apply(s, in))) }, &grad.Options{Watch: in})
				g := tape.GradientOf(y, in...)
				return ops.Add(s, ops.Sum(s, ops.Square(s, g[0])), ops.Sum(s, ops.Square(s, g[1])))
			}, &grad.Options{Watch: in})
			return second.GradientOf(loss, in...)
		}, &function.Options{Mode: function.Traced})
		out, err := outer.Call(context.Background(), []*ops.Value{ops.ValueOf(x), ops.ValueOf(scale)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			list, _ := tensor.Must(out[i].Tensor()).Float64s()
			nearly(t, c.format+", called", list, want[i], 1e-4)
		}
	}
}

func TestTheGradientOfColoursIsThatOfDifferences(t *testing.T) {
	pixels := []float64{0.9, 0.5, 0.2, 0.3, 0.8, 0.1, 0.2, 0.4, 0.7, 0.7, 0.1, 0.6, 0.25, 0.75, 0.5, 0.35, 0.15, 0.85}
	f := func(s *ops.Scope, in []*ops.Value) *ops.Value { return s.Emit1("RGBToHSV", nil, in[0]) }
	loss := func(x []float64) float64 {
		y, err := f(function.Eager(context.Background()), []*ops.Value{ops.ValueOf(tensor.Must(tensor.New(x, 6, 3)))}).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range tensor.Values[float64](y) {
			sum += v * v
		}
		return sum
	}
	var want []float64
	for i := range pixels {
		up, down := append([]float64{}, pixels...), append([]float64{}, pixels...)
		up[i], down[i] = up[i]+1e-6, down[i]-1e-6
		want = append(want, (loss(up)-loss(down))/2e-6)
	}
	nearly(t, "colours", gradientsOf(t, f, tensor.Must(tensor.New(pixels, 6, 3)))[0], want, 1e-6)
}

func TestGradientsPassThroughOpsThatOnlyLook(t *testing.T) {
	x := tensor.Vector(1.5, -2)
	for op, f := range map[string]func(s *ops.Scope, in []*ops.Value) *ops.Value{
		"PlaceholderWithDefault": func(s *ops.Scope, in []*ops.Value) *ops.Value {
			return s.Emit1("PlaceholderWithDefault", graph.Attrs{graph.Shape("shape", graph.UnknownShape)}, in[0])
		},
		"CheckNumerics": func(s *ops.Scope, in []*ops.Value) *ops.Value {
			return s.Emit1("CheckNumerics", graph.Attrs{graph.String("message", "x")}, in[0])
		},
		"CheckNumericsV2": func(s *ops.Scope, in []*ops.Value) *ops.Value {
			return s.Emit1("CheckNumericsV2", graph.Attrs{graph.String("message", "x")}, in[0])
		},
		"ParallelDynamicStitch": func(s *ops.Scope, in []*ops.Value) *ops.Value {
			return s.Emit1("ParallelDynamicStitch", nil, []int32{1, 0}, in[0])
		},
		"OptionalFromValue, OptionalGetValue": func(s *ops.Scope, in []*ops.Value) *ops.Value {
			o := s.Emit1("OptionalFromValue", nil, in[0])
			return s.EmitN(1, "OptionalGetValue", graph.Attrs{graph.Types("output_types", tensor.Float64), graph.Shapes("output_shapes", graph.UnknownShape)}, o)[0]
		},
	} {
		nearly(t, op, gradientsOf(t, f, x)[0], []float64{3, -4}, 0)
	}
}

func TestAGradientThatIsNoNumberIsFoundWhereItsValueWasChecked(t *testing.T) {
	s := function.Eager(context.Background())
	x := ops.ValueOf(tensor.Vector(0.0))
	y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Sqrt(s, s.Emit1("CheckNumerics", graph.Attrs{graph.String("message", "of the loss")}, x))
	}, &grad.Options{Watch: []*ops.Value{x}})
	tape.GradientOf(y, x)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "in gradient. of the loss") {
		t.Errorf("%v", err)
	}
}

func TestTheGradientOfPlacesInAVariable(t *testing.T) {
	w := trackable.NewVariable(tensor.Must(tensor.New([]float64{1, 2, 3, 4, 5, 6}, 3, 2))).Named("w")
	for _, c := range []struct {
		places any
		sliced bool
		want   []float64
	}{
		{[][]int32{{2}, {0}, {2}}, true, []float64{1, 1, 0, 0, 2, 2}},
		{[][]int32{{2, 1}, {0, 0}, {2, 1}}, false, []float64{1, 0, 0, 0, 0, 2}},
	} {
		s := function.Eager(context.Background())
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Sum(s, s.Emit1("ResourceGatherNd", graph.Attrs{graph.Type("dtype", tensor.Float64)}, ops.Handle(s, w), c.places))
		})
		g := tape.Gradient(y, []*trackable.Variable{w})[0].Grad
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		if _, sliced := g.IndexedSlices(); sliced != c.sliced {
			t.Errorf("%v: slices: %v", c.places, sliced)
		}
		nearly(t, "places", floats(t, ops.Add(s, g, 0)), c.want, 0)
	}
}
