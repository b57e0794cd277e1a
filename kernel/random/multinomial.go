package random

import (
	"fmt"
	"math"
	"sort"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Multinomial and StatelessMultinomial, for logits [batch,
// classes]. The words of each sample and the sums in double precision are those
// of TensorFlow's multinomial_op.cc and must stay.

// prepareMultinomial draws classes by the state of a node.
func prepareMultinomial(n *engine.Node) (func(*engine.Call) error, error) {
	find := draws.Of(n)
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		return multinomial(c, func(blocks uint64) philox.Generator { return find(c).Reserve(blocks) })
	}, nil
}

// statelessMultinomial draws classes by a seed.
func statelessMultinomial(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	g, err := seeded(c.In(2))
	if err != nil {
		return err
	}
	return multinomial(c, func(uint64) philox.Generator { return g })
}

// multinomial draws classes by their unnormalised log-probabilities.
func multinomial(c *engine.Call, reserve func(blocks uint64) philox.Generator) error {
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
	d := c.Attrs().Type("output_dtype", tensor.Int64)
	out, err := c.Alloc(0, d, tensor.Shape{s[0], int(samples)})
	if err != nil || out.Len() == 0 {
		return err
	}
	c.Reserve(8 * logits.Len()) // the logits as float64
	rows, err := tensor.Cast(logits, tensor.Float64)
	if err != nil {
		return err
	}
	cdf := engine.Zeroed[float64](c, s[1]) // before the state advances, because memory may be refused
	// Each sample uses two words, each row whole blocks.
	words := draws.NewStream(reserve(uint64(s[0]) * uint64((samples+3)/4*4) * 2 * philox.Reserved))
	pace := engine.NewPace(c)
	for b := range s[0] {
		pace.Work(10 * s[1])
		total := cumulate(cdf, tensor.Values[float64](rows)[b*s[1]:(b+1)*s[1]])
		for j := range int(samples) {
			pace.Work(64)
			u := words.Float64() * total
			class := sort.Search(len(cdf), func(i int) bool { return cdf[i] > u })
			if d == tensor.Int32 {
				tensor.Values[int32](out)[b*int(samples)+j] = int32(class)
			} else {
				tensor.Values[int64](out)[b*int(samples)+j] = int64(class)
			}
		}
	}
	return nil
}

// cumulate sets cdf to the running sum of the exponentials of logits, and
// returns their sum. Infinite logits count as impossible.
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
