package shape

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// randomRules returns the rules of random numbers and of samples.
func randomRules() map[string]Rule {
	return join(
		rules(drawn, "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "ParameterizedTruncatedNormal",
			"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
			"StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2"),
		rules(seeded, "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
			"StatelessRandomUniformFullInt", "StatelessRandomUniformInt", "StatelessRandomGammaV2", "StatelessRandomPoisson",
			"StatelessRandomBinomial", "StatelessParameterizedTruncatedNormal"),
		rules(drawn, "StatelessRandomGammaV3", "NonDeterministicInts"),
		rules(drawnAt(1), "StatefulStandardNormal"),
		rules(drawnAt(2), "StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatefulUniformInt",
			"StatefulUniformFullInt", "StatefulRandomBinomial"),
		rules(drawnEach, "RandomGamma", "RandomPoisson", "RandomPoissonV2"),
		rules(candidates, "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
			"ThreadUnsafeUnigramCandidateSampler", "FixedUnigramCandidateSampler", "AllCandidateSampler"),
		map[string]Rule{
			"ComputeAccidentalHits": accidentalHits, "RandomIndexShuffle": indexShuffle, "RandomCrop": randomCrop,
			"SobolSample":                  sobolSample,
			"StatelessShuffle":             statelessShuffle,
			"StatelessRandomGetKeyCounter": keyCounter, "StatelessRandomGetAlg": scalarOut, "StatelessRandomGetKeyCounterAlg": keyCounter,
			"RngReadAndSkip": readAndSkip, "RngSkip": nothing, "RandomShuffle": unchanged, "Multinomial": multinomial,
			"StatelessMultinomial": multinomial, "KMC2ChainInitialization": scalarOut, "KmeansPlusPlusInitialization": spread,
		})
}

// SobolDims is the largest number of dimensions of SobolSample's points. It follows
// from the direction numbers in kernel/random/sobol.bin.
const SobolDims = 21200

// sobolSample infers [points, dimensions], the numbers in inputs 1 and 0.
func sobolSample(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	out := tensor.Shape{-1, -1}
	for i := range out {
		if v, ok := c.In[1-i].Int(); ok {
			if v < 1 || v >= math.MaxInt32 {
				return fmt.Errorf("%d points or dimensions", v)
			}
			out[i] = int(v)
		}
	}
	c.setDims(0, out...)
	return nil
}

// spread infers [n, columns of input 0] for the number n of points in input 1.
func spread(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	x, err := c.shape(0).WithRank(2)
	if err != nil {
		return err
	}
	n := -1
	if v, ok := c.In[1].Int(); ok && v >= 0 && v <= math.MaxInt32 {
		n = int(v)
	}
	c.setDims(0, n, x.Dim(1))
	return nil
}

// drawn infers the outputs of ops that draw numbers of the shape that input 0
// describes.
func drawn(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	if err := c.described(0, "the shape"); err != nil {
		return err
	}
	if len(c.In) < 4 {
		return nil
	}
	return Key(c.shape(1), c.shape(2))
}

// Key checks the shapes of a generator's key and counter.
func Key(key, counter graph.PartialShape) error {
	k, err := key.WithRank(1)
	if err == nil && k.Dim(0) >= 0 && k.Dim(0) != 1 {
		err = fmt.Errorf("it has %d elements", k.Dim(0))
	}
	if err != nil {
		return fmt.Errorf("the key has shape %v, not [1]: %w", key, err)
	}
	n, err := counter.WithRank(1)
	if err == nil && n.Dim(0) >= 0 && n.Dim(0) < 2 {
		err = fmt.Errorf("it has %d elements", n.Dim(0))
	}
	if err != nil {
		return fmt.Errorf("the counter has shape %v, not [2]: %w", counter, err)
	}
	return nil
}

// seeded infers as [drawn] does, for ops with two seeds in input 1.
func seeded(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	if err := Seed(c.shape(1)); err != nil {
		return err
	}
	return c.described(0, "the shape")
}

// Seed checks the shape of a pair of seeds.
func Seed(s graph.PartialShape) error {
	if !s.Compatible(graph.ShapeOf(2)) {
		if s.Rank() == 1 {
			return fmt.Errorf("the seed has %d elements, not 2", s.Dim(0))
		}
		return fmt.Errorf("the seed has shape %v, not [2]", s)
	}
	return nil
}

func keyCounter(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.setDims(0, 1)
	c.setDims(1, 2)
	c.setDims(2)
	return Seed(c.shape(0))
}

func readAndSkip(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if len(c.Out) > 0 && c.Out[0].DType == tensor.Invalid {
		c.Out[0].DType = tensor.Int64
	}
	c.setDims(0, 3)
	return each(c.scalar(1), c.scalar(2))
}

func multinomial(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	s, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	n, err := c.size(1, "the number of samples")
	if err == nil {
		c.setDims(0, s.Dim(0), n)
	}
	return err
}

// drawnAt infers the output of ops that draw numbers of the shape that input at
// describes.
func drawnAt(at int) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(at + 1); err != nil {
			return err
		}
		return c.described(at, "the shape")
	}
}

// drawnEach infers the output of ops that draw, for each parameter in input 1,
// numbers of the shape that input 0 describes.
func drawnEach(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.sizes(0, "the shape")
	if err == nil {
		c.set(0, s.Concat(c.shape(1)))
	}
	return err
}

func candidates(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	n, perRow := c.Attrs.Int("num_sampled", -1), c.Attrs.Int("num_true", -1)
	if n < 1 || n != int64(int(n)) || perRow < 1 || perRow != int64(int(perRow)) {
		return fmt.Errorf("num_sampled and num_true are %d and %d", n, perRow)
	}
	c.setDims(0, int(n))
	c.setDims(1, s.Dim(0), int(perRow))
	c.setDims(2, int(n))
	return nil
}

func accidentalHits(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	if n := c.Attrs.Int("num_true", -1); s.HasRank() && s.Dim(1) >= 0 && int64(s.Dim(1)) != n {
		return fmt.Errorf("the true classes have shape %v, and num_true is %d", s, n)
	}
	if _, err := c.ranked(1, 1); err != nil {
		return err
	}
	n := graph.NewDim()
	for i := range 3 {
		c.setDims(i, n)
	}
	return nil
}

// indexShuffle infers the places of indices: a vector if the indices, the seeds
// or the largest indices have more than one element.
func indexShuffle(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n, many, known := graph.NewDim(), false, true
	for i := range 3 {
		s := c.shape(i)
		most, alone := 1, 0
		if i == 1 {
			most, alone = 2, 1
		}
		if !s.HasRank() {
			known = false
			continue
		}
		if s.Rank() > most || s.Rank() < alone || i == 1 && s.Dim(-1) >= 0 && s.Dim(-1) != 3 {
			return fmt.Errorf("input %d has shape %v", i, s)
		}
		if s.Rank() == alone {
			continue
		}
		m, ok := graph.MergeDim(n, s.Dim(0))
		if !ok {
			return fmt.Errorf("input %d has shape %v, another one %d elements", i, s, n)
		}
		n, many = m, true
	}
	switch {
	case many:
		c.setDims(0, n)
	case known:
		c.setDims(0)
	}
	return nil
}

func randomCrop(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.ranked(0, 3)
	if err != nil {
		return err
	}
	size, err := c.rankedSizes(1, 2, "the size")
	if err == nil {
		c.setDims(0, size.Dim(0), size.Dim(1), s.Dim(2))
	}
	return err
}

func statelessShuffle(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	return Key(c.shape(1), c.shape(2))
}
