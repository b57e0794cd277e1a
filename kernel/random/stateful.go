package random

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// stateful are the ops whose nodes keep a random state each: the first call
// draws from where the seeds say, the next goes on.
var stateful = []engine.Kernel{
	{Op: "RandomUniform", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(uniform)},
	{Op: "RandomStandardNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(normal), Precision: engine.Rounded},
	{Op: "TruncatedNormal", Types: engine.Types{"dtype": elementwise.Floating()}, Prepare: drawing(truncated), Precision: engine.Rounded},
	{Op: "RandomUniformInt", Types: engine.Types{"Tout": wholes}, Prepare: drawing(uniformIntOf(1))},
	{Op: "Multinomial", Prepare: prepareMultinomial},
	{Op: "RandomShuffle", Prepare: prepareShuffle},
}

// state is the random state of a node.
type state struct {
	mu sync.Mutex
	g  philox.Generator
}

// reserve returns the generator as it is now; it is moved on by n blocks.
func (s *state) reserve(n uint64) philox.Generator {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.g
	s.g.Skip(n)
	return g
}

// stateOf finds the state of the call's node. Seeds that are both zero stand for
// a state that differs from run to run.
func stateOf(n *engine.Node) func(*engine.Call) *state {
	a, b := uint64(n.Attrs.Int("seed", 0)), uint64(n.Attrs.Int("seed2", 0))
	create := func() any {
		if a == 0 && b == 0 {
			return &state{g: philox.New(rand.Uint64(), 0, rand.Uint64())}
		}
		return &state{g: philox.New(a, 0, b)}
	}
	return func(c *engine.Call) *state { return c.Instance().NodeState(c.Node(), create).(*state) }
}

// drawing prepares an op that fills a tensor, whose shape is input 0.
func drawing(f draw) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		find := stateOf(n)
		d := n.Attrs.Type("dtype", tensor.Float32)
		if n.Op == "RandomUniformInt" {
			d = n.Attrs.Type("Tout", tensor.Int32)
		}
		return func(c *engine.Call) error {
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			if c.NumIn() == 0 {
				return fmt.Errorf("takes a shape")
			}
			dims, err := shapes.Dims(c.In(0), "the shape", 0)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, d, dims)
			if err != nil || out.Len() == 0 {
				return err
			}
			return f(c, find(c).reserve(uint64(out.Len())*philox.Reserved), out)
		}, nil
	}
}

// uniformIntOf draws whole numbers between the scalars in inputs at and at+1.
func uniformIntOf(at int) draw {
	return func(c *engine.Call, g philox.Generator, out *tensor.Tensor) error {
		if c.NumIn() != at+2 {
			return fmt.Errorf("takes %d inputs, %d were given", at+2, c.NumIn())
		}
		return between(c, g, out, c.In(at), c.In(at+1))
	}
}

// prepareMultinomial draws classes by their unnormalised log-probabilities.
func prepareMultinomial(n *engine.Node) (func(*engine.Call) error, error) {
	find := stateOf(n)
	d := n.Attrs.Type("output_dtype", tensor.Int64)
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		logits := c.In(0)
		s := logits.Shape()
		if len(s) != 2 || s[1] == 0 {
			return fmt.Errorf("takes a matrix of at least one class, not %v", s)
		}
		samples, err := shapes.Int(c.In(1), "the number of samples")
		if err != nil {
			return err
		}
		if samples < 0 || samples > math.MaxInt32 {
			return fmt.Errorf("the number of samples is %d", samples)
		}
		out, err := c.Alloc(0, d, tensor.Shape{s[0], int(samples)})
		if err != nil || out.Len() == 0 {
			return err
		}
		rows, err := tensor.Cast(logits, tensor.Float64)
		if err != nil {
			return err
		}
		// Two words a sample, whole blocks a row.
		g := find(c).reserve(uint64(s[0]) * uint64((samples+3)/4*4) * 2 * philox.Reserved)
		words := stream{g: g}
		cdf := make([]float64, s[1])
		for b := range s[0] {
			total := cumulate(cdf, tensor.Values[float64](rows)[b*s[1]:(b+1)*s[1]])
			for j := range int(samples) {
				x := words.next()
				u := philox.Float64(x, words.next()) * total
				class := sort.Search(len(cdf), func(i int) bool { return cdf[i] > u })
				if d == tensor.Int32 {
					tensor.Values[int32](out)[b*int(samples)+j] = int32(class)
				} else {
					tensor.Values[int64](out)[b*int(samples)+j] = int64(class)
				}
			}
		}
		return nil
	}, nil
}

// cumulate fills cdf with the running sum of the exponentials of logits, and is
// their sum. Infinite logits count as impossible.
func cumulate(cdf, logits []float64) float64 {
	top := math.Inf(-1)
	for _, x := range logits {
		if x-x == 0 {
			top = max(top, x)
		}
	}
	total := 0.0
	for i, x := range logits {
		if x-x == 0 {
			total += math.Exp(x - top)
		}
		cdf[i] = total
	}
	return total
}

// stream gives a generator's words one by one.
type stream struct {
	g     philox.Generator
	block [4]uint32
	left  int
}

func (s *stream) next() uint32 {
	if s.left == 0 {
		s.block, s.left = s.g.Block(), 4
	}
	s.left--
	return s.block[3-s.left]
}

// prepareShuffle puts the rows of a tensor in a random order.
func prepareShuffle(n *engine.Node) (func(*engine.Call) error, error) {
	find := stateOf(n)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if x.Len() <= 1 || len(s) == 0 || s[0] <= 1 {
			c.Pass(0, 0)
			return nil
		}
		out, err := c.Alloc(0, x.DType(), s)
		if err != nil {
			return err
		}
		words := stream{g: find(c).reserve(uint64(s[0]-1+3) / 4)}
		order := make([]int, s[0])
		for i := range order {
			order[i] = i
		}
		for i := range len(order) - 1 {
			k := i + int(words.next()%uint32(len(order)-i))
			order[i], order[k] = order[k], order[i]
		}
		size := shapes.Count(s[1:])
		for i, from := range order {
			if !x.DType().Fixed() {
				copy(out.Strings()[i*size:(i+1)*size], x.Strings()[from*size:])
				continue
			}
			w := size * x.DType().Size()
			copy(out.Bytes()[i*w:(i+1)*w], x.Bytes()[from*w:])
		}
		return nil
	}, nil
}
