package random

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ops whose distributions have parameters. The proposals and
// their order are TensorFlow's; they must stay, because a seed decides the
// numbers.

var (
	// halves are the types of parameters; counted also has integers, for ops
	// that count.
	halves  = []tensor.DType{tensor.Float16, tensor.Float32, tensor.Float64}
	counted = append(halves[:3:3], tensor.Int32, tensor.Int64)
)

// parametric are the ops that draw from distributions with parameters. They
// propose numbers until one is accepted, as in TensorFlow. Each number has a
// fixed position in the stream.
var parametric = []engine.Kernel{
	{Op: "RandomGamma", Types: engine.Types{"T": halves}, Prepare: stateParametric(gamma), Precision: engine.Rounded},
	{Op: "StatelessRandomGammaV2", Types: engine.Types{"dtype": halves}, Run: seedParametric(gamma), Precision: engine.Rounded},
	{Op: "StatelessRandomGammaV3", Types: engine.Types{"dtype": halves}, Run: keyedGamma, Precision: engine.Rounded},
	{Op: "RandomPoisson", Types: engine.Types{"dtype": halves}, Prepare: stateParametric(poisson)},
	{Op: "RandomPoissonV2", Types: engine.Types{"R": counted, "dtype": counted}, Prepare: stateParametric(poisson)},
	{Op: "StatelessRandomPoisson", Types: engine.Types{"Rtype": counted, "dtype": counted}, Run: seedParametric(poisson)},
	{Op: "StatefulRandomBinomial", Types: engine.Types{"T": halves, "dtype": counted}, Run: statefulBinomial},
	{Op: "StatelessRandomBinomial", Types: engine.Types{"T": halves, "dtype": counted}, Run: statelessBinomial},
	{Op: "ParameterizedTruncatedNormal", Types: engine.Types{"dtype": halves}, Prepare: prepareTruncated, Precision: engine.Rounded},
	{Op: "StatelessParameterizedTruncatedNormal", Types: engine.Types{"dtype": halves}, Run: statelessTruncated, Precision: engine.Rounded},
}

// maxTries bounds the proposals that are rejected one after the other. Valid
// parameters have at least one accepted proposal in four; only those without a
// distribution reach the bound. truncated.go computes the blocks that it
// reserves from it, so it must stay TensorFlow's kMaxIterations.
const maxTries = 1000

// errTries is the error of a number for which all proposals were rejected.
var errTries = fmt.Errorf("no number was accepted: are the parameters those of a distribution?")

// sampler draws a number by a generator that no other number uses.
type sampler func(g *philox.Generator) (float64, error)

// distribution makes samplers from parameters.
type distribution func(parameter float64) sampler

// stateParametric prepares an op whose state is the node's. It draws numbers of
// the shape in input 0 for each parameter in input 1.
func stateParametric(of distribution) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		find := draws.Of(n)
		return func(c *engine.Call) error {
			if err := c.Need(2); err != nil {
				return err
			}
			dims, err := shapes.Dims(c.In(0), "the shape", 0)
			if err != nil {
				return err
			}
			p := c.In(1)
			out, err := c.Alloc(0, resultType(c, p), append(dims, p.Shape()...))
			if err != nil || out.Len() == 0 {
				return err
			}
			return fill(c, of, p, out, find(c).Reserve(uint64(out.Len())*philox.Reserved))
		}, nil
	}
}

// resultType returns the element type in a call's attribute, or its parameters'
// type.
func resultType(c *engine.Call, p *tensor.Tensor) tensor.DType {
	switch c.Op() {
	case "RandomPoissonV2":
		return c.Attrs().Type("dtype", tensor.Int64)
	case "StatelessRandomPoisson":
		return c.Attrs().Type("dtype", p.DType())
	}
	return p.DType()
}

// seedParametric runs an op whose inputs are the output's shape, two seeds, and
// parameters. The shape ends with the parameters' shape.
func seedParametric(of distribution) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if err := c.Need(3); err != nil {
			return err
		}
		g, err := seeded(c.In(1))
		if err != nil {
			return err
		}
		return stateless(c, of, c.In(2), g)
	}
}

// keyedGamma runs the gamma op whose inputs have a key and a counter instead of
// seeds.
func keyedGamma(c *engine.Call) error {
	if err := c.Need(5); err != nil {
		return err
	}
	g, err := keyed(c, 1)
	if err != nil {
		return err
	}
	return stateless(c, gamma, c.In(4), g)
}

// stateless draws numbers of the shape in input 0 with parameters p.
func stateless(c *engine.Call, of distribution, p *tensor.Tensor, g philox.Generator) error {
	dims, err := shapes.Dims(c.In(0), "the shape", 0)
	if err != nil {
		return err
	}
	if err := endsWith(dims, p.Shape()); err != nil {
		return err
	}
	out, err := c.Alloc(0, resultType(c, p), dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	return fill(c, of, p, out, g)
}

// endsWith checks that a shape ends with the shape of the parameters.
func endsWith(s, p tensor.Shape) error {
	if len(p) > len(s) || !s[len(s)-len(p):].Equal(p) {
		return fmt.Errorf("the shape %v doesn't end with the parameters' shape %v", s, p)
	}
	return nil
}

// fill draws all numbers of an output.
func fill(c *engine.Call, of distribution, p, out *tensor.Tensor, g philox.Generator) error {
	v, err := tensor.Cast(p, tensor.Float64)
	if err != nil {
		return err
	}
	params := tensor.Values[float64](v)
	return samples(c, len(params), out, g, func(i int) (sampler, uint64) { return of(params[i]), philox.Reserved })
}

// samples draws the numbers of an output for each of n sets of parameters. of
// makes the sampler of a set, and returns the number of blocks of each number.
func samples(c *engine.Call, n int, out *tensor.Tensor, g philox.Generator, of func(i int) (sampler, uint64)) error {
	put, err := setter(out)
	if err != nil {
		return err
	}
	each := out.Len() / n
	errs := make([]error, n)
	c.Parallel(n, 300*float64(each), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			errs[i] = sampleAll(c, i, n, each, put, g, of)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sampleAll draws the numbers of set i.
func sampleAll(c *engine.Call, i, n, each int, put func(int, float64), g philox.Generator, of func(i int) (sampler, uint64)) error {
	sample, blocks := of(i)
	for k := range each {
		if k%1024 == 0 && c.Context().Err() != nil {
			return c.Context().Err()
		}
		own := g
		own.Skip(blocks * uint64(i*each+k))
		x, err := sample(&own)
		if err != nil {
			return fmt.Errorf("parameters %d: %w", i, err)
		}
		put(k*n+i, x)
	}
	return nil
}

// setter returns a function that rounds a number and stores it as an element.
func setter(out *tensor.Tensor) (func(i int, x float64), error) {
	switch out.DType() {
	case tensor.Float16:
		v := tensor.Values[tensor.F16](out)
		return func(i int, x float64) { v[i] = tensor.ToF16(float32(x)) }, nil
	case tensor.Float32:
		v := tensor.Values[float32](out)
		return func(i int, x float64) { v[i] = float32(x) }, nil
	case tensor.Float64:
		v := tensor.Values[float64](out)
		return func(i int, x float64) { v[i] = x }, nil
	case tensor.Int32:
		v := tensor.Values[int32](out)
		return func(i int, x float64) {
			if v[i] = math.MinInt32; x > math.MinInt32 && x < 1<<31 { // x86's result for all other numbers
				v[i] = int32(x)
			}
		}, nil
	case tensor.Int64:
		v := tensor.Values[int64](out)
		return func(i int, x float64) {
			if v[i] = math.MinInt64; x > math.MinInt64 && x < 1<<63 {
				v[i] = int64(x)
			}
		}, nil
	}
	return nil, fmt.Errorf("isn't defined for %v", out.DType())
}

// rounding returns a function that rounds to the precision in which TensorFlow
// computes with an element type.
func rounding(d tensor.DType) func(float64) float64 {
	switch d {
	case tensor.Float16:
		return func(x float64) float64 { return float64(tensor.ToF16(float32(x)).Float()) }
	case tensor.Float32:
		return func(x float64) float64 { return float64(float32(x)) }
	}
	return func(x float64) float64 { return x }
}

// proposals returns the numbers of a generator's blocks, the last one of each
// block first.
type proposals struct {
	g     *philox.Generator
	block func(g *philox.Generator, into *[4]float64) int // stores the numbers of a block and returns how many
	buf   [4]float64
	left  int
}

// next returns the next number.
func (p *proposals) next() float64 {
	if p.left == 0 {
		p.left = p.block(p.g, &p.buf)
	}
	p.left--
	return p.buf[p.left]
}

// uniforms returns a function that converts a block to numbers of an element
// type, uniformly distributed in [0, 1).
func uniforms(d tensor.DType) func(g *philox.Generator, into *[4]float64) int {
	switch d {
	case tensor.Float16:
		return func(g *philox.Generator, into *[4]float64) int {
			for i, x := range g.Block() {
				into[i] = float64(half(x))
			}
			return 4
		}
	case tensor.Float32:
		return func(g *philox.Generator, into *[4]float64) int {
			for i, x := range g.Block() {
				into[i] = float64(philox.Float32(x))
			}
			return 4
		}
	}
	return func(g *philox.Generator, into *[4]float64) int {
		b := g.Block()
		into[0], into[1] = philox.Float64(b[0], b[1]), philox.Float64(b[2], b[3])
		return 2
	}
}

// half returns the float16 in [0, 1) of a word.
func half(x uint32) float32 {
	return tensor.ToF16(tensor.F16(15<<10|x&0x3ff).Float() - 1).Float()
}

// normals returns a function that converts a block to normally distributed
// numbers.
func normals(d tensor.DType) func(g *philox.Generator, into *[4]float64) int {
	if d == tensor.Float64 {
		return func(g *philox.Generator, into *[4]float64) int {
			into[0], into[1] = philox.Normal64(g.Block())
			return 2
		}
	}
	round := rounding(d)
	return func(g *philox.Generator, into *[4]float64) int {
		b := g.Block()
		for i := 0; i < 4; i += 2 {
			x, y := philox.Normal32(b[i], b[i+1])
			into[i], into[i+1] = round(float64(x)), round(float64(y))
		}
		return 4
	}
}
