package conv_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/conv"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// layer is a convolution of flat images by its sizes.
type layer struct {
	n, h, w, c, o    int
	kh, kw           int
	stride, dilation [2]int
	pad              [2][2]int // before and after
	padding          string
	depthwise        bool
	groups           int
}

func (l *layer) places() (h, w int) {
	place := func(n, d, k int) int {
		return (n+l.pad[d][0]+l.pad[d][1]-(k-1)*l.dilation[d]-1)/l.stride[d] + 1
	}
	return place(l.h, 0, l.kh), place(l.w, 1, l.kw)
}

// randomLayer returns sizes around those of whole vectors, tiles and blocks, or
// false if the filter doesn't fit the image.
func randomLayer(r *rand.Rand) (l layer, ok bool) {
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	l = layer{n: one(1, 1, 2, 3), h: 1 + r.IntN(15), w: 1 + r.IntN(15), c: one(1, 2, 3, 7, 8, 16, 17, 40), o: one(1, 2, 5, 16, 31, 32, 33, 70),
		kh: one(1, 1, 2, 3, 5), kw: one(1, 1, 2, 3, 7), stride: [2]int{one(1, 1, 2, 3), one(1, 1, 2, 3)}, dilation: [2]int{1, 1}, groups: 1}
	if r.IntN(4) == 0 {
		l.kw = l.kh
	}
	switch r.IntN(5) {
	case 0:
		l.depthwise = true
		l.o = l.c * one(1, 1, 2)
	case 1:
		l.groups = one(2, 3, l.c)
		l.c, l.o = l.groups*one(1, 1, 4), l.groups*one(1, 1, 3)
	}
	if r.IntN(4) == 0 {
		l.dilation = [2]int{one(1, 2), one(1, 2, 3)}
		if l.dilation != [2]int{1, 1} {
			l.stride = [2]int{1, 1}
		}
	}
	if l.depthwise {
		l.stride[1] = l.stride[0] // TensorFlow's rule
	}
	switch l.padding = []string{"VALID", "SAME", "EXPLICIT"}[r.IntN(3)]; {
	case l.padding == "SAME":
		for d, n := range []int{l.h, l.w} {
			reach := ([]int{l.kh, l.kw}[d]-1)*l.dilation[d] + 1
			total := max(((n-1)/l.stride[d])*l.stride[d]+reach-n, 0)
			l.pad[d] = [2]int{total / 2, total - total/2}
		}
	case l.padding == "EXPLICIT":
		for d := range l.pad {
			l.pad[d] = [2]int{r.IntN(3), r.IntN(3)}
		}
	}
	fits := l.h+l.pad[0][0]+l.pad[0][1] > (l.kh-1)*l.dilation[0] && l.w+l.pad[1][0]+l.pad[1][1] > (l.kw-1)*l.dilation[1]
	return l, fits
}

// naive returns the convolution by its definition.
func (l *layer) naive(x, f []float32) []float64 {
	oh, ow := l.places()
	cg, og := l.c/l.groups, l.o/l.groups
	if l.depthwise {
		cg, og = 1, l.o/l.c
	}
	var out []float64
	for p := range l.n * oh * ow * l.o {
		o, px, py, img := p%l.o, p/l.o%ow, p/l.o/ow%oh, p/l.o/ow/oh
		var sum float64
		for ky := range l.kh {
			for kx := range l.kw {
				y, xx := py*l.stride[0]-l.pad[0][0]+ky*l.dilation[0], px*l.stride[1]-l.pad[1][0]+kx*l.dilation[1]
				if y < 0 || y >= l.h || xx < 0 || xx >= l.w {
					continue
				}
				for i := range cg {
					sum += float64(x[((img*l.h+y)*l.w+xx)*l.c+o/og*cg+i]) * float64(f[((ky*l.kw+kx)*cg+i)*l.o+o])
				}
			}
		}
		out = append(out, sum)
	}
	return out
}

// attrs returns the node's attributes.
func (l *layer) attrs() graph.Attrs {
	pads := []int64{0, 0, int64(l.pad[0][0]), int64(l.pad[0][1]), int64(l.pad[1][0]), int64(l.pad[1][1]), 0, 0}
	dims := func(d [2]int) []int64 { return []int64{1, int64(d[0]), int64(d[1]), 1} }
	if l.padding != "EXPLICIT" {
		pads = nil
	}
	return graph.Attrs{graph.Ints("strides", dims(l.stride)...), graph.Ints("dilations", dims(l.dilation)...),
		graph.String("padding", l.padding), graph.Ints("explicit_paddings", pads...)}
}

func random(r *rand.Rand, dims ...int) *tensor.Tensor {
	t := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](t) {
		tensor.Values[float32](t)[i] = float32(r.NormFloat64())
	}
	return t
}

// TestConvolutionsEqualTheirDefinition compares layers of odd sizes with loops over all
// taps.
func TestConvolutionsEqualTheirDefinition(t *testing.T) {
	set, err := engine.NewKernelSet(conv.Kernels())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for done := 0; done < 300; {
		l, ok := randomLayer(r)
		if !ok {
			continue
		}
		done++
		cg := l.c / l.groups
		x, f := random(r, l.n, l.h, l.w, l.c), random(r, l.kh, l.kw, cg, l.o)
		op := "Conv2D"
		if l.depthwise {
			op, f = "DepthwiseConv2dNative", random(r, l.kh, l.kw, l.c, l.o/l.c)
		}
		got := run(t, set, op, l.attrs(), x, f)
		if err := near(tensor.Values[float32](got), l.naive(tensor.Values[float32](x), tensor.Values[float32](f))); err != nil {
			t.Fatalf("%+v: %v", l, err)
		}
		l.finished(t, r, set, got, x, f)
	}
}

// run returns the result of an op.
func run(t *testing.T, set *engine.KernelSet, op string, attrs graph.Attrs, in ...*tensor.Tensor) *tensor.Tensor {
	t.Helper()
	n := &engine.Node{Op: op, Attrs: attrs}
	var call engine.Runner
	call.Begin(context.Background(), &engine.Env{Workers: engine.SharedWorkers(), Arena: new(engine.Arena)})
	for _, x := range in {
		n.In = append(n.In, graph.FactOf(x))
		call.Add(engine.ValueOf(x))
	}
	p, err := set.Prepare(n)
	if err != nil {
		t.Fatalf("%s, %v: %v", op, attrs, err)
	}
	if err := call.Run(p); err != nil {
		t.Fatalf("%s, %v: %v", op, attrs, err)
	}
	return call.Results()[0].Tensor
}

// finished holds the layer with an epilogue to its steps after the layer without one,
// bit for bit.
func (l *layer) finished(t *testing.T, r *rand.Rand, set *engine.KernelSet, plain, x, f *tensor.Tensor) {
	t.Helper()
	bias, add := random(r, l.o), random(r, plain.Shape()...)
	want := make([]float32, plain.Len())
	op := "_FusedConv2D"
	if l.depthwise {
		op = "_FusedDepthwiseConv2dNative"
	}
	for _, ops := range [][]string{{"BiasAdd"}, {"BiasAdd", "Relu6"}, {"BiasAdd", "Add", "Relu"}, {"BiasAdd", "Swish"}} {
		in := []*tensor.Tensor{x, f, bias}
		for i, v := range tensor.Values[float32](plain) {
			want[i] = v + tensor.Values[float32](bias)[i%l.o]
		}
		for _, step := range ops[1:] {
			switch step {
			case "Add":
				in = append(in, add)
				for i, v := range tensor.Values[float32](add) {
					want[i] += v
				}
			case "Relu":
				vec.Relu(want, want)
			case "Relu6":
				vec.Relu(want, want)
				vec.Relu6Low(want, want)
			case "Swish":
				s := make([]float32, len(want))
				vec.Sigmoid(s, want)
				vec.MulVV(want, want, s)
			}
		}
		attrs := append(l.attrs(), graph.Strings("fused_ops", ops...), graph.Int("num_args", int64(len(in)-2)))
		for i, v := range tensor.Values[float32](run(t, set, op, attrs, in...)) {
			if v != want[i] {
				t.Fatalf("%+v, then %v: element %d is %v, want %v", l, ops, i, v, want[i])
			}
		}
	}
}

func near(got []float32, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d < 2e-4) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], w)
		}
	}
	return nil
}
