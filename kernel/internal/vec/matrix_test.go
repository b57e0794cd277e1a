package vec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/simd"
)

func normals(n int) []float64 {
	r := rand.New(rand.NewPCG(5, uint64(n)))
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// TestRowsAreRotatedInTurn holds the vector loops to the plain ones, bit for bit, in both
// directions.
func TestRowsAreRotatedInTurn(t *testing.T) {
	for _, width := range []int{1, 3, 4, 7, 16, 21, 40} {
		for _, n := range []int{0, 1, 5, 1500} {
			for _, step := range []int{width, width + 3, -width - 1} {
				rows := simd.Rows{Step: step, Width: width}
				if step < 0 {
					rows.At = -n * step
				}
				size := n*max(step, -step) + width
				got, want, turns := normals(size), normals(size), normals(2*n)
				Rotations(got, rows, turns)
				for k := range n {
					for j := range width {
						x, y := &want[rows.At+k*step+j], &want[rows.At+(k+1)*step+j]
						c, s := turns[2*k], turns[2*k+1]
						*x, *y = float64(c**x)+float64(s**y), float64(c**y)-float64(s**x)
					}
				}
				for i := range want {
					if got[i] != want[i] && got[i] == got[i] {
						t.Fatalf("%d rotations of %d columns, step %d: element %d is %v, want %v", n, width, step, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestTwoSweepsAreRotatedAsOneAfterTheOther compares with the rotations of the first sweep, followed
// by those of the second one.
func TestTwoSweepsAreRotatedAsOneAfterTheOther(t *testing.T) {
	for _, width := range []int{1, 5, 16, 17} {
		for _, n := range []int{1, 2, 5, 1500} {
			for _, step := range []int{width, width + 3, -width - 1} {
				rows := simd.Rows{Step: step, Width: width}
				if step < 0 {
					rows.At = -(n + 1) * step
				}
				size := (n+1)*max(step, -step) + width
				got, want, turns := normals(size), normals(size), normals(4*n)
				RotationsTwice(got, rows, turns[:2*n], turns[2*n:])
				next := rows
				next.At += step
				Rotations(want, next, turns[:2*n])
				Rotations(want, rows, turns[2*n:])
				for i := range want {
					if got[i] != want[i] && got[i] == got[i] {
						t.Fatalf("%d rotations of %d columns, step %d: element %d is %v, want %v", n, width, step, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// TestRowsAreChangedOneAfterTheOther compares changes of several rows with those of one row at a time.
func TestRowsAreChangedOneAfterTheOther(t *testing.T) {
	for _, width := range []int{0, 1, 3, 4, 7, 8, 21, 40, 40_001} {
		for _, n := range []int{0, 1, 3, 4, 7, 13} {
			stride := width + 2
			size := max(0, (n-1)*stride+width)
			a, z, x, y := normals(n), normals(n + 1)[1:], normals(width), normals(width + 1)[1:]
			got, want := normals(size), normals(size)
			sum, wantSum := normals(width), normals(width)
			dots, wantDots := make([]float64, n), make([]float64, n)
			UpdateAndSum(got, stride, a, x, z, sum)
			for r := range n {
				for i := range width {
					want[r*stride+i] += float64(a[r] * x[i])
					wantSum[i] += float64(z[r] * want[r*stride+i])
				}
			}
			UpdateAndDot(got, stride, z, y, x, dots)
			for r := range n {
				row := want[r*stride:][:width]
				for i := range width {
					row[i] += float64(z[r] * y[i])
				}
				wantDots[r] = Dot(row, x)
			}
			if !slices.Equal(got, want) || !slices.Equal(sum, wantSum) || !slices.Equal(dots, wantDots) {
				t.Errorf("%d rows of %d columns differ from rows that are changed alone", n, width)
			}
		}
	}
}

func TestProductsOfVectors(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 64, 100, 40_001} {
		a, b := normals(n), normals(n + 1)[:n]
		var p [8]float64
		sum := 0.0
		for i := range n &^ 7 {
			p[i%8] += float64(a[i] * b[i])
		}
		sum = ((p[0] + p[4]) + (p[1] + p[5])) + ((p[2] + p[6]) + (p[3] + p[7]))
		for i := n &^ 7; i < n; i++ {
			sum += float64(a[i] * b[i])
		}
		if got := Dot(a, b); got != sum {
			t.Errorf("the product of %d elements is %v, want %v", n, got, sum)
		}
		want := append([]float64(nil), a...)
		for i := range want {
			want[i] += float64(b[i] * 0.3)
		}
		AddScaled(a, b, 0.3)
		for i := range want {
			if a[i] != want[i] {
				t.Fatalf("element %d of %d is %v, want %v", i, n, a[i], want[i])
			}
		}
	}
}
