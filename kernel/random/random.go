// Package random implements the kernels of random numbers, which use
// TensorFlow's Philox generator: stateless ops, ops whose nodes have a state,
// ops whose state is in a variable, and the samplers of candidate classes. A
// seed decides the numbers. So the words of each number, and the blocks that an
// op reserves, are TensorFlow's and must stay; tests compare draws.
package random

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// wholes are the integer types that ops can draw.
var wholes = []tensor.DType{tensor.Int32, tensor.Int64, tensor.Uint32, tensor.Uint64}

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	return slices.Concat([]engine.Kernel{
		{Op: "StatelessRandomUniformV2", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromKey(uniform)},
		{Op: "StatelessRandomNormalV2", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromKey(normal), Precision: engine.Rounded},
		{Op: "StatelessTruncatedNormalV2", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromKey(truncated), Precision: engine.Rounded},
		{Op: "StatelessRandomUniformFullIntV2", Types: engine.Types{"dtype": wholes}, Run: fromKey(fullInt)},
		{Op: "StatelessRandomUniformIntV2", Types: engine.Types{"dtype": wholes}, Run: fromKey(uniformIntOf(4))},
		{Op: "StatelessRandomUniform", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromSeed(uniform)},
		{Op: "StatelessRandomNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromSeed(normal), Precision: engine.Rounded},
		{Op: "StatelessTruncatedNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Run: fromSeed(truncated), Precision: engine.Rounded},
		{Op: "StatelessRandomUniformFullInt", Types: engine.Types{"dtype": wholes}, Run: fromSeed(fullInt)},
		{Op: "StatelessRandomUniformInt", Types: engine.Types{"dtype": wholes[:2]}, Run: fromSeed(uniformIntOf(2))},
		{Op: "StatelessRandomGetKeyCounter", Run: keyCounter},
		{Op: "StatelessRandomGetKeyCounterAlg", Run: keyCounterAlg},
		{Op: "StatelessRandomGetAlg", Run: getAlg},
	}, stateful, resources, parametric, candidates, orders)
}

// philoxAlg and autoAlg are TensorFlow's numbers of algorithms. On a CPU the
// automatic choice is Philox.
const (
	philoxAlg = 1
	autoAlg   = 3
)

// draw fills an output from a generator.
type draw func(c *engine.Call, g philox.Generator, out *tensor.Tensor) error

// fromKey runs a draw of an op whose inputs are shape, key, counter, algorithm.
func fromKey(f draw) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if c.NumIn() < 4 {
			return fmt.Errorf("takes a shape, a key, a counter and an algorithm")
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		g, err := keyed(c, 1)
		if err != nil {
			return err
		}
		return run(c, f, g)
	}
}

// keyed returns the generator of a key, a counter and an algorithm, the inputs
// from the given one on.
func keyed(c *engine.Call, at int) (philox.Generator, error) {
	key, counter := c.In(at), c.In(at+1)
	if key.DType() != tensor.Uint64 || counter.DType() != tensor.Uint64 || key.Len() != 1 || counter.Len() < 2 {
		return philox.Generator{}, fmt.Errorf("the key is %v%v and the counter %v%v, not uint64[1] and uint64[2]", key.DType(), key.Shape(), counter.DType(), counter.Shape())
	}
	if err := needPhilox(c.In(at + 2)); err != nil {
		return philox.Generator{}, err
	}
	ctr := tensor.Values[uint64](counter)
	return philox.New(tensor.Values[uint64](key)[0], ctr[0], ctr[1]), nil
}

// needPhilox checks that CPUs have an algorithm, as in TensorFlow: ThreeFry is
// XLA's.
func needPhilox(t *tensor.Tensor) error {
	alg, err := shapes.Int(t, "the algorithm")
	if err == nil && alg != philoxAlg && alg != autoAlg {
		err = fmt.Errorf("algorithm %d isn't Philox (1)", alg)
	}
	return err
}

// fromSeed runs a draw of an op whose inputs are shape and two seeds.
func fromSeed(f draw) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if c.NumIn() < 2 {
			return fmt.Errorf("takes a shape and a seed, %d inputs were given", c.NumIn())
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		g, err := seeded(c.In(1))
		if err != nil {
			return err
		}
		return run(c, f, g)
	}
}

// seeded returns the generator of a tensor with two seeds.
func seeded(t *tensor.Tensor) (philox.Generator, error) {
	v, err := shapes.Ints(t, "the seed")
	if err != nil {
		return philox.Generator{}, err
	}
	if err := shape.Seed(graph.Whole(t.Shape())); err != nil {
		return philox.Generator{}, err
	}
	return philox.FromSeed(uint64(v[0]), uint64(v[1])), nil
}

// run draws output 0 of the shape in input 0.
func run(c *engine.Call, f draw, g philox.Generator) error {
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	d := c.Attrs().Type("dtype", tensor.Float32)
	if c.NumIn() == 6 { // the limits of a range have the type
		d = c.In(4).DType()
	}
	out, err := c.Alloc(0, d, dims)
	if err != nil {
		return err
	}
	return f(c, g, out)
}

// blocks calls fill for each block of four words, on all cores. fill makes per
// numbers of a block, the first at index at.
func blocks(c *engine.Call, g philox.Generator, n, per int, ns float64, fill func(at int, b [4]uint32)) {
	c.Parallel((n+per-1)/per, ns, func(lo, hi int) {
		g := g
		g.Skip(uint64(lo))
		for i := lo; i < hi; i++ {
			fill(i*per, g.Block())
		}
	})
}

// uniform draws numbers in [0, 1): one word a number, two for float64.
func uniform(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
	switch out.DType() {
	case tensor.Float32:
		dst := tensor.Values[float32](out)
		blocks(c, g, len(dst), 4, 15, func(at int, b [4]uint32) {
			for i, x := range b[:min(4, len(dst)-at)] {
				dst[at+i] = philox.Float32(x)
			}
		})
	case tensor.Float64:
		dst := tensor.Values[float64](out)
		blocks(c, g, len(dst), 2, 15, func(at int, b [4]uint32) {
			dst[at] = philox.Float64(b[0], b[1])
			if at+1 < len(dst) {
				dst[at+1] = philox.Float64(b[2], b[3])
			}
		})
	case tensor.Float16:
		dst := tensor.Values[tensor.F16](out)
		blocks(c, g, len(dst), 4, 20, func(at int, b [4]uint32) {
			for i, x := range b[:min(4, len(dst)-at)] {
				dst[at+i] = tensor.ToF16(tensor.F16(15<<10|x&0x3ff).Float() - 1)
			}
		})
	case tensor.BFloat16:
		dst := tensor.Values[tensor.BF16](out)
		blocks(c, g, len(dst), 4, 20, func(at int, b [4]uint32) {
			for i, x := range b[:min(4, len(dst)-at)] {
				dst[at+i] = tensor.ToBF16(tensor.BF16(127<<7|x&0x7f).Float() - 1)
			}
		})
	default:
		return fmt.Errorf("isn't defined for %v", out.DType())
	}
	return nil
}

// normal draws normal numbers, two of each pair of words; float64 needs two
// words a number.
func normal(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
	single := func(n int, put func(at int, v float32)) {
		blocks(c, g, n, 4, 80, func(at int, b [4]uint32) {
			for i := 0; i < 4; i += 2 {
				x, y := philox.Normal32(b[i], b[i+1])
				if at+i < n {
					put(at+i, x)
				}
				if at+i+1 < n {
					put(at+i+1, y)
				}
			}
		})
	}
	return floats(out, single, func(dst []float64) {
		blocks(c, g, len(dst), 2, 60, func(at int, b [4]uint32) {
			x, y := philox.Normal64(b)
			dst[at] = x
			if at+1 < len(dst) {
				dst[at+1] = y
			}
		})
	})
}

// floats fills an output of a floating type. Half precision is rounded from
// float32.
func floats(out *tensor.Tensor, single func(n int, put func(at int, v float32)), double func(dst []float64)) error {
	switch out.DType() {
	case tensor.Float32:
		dst := tensor.Values[float32](out)
		single(len(dst), func(at int, v float32) { dst[at] = v })
	case tensor.Float16:
		dst := tensor.Values[tensor.F16](out)
		single(len(dst), func(at int, v float32) { dst[at] = tensor.ToF16(v) })
	case tensor.BFloat16:
		dst := tensor.Values[tensor.BF16](out)
		single(len(dst), func(at int, v float32) { dst[at] = tensor.ToBF16(v) })
	case tensor.Float64:
		double(tensor.Values[float64](out))
	default:
		return fmt.Errorf("isn't defined for %v", out.DType())
	}
	return nil
}

// truncated draws normal numbers less than two deviations from 0.
func truncated(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
	return floats(out, func(n int, put func(at int, v float32)) {
		c.Parallel((n+3)/4, 300, func(lo, hi int) {
			var v [4]float32
			for i := lo; i < hi; i++ {
				g.Truncated32(uint64(i), &v)
				for k := range v[:min(4, n-4*i)] {
					put(4*i+k, v[k])
				}
			}
		})
	}, func(dst []float64) {
		c.Parallel((len(dst)+1)/2, 250, func(lo, hi int) {
			var v [2]float64
			for i := lo; i < hi; i++ {
				g.Truncated64(uint64(i), &v)
				copy(dst[2*i:], v[:])
			}
		})
	})
}

// fullInt draws integers of all values of their type.
func fullInt(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
	switch out.DType() {
	case tensor.Int32:
		words(c, g, tensor.Values[int32](out), func(x uint32) int32 { return int32(x) })
	case tensor.Uint32:
		words(c, g, tensor.Values[uint32](out), func(x uint32) uint32 { return x })
	case tensor.Int64:
		pairs(c, g, tensor.Values[int64](out), func(x uint64) int64 { return int64(x) })
	case tensor.Uint64:
		pairs(c, g, tensor.Values[uint64](out), func(x uint64) uint64 { return x })
	default:
		return fmt.Errorf("isn't defined for %v", out.DType())
	}
	return nil
}

// words fills dst with one word a number.
func words[T any](c *engine.Call, g philox.Generator, dst []T, f func(uint32) T) {
	blocks(c, g, len(dst), 4, 15, func(at int, b [4]uint32) {
		for i, x := range b[:min(4, len(dst)-at)] {
			dst[at+i] = f(x)
		}
	})
}

// pairs fills dst with two words a number, the lower half first.
func pairs[T any](c *engine.Call, g philox.Generator, dst []T, f func(uint64) T) {
	blocks(c, g, len(dst), 2, 15, func(at int, b [4]uint32) {
		dst[at] = f(uint64(b[0]) | uint64(b[1])<<32)
		if at+1 < len(dst) {
			dst[at+1] = f(uint64(b[2]) | uint64(b[3])<<32)
		}
	})
}

// limits checks that lo and hi are scalars of a type, lo below hi.
func limits(d tensor.DType, lo, hi *tensor.Tensor) error {
	if lo.DType() != d || hi.DType() != d || lo.Len() != 1 || hi.Len() != 1 {
		return fmt.Errorf("the limits are %v%v and %v%v, not two scalars of %v", lo.DType(), lo.Shape(), hi.DType(), hi.Shape(), d)
	}
	switch d {
	case tensor.Int32:
		return ordered[int32](lo, hi)
	case tensor.Uint32:
		return ordered[uint32](lo, hi)
	case tensor.Int64:
		return ordered[int64](lo, hi)
	case tensor.Uint64:
		return ordered[uint64](lo, hi)
	}
	return nil
}

// ordered returns the error for an empty range if lo isn't below hi.
func ordered[T int32 | uint32 | int64 | uint64](lo, hi *tensor.Tensor) error {
	if a, b := tensor.Values[T](lo)[0], tensor.Values[T](hi)[0]; a >= b {
		return fmt.Errorf("there is nothing from %v up to %v", a, b)
	}
	return nil
}

// between draws integers from lo up to hi, which is excluded; the caller has checked
// them by [limits]. It takes the remainder of a word, as TensorFlow does, although
// large ranges are then not quite uniform.
func between(c *engine.Call, g philox.Generator, out, lo, hi *tensor.Tensor) error {
	switch out.DType() {
	case tensor.Int32:
		a, b := tensor.Values[int32](lo)[0], tensor.Values[int32](hi)[0]
		n := uint32(b) - uint32(a)
		words(c, g, tensor.Values[int32](out), func(x uint32) int32 { return int32(uint32(a) + x%n) })
	case tensor.Uint32:
		a, b := tensor.Values[uint32](lo)[0], tensor.Values[uint32](hi)[0]
		words(c, g, tensor.Values[uint32](out), func(x uint32) uint32 { return a + x%(b-a) })
	case tensor.Int64:
		a, b := tensor.Values[int64](lo)[0], tensor.Values[int64](hi)[0]
		n := uint64(b) - uint64(a)
		pairs(c, g, tensor.Values[int64](out), func(x uint64) int64 { return int64(uint64(a) + x%n) })
	case tensor.Uint64:
		a, b := tensor.Values[uint64](lo)[0], tensor.Values[uint64](hi)[0]
		pairs(c, g, tensor.Values[uint64](out), func(x uint64) uint64 { return a + x%(b-a) })
	default:
		return fmt.Errorf("isn't defined for %v", out.DType())
	}
	return nil
}

// keyCounter returns the key and the counter of the seeds in input 0.
func keyCounter(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	g, err := seeded(c.In(0))
	if err != nil {
		return err
	}
	key, lo, hi := g.Words()
	c.Set(0, tensor.Vector(key))
	c.Set(1, tensor.Vector(lo, hi))
	return nil
}

// keyCounterAlg returns the algorithm, too.
func keyCounterAlg(c *engine.Call) error {
	if err := keyCounter(c); err != nil {
		return err
	}
	c.Set(2, tensor.Scalar(int32(philoxAlg)))
	return nil
}

// getAlg returns Philox's number.
func getAlg(c *engine.Call) error {
	c.Set(0, tensor.Scalar(int32(philoxAlg)))
	return nil
}
