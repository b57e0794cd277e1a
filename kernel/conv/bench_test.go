package conv_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/conv"
	"github.com/cairnml/cairn/tensor"
)

func filled(dims ...int) *tensor.Tensor {
	t := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](t) {
		tensor.Values[float32](t)[i] = float32(i%13) / 13
	}
	return t
}

// BenchmarkConvolutions runs the convolutions of well-known networks, filters
// constant, one image. The
// metric comes from the fastest round.
func BenchmarkConvolutions(b *testing.B) {
	set, err := engine.NewKernelSet(conv.Kernels())
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range []struct {
		op                 string
		size, c, o, k, str int
	}{
		{"Conv2D", 224, 3, 64, 7, 2},
		{"Conv2D", 56, 64, 64, 3, 1},
		{"Conv2D", 28, 128, 128, 3, 1},
		{"Conv2D", 14, 256, 256, 3, 1},
		{"Conv2D", 7, 512, 512, 3, 1},
		{"Conv2D", 56, 64, 256, 1, 1},
		{"Conv2D", 28, 512, 128, 1, 1},
		{"Conv2D", 14, 1024, 256, 1, 1},
		{"Conv2D", 7, 512, 2048, 1, 1},
		{"DepthwiseConv2dNative", 112, 32, 1, 3, 1},
		{"DepthwiseConv2dNative", 56, 144, 1, 3, 2},
		{"DepthwiseConv2dNative", 14, 384, 1, 3, 1},
	} {
		b.Run(fmt.Sprintf("%s/%dx%dx%d/%dx%d/%d", l.op, l.size, l.size, l.c, l.k, l.k, l.o), func(b *testing.B) {
			x, f := filled(1, l.size, l.size, l.c), filled(l.k, l.k, l.c, l.o)
			attrs := graph.Attrs{graph.Ints("strides", 1, int64(l.str), int64(l.str), 1), graph.String("padding", "SAME")}
			p, err := set.Prepare(&engine.Node{Op: l.op, Attrs: attrs, In: []graph.Fact{{DType: tensor.Float32}, graph.FactOf(f)}})
			if err != nil {
				b.Fatal(err)
			}
			var call engine.Runner
			env := &engine.Env{Workers: engine.SharedWorkers(), Arena: new(engine.Arena)}
			in := []engine.Value{engine.ValueOf(x), engine.ValueOf(f)}
			b.ReportAllocs()
			best := time.Hour
			for b.Loop() {
				begin := time.Now()
				call.Begin(context.Background(), env)
				for _, v := range in {
					call.Add(v)
				}
				if err := call.Run(p); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(begin))
			}
			out := (l.size + l.str - 1) / l.str
			flops := 2 * float64(out*out*l.k*l.k*l.c*l.o)
			b.ReportMetric(flops/1e9/best.Seconds(), "GFLOP/s")
		})
	}
}
