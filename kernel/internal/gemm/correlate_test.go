package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCorrelateEqualsItsDefinition holds the gradient of windows to a plain sum, and to
// itself with other workers.
func TestCorrelateEqualsItsDefinition(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		testCorrelate[float32](t, 1e-5)
		testCorrelate[float64](t, 1e-13)
	})
}

func testCorrelate[T float](t *testing.T, tolerance float64) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []windowsCase{
		{"one position", 1, 1, 1, [2]int{2, 3}, 4, 1, 1},
		{"one channel, many positions", 9, 27, 31, [2]int{3, 1}, 3, 1, 33},
		{"many rows, many positions", 3, 29, 31, [2]int{3, 1}, 51, 17, 5},
		{"runs apart", 2, 5, 29, [2]int{3, 2}, 3, 2, 70},
		{"rows of more than are copied together", 1, 9, 20, [2]int{2, 1}, 333, 3, 16},
		{"no windows", 0, 4, 7, [2]int{2, 2}, 17, 1, 13},
	} {
		s, size := c.windows(c.run+1, 0)
		positions, m, gap := c.n*c.h*c.w, c.taps[0]*c.taps[1]*c.run, 3
		src, y := random[T](r, size), random[T](r, positions*(c.o+gap))
		want := make([]float64, m*c.o)
		for p := range positions {
			at, _ := s.place(p)
			for i := range m {
				x := float64(src[at+s.run(i/c.run)+i%c.run])
				for j := range c.o {
					want[i*c.o+j] += x * float64(y[p*(c.o+gap)+j])
				}
			}
		}
		got, again := make([]T, m*(c.o+gap)), make([]T, m*(c.o+gap))
		for i := range got {
			got[i], again[i] = T(math.NaN()), T(math.NaN())
		}
		Correlate(got, c.o+gap, src, s, y, c.o+gap, c.o, nil)
		Correlate(again, c.o+gap, src, s, y, c.o+gap, c.o, workers{3, 1})
		for i := range m {
			for j := range c.o + gap {
				v := got[i*(c.o+gap)+j]
				switch {
				case j >= c.o && v == v:
					t.Fatalf("%s: wrote between the rows", c.name)
				case j < c.o && !(math.Abs(float64(v)-want[i*c.o+j]) <= tolerance*float64(positions)) || j < c.o && v != again[i*(c.o+gap)+j]:
					t.Fatalf("%s: element %d, output %d: %v, %v with workers, want %v", c.name, i, j, v, again[i*(c.o+gap)+j], want[i*c.o+j])
				}
			}
		}
	}
}
