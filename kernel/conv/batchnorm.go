package conv

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/vec"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of FusedBatchNorm, V2 and V3, and of their gradients. Sums are in
// float64 and in a fixed number of parts: their order decides the last bit.

// batchNorm is a node of FusedBatchNorm or of its gradient.
type batchNorm struct {
	layout   shape.Layout
	rank     int
	epsilon  float32
	training bool
	factor   float32 // exponential_avg_factor: the weight of the batch's moments in outputs 1 and 2
}

func prepareNorm(run func(*engine.Call, *batchNorm) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		format := n.Attrs.String("data_format", "NHWC")
		l, err := shape.LayoutOf(format)
		if err != nil {
			return nil, err
		}
		b := &batchNorm{layout: l, rank: len(format), epsilon: float32(n.Attrs.Float("epsilon", 1e-4)), training: true,
			factor: float32(n.Attrs.Float("exponential_avg_factor", 1))}
		if n.Attrs.Has("is_training") {
			b.training = n.Attrs.Bool("is_training")
		}
		return func(c *engine.Call) error { return run(c, b) }, nil
	}
}

// channels are images as rows of channels, or as planes of one channel each.
type channels struct {
	rows, c int // rows·c elements
	plane   int // contiguous elements of a channel; 0 if the channels are contiguous
}

func (b *batchNorm) channels(x tensor.Shape) (channels, error) {
	if len(x) != b.rank {
		return channels{}, fmt.Errorf("images of shape %v, where %d dimensions are needed", x, b.rank)
	}
	n, err := x.NumElements()
	if err != nil {
		return channels{}, err
	}
	ch := channels{c: x[b.layout.Channels]}
	if ch.c > 0 {
		ch.rows = n / ch.c
	}
	if b.layout.Channels == 1 && b.rank > 2 {
		ch.plane = 1
		for _, d := range x[2:] {
			ch.plane *= d
		}
	}
	return ch, nil
}

// vector checks that input i is a vector of float32 with one element per
// channel.
func vector(c *engine.Call, i, n int) ([]float32, error) {
	t := c.In(i)
	if t.DType() != tensor.Float32 || len(t.Shape()) != 1 || t.Len() != n {
		return nil, fmt.Errorf("input %d is %v%v, not float32[%d]", i, t.DType(), t.Shape(), n)
	}
	return tensor.Values[float32](t), nil
}

// wide returns the elements of a float or half tensor as float32.
func wide(c *engine.Call, t *tensor.Tensor) ([]float32, func(), error) {
	switch t.DType() {
	case tensor.Float32:
		return tensor.Values[float32](t), func() {}, nil
	case tensor.Float16:
		v, free := engine.Scratch[float32](c, t.Len())
		elementwise.Widen(v, tensor.Values[tensor.F16](t))
		return v, free, nil
	case tensor.BFloat16:
		v, free := engine.Scratch[float32](c, t.Len())
		elementwise.Widen(v, tensor.Values[tensor.BF16](t))
		return v, free, nil
	}
	return nil, nil, &engine.UnsupportedTypeError{Type: t.DType(), Known: normTypes}
}

// normTypes lists the types that images are normalized in; all is computed in
// float32.
var normTypes = []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16}

// narrow returns a buffer for the elements of a float or half tensor. done copies it
// to the tensor, unless it is the tensor's storage.
func narrow(c *engine.Call, t *tensor.Tensor) (v []float32, done func()) {
	switch t.DType() {
	case tensor.Float16:
		v, free := engine.Scratch[float32](c, t.Len())
		return v, func() { elementwise.Narrow(tensor.Values[tensor.F16](t), v); free() }
	case tensor.BFloat16:
		v, free := engine.Scratch[float32](c, t.Len())
		return v, func() { elementwise.Narrow(tensor.Values[tensor.BF16](t), v); free() }
	}
	return tensor.Values[float32](t), func() {}
}

// normForward normalizes images by the moments of the batch in training, else
// by the given ones. If there are no images, the batch's moments are NaN as in
// TensorFlow.
func normForward(c *engine.Call, b *batchNorm) error {
	if err := c.Need(5); err != nil {
		return err
	}
	in := c.In(0)
	ch, err := b.channels(in.Shape())
	if err != nil {
		return err
	}
	var v [5][]float32 // scale, offset, mean and variance from 1 on
	for i := 1; i < 5; i++ {
		n := ch.c
		if i > 2 && b.training && (b.factor == 1 || c.In(i).Len() == 0) {
			n = c.In(i).Len() // its values aren't read
		}
		if v[i], err = vector(c, i, n); err != nil {
			return err
		}
	}
	x, free, err := wide(c, in)
	if err != nil {
		return err
	}
	defer free()
	y, err := c.Alloc(0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	var made [4][]float32 // batch mean and variance, mean and variance for the gradient
	for i := range made {
		t, err := c.Alloc(i+1, tensor.Float32, tensor.Shape{ch.c})
		if err != nil {
			return err
		}
		made[i] = tensor.Values[float32](t)
	}
	if len(c.Node().Out) > 5 {
		if _, err := c.Alloc(5, tensor.Float32, tensor.Shape{0}); err != nil {
			return err
		}
	}
	mean, variance := v[3], v[4]
	if b.training {
		mean, variance = made[2], made[3]
		ch.moments(c, x, mean, variance)
		unbiased := float32(ch.rows) / float32(max(1, ch.rows-1))
		for i := range ch.c {
			m, s := mean[i], variance[i]*unbiased
			if ch.rows == 0 {
				m, s = float32(math.NaN()), float32(math.NaN())
			}
			if b.factor != 1 && len(v[3]) == ch.c && len(v[4]) == ch.c {
				m, s = (1-b.factor)*v[3][i]+b.factor*m, (1-b.factor)*v[4][i]+b.factor*s
			}
			made[0][i], made[1][i] = m, s
		}
	} else {
		for i, from := range [][]float32{mean, variance, mean, variance} {
			copy(made[i], from)
		}
	}
	if len(x) == 0 {
		return nil
	}
	out, done := narrow(c, y)
	factor, freeFactor := engine.Scratch[float32](c, ch.c)
	defer freeFactor()
	for i := range factor {
		factor[i] = v[1][i] * rsqrt(variance[i]+b.epsilon)
	}
	ch.each(c, 0.3, func(lo, hi, first, n int) {
		dst, src := out[lo:hi], x[lo:hi]
		if ch.plane > 0 {
			vec.SubVS(dst, src, mean[first])
			vec.MulVS(dst, dst, factor[first])
			vec.AddVS(dst, dst, v[2][first])
			return
		}
		vec.SubVV(dst, src, mean)
		vec.MulVV(dst, dst, factor)
		vec.AddVV(dst, dst, v[2])
	})
	done()
	return nil
}

func rsqrt(x float32) float32 { return float32(1 / math.Sqrt(float64(x))) }

// each visits the parts of one channel, or of one element of each, from lo up
// to hi; first is the first channel of the part and n its number of channels.
func (ch *channels) each(c *engine.Call, ns float64, visit func(lo, hi, first, n int)) {
	size, n := ch.c, ch.c
	if ch.plane > 0 {
		size, n = ch.plane, 1
	}
	if size == 0 {
		return
	}
	c.Parallel(ch.rows*ch.c/size, ns*float64(size)+10, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			first := 0
			if ch.plane > 0 {
				first = i % ch.c
			}
			visit(i*size, (i+1)*size, first, n)
		}
	})
}

// chunks is the number of parts of sums over images. It doesn't depend on the
// workers, so results don't either.
const chunks = 16

// sums returns, for each channel, the sums of the k numbers that term returns
// for its elements.
func (ch *channels) sums(c *engine.Call, k int, term func(sum []float64, at, channel int)) []float64 {
	parts := engine.Zeroed[float64](c, chunks*k*ch.c)
	groups := ch.rows // of all channels
	if ch.plane > 0 {
		groups = ch.rows / max(1, ch.plane)
	}
	run := func(i int) {
		sum := parts[i*k*ch.c : (i+1)*k*ch.c]
		for g := i * groups / chunks; g < (i+1)*groups/chunks; g++ {
			if ch.plane == 0 {
				for j := range ch.c {
					term(sum[j*k:j*k+k], g*ch.c+j, j)
				}
				continue
			}
			for j := range ch.c {
				for p := range ch.plane {
					term(sum[j*k:j*k+k], (g*ch.c+j)*ch.plane+p, j)
				}
			}
		}
	}
	c.Parallel(chunks, float64(ch.rows*ch.c)/chunks*2, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			run(i)
		}
	})
	for i := k * ch.c; i < len(parts); i++ {
		parts[i%(k*ch.c)] += parts[i]
	}
	return parts[:k*ch.c]
}

// moments computes the mean and the variance of each channel.
func (ch *channels) moments(c *engine.Call, x, mean, variance []float32) {
	n := float64(max(1, ch.rows))
	if ch.c == 0 {
		return
	}
	total := ch.sums(c, 1, func(sum []float64, at, _ int) { sum[0] += float64(x[at]) })
	for i := range total {
		total[i] /= n
		mean[i] = float32(total[i])
	}
	squares := ch.sums(c, 1, func(sum []float64, at, channel int) {
		d := float64(x[at]) - total[channel]
		sum[0] += d * d
	})
	for i, s := range squares {
		variance[i] = float32(s / n)
	}
}

// normBackward computes the gradients with regard to the image, the scale and the
// offset, from mean and variance: the batch's in training, else the given ones.
func normBackward(c *engine.Call, b *batchNorm) error {
	if c.NumIn() != 5 && c.NumIn() != 6 {
		return fmt.Errorf("takes 5 or 6 inputs, %d were given", c.NumIn())
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	dy, x := c.In(0), c.In(1)
	ch, err := b.channels(x.Shape())
	if err != nil {
		return err
	}
	if dy.DType() != x.DType() || !dy.Shape().Equal(x.Shape()) {
		return fmt.Errorf("images of %v%v and a gradient of %v%v", x.DType(), x.Shape(), dy.DType(), dy.Shape())
	}
	var v [3][]float32 // scale, mean, variance
	for i := range v {
		if v[i], err = vector(c, i+2, ch.c); err != nil {
			return err
		}
	}
	g, free, err := wide(c, dy)
	if err != nil {
		return err
	}
	defer free()
	w, freeX, err := wide(c, x)
	if err != nil {
		return err
	}
	defer freeX()
	dx, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	var made [2][]float32
	for i := range made {
		t, err := c.Alloc(i+1, tensor.Float32, tensor.Shape{ch.c})
		if err != nil {
			return err
		}
		made[i] = tensor.Values[float32](t)
	}
	for i := range 2 { // outputs 3 and 4 have no elements, as in TensorFlow
		if _, err := c.Alloc(i+3, tensor.Float32, tensor.Shape{0}); err != nil {
			return err
		}
	}
	if x.Len() == 0 {
		clear(made[0])
		clear(made[1])
		return nil
	}
	scale, mean, variance := v[0], v[1], v[2]
	sums := ch.sums(c, 2, func(sum []float64, at, channel int) {
		d := float64(g[at])
		sum[0] += d
		sum[1] += d * (float64(w[at]) - float64(mean[channel]))
	})
	n := float64(max(1, ch.rows))
	factor, center, slope := make([]float32, ch.c), make([]float32, ch.c), make([]float32, ch.c)
	for i := range ch.c {
		r := 1 / math.Sqrt(float64(variance[i])+float64(b.epsilon))
		made[0][i], made[1][i] = float32(sums[2*i+1]*r), float32(sums[2*i])
		factor[i] = float32(float64(scale[i]) * r)
		if b.training {
			center[i] = float32(sums[2*i] / n)
			slope[i] = float32(sums[2*i+1] * r * r / n)
		}
	}
	if len(w) == 0 {
		return nil
	}
	out, done := narrow(c, dx)
	ch.each(c, 2, func(lo, hi, first, n int) {
		for i := lo; i < hi; i++ {
			k := first
			if n > 1 {
				k = i - lo
			}
			out[i] = factor[k] * (g[i] - center[k] - slope[k]*(w[i]-mean[k]))
		}
	})
	done()
	return nil
}
