package matmul

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// BenchmarkPackedProducts runs the products of a transformer's block on all cores, as
// loaded models do: weights packed, bias and activation taken along. Its metric comes
// from the fastest round, so that other programs matter less.
func BenchmarkPackedProducts(b *testing.B) {
	workers := engine.SharedWorkers()
	for _, s := range []struct {
		rows, width, out int
		gelu             bool
	}{
		{1024, 256, 256, false}, {1024, 256, 1024, true}, {1024, 1024, 256, false}, {128, 256, 256, false}, {128, 256, 1024, true}, {128, 1024, 256, false},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.rows, s.width, s.out), func(b *testing.B) {
			x, y := make([]float32, s.rows*s.width), make([]float32, s.rows*s.out)
			weights := make([]float32, s.width*s.out)
			for _, v := range [][]float32{x, weights} {
				for i := range v {
					v[i] = float32(i%17) - 8
				}
			}
			w := gemm.Pack(weights, s.out, false, s.width, s.out)
			e := &gemm.Epilogue[float32]{Bias: make([]float32, s.out)}
			if s.gelu {
				e.Map = func(row []float32) { vec.Gelu(row, row) }
			}
			best := time.Hour
			for b.Loop() {
				begin := time.Now()
				w.Multiply(y, s.out, x, s.width, s.rows, e, workers)
				best = min(best, time.Since(begin))
			}
			b.ReportMetric(2*float64(s.rows*s.width*s.out)/best.Seconds()/1e9, "GFLOP/s")
		})
	}
}
