package gemm

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var benchShapes = []struct {
	m, n, k        int
	transA, transB bool
}{
	{2, 5, 1, false, false},
	{4, 4, 4, false, false},
	{32, 32, 32, false, false},
	{128, 10, 64, false, false},
	{64, 10, 128, true, false},
	{128, 64, 10, false, true},
	{1, 512, 784, false, false},
	{1, 512, 784, false, true},
	{1024, 1, 1024, false, false},
	{32, 512, 784, false, false},
	{128, 128, 128, false, false},
	{128, 512, 784, false, false},
	{784, 512, 128, true, false},
	{128, 784, 512, false, true},
	{512, 512, 512, false, false},
	{1024, 1024, 1024, false, false},
}

func benchmarkProducts[T float](b *testing.B, par Parallel) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range benchShapes {
		name := fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n)
		if s.transA {
			name += "/transA"
		}
		if s.transB {
			name += "/transB"
		}
		b.Run(name, func(b *testing.B) {
			p := newProblem[T](r, s.m, s.n, s.k, s.transA, s.transB, false, 0)
			b.ReportAllocs()
			for b.Loop() {
				switch c := any(p.c).(type) {
				case []float32:
					F32(c, p.ldc, any(p.a).([]float32), p.lda, p.transA, any(p.b).([]float32), p.ldb, p.transB, p.m, p.n, p.k, false, par)
				case []float64:
					F64(c, p.ldc, any(p.a).([]float64), p.lda, p.transA, any(p.b).([]float64), p.ldb, p.transB, p.m, p.n, p.k, false, par)
				}
			}
			b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GFLOP/s")
		})
	}
}

// borrowing is a Parallel as the engine's: goroutines for the time of a loop,
// pieces handed out one by one, the caller working too.
type borrowing int

func (w borrowing) Count() int { return int(w) }

func (w borrowing) Run(n int, nsEach float64, fn func(lo, hi int)) {
	step := max(1, int(40_000/nsEach))
	helpers := min(int(w)-1, (n+step-1)/step-1)
	if float64(n)*nsEach < 80_000 || helpers < 1 {
		fn(0, n)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	work := func() {
		for {
			lo := int(next.Add(int64(step))) - step
			if lo >= n {
				return
			}
			fn(lo, min(lo+step, n))
		}
	}
	for range helpers {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

func BenchmarkParallel(b *testing.B) {
	b.Run("float32", func(b *testing.B) { benchmarkProducts[float32](b, borrowing(runtime.GOMAXPROCS(0))) })
	b.Run("float64", func(b *testing.B) { benchmarkProducts[float64](b, borrowing(runtime.GOMAXPROCS(0))) })
}

func BenchmarkSerial(b *testing.B) {
	for _, p := range Available() {
		b.Run(p.String(), func(b *testing.B) {
			defer Force(p)()
			b.Run("float32", func(b *testing.B) { benchmarkProducts[float32](b, nil) })
			b.Run("float64", func(b *testing.B) { benchmarkProducts[float64](b, nil) })
		})
	}
}

// BenchmarkSlide runs convolutions of well-known networks on one core. Its
// metric comes from the fastest round, so that other programs matter less.
func BenchmarkSlide(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []struct{ size, c, o, taps, stride int }{
		{112, 3, 64, 7, 2}, {56, 64, 64, 3, 1}, {28, 128, 128, 3, 1}, {14, 256, 256, 3, 1}, {7, 512, 512, 3, 1},
		{56, 64, 64, 1, 1}, {56, 64, 256, 1, 1}, {56, 256, 64, 1, 1}, {28, 512, 128, 1, 1}, {14, 256, 1024, 1, 1}, {14, 1024, 256, 1, 1},
		{7, 512, 2048, 1, 1}, {7, 2048, 512, 1, 1}, {112, 32, 16, 1, 1}, {112, 16, 96, 1, 1}, {56, 144, 24, 1, 1}, {14, 384, 64, 1, 1}, {7, 960, 160, 1, 1},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d/%dx%d/%d/%d", s.size, s.size, s.c, s.taps, s.taps, s.o, s.stride), func(b *testing.B) {
			side := (s.size-1)*s.stride + s.taps
			src, dst := make([]float32, side*side*s.c), make([]float32, s.size*s.size*s.o)
			k := s.taps * s.taps * s.c
			f := make([]float32, k*s.o)
			for _, v := range [][]float32{src, f} {
				for i := range v {
					v[i] = r.Float32()
				}
			}
			w := Pack(f, s.o, false, k, s.o)
			row := side * s.c
			win := Windows{Run: s.taps * s.c, Taps: [3]Axis{{N: 1}, {N: s.taps, Src: row}, {N: 1}},
				Positions: [4]Axis{{N: 1}, {N: 1}, {N: s.size, Src: s.stride * row, Dst: s.size * s.o}, {N: s.size, Src: s.stride * s.c, Dst: s.o}}}
			if s.taps == 1 {
				win.Positions[3].N, win.Positions[2].N = s.size*s.size, 1
			}
			best := time.Hour
			for b.Loop() {
				begin := time.Now()
				w.Slide(dst, src, win, nil, nil)
				best = min(best, time.Since(begin))
			}
			b.ReportMetric(2*float64(s.size*s.size*k*s.o)/best.Seconds()/1e9, "GFLOP/s")
		})
	}
}
