package conv_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/conv"
	"github.com/cairnml/cairn/tensor"
)

// gradients returns the gradients of image and filter by their definition.
func (l *layer) gradients(x, f, dy []float32) (dx, df []float64) {
	oh, ow := l.places()
	cg, og := l.c/l.groups, l.o/l.groups
	dx, df = make([]float64, len(x)), make([]float64, len(f))
	for p, d := range dy {
		o, px, py, img := p%l.o, p/l.o%ow, p/l.o/ow%oh, p/l.o/ow/oh
		for tap := range l.kh * l.kw {
			y, xx := py*l.stride[0]-l.pad[0][0]+tap/l.kw*l.dilation[0], px*l.stride[1]-l.pad[1][0]+tap%l.kw*l.dilation[1]
			if y < 0 || y >= l.h || xx < 0 || xx >= l.w {
				continue
			}
			for i := range cg {
				at, w := ((img*l.h+y)*l.w+xx)*l.c+o/og*cg+i, (tap*cg+i)*l.o+o
				dx[at] += float64(d) * float64(f[w])
				df[w] += float64(d) * float64(x[at])
			}
		}
	}
	return dx, df
}

// TestGradientsOfConvolutionsEqualTheirDefinition compares them with loops over all taps, for few
// images and outputs and for many. The kernels compute the two cases differently.
func TestGradientsOfConvolutionsEqualTheirDefinition(t *testing.T) {
	set, err := engine.NewKernelSet(conv.Kernels())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(11, 12))
	for done := 0; done < 150; {
		l, ok := randomLayer(r)
		if l.c = min(l.c, 17*l.groups); !ok || l.depthwise {
			continue
		}
		if done%2 == 0 {
			l.n, l.o = 8+r.IntN(2), l.groups*(32+r.IntN(9))
		}
		done++
		oh, ow := l.places()
		x, f, dy := random(r, l.n, l.h, l.w, l.c), random(r, l.kh, l.kw, l.c/l.groups, l.o), random(r, l.n, oh, ow, l.o)
		wantX, wantF := l.gradients(tensor.Values[float32](x), tensor.Values[float32](f), tensor.Values[float32](dy))
		gotX := run(t, set, "Conv2DBackpropInput", l.attrs(), sizes(x), f, dy)
		if err := near(tensor.Values[float32](gotX), wantX); err != nil {
			t.Fatalf("%+v: the image's gradient: %v", l, err)
		}
		gotF := run(t, set, "Conv2DBackpropFilter", l.attrs(), x, sizes(f), dy)
		if err := near(tensor.Values[float32](gotF), wantF); err != nil {
			t.Fatalf("%+v: the filter's gradient: %v", l, err)
		}
		if l.padding == "EXPLICIT" {
			continue // another order of the numbers if the channels come first
		}
		first := append(l.attrs(), graph.String("data_format", "NCHW"))
		first[0], first[1] = graph.Ints("strides", 1, 1, int64(l.stride[0]), int64(l.stride[1])), graph.Ints("dilations", 1, 1, int64(l.dilation[0]), int64(l.dilation[1]))
		turnedX := run(t, set, "Conv2DBackpropInput", first, sizes(channelsFirst(x)), f, channelsFirst(dy))
		if err := same(turnedX, channelsFirst(gotX)); err != nil {
			t.Fatalf("%+v: the image's gradient with the channels first: %v", l, err)
		}
		turnedF := run(t, set, "Conv2DBackpropFilter", first, channelsFirst(x), sizes(f), channelsFirst(dy))
		if err := same(turnedF, gotF); err != nil {
			t.Fatalf("%+v: the filter's gradient with the channels first: %v", l, err)
		}
	}
}

func sizes(t *tensor.Tensor) *tensor.Tensor {
	var dims []int32
	for _, n := range t.Shape() {
		dims = append(dims, int32(n))
	}
	return tensor.Vector(dims...)
}

// channelsFirst returns images with the channels first.
func channelsFirst(t *tensor.Tensor) *tensor.Tensor {
	s := t.Shape()
	out := tensor.Must(tensor.Zeros(tensor.Float32, s[0], s[3], s[1], s[2]))
	plane := s[1] * s[2]
	for i, v := range tensor.Values[float32](t) {
		img, place, c := i/(plane*s[3]), i/s[3]%plane, i%s[3]
		tensor.Values[float32](out)[(img*s[3]+c)*plane+place] = v
	}
	return out
}

func same(got, want *tensor.Tensor) error {
	for i, v := range tensor.Values[float32](got) {
		if w := tensor.Values[float32](want)[i]; v != w {
			return fmt.Errorf("element %d is %v, want %v", i, v, w)
		}
	}
	return nil
}
