package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSlidingWindowsEqualTheirMatrix compares products of windows with those of
// the matrix that holds each window as a row.
func TestSlidingWindowsEqualTheirMatrix(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		testSlide[float32](t, 1e-5)
		testSlide[float64](t, 1e-13)
	})
}

func testSlide[T float](t *testing.T, tolerance float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name    string
		n, h, w int // positions
		taps    [2]int
		run     int
		step, o int
	}{
		{"1x1", 1, 1, 50, [2]int{1, 1}, 300, 1, 70},
		{"3x3 of few channels", 2, 5, 29, [2]int{3, 3}, 3, 2, 5},
		{"rows of 3", 2, 7, 13, [2]int{3, 1}, 60, 1, 33},
		{"many outputs", 1, 4, 7, [2]int{2, 2}, 17, 1, 130},
		{"long runs", 1, 3, 40, [2]int{2, 1}, 520, 1, 9},
		{"one position", 1, 1, 1, [2]int{2, 3}, 4, 1, 1},
	} {
		rowLen := (c.w-1)*c.step + (c.taps[1]-1)*c.run + c.run
		rows := c.h + c.taps[0] - 1
		src := make([]T, c.n*rows*rowLen)
		k := c.taps[0] * c.taps[1] * c.run
		b := make([]T, k*c.o)
		for _, v := range [][]T{src, b} {
			for i := range v {
				v[i] = T(r.Float64()*2 - 1)
			}
		}
		gap := 2 // between outputs
		dst := make([]T, c.n*c.h*c.w*(c.o+gap))
		for i := range dst {
			dst[i] = T(math.NaN())
		}
		s := Windows{Run: c.run,
			Positions: [4]Axis{{c.n, rows * rowLen, c.h * c.w * (c.o + gap)}, {1, 0, 0}, {c.h, rowLen, c.w * (c.o + gap)}, {c.w, c.step, c.o + gap}},
			Taps:      [3]Axis{{N: 1}, {N: c.taps[0], Src: rowLen}, {N: c.taps[1], Src: c.run}}}
		w := Pack(b, c.o, false, k, c.o)
		w.Slide(dst, src, s, workers{2, 1})
		again := make([]T, len(dst))
		x := PackTemporary(transposed(b, k, c.o), k, true, k, c.o, nil)
		x.Slide(again, src, s, nil)
		x.Free()
		for p := range c.n * c.h * c.w {
			n, y, px := p/(c.h*c.w), p/c.w%c.h, p%c.w
			for o := range c.o {
				var want float64
				for i := range k {
					ty, tx, e := i/(c.taps[1]*c.run), i/c.run%c.taps[1], i%c.run
					want += float64(src[n*rows*rowLen+(y+ty)*rowLen+px*c.step+tx*c.run+e]) * float64(b[i*c.o+o])
				}
				at := p*(c.o+gap) + o
				if math.Abs(float64(dst[at])-want) > tolerance*float64(k) || dst[at] != again[at] {
					t.Fatalf("%s: position %d, output %d: %v, %v by other ways, want %v", c.name, p, o, dst[at], again[at], want)
				}
			}
			for g := range gap {
				if v := dst[p*(c.o+gap)+c.o+g]; v == v {
					t.Fatalf("%s: wrote between the outputs", c.name)
				}
			}
		}
	}
}

func transposed[T any](b []T, k, n int) []T {
	out := make([]T, len(b))
	for i := range k {
		for j := range n {
			out[j*k+i] = b[i*n+j]
		}
	}
	return out
}
