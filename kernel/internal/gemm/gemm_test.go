package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/cairnml/cairn/internal/testkit/detector"
)

func TestTileLayoutIsWhatTheAssemblyKnows(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the assembly is for 64 bits")
	}
	var x tile
	got := []uintptr{
		unsafe.Offsetof(x.a), unsafe.Offsetof(x.b), unsafe.Offsetof(x.c), unsafe.Offsetof(x.aRow), unsafe.Offsetof(x.aCol), unsafe.Offsetof(x.aRun),
		unsafe.Offsetof(x.bRow), unsafe.Offsetof(x.cRow), unsafe.Offsetof(x.k), unsafe.Offsetof(x.last), unsafe.Offsetof(x.add), unsafe.Offsetof(x.next),
		unsafe.Offsetof(x.finish), unsafe.Offsetof(x.bias), unsafe.Offsetof(x.addend), unsafe.Offsetof(x.low), unsafe.Offsetof(x.high),
	}
	for i, off := range got {
		if off != uintptr(8*i) {
			t.Errorf("field %d lies at %d", i, off)
		}
	}
}

// onEachPath runs f on every path of this machine.
func onEachPath(t *testing.T, f func(t *testing.T)) {
	for _, p := range Available() {
		t.Run(p.String(), func(t *testing.T) {
			defer Force(p)()
			f(t)
		})
	}
}

// workers is a Parallel that runs pieces of step on n goroutines.
type workers struct{ n, step int }

func (w workers) Count() int { return w.n }

func (w workers) Run(n int, _ float64, fn func(lo, hi int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range w.n {
		wg.Go(func() {
			for lo := range next {
				fn(lo, min(lo+w.step, n))
			}
		})
	}
	for lo := 0; lo < n; lo += w.step {
		next <- lo
	}
	close(next)
	wg.Wait()
}

// problem is a product whose operands are inside larger slices, with NaN around
// them that must neither be read into the result nor be overwritten.
type problem[T float] struct {
	m, n, k          int
	transA, transB   bool
	accumulate       bool
	lda, ldb, ldc    int
	a, b, c, initial []T
}

func newProblem[T float](r *rand.Rand, m, n, k int, transA, transB, accumulate bool, pad int) *problem[T] {
	p := &problem[T]{m: m, n: n, k: k, transA: transA, transB: transB, accumulate: accumulate}
	p.a, p.lda = matrix[T](r, m, k, transA, pad)
	p.b, p.ldb = matrix[T](r, k, n, transB, pad)
	p.c, p.ldc = matrix[T](r, m, n, false, pad)
	p.initial = append([]T(nil), p.c...)
	return p
}

func matrix[T float](r *rand.Rand, rows, cols int, trans bool, pad int) ([]T, int) {
	if trans {
		rows, cols = cols, rows
	}
	ld := cols + pad
	s := make([]T, max(0, (rows-1)*ld+cols))
	for i := range s {
		s[i] = T(math.NaN())
		if i%max(ld, 1) < cols {
			s[i] = T(r.Float64()*2 - 1)
		}
	}
	return s, ld
}

func (p *problem[T]) run(par Parallel) []T {
	c := append([]T(nil), p.initial...)
	switch c := any(c).(type) {
	case []float32:
		F32(c, p.ldc, any(p.a).([]float32), p.lda, p.transA, any(p.b).([]float32), p.ldb, p.transB, p.m, p.n, p.k, p.accumulate, par)
	case []float64:
		F64(c, p.ldc, any(p.a).([]float64), p.lda, p.transA, any(p.b).([]float64), p.ldb, p.transB, p.m, p.n, p.k, p.accumulate, par)
	}
	return c
}

func at[T float](s []T, ld int, trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return float64(s[i*ld+j])
}

// verify compares c with sums in float64, within the error of rounding: each of
// the k steps is off by at most one unit in the last place of the sum of
// magnitudes.
func (p *problem[T]) verify(t *testing.T, c []T) {
	t.Helper()
	eps := 0x1p-23
	if unsafe.Sizeof(T(0)) == 8 {
		eps = 0x1p-52
	}
	for i := range p.m {
		for j := range p.n {
			var want, size float64
			if p.accumulate {
				want = float64(p.initial[i*p.ldc+j])
				size = math.Abs(want)
			}
			for q := range p.k {
				x := at(p.a, p.lda, p.transA, i, q) * at(p.b, p.ldb, p.transB, q, j)
				want += x
				size += math.Abs(x)
			}
			if got := float64(c[i*p.ldc+j]); !(math.Abs(got-want) <= eps*size*(4+math.Sqrt(float64(p.k)))) {
				t.Fatalf("%v: C[%d, %d] = %g, want %g", p, i, j, got, want)
			}
		}
	}
}

// fataler has the common methods of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// verifyExactly compares c with the package comment's loop, bit for bit, and
// checks that elements between the rows of C are unchanged.
func (p *problem[T]) verifyExactly(t fataler, c []T) {
	t.Helper()
	fused := Path(current.Load()) != Generic
	block := blockK(max(p.k, 1))
	for i := range p.m {
		for j := range p.ldc {
			if i*p.ldc+j >= len(c) {
				break
			}
			got := c[i*p.ldc+j]
			if j >= p.n {
				if got == got {
					t.Fatalf("%v: wrote %g behind row %d", p, got, i)
				}
				continue
			}
			var want T
			if p.accumulate {
				want = p.initial[i*p.ldc+j]
			}
			for q0 := 0; q0 < p.k; q0 += block {
				var s T
				for q := q0; q < min(p.k, q0+block); q++ {
					x, y := T(at(p.a, p.lda, p.transA, i, q)), T(at(p.b, p.ldb, p.transB, q, j))
					if fused {
						s = fma(x, y, s)
					} else {
						s += T(x * y)
					}
				}
				if q0 == 0 && !p.accumulate {
					want = s
				} else {
					want += s
				}
			}
			if got != want {
				t.Fatalf("%v: C[%d, %d] = %b, want %b", p, i, j, got, want)
			}
		}
	}
}

// fma returns x·y + z, rounded once.
func fma[T float](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	// The product of two float32 is exact in float64. The sum may not be, and
	// would be rounded twice: it is rounded to odd first. That has enough spare
	// bits for the second rounding to have the result of a single one.
	p := float64(x) * float64(y)
	s := p + float64(z)
	b := s - p
	off := (p - (s - b)) + (float64(z) - b)
	if bits := math.Float64bits(s); off != 0 && bits&1 == 0 {
		if off > 0 == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return T(s)
}

func (p *problem[T]) String() string {
	return fmt.Sprintf("%T %d×%d×%d transA=%t transB=%t accumulate=%t lda=%d ldb=%d ldc=%d",
		T(0), p.m, p.k, p.n, p.transA, p.transB, p.accumulate, p.lda, p.ldb, p.ldc)
}

// shapes returns m, n, k around the edges of tiles, panels, blocks and the
// limits between ways to go.
func shapes() [][3]int {
	var s [][3]int
	for _, m := range []int{1, 2, 3, 6, 7, 12, 13, 36, 37, 60} {
		for _, n := range []int{1, 2, 5, 8, 15, 16, 17, 32, 33, 100, 130} {
			for _, k := range []int{1, 2, 7, 8, 9, 35} {
				s = append(s, [3]int{m, n, k})
			}
		}
	}
	return append(s, [3]int{2, 5, 1}, [3]int{128, 10, 64}, [3]int{40, 70, 255}, [3]int{40, 70, 256}, [3]int{40, 70, 257},
		[3]int{3, 70, 700}, [3]int{1, 300, 600}, [3]int{300, 1, 600}, [3]int{150, 200, 100})
}

// TestProducts holds every shape with every flag, on every path, serial and on
// several workers, to the reference loop: as this is exact, it also proves that
// neither workers, nor tiles, nor the kernel chosen change a result.
func TestProducts(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float32", testProducts[float32])
		t.Run("float64", testProducts[float64])
	})
}

func testProducts[T float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, s := range shapes() {
		for flags := range 8 {
			if testing.Short() && (i+flags)%16 != 0 || detector.Racing && (i+flags)%64 != 0 || (i+flags)%3 == 0 {
				continue
			}
			p := newProblem[T](r, s[0], s[1], s[2], flags&1 != 0, flags&2 != 0, flags&4 != 0, (i+flags)%3*(flags%4))
			serial := p.run(nil)
			p.verifyExactly(t, serial)
			if flags == 0 {
				p.verify(t, serial)
			}
			if i%5 == 0 {
				p.verifyExactly(t, p.run(workers{3, 1}))
			}
		}
	}
}

func TestResultDoesNotDependOnWorkersOrBatch(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, trans := range []bool{false, true} {
			p := newProblem[float32](r, 100, 150, 300, false, trans, false, 0)
			want := p.run(nil)
			for _, par := range []workers{{1, 1}, {2, 1}, {3, 2}, {8, 1}} {
				if got := p.run(par); !slices.Equal(got, want) {
					t.Fatalf("%v: %d workers give another result than one", p, par.n)
				}
			}
			for _, rows := range []int{1, 2, 3, 12, 13, 30, 50} {
				part := *p
				part.m, part.initial = rows, p.initial[:rows*p.ldc]
				if got := part.run(workers{2, 1}); !slices.Equal(got, want[:rows*p.ldc]) {
					t.Fatalf("%v: the first %d rows depend on the others", p, rows)
				}
			}
		}
	})
}

// TestPartsOfLargeB makes the part of B that a task may pack so small that
// products need many tasks.
func TestPartsOfLargeB(t *testing.T) {
	defer func(old int) { maxTask = old }(maxTask)
	maxTask = 16 << 10
	onEachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for flags := range 8 {
			p := newProblem[float32](r, 38, 40, 600, flags&1 != 0, flags&2 != 0, flags&4 != 0, 1)
			p.verifyExactly(t, p.run(workers{2, 1}))
			p = newProblem[float32](r, 38, 1100, 20, flags&1 != 0, flags&2 != 0, flags&4 != 0, 1)
			p.verifyExactly(t, p.run(workers{2, 1}))
			q := newProblem[float64](r, 38, 40, 300, flags&1 != 0, flags&2 != 0, flags&4 != 0, 1)
			q.verifyExactly(t, q.run(nil))
		}
	})
}

func TestRandomProducts(t *testing.T) {
	if detector.Racing {
		t.Skip("slow, and TestConcurrentProducts is there to find races")
	}
	onEachPath(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			dim := rapid.IntRange(0, 80)
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			flag := rapid.Bool()
			m, n, k := dim.Draw(t, "m"), dim.Draw(t, "n"), rapid.IntRange(0, 300).Draw(t, "k")
			transA, transB, add, pad := flag.Draw(t, "transA"), flag.Draw(t, "transB"), flag.Draw(t, "accumulate"), rapid.IntRange(0, 9).Draw(t, "pad")
			p := newProblem[float32](r, m, n, k, transA, transB, add, pad)
			p.verifyExactly(t, p.run(workers{2, 1}))
		})
	})
}

func TestEmptyDimensions(t *testing.T) {
	c := []float32{1, 2, 3, 4, 5, 6}
	F32(c, 3, nil, 0, false, nil, 2, false, 2, 2, 0, true, nil)
	if want := []float32{1, 2, 3, 4, 5, 6}; !slices.Equal(c, want) {
		t.Errorf("adding an empty sum gave %v", c)
	}
	F32(c, 3, nil, 0, false, nil, 2, false, 2, 2, 0, false, nil)
	if want := []float32{0, 0, 3, 0, 0, 6}; !slices.Equal(c, want) {
		t.Errorf("an empty sum gave %v, want %v", c, want)
	}
	F64(nil, 0, nil, 3, false, nil, 0, false, 0, 0, 3, false, nil)
	F64(nil, 5, nil, 3, false, make([]float64, 15), 5, false, 0, 5, 3, false, nil)
}

// TestSpecialValues: no path may skip a zero of A, as 0·Inf is NaN.
func TestSpecialValues(t *testing.T) {
	inf := float32(math.Inf(1))
	onEachPath(t, func(t *testing.T) {
		c := make([]float32, 2)
		F32(c, 2, []float32{0, 1}, 2, false, []float32{inf, 1, 2, inf}, 2, false, 1, 2, 2, false, nil)
		if c[0] == c[0] || c[1] != inf {
			t.Errorf("got %v, want [NaN +Inf]", c)
		}
	})
}

func TestShortSlicesPanic(t *testing.T) {
	ok := make([]float32, 6)
	for name, f := range map[string]func(){
		"c":        func() { F32(ok[:5], 3, ok, 1, false, ok, 3, false, 2, 3, 1, false, nil) },
		"a":        func() { F32(ok, 3, ok[:1], 1, false, ok, 3, false, 2, 3, 1, false, nil) },
		"b":        func() { F32(ok, 3, ok, 1, false, ok[:2], 3, false, 2, 3, 1, false, nil) },
		"stride":   func() { F32(ok, 3, ok, 1, false, ok, 2, false, 2, 3, 1, false, nil) },
		"negative": func() { F32(ok, 3, ok, 1, false, ok, 3, false, -1, 3, 1, false, nil) },
		"huge":     func() { F32(ok, math.MaxInt, ok, 1, false, ok, 3, false, 2, 3, 1, false, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestNoAllocationOnceWarm(t *testing.T) {
	if detector.Racing {
		t.Skip("under the race detector pools drop what they are given")
	}
	onEachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, s := range [][3]int{{2, 5, 1}, {128, 10, 64}, {20, 100, 30}, {128, 128, 128}, {1, 128, 64}} {
			p := newProblem[float32](r, s[0], s[1], s[2], false, true, false, 0)
			if n := testing.AllocsPerRun(50, func() {
				F32(p.c, p.ldc, p.a, p.lda, false, p.b, p.ldb, true, p.m, p.n, p.k, false, nil)
			}); n >= 1 {
				t.Errorf("%v allocates %g times", p, n)
			}
		}
	})
}

// TestConcurrentProducts runs products that share pools, for the race detector.
func TestConcurrentProducts(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 0))
				for i := range 12 {
					p := newProblem[float32](r, 40+i, 60-i, 33+g, i&1 != 0, i&2 != 0, i&4 != 0, 0)
					c := p.run(workers{2, 1})
					p.verifyExactly(t, c)
				}
			})
		}
		wg.Wait()
	})
}
