package initializers

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// seeds is the number of seeds that tf_keras draws from, 1 to seeds, for initializers
// without one.
const seeds = 1_000_000_000

// generator returns the generator of the stateless ops by which tf_keras's initializers
// draw: of the seed, or of one that is drawn from r.
func generator(r *rand.Rand, seed *int) philox.Generator {
	if seed == nil {
		seed = new(DrawSeed(r))
	}
	return philox.FromSeed(uint64(int64(*seed)), 0)
}

// DrawSeed returns a seed from 1 to 1e9, drawn from r as tf_keras draws it from Python's
// random.Random. nil for r means a random state.
func DrawSeed(r *rand.Rand) int {
	next := rand.Uint64
	if r != nil {
		next = r.Uint64
	}
	for {
		if x := uint32(next()>>32) >> 2; x < seeds {
			return int(x) + 1
		}
	}
}

// rounding returns the function that rounds a number to type d. The draws below round after each
// operation, as TensorFlow's kernels do in that type; the places of rounding decide the last bit.
func rounding(d tensor.DType) func(x float64) float64 {
	switch d {
	case tensor.Float64:
		return func(x float64) float64 { return x }
	case tensor.Float16:
		return func(x float64) float64 { return float64(tensor.ToF16(float32(x)).Float()) }
	case tensor.BFloat16:
		return func(x float64) float64 { return float64(tensor.ToBF16(float32(x)).Float()) }
	}
	return func(x float64) float64 { return float64(float32(x)) }
}

// buffered returns a function that hands out the numbers that more appends, one by one.
func buffered(more func(buf []float64) []float64) func() float64 {
	var block [4]float64
	var left []float64
	return func() float64 {
		if len(left) == 0 {
			left = more(block[:0])
		}
		x := left[0]
		left = left[1:]
		return x
	}
}

// uniform draws a tensor of numbers evenly spread over [lo, hi), as
// tf.random.stateless_uniform.
func uniform(g philox.Generator, d tensor.DType, shape tensor.Shape, lo, hi float64) (*tensor.Tensor, error) {
	if d.IsInteger() {
		return whole(g, d, shape, lo, hi)
	}
	round := rounding(d)
	next := buffered(func(buf []float64) []float64 {
		b := g.Block()
		if d == tensor.Float64 {
			return append(buf, philox.Float64(b[0], b[1]), philox.Float64(b[2], b[3]))
		}
		for _, x := range b {
			v := float64(philox.Float32(x))
			switch d {
			case tensor.Float16:
				v = float64(tensor.ToF16(tensor.F16(15<<10|x&0x3ff).Float() - 1).Float())
			case tensor.BFloat16:
				v = float64(tensor.ToBF16(tensor.BF16(127<<7|x&0x7f).Float() - 1).Float())
			}
			buf = append(buf, v)
		}
		return buf
	})
	first, size := round(lo), round(round(hi)-round(lo))
	return fill(d, shape, func() float64 { return round(round(next()*size) + first) })
}

// whole draws integers from lo up to hi, exclusive. The modulo favours some numbers, as in
// TensorFlow. The type is int32 or int64, as TensorFlow draws no other integers.
func whole(g philox.Generator, d tensor.DType, shape tensor.Shape, lo, hi float64) (*tensor.Tensor, error) {
	most := 0x1p63
	if d == tensor.Int32 {
		most = 0x1p31
	}
	if !(lo >= -most && hi < most) {
		return nil, fmt.Errorf("initializers: numbers from %v up to %v are beyond %v", lo, hi, d)
	}
	first, end := int64(lo), int64(hi)
	if first >= end {
		return nil, errRange(first, end)
	}
	t, err := tensor.Zeros(d, shape...)
	if err != nil {
		return nil, err
	}
	size := uint64(end) - uint64(first)
	switch d {
	case tensor.Int32:
		for part := range slices.Chunk(tensor.Values[int32](t), 4) {
			b := g.Block()
			for i := range part {
				part[i] = int32(first + int64(uint64(b[i])%size))
			}
		}
	case tensor.Int64:
		for part := range slices.Chunk(tensor.Values[int64](t), 2) {
			b := g.Block()
			for i := range part {
				x := uint64(b[2*i]) | uint64(b[2*i+1])<<32
				part[i] = int64(uint64(first) + x%size)
			}
		}
	default:
		return nil, errType(d)
	}
	return t, nil
}

// normal draws a tensor of normally distributed numbers, as tf.random.stateless_normal.
func normal(g philox.Generator, d tensor.DType, shape tensor.Shape, mean, dev float64) (*tensor.Tensor, error) {
	return scaled(d, shape, mean, dev, func(buf []float64) []float64 {
		b := g.Block()
		if d == tensor.Float64 {
			x, y := philox.Normal64(b)
			return append(buf, x, y)
		}
		for i := 0; i < 4; i += 2 {
			x, y := philox.Normal32(b[i], b[i+1])
			buf = append(buf, float64(x), float64(y))
		}
		return buf
	})
}

// truncated draws a tensor of normally distributed numbers within two deviations, as
// tf.random.stateless_truncated_normal.
func truncated(g philox.Generator, d tensor.DType, shape tensor.Shape, mean, dev float64) (*tensor.Tensor, error) {
	group := uint64(0)
	return scaled(d, shape, mean, dev, func(buf []float64) []float64 {
		defer func() { group++ }()
		if d == tensor.Float64 {
			var v [2]float64
			g.Truncated64(group, &v)
			return append(buf, v[:]...)
		}
		var v [4]float32
		g.Truncated32(group, &v)
		for _, x := range v {
			buf = append(buf, float64(x))
		}
		return buf
	})
}

// scaled multiplies the numbers that more appends by dev and adds mean, in type d.
func scaled(d tensor.DType, shape tensor.Shape, mean, dev float64, more func(buf []float64) []float64) (*tensor.Tensor, error) {
	round := rounding(d)
	m, s, next := round(mean), round(dev), buffered(more)
	return fill(d, shape, func() float64 { return round(round(round(next())*s) + m) })
}
