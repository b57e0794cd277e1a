package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

func TestTileLayoutIsWhatTheAssemblyKnows(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the assembly is for 64 bits")
	}
	var x tile
	got := []uintptr{
		unsafe.Offsetof(x.a), unsafe.Offsetof(x.b), unsafe.Offsetof(x.c), unsafe.Offsetof(x.aRow), unsafe.Offsetof(x.aCol),
		unsafe.Offsetof(x.bRow), unsafe.Offsetof(x.cRow), unsafe.Offsetof(x.k), unsafe.Offsetof(x.last), unsafe.Offsetof(x.add),
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

// problem is a product whose operands lie inside larger slices, with NaN
// around them that must neither be read into the result nor be overwritten.
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

// verify holds c to sums in float64, within what rounding allows: each of the
// k steps is off by at most one unit in the last place of the sum of
// magnitudes.
func (p *problem[T]) verify(t *testing.T, c []T) {
	t.Helper()
	eps := 0x1p-23
	if unsafe.Sizeof(T(0)) == 8 {
		eps = 0x1p-52
	}
	for i := range p.m {
		for j := range p.ldc {
			if i*p.ldc+j >= len(c) {
				break
			}
			got := float64(c[i*p.ldc+j])
			if j >= p.n {
				if !math.IsNaN(got) {
					t.Fatalf("%v: wrote %g behind row %d", p, got, i)
				}
				continue
			}
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
			if !(math.Abs(got-want) <= eps*size*(4+math.Sqrt(float64(p.k)))) {
				t.Fatalf("%v: C[%d, %d] = %g, want %g", p, i, j, got, want)
			}
		}
	}
}

func (p *problem[T]) String() string {
	return fmt.Sprintf("%T %d×%d×%d transA=%t transB=%t accumulate=%t lda=%d ldb=%d ldc=%d",
		T(0), p.m, p.k, p.n, p.transA, p.transB, p.accumulate, p.lda, p.ldb, p.ldc)
}

// shapes are m, n, k around the edges of tiles, panels, blocks and the limits
// between ways to go.
func shapes() [][3]int {
	var s [][3]int
	for _, m := range []int{1, 2, 3, 5, 6, 7, 11, 12, 13, 24, 36, 37, 60} {
		for _, n := range []int{1, 2, 4, 5, 8, 10, 15, 16, 17, 31, 32, 33, 64, 100, 128, 130} {
			for _, k := range []int{1, 2, 7, 8, 9, 19, 64} {
				s = append(s, [3]int{m, n, k})
			}
		}
	}
	return append(s, [3]int{2, 5, 1}, [3]int{128, 10, 64}, [3]int{40, 70, 255}, [3]int{40, 70, 256}, [3]int{40, 70, 257},
		[3]int{3, 70, 700}, [3]int{1, 300, 600}, [3]int{300, 1, 600}, [3]int{150, 200, 100})
}

func testProducts[T float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, s := range shapes() {
		for flags := range 8 {
			if testing.Short() && (i+flags)%5 != 0 {
				continue
			}
			p := newProblem[T](r, s[0], s[1], s[2], flags&1 != 0, flags&2 != 0, flags&4 != 0, (i+flags)%3*(flags%4))
			serial := p.run(nil)
			p.verify(t, serial)
			if i%7 == 0 {
				p.verify(t, p.run(workers{3, 1}))
			}
		}
	}
}

func TestProducts(t *testing.T) {
	onEachPath(t, func(t *testing.T) {
		t.Run("float32", testProducts[float32])
		t.Run("float64", testProducts[float64])
	})
}
