package random

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of StatefulRandomBinomial and StatelessRandomBinomial. Which
// words a number uses, the roundings and the constants are those of
// TensorFlow's random_binomial_op.cc; they must stay, because a seed decides
// the numbers.

// statelessBinomial draws by the seeds in input 1.
func statelessBinomial(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	g, err := seeded(c.In(1))
	if err != nil {
		return err
	}
	return binomials(c, c.In(0), 2, func(int, int) (philox.Generator, error) { return g, nil })
}

// statefulBinomial draws by the state in a variable.
func statefulBinomial(c *engine.Call) error {
	v, err := stateVariable(c, 5)
	if err != nil {
		return err
	}
	return binomials(c, c.In(2), 3, func(sets, each int) (philox.Generator, error) {
		return advance(v, 0, func([]int64) (uint64, error) {
			return uint64(sets) * 2 * 100 * uint64(each+3) / 4 * philox.Reserved, nil
		})
	})
}

// binomials draws for each pair of a count and a probability, which are inputs
// at and at+1 and broadcast.
func binomials(c *engine.Call, dims *tensor.Tensor, at int, generator func(sets, each int) (philox.Generator, error)) error {
	s, err := shapes.Dims(dims, "the shape", 0)
	if err != nil {
		return err
	}
	params, outer, err := broadcast(c, at, at+2)
	if err != nil {
		return err
	}
	if err := endsWith(s, outer); err != nil {
		return err
	}
	d := c.In(at).DType()
	if c.In(at+1).DType() != d {
		return fmt.Errorf("counts are %v, probabilities %v", d, c.In(at+1).DType())
	}
	out, err := c.Alloc(0, c.Attrs().Type("dtype", tensor.Int64), s)
	if err != nil {
		return err
	}
	n := shapes.Count(outer)
	each := 0
	if n > 0 {
		each = out.Len() / n
	}
	g, err := generator(n, each)
	if err != nil || out.Len() == 0 {
		return err
	}
	round := rounding(d)
	return samples(c, n, out, g, func(i int) (sampler, uint64) {
		return binomial(round, params(0, i), params(1, i))
	})
}

// broadcast returns a function for the elements of inputs from to to-1,
// broadcast to one shape, and that shape.
func broadcast(c *engine.Call, from, to int) (func(k, i int) float64, tensor.Shape, error) {
	outer := c.In(from).Shape()
	for k := from + 1; k < to; k++ {
		var err error
		if outer, err = shape.Broadcast(outer, c.In(k).Shape()); err != nil {
			return nil, nil, err
		}
	}
	var values, strides = make([][]float64, to-from), make([][]int, to-from)
	for k := from; k < to; k++ {
		v, err := tensor.Cast(c.In(k), tensor.Float64)
		if err != nil {
			return nil, nil, err
		}
		values[k-from], strides[k-from] = tensor.Values[float64](v), shapes.BroadcastStrides(v.Shape(), outer)
	}
	return func(k, i int) float64 {
		at := 0
		for d := len(outer) - 1; d >= 0; d-- {
			at += i % outer[d] * strides[k][d]
			i /= outer[d]
		}
		return values[k][at]
	}, outer, nil
}

// binomial returns a sampler for the number of successes in count trials, and
// the number of blocks of each number.
func binomial(round func(float64) float64, count, p float64) (sampler, uint64) {
	always := func(x float64) (sampler, uint64) {
		return func(*philox.Generator) (float64, error) { return x, nil }, 0
	}
	switch {
	case count <= 0 || p <= 0:
		return always(0)
	case p >= 1:
		return always(count)
	case math.IsNaN(p):
		return always(p)
	case math.IsNaN(count) || math.IsInf(count, 1):
		return func(*philox.Generator) (float64, error) { return 0, fmt.Errorf("a count of %v", count) }, 0
	}
	mirrored := p > 0.5
	if mirrored { // draws failures, which are fewer
		p = round(1 - p)
	}
	f, blocks := waits(count, p), uint64(42)
	if round(count*p) >= 10 {
		f, blocks = rejected(count, p), philox.Reserved
	}
	if !mirrored {
		return f, blocks
	}
	return func(g *philox.Generator) (float64, error) {
		x, err := f(g)
		return count - x, err
	}, blocks
}

// waits counts successes by drawing the number of trials up to each.
func waits(count, p float64) sampler {
	uniform := uniforms(tensor.Float64)
	scale := math.Log1p(-p)
	return func(g *philox.Generator) (float64, error) {
		u := proposals{g: g, block: uniform}
		for n, sum := 0.0, 0.0; ; n++ {
			if sum += math.Ceil(math.Log(u.next()) / scale); sum > count {
				return n, nil
			}
		}
	}
}

// stirling returns the error of Stirling's formula for the logarithm of k!.
func stirling(k float64) float64 {
	tail := [...]float64{0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
		0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287}
	if k >= 0 && k <= 9 {
		return tail[int(k)]
	}
	s := (k + 1) * (k + 1)
	return (1.0/12 - (1.0/360-1.0/1260/s)/s) / (k + 1)
}

// rejected proposes numbers of a similar distribution, and rejects some of them
// so that the others have the binomial one (Hörmann's BTRS).
func rejected(count, p float64) sampler {
	uniform := uniforms(tensor.Float64)
	deviation := math.Sqrt(count * p * (1 - p))
	b := 1.15 + 2.53*deviation
	a := -0.0873 + 0.0248*b + 0.01*p
	c := count*p + 0.5
	inside := 0.92 - 4.2/b
	odds := p / (1 - p)
	alpha := (2.83 + 5.1/b) * deviation
	mode := math.Floor((count + 1) * p)
	return func(g *philox.Generator) (float64, error) {
		from := proposals{g: g, block: uniform}
		for range maxTries {
			u := from.next()
			v := from.next()
			u -= 0.5
			edge := 0.5 - math.Abs(u)
			k := math.Floor((2*a/edge+b)*u + c)
			if edge >= 0.07 && v <= inside {
				return k, nil
			}
			if k < 0 || k > count {
				continue
			}
			v = math.Log(v * alpha / (a/(edge*edge) + b))
			if v <= (mode+0.5)*math.Log((mode+1)/(odds*(count-mode+1)))+
				(count+1)*math.Log((count-mode+1)/(count-k+1))+
				(k+0.5)*math.Log(odds*(count-k+1)/(k+1))+
				stirling(mode)+stirling(count-mode)-stirling(k)-stirling(count-k) {
				return k, nil
			}
		}
		return 0, errTries
	}
}
