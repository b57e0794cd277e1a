package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

func randomRules() map[string]Rule {
	return join(
		rules(drawn, "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "ParameterizedTruncatedNormal",
			"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
			"StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2"),
		rules(seeded, "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
			"StatelessRandomUniformFullInt", "StatelessRandomUniformInt"),
		map[string]Rule{
			"StatelessRandomGetKeyCounter": keyCounter, "StatelessRandomGetAlg": scalarOut, "StatelessRandomGetKeyCounterAlg": keyCounter,
			"RngReadAndSkip": readAndSkip, "RngSkip": nothing, "RandomShuffle": unchanged, "Multinomial": multinomial,
			"StatelessMultinomial": multinomial,
		})
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

// seeded does what [drawn] does, for ops with two seeds in input 1.
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
