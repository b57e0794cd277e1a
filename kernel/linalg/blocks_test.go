package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// sample returns a matrix of normally distributed numbers.
func sample[T scalar](rows, cols int) matrix[T] {
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	m := newMatrix[T](rows, cols)
	for i := range reals(m.v) {
		reals(m.v)[i] = r.NormFloat64()
	}
	return m
}

// lowRank returns a matrix with fewer singular values than columns, one of them tiny.
func lowRank[T scalar](rows, cols, rank int) matrix[T] {
	a, b := sample[T](rows, rank), sample[T](rank, cols)
	scale(b.row(0), asScalar[T](1e-12))
	return product(context.Background(), a, b)
}

// timesDiagonal returns a matrix with each column multiplied by a number.
func timesDiagonal[T scalar](m matrix[T], d []float64) matrix[T] {
	m = m.clone()
	for i := range m.rows {
		for j := range m.row(i) {
			m.row(i)[j] *= asScalar[T](d[j])
		}
	}
	return m
}

// close reports the first element in which matrices differ by more than a
// fraction of the largest element.
func close[T scalar](t *testing.T, what string, got, want matrix[T]) {
	t.Helper()
	largest := 0.0
	for _, z := range want.v {
		largest = max(largest, magnitude(z))
	}
	for i := range want.v {
		if !(magnitude(got.v[i]-want.v[i]) <= 1e-13*float64(max(want.rows, want.cols, 10))*largest) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got.v[i], want.v[i])
			return
		}
	}
}

func testBlocks[T scalar](t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{1, 2, 31, 32, 33, 65, 100, 130} {
		m, rhs := sample[T](n, n), sample[T](n, 7)
		x, err := solved(ctx, m.clone(), rhs)
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%d rows: ", n)
		small := product(context.Background(), x, sample[T](7, 7))
		close(t, what+"m·x", product(context.Background(), m, small), product(context.Background(), rhs, sample[T](7, 7)))

		square := product(context.Background(), m, m.adjoint())
		factor := square.clone()
		if positive, err := triangle(ctx, factor); err != nil || !positive {
			t.Fatal(positive, err)
		}
		for i := range n {
			clear(factor.row(i)[i+1:])
		}
		close(t, what+"l·l*", product(context.Background(), factor, factor.adjoint()), square)

		for i := range n {
			m.v[i*n+i] += asScalar[T](10 * float64(n))
		}
		for _, lower := range []bool{false, true} {
			half, x := m.clone(), rhs.clone()
			for i := range n {
				if lower {
					clear(half.row(i)[i+1:])
				} else {
					clear(half.row(i)[:i])
				}
			}
			if err := substitute(ctx, m, x, lower, false); err != nil {
				t.Fatal(err)
			}
			close(t, what+"triangle·x", product(context.Background(), half, x), rhs)
		}
	}
	for _, size := range [][2]int{{1, 1}, {3, 2}, {2, 3}, {40, 40}, {70, 33}, {33, 70}, {100, 100}} {
		m := sample[T](size[0], size[1])
		r := m.clone()
		all, err := householder(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		q := all.transposed(context.Background(), m.rows, m.rows).transpose()
		close(t, fmt.Sprint(size, ": q·r"), product(context.Background(), q, r), m)
		close(t, fmt.Sprint(size, ": q*·q"), product(context.Background(), q.adjoint(), q), identity[T](m.rows))
	}
}

func TestBlocksAreSolved(t *testing.T) {
	t.Run("real", testBlocks[float64])
	t.Run("complex", testBlocks[complex128])
}

func testDecompositions[T scalar](t *testing.T) {
	ctx := context.Background()
	huge, tiny := sample[T](20, 20), sample[T](20, 20)
	scale(huge.v, asScalar[T](1e300))
	scale(tiny.v, asScalar[T](1e-300))
	graded := sample[T](30, 30)
	for i := range 30 {
		scale(graded.row(i), asScalar[T](math.Pow(10, -float64(i))))
	}
	for name, m := range map[string]matrix[T]{
		"1×1": sample[T](1, 1), "2×2": sample[T](2, 2), "50×50": sample[T](50, 50), "100×60": sample[T](100, 60), "140×140": sample[T](140, 140),
		"zeros": newMatrix[T](6, 4), "identity": identity[T](40), "rank 3": lowRank[T](40, 30, 3), "one column": sample[T](9, 1),
		"huge": huge, "tiny": tiny, "graded": graded, "ones": {20, 20, slicesOf(400, asScalar[T](1))},
	} {
		for _, rows := range []int{m.cols, m.rows} {
			s, ut, vt, err := singular(ctx, m.clone(), rows)
			if err != nil {
				t.Fatal(err)
			}
			u, v := ut.transpose(), vt.transpose()
			thin := newMatrix[T](m.rows, m.cols)
			for i := range m.rows {
				copy(thin.row(i), u.row(i))
			}
			close(t, name+": u·s·v*", product(context.Background(), timesDiagonal(thin, s), v.adjoint()), m)
			close(t, name+": u*·u", product(context.Background(), u.adjoint(), u), identity[T](rows))
			close(t, name+": v*·v", product(context.Background(), v.adjoint(), v), identity[T](m.cols))
			for i, x := range s {
				if x < 0 || math.Signbit(x) || i > 0 && x > s[i-1] {
					t.Errorf("%s: values %v", name, s)
					break
				}
			}
			alone, _, _, err := singular(ctx, m.clone(), 0)
			if err != nil {
				t.Fatal(err)
			}
			close(t, name+": values alone", matrix[float64]{1, len(s), alone}, matrix[float64]{1, len(s), s})
		}
		if m.rows != m.cols {
			continue
		}
		a := m.adjoint()
		for i, z := range m.v {
			a.v[i] += z
		}
		if name == "huge" {
			scale(a.v, asScalar[T](1e-10))
		}
		e, rows, err := hermitian(ctx, a.clone(), true)
		if err != nil {
			t.Fatal(err)
		}
		v := rows.transpose()
		close(t, name+": v·e·v*", product(context.Background(), timesDiagonal(v, e), v.adjoint()), a)
		close(t, name+": eigenvectors", product(context.Background(), v.adjoint(), v), identity[T](m.cols))
	}
}

func slicesOf[T any](n int, x T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = x
	}
	return s
}

func TestDecompositionsReconstruct(t *testing.T) {
	t.Run("real", testDecompositions[float64])
	t.Run("complex", testDecompositions[complex128])
}

// TestWhatIsNoNumberHasNoDecomposition checks matrices with NaN: all singular values are NaN,
// eigenvalues are an error, and nothing runs for long.
func TestWhatIsNoNumberHasNoDecomposition(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		m := sample[float64](50, 50)
		m.v[7*50+3] = x
		s, _, _, err := singular(context.Background(), m.clone(), 50)
		if err != nil || !math.IsNaN(s[0]) {
			t.Errorf("of %v: singular values %v, error %v", x, s[:3], err)
		}
		if e, _, err := hermitian(context.Background(), m.clone(), true); !errors.Is(err, errNoEigenvalues) {
			t.Errorf("of %v: eigenvalues %v, error %v", x, e, err)
		}
	}
}

// TestDecompositionsStop checks that the end of a context stops all
// decompositions.
func TestDecompositionsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := sample[complex128](40, 40)
	_, _, _, a := singular(ctx, m.clone(), 40)
	_, _, b := hermitian(ctx, m.clone(), true)
	_, _, _, c := factorize(ctx, m.clone())
	_, d := householder(ctx, m.clone())
	_, e := triangle(ctx, m.clone())
	_, _, f := schur(ctx, m.clone())
	for i, err := range []error{a, b, c, d, e, f, substitute(ctx, m, m.clone(), true, false)} {
		if err == nil {
			t.Errorf("number %d goes on", i)
		}
	}
}

// TestCholeskyKeepsNaN: a row has NaN from its first NaN on, in whatever block it is.
func TestCholeskyKeepsNaN(t *testing.T) {
	const n = 100
	for _, row := range []int{5, 31, 32, 40, 99} {
		m := identity[float64](n)
		m.v[row*n] = math.NaN()
		if positive, err := triangle(context.Background(), m); !positive || err != nil {
			t.Fatalf("row %d: %v, %v", row, positive, err)
		}
		for k, x := range m.row(row)[:row+1] {
			if x == x {
				t.Errorf("row %d has %v in column %d, want NaN", row, x, k)
				break
			}
		}
	}
}

// TestSweepsThatWaitAreMadeInTurn compares sweeps that begin and end anywhere with the same sweeps
// made at once.
func TestSweepsThatWaitAreMadeInTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, width := range []int{1, 16, 37} {
		const rows = 12
		got := sample[float64](rows, width).v
		want := slices.Clone(got)
		waiting := rotated{m: got, width: width}
		for range 500 {
			n := r.IntN(rows)
			s := rotations{begin: r.IntN(rows - n), step: 1}
			if r.IntN(4) == 0 {
				s.begin, s.step = s.begin+n, -1
			}
			for range n {
				sin, cos := math.Sincos(r.Float64())
				s.turns = append(s.turns, cos, sin)
			}
			waiting.sweep(s.begin, s.step, s.turns)
			vec.Rotations(want, simd.Rows{At: s.begin * width, Step: s.step * width, Width: width}, s.turns)
		}
		waiting.finish()
		if !slices.Equal(got, want) {
			t.Errorf("%d columns: sweeps that wait have other results", width)
		}
	}
}
