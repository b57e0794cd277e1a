package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// quantRules returns the rules of quantization.
func quantRules() map[string]Rule {
	return join(
		rules(unchanged, "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgsGradient", "QuantizeAndDequantize", "UniformQuantize", "UniformDequantize"),
		rules(ranged, "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeV2", "Dequantize"),
		rules(requantize, "Requantize", "QuantizeDownAndShrinkRange"),
		map[string]Rule{
			"FakeQuantWithMinMaxVars": fakeVars, "FakeQuantWithMinMaxVarsGradient": fakeVarsGrad,
			"FakeQuantWithMinMaxVarsPerChannel": fakeChannels, "FakeQuantWithMinMaxVarsPerChannelGradient": fakeChannelsGrad,
			"QuantizeAndDequantizeV4Grad": rangedGrad, "RequantizationRange": requantizationRange,
		})
}

// fakeVars infers the output of FakeQuantWithMinMaxVars. Inputs 1 and 2 are the ends of one
// range.
func fakeVars(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, c.shape(0))
	return each(c.scalar(1), c.scalar(2))
}

// fakeVarsGrad infers the gradients by the input and by both ends of its range. Inputs 2
// and 3 are the ends.
func fakeVarsGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.shape(0).Merge(c.shape(1))
	if err != nil {
		return err
	}
	c.set(0, s)
	c.setDims(1)
	c.setDims(2)
	return each(c.scalar(2), c.scalar(3))
}

// channelRanges returns the shape s with its last dimension merged with the
// lengths of the inputs from the given one on.
func (c *Inference) channelRanges(s graph.PartialShape, from int) (graph.PartialShape, int, error) {
	if s.HasRank() && s.Rank() < 1 {
		return s, 0, fmt.Errorf("the input has shape %v, of fewer than 1 dimension", s)
	}
	n := graph.NewDim()
	if s.HasRank() {
		n = s.Dim(-1)
	}
	for i := from; i < from+2; i++ {
		m, err := c.vector(i)
		if err != nil {
			return s, 0, err
		}
		d, ok := graph.MergeDim(n, m)
		if !ok {
			return s, 0, fmt.Errorf("%d ends of ranges for %d channels", m, n)
		}
		n = d
	}
	if s.HasRank() {
		s = s.With(s.Rank()-1, n)
	}
	return s, n, nil
}

// fakeChannels works like fakeVars, with a range for each channel.
func fakeChannels(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, _, err := c.channelRanges(c.shape(0), 1)
	if err == nil {
		c.set(0, s)
	}
	return err
}

// fakeChannelsGrad works like fakeVarsGrad, with a range for each channel.
func fakeChannelsGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	s, err := c.shape(0).Merge(c.shape(1))
	if err != nil {
		return err
	}
	s, n, err := c.channelRanges(s, 2)
	if err != nil {
		return err
	}
	c.set(0, s)
	c.setDims(1, n)
	c.setDims(2, n)
	return nil
}

// ends returns the shape of the ends of ranges that inputs i and i+1 hold: one
// for all, or one for each slice of x along an axis.
func (c *Inference) ends(x graph.PartialShape, i int) (graph.PartialShape, error) {
	axis, rank := c.Attrs.Int("axis", -1), 0
	if axis < -1 {
		return x, fmt.Errorf("axis should be at least -1, got %d", axis)
	}
	if axis != -1 {
		rank = 1
	}
	s, err := c.ranked(i, rank)
	if err != nil {
		return s, err
	}
	if s, err = s.Merge(c.shape(i + 1)); err != nil || axis == -1 || !x.HasRank() {
		return s, err
	}
	if axis >= int64(x.Rank()) {
		return s, fmt.Errorf("axis is %d, of a tensor of shape %v", axis, x)
	}
	d, ok := graph.MergeDim(x.Dim(int(axis)), s.Dim(0))
	if !ok {
		return s, fmt.Errorf("%v ends of ranges along axis %d of %v", s, axis, x)
	}
	return s.With(0, d), nil
}

// ranged sets output 0's shape to that of input 0, the others' to that of the
// ends of its ranges.
func ranged(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	s, err := c.ends(c.shape(0), 1)
	if err != nil {
		return err
	}
	c.set(0, c.shape(0))
	c.set(1, s)
	c.set(2, s)
	return nil
}

// rangedGrad infers the gradients by the input and by the ends of its ranges, which
// inputs 2 and 3 hold.
func rangedGrad(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	x, err := c.shape(0).Merge(c.shape(1))
	if err != nil {
		return err
	}
	s, err := c.ends(x, 2)
	if err != nil {
		return err
	}
	c.set(0, x)
	c.set(1, s)
	c.set(2, s)
	return nil
}

// requantizationRange infers the outputs of RequantizationRange, the ends of one range.
func requantizationRange(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.setDims(0)
	c.setDims(1)
	return each(c.scalar(1), c.scalar(2))
}

// requantize sets output 0's shape to that of input 0; the other outputs are
// scalars.
func requantize(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	for i := 1; i < len(c.In); i++ {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	c.set(0, c.shape(0))
	c.setDims(1)
	c.setDims(2)
	return nil
}
