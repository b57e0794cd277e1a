package kernel_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestValuesAtCorners compares results with those that TensorFlow 2.21 returned: of singular
// matrices, of numbers that float64 doesn't have, and of matrices with NaN.
func TestValuesAtCorners(t *testing.T) {
	nan := math.NaN()
	f64 := func(shape tensor.Shape, v ...float64) *tensor.Tensor { return tensor.Must(tensor.New(v, shape...)) }
	f32 := func(shape tensor.Shape, v ...float32) *tensor.Tensor { return tensor.Must(tensor.New(v, shape...)) }
	column, one := tensor.Shape{3, 1}, tensor.Shape{1, 1}
	pivoting, perturbing := graph.Attrs{graph.Bool("partial_pivoting", true)}, graph.Attrs{graph.Bool("partial_pivoting", true), graph.Bool("perturb_singular", true)}
	plain := graph.Attrs{graph.Bool("partial_pivoting", false)}
	singular := f64(tensor.Shape{3, 3}, 0, 0, 0, 0, 1, 1, 0, 0, 0)
	ones := f64(column, 1, 1, 1)
	batch := f64(tensor.Shape{2, 3, 3}, 1, 1, 0, 0, 0, 0, 0, 1, 2, 1, 1, 0, 2, 3, 2, 0, 1, 2)
	sides := f64(tensor.Shape{2, 3, 1}, 1, 2, 3, 1, 2, 3)
	far := f64(tensor.Shape{3, 4}, 1, 2, 1, 0, 4, .5, 3, 1e-5, 0, 5, 2, 1)
	complexes := tensor.Must(tensor.New([]complex128{0, 0, 0, 0, 1, 1, 0, 0, 0}, 3, 3))
	i64 := func(v int64) *tensor.Tensor { return tensor.Vector(v) }
	for _, c := range []struct {
		name, op string
		attrs    graph.Attrs
		in       []*tensor.Tensor
		want     []*tensor.Tensor // nil is not compared
		fails    string
	}{
		{"singular", "TridiagonalSolve", plain, []*tensor.Tensor{singular, ones}, []*tensor.Tensor{f64(column, nan, nan, nan)}, ""},
		{"singular with pivots", "TridiagonalSolve", pivoting, []*tensor.Tensor{singular, ones}, []*tensor.Tensor{f64(column, nan, nan, nan)}, ""},
		{"singular and perturbed", "TridiagonalSolve", perturbing, []*tensor.Tensor{singular, ones}, []*tensor.Tensor{f64(column, 0x1p52, 1, 1)}, ""},
		{"singular, perturbed and narrow", "TridiagonalSolve", perturbing, []*tensor.Tensor{f32(tensor.Shape{3, 3}, 0, 0, 0, 0, 1, 1, 0, 0, 0), f32(column, 1, 1, 1)}, []*tensor.Tensor{f32(column, 0x1p23, 1, 1)}, ""},
		{"singular of complex numbers", "TridiagonalSolve", pivoting, []*tensor.Tensor{complexes, tensor.Must(tensor.New([]complex128{1, 1, 1}, 3, 1))}, []*tensor.Tensor{tensor.Must(tensor.New([]complex128{0, 0, 0}, 3, 1))}, ""},
		{"zero", "TridiagonalSolve", plain, []*tensor.Tensor{f64(column, 0, 0, 0), f64(one, 1)}, []*tensor.Tensor{f64(one, nan)}, ""},
		{"zero, perturbed", "TridiagonalSolve", perturbing, []*tensor.Tensor{f64(column, 0, 0, 0), f64(one, 1)}, []*tensor.Tensor{f64(one, 0x1p1022)}, ""},
		{"needs pivots", "TridiagonalSolve", plain, []*tensor.Tensor{f64(tensor.Shape{3, 3}, 1, 1, 0, 0, 0, 1, 0, 1, 2), f64(column, 1, 2, 3)}, []*tensor.Tensor{f64(column, nan, nan, nan)}, ""},
		{"one of a batch", "TridiagonalSolve", pivoting, []*tensor.Tensor{batch, sides}, []*tensor.Tensor{f64(tensor.Shape{2, 3, 1}, nan, nan, nan, 0.5, 0, 1.5)}, ""},
		{"one of a batch, perturbed", "TridiagonalSolve", perturbing, []*tensor.Tensor{batch, sides}, []*tensor.Tensor{f64(tensor.Shape{2, 3, 1}, -4503599627370494, 1, 4503599627370496, 0.5, 0, 1.5)}, ""},
		{"regular and perturbed", "TridiagonalSolve", perturbing, []*tensor.Tensor{far, f64(tensor.Shape{4, 1}, 1, 2, 3, 4)},
			[]*tensor.Tensor{f64(tensor.Shape{4, 1}, -2.166855571297608, 9.667422285190431, 4.0002833569464125, -28.3356946412201)}, ""},
		{"a wide range", "RaggedRange", nil, []*tensor.Tensor{i64(1 << 53), i64(1<<53 + 1), i64(1)}, []*tensor.Tensor{tensor.Vector[int64](0, 1), i64(1 << 53)}, ""},
		{"a falling range", "RaggedRange", nil, []*tensor.Tensor{i64(10), i64(0), i64(-3)}, []*tensor.Tensor{tensor.Vector[int64](0, 4), tensor.Vector[int64](10, 7, 4, 1)}, ""},
		{"no range", "RaggedRange", nil, []*tensor.Tensor{i64(0), i64(-5), i64(1)}, []*tensor.Tensor{tensor.Vector[int64](0, 0), tensor.Vector[int64]()}, ""},
		{"below the first index", "RandomIndexShuffle", nil, []*tensor.Tensor{tensor.Scalar[int32](0), tensor.Vector[int32](1, 2, 3), tensor.Scalar[int32](-1)}, nil, "index 0 isn't from 0 to -1"},
		{"NaN", "SelfAdjointEigV2", nil, []*tensor.Tensor{f64(tensor.Shape{2, 2}, 1, 0, nan, 1)}, nil, "no eigenvalues"},
		{"infinity", "SelfAdjointEigV2", graph.Attrs{graph.Bool("compute_v", false)}, []*tensor.Tensor{f64(tensor.Shape{2, 2}, 1, 0, math.Inf(1), 1)}, nil, "no eigenvalues"},
		{"NaN above", "SelfAdjointEigV2", nil, []*tensor.Tensor{f64(tensor.Shape{2, 2}, 1, nan, 0, 1)}, []*tensor.Tensor{tensor.Vector(1.0, 1), f64(tensor.Shape{2, 2}, 1, 0, 0, 1)}, ""},
		{"one NaN", "SelfAdjointEigV2", nil, []*tensor.Tensor{f64(one, nan)}, []*tensor.Tensor{tensor.Vector(nan), f64(one, 1)}, ""},
		{"one infinity", "SelfAdjointEigV2", nil, []*tensor.Tensor{f64(one, math.Inf(1))}, []*tensor.Tensor{tensor.Vector(math.Inf(1)), f64(one, 1)}, ""},
	} {
		t.Run(c.op+"/"+c.name, func(t *testing.T) {
			s := function.Eager(context.Background())
			in := make([]ops.Input, len(c.in))
			for i, x := range c.in {
				in[i] = x
			}
			out := s.Emit(c.op, c.attrs, in...)
			if c.fails != "" {
				if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want an error with %q", err, c.fails)
				}
				return
			}
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				got, err := out[i].Tensor()
				if err != nil {
					t.Fatal(err)
				}
				if !alike(got, want) {
					t.Errorf("output %d is %v%v, want %v%v", i, got.Shape(), opfixture.Numbers(got), want.Shape(), opfixture.Numbers(want))
				}
			}
		})
	}
}

// alike reports whether two tensors are equal but for a few units in the last place.
func alike(a, b *tensor.Tensor) bool {
	if a.DType() != b.DType() || !a.Shape().Equal(b.Shape()) {
		return false
	}
	x, y := opfixture.Numbers(a), opfixture.Numbers(b)
	for i := range x {
		if x[i] == y[i] || math.IsNaN(x[i]) && math.IsNaN(y[i]) {
			continue
		}
		if !(math.Abs(x[i]-y[i]) <= 4*0x1p-52*math.Max(1, math.Abs(y[i]))) {
			return false
		}
	}
	return true
}
