package linalg_test

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// random returns a matrix of normally distributed numbers.
func random(r *rand.Rand, rows, cols int) *tensor.Tensor {
	v := make([]complex128, rows*cols)
	for i := range v {
		v[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	return tensor.Must(tensor.New(v, rows, cols))
}

// near reports the first element in which a value differs from want.
func near(t *testing.T, what string, got *ops.Value, want *tensor.Tensor) {
	t.Helper()
	x, err := got.Tensor()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	g, w := tensor.Values[complex128](x), tensor.Values[complex128](want)
	if len(g) != len(w) {
		t.Errorf("%s: %v, want %v", what, x.Shape(), want.Shape())
		return
	}
	for i := range g {
		if !(cmplx.Abs(g[i]-w[i]) < 1e-12) {
			t.Errorf("%s: element %d is %v, want %v", what, i, g[i], w[i])
			return
		}
	}
}

func adjoint(s *ops.Scope, x *ops.Value) *ops.Value {
	return s.Emit1("ConjugateTranspose", nil, x, tensor.Vector[int32](1, 0))
}

func unit(n int) *tensor.Tensor {
	v := make([]complex128, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	return tensor.Must(tensor.New(v, n, n))
}

// TestSingularVectorsReconstruct checks singular vectors by their product with
// the values. Fixtures can't, because the vectors are determined up to a factor
// only.
func TestSingularVectorsReconstruct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {4, 4}, {6, 3}, {3, 6}, {20, 12}} {
		for _, full := range []bool{false, true} {
			s := function.Eager(context.Background())
			a := random(r, size[0], size[1])
			out := s.EmitN(3, "Svd", graph.Attrs{graph.Bool("full_matrices", full)}, a)
			n := min(size[0], size[1])
			u := ops.SliceOf(s, out[1], []int{0, 0}, []int{size[0], n})
			v := ops.SliceOf(s, out[2], []int{0, 0}, []int{size[1], n})
			near(t, "u s v*", ops.MatMul(s, ops.Mul(s, u, out[0]), adjoint(s, v)), a)
			near(t, "u* u", ops.MatMul(s, adjoint(s, out[1]), out[1]), unit(out[1].Shape()[1]))
			near(t, "v* v", ops.MatMul(s, adjoint(s, out[2]), out[2]), unit(out[2].Shape()[1]))
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSingularVectorsOfFewerRanksAreOrthonormal checks the vectors that belong
// to zeros.
func TestSingularVectorsOfFewerRanksAreOrthonormal(t *testing.T) {
	s := function.Eager(context.Background())
	a := tensor.Must(tensor.New([]complex128{1, 2, 2, 4, 0, 0}, 3, 2))
	out := s.EmitN(3, "Svd", nil, a)
	near(t, "u* u", ops.MatMul(s, adjoint(s, out[1]), out[1]), unit(2))
	near(t, "v* v", ops.MatMul(s, adjoint(s, out[2]), out[2]), unit(2))
}

// TestEigenvectorsReconstruct checks eigenvectors of self-adjoint matrices by
// their product with the values.
func TestEigenvectorsReconstruct(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 5, 16} {
		s := function.Eager(context.Background())
		x := ops.Const(s, random(r, n, n))
		a := ops.Add(s, x, adjoint(s, x))
		out := s.EmitN(2, "SelfAdjointEigV2", nil, a)
		want, err := a.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "v e v*", ops.MatMul(s, ops.Mul(s, out[1], out[0]), adjoint(s, out[1])), want)
		near(t, "v* v", ops.MatMul(s, adjoint(s, out[1]), out[1]), unit(n))
	}
}

// TestEigenvectorsOfGeneralMatricesReconstruct checks that a·v is v·e.
func TestEigenvectorsOfGeneralMatricesReconstruct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 5, 20} {
		s := function.Eager(context.Background())
		a := ops.Const(s, random(r, n, n))
		out := s.EmitN(2, "Eig", graph.Attrs{graph.Type("Tout", tensor.Complex128)}, a)
		want, err := ops.Mul(s, out[1], ops.ExpandDims(s, out[0], -2)).Tensor()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "a v", ops.MatMul(s, a, out[1]), want)
	}
}

// TestFunctionsOfMatricesUndoEachOther checks functions on random matrices,
// because those of the fixtures are nearly diagonal.
func TestFunctionsOfMatricesUndoEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 3, 8} {
		s := function.Eager(context.Background())
		a := ops.Const(s, random(r, n, n))
		want, err := a.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		root := s.Emit1("MatrixSquareRoot", nil, a)
		near(t, "the square of the root", ops.MatMul(s, root, root), want)
		near(t, "the exponential of the logarithm", s.Emit1("MatrixExponential", nil, s.Emit1("MatrixLogarithm", nil, a)), want)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMatricesThatHaveNoSolutionAreRefused(t *testing.T) {
	singular := tensor.Must(tensor.New([]float64{1, 2, 2, 4}, 2, 2))
	triangle := tensor.Must(tensor.New([]float64{0, 0, 1, 1}, 2, 2))
	for _, c := range []struct {
		op string
		in []ops.Input
	}{
		{"MatrixInverse", []ops.Input{singular}},
		{"MatrixSolve", []ops.Input{singular, singular}},
		{"Lu", []ops.Input{singular}},
		{"MatrixSolveLs", []ops.Input{singular, singular, -1.0}},
		{"BandedTriangularSolve", []ops.Input{triangle, singular}},
		{"MatrixExponential", []ops.Input{tensor.Must(tensor.New([]float64{math.NaN()}, 1, 1))}},
	} {
		s := function.Eager(context.Background())
		s.Emit(c.op, nil, c.in...)
		if s.Err() == nil {
			t.Errorf("%s takes it", c.op)
		}
	}
}

// TestAMatrixThatIsNotPositiveHasNaNForAFactor checks the result that
// TensorFlow has since it no longer fails there. TensorFlow doesn't change the
// upper triangle; here it is zero.
func TestAMatrixThatIsNotPositiveHasNaNForAFactor(t *testing.T) {
	s := function.Eager(context.Background())
	got, err := s.Emit1("Cholesky", nil, tensor.Must(tensor.New([]float64{4, 2, 2, 5, 1, 2, 2, 1}, 2, 2, 2))).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	v := tensor.Values[float64](got)
	if v[0] != 2 || v[1] != 0 || v[2] != 1 || v[3] != 2 {
		t.Errorf("the factor of the first matrix is %v", v[:4])
	}
	if !math.IsNaN(v[4]) || v[5] != 0 || !math.IsNaN(v[6]) || !math.IsNaN(v[7]) {
		t.Errorf("the factor of the second matrix is %v", v[4:])
	}
}

// TestATriangleWithoutASolutionIsSolvedByInfinities checks a singular triangle,
// because TensorFlow doesn't check for zeros on the diagonal.
func TestATriangleWithoutASolutionIsSolvedByInfinities(t *testing.T) {
	s := function.Eager(context.Background())
	m, ones := tensor.Must(tensor.New([]float64{1, 0, 1, 0}, 2, 2)), tensor.Must(tensor.New([]float64{1, 1, 1, 1}, 2, 2))
	got, err := s.Emit1("MatrixTriangularSolve", nil, m, ones).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if v := tensor.Values[float64](got); v[0] != 1 || v[1] != 1 || !math.IsNaN(v[2]) || !math.IsNaN(v[3]) {
		t.Errorf("the solution is %v", v)
	}
}
