package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// windowsCase is a product of windows over images with a matrix of o columns.
type windowsCase struct {
	name    string
	n, h, w int // positions
	taps    [2]int
	run     int
	step, o int
}

// windows returns the windows and the number of elements of the images. The taps of a
// row begin tap elements apart, and the windows write one position every out elements.
func (c windowsCase) windows(tap, out int) (s Windows, size int) {
	rowLen := (c.w-1)*c.step + (c.taps[1]-1)*tap + c.run
	image := (c.h + c.taps[0] - 1) * rowLen
	return Windows{Run: c.run,
		Positions: [4]Axis{{c.n, image, c.h * c.w * out}, {1, 0, 0}, {c.h, rowLen, c.w * out}, {c.w, c.step, out}},
		Taps:      [3]Axis{{N: 1}, {N: c.taps[0], Src: rowLen}, {N: c.taps[1], Src: tap}}}, c.n * image
}

// random returns n numbers between -1 and 1.
func random[T float](r *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(r.Float64()*2 - 1)
	}
	return v
}

// TestSlidingWindowsEqualTheirMatrix compares products of windows with those of
// the matrix that holds each window as a row.
func TestSlidingWindowsEqualTheirMatrix(t *testing.T) {
	defer func(old int) { nearBytes = old }(nearBytes)
	for _, nearBytes = range []int{nearBytes, 0} {
		onEachPath(t, func(t *testing.T) {
			testSlide[float32](t, 1e-5)
			testSlide[float64](t, 1e-13)
		})
	}
}

func testSlide[T float](t *testing.T, tolerance float64) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []windowsCase{
		{"1x1", 1, 1, 50, [2]int{1, 1}, 300, 1, 70},
		{"3x3 of few channels", 2, 5, 29, [2]int{3, 3}, 3, 2, 5},
		{"rows of 3", 2, 7, 13, [2]int{3, 1}, 60, 1, 33},
		{"many outputs", 1, 4, 7, [2]int{2, 2}, 17, 1, 130},
		{"long runs", 1, 3, 40, [2]int{2, 1}, 520, 1, 9},
		{"3x3 of 16 channels", 2, 5, 13, [2]int{3, 3}, 16, 16, 40},
		{"runs cut by blocks of k", 2, 3, 9, [2]int{3, 3}, 40, 40, 37},
		{"few rows", 1, 1, 3, [2]int{1, 1}, 300, 300, 70},
		{"rows of two tiles", 1, 1, 7, [2]int{1, 1}, 301, 301, 70},
		{"fewer steps than a run", 1, 1, 9, [2]int{1, 1}, 3, 3, 70},
		{"one position", 1, 1, 1, [2]int{2, 3}, 4, 1, 1},
	} {
		const gap = 2 // between outputs
		s, size := c.windows(c.run, c.o+gap)
		k := c.taps[0] * c.taps[1] * c.run
		src, b := random[T](r, size), random[T](r, k*c.o)
		dst := make([]T, c.n*c.h*c.w*(c.o+gap))
		for i := range dst {
			dst[i] = T(math.NaN())
		}
		w := Pack(b, c.o, false, k, c.o)
		w.Slide(dst, src, s, nil, workers{2, 1})
		again := make([]T, len(dst))
		x := PackTemporary(transposed(b, k, c.o), k, true, k, c.o, nil)
		x.Slide(again, src, s, nil, nil)
		x.Free()
		testEpilogue(t, c.name, w, dst, src, s)
		image, rowLen := s.Positions[0].Src, s.Positions[2].Src
		for p := range c.n * c.h * c.w {
			n, y, px := p/(c.h*c.w), p/c.w%c.h, p%c.w
			for o := range c.o {
				var want float64
				for i := range k {
					ty, tx, e := i/(c.taps[1]*c.run), i/c.run%c.taps[1], i%c.run
					want += float64(src[n*image+(y+ty)*rowLen+px*c.step+tx*c.run+e]) * float64(b[i*c.o+o])
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

// testEpilogue compares an epilogue with its steps one after the other, bit for
// bit. product is the result of the windows without one, NaN at places that
// they don't write.
func testEpilogue[T float](t *testing.T, name string, w *Weights[T], product, src []T, s Windows) {
	t.Helper()
	bias, add := make([]T, w.n), make([]T, len(product))
	for i := range bias {
		bias[i] = T(i%7) - 3
	}
	for i := range add {
		if add[i] = T(i%5) - 2; i%11 == 0 {
			add[i] = T(math.NaN())
		}
	}
	const low, high = 0, 2.5
	for _, e := range []*Epilogue[T]{
		{}, {Bias: bias}, {Add: add}, {Bias: bias, Add: add}, {Clamp: true, Low: low, High: high},
		{Bias: bias, Add: add, Clamp: true, Low: low, High: T(math.Inf(1))},
		{Bias: bias, Clamp: true, High: high, Map: func(row []T) {
			for i := range row {
				row[i] *= 3
			}
		}},
	} {
		got := make([]T, len(product))
		for i := range got {
			got[i] = T(math.NaN())
		}
		w.Slide(got, src, s, e, workers{2, 1})
		line := s.Positions[3].Dst
		for i, x := range product {
			if x != x { // between the outputs
				continue
			}
			if e.Bias != nil {
				x += e.Bias[i%line]
			}
			if e.Add != nil {
				x += e.Add[i]
			}
			if e.Clamp && x < e.Low {
				x = e.Low
			}
			if e.Clamp && x > e.High {
				x = e.High
			}
			if e.Map != nil {
				x *= 3
			}
			if x != got[i] && (x == x || got[i] == got[i]) {
				t.Fatalf("%s, %+v: element %d is %v, want %v", name, e, i, got[i], x)
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

// TestCutsGiveWorkersEqualShares holds that no worker begins with much more than the
// others, at sizes that networks have.
func TestCutsGiveWorkersEqualShares(t *testing.T) {
	for _, s := range []struct{ rows, cols, k int }{
		{1024, 256, 256}, {1024, 1024, 256}, {1024, 256, 1024}, {128, 256, 256}, {128, 256, 1024}, {49, 160, 960}, {49, 960, 160}, {196, 64, 384}, {3136, 24, 144},
	} {
		tiles, panels := (s.rows+11)/12, (s.cols+31)/32
		r, c := cutSlide(tiles, panels, 2, float64(2*s.rows*s.cols*s.k)/120, true)
		if r < 1 || c < 1 || r > tiles || c > panels || r*c > maxTasks {
			t.Fatalf("%v: %d × %d tasks of %d tiles and %d panels", s, r, c, tiles, panels)
		}
		var shares [2]int
		for i := range r * c {
			row, col := i/c, i%c
			shares[2*i/(r*c)] += ((row+1)*tiles/r - row*tiles/r) * ((col+1)*panels/c - col*panels/c)
		}
		if more := max(shares[0], shares[1]); float64(more) > 0.55*float64(tiles*panels) {
			t.Errorf("%v: %d × %d tasks give shares of %v", s, r, c, shares)
		}
	}
	if r, c := cutSlide(5, 5, 2, 5_000, false); r*c != 1 {
		t.Errorf("5 µs are cut into %d × %d tasks", r, c)
	}
}

// TestSlideInManyTasks holds that cuts of tiles and of panels leave the bits alone.
func TestSlideInManyTasks(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		const m, n, k = 301, 170, 300
		r := rand.New(rand.NewPCG(5, 6))
		a, b, bias := make([]float32, m*k), make([]float32, k*n), make([]float32, n)
		for _, v := range [][]float32{a, b, bias} {
			for i := range v {
				v[i] = r.Float32() - 0.5
			}
		}
		w := Pack(b, n, false, k, n)
		e := &Epilogue[float32]{Bias: bias}
		whole := make([]float32, m*n)
		w.Multiply(whole, n, a, k, m, e, nil)
		for count := 2; count < 6; count++ {
			parts := make([]float32, m*n)
			w.Multiply(parts, n, a, k, m, e, workers{count, 1})
			for i, x := range whole {
				if math.Float32bits(x) != math.Float32bits(parts[i]) {
					t.Fatalf("%d workers: element %d is %v, not %v", count, i, parts[i], x)
				}
			}
		}
	})
}
