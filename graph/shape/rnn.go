package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// rnnRules returns the rules of recurrent networks.
func rnnRules() map[string]Rule {
	return join(
		rules(blockLSTM, "BlockLSTM", "BlockLSTMV2"),
		rules(blockLSTMGrad, "BlockLSTMGrad", "BlockLSTMGradV2"),
		rules(recurrentCell, "LSTMBlockCell", "GRUBlockCell"),
		rules(ctcLoss, "CTCLoss", "CTCLossV2"),
		rules(cudnn, "CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"),
		rules(cudnnBackprop, "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3"),
		rules(cudnnToParams, "CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2"),
		rules(cudnnToCanonical, "CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2"),
		map[string]Rule{
			"LSTMBlockCellGrad": lstmCellGrad, "GRUBlockCellGrad": gruCellGrad, "CTCGreedyDecoder": ctcGreedy,
			"CTCBeamSearchDecoder": ctcBeam, "CudnnRNNParamsSize": cudnnParamsSize,
		})
}

func blockLSTM(c *Inference) error {
	if err := c.need(9); err != nil {
		return err
	}
	x, err := c.ranked(1, 3)
	if err != nil {
		return err
	}
	b, err := c.vector(8)
	if err != nil {
		return err
	}
	n, err := DivDims(b, 4)
	if err != nil {
		return err
	}
	for i := range c.Out {
		c.setDims(i, x.Dim(0), x.Dim(1), n)
	}
	return nil
}

// blockLSTMGrad sets the gradients' shapes to those of the forward op's inputs.
func blockLSTMGrad(c *Inference) error {
	if err := c.need(18); err != nil {
		return err
	}
	for i, rank := range []int{3, 2, 2, 2, 1, 1, 1, 1} {
		s, err := c.ranked(1+i, rank)
		if err != nil {
			return err
		}
		c.set(i, s)
	}
	return nil
}

// recurrentCell infers outputs with one row per example and one column per
// unit.
func recurrentCell(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	x, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	state, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	for i := range c.Out {
		c.setDims(i, x.Dim(0), state.Dim(1))
	}
	return nil
}

func lstmCellGrad(c *Inference) error {
	if err := c.need(16); err != nil {
		return err
	}
	x, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	state, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	four, err := MulDims(state.Dim(1), 4)
	if err != nil {
		return err
	}
	c.setDims(0, x.Dim(0), state.Dim(1))
	c.setDims(1, x.Dim(0), four)
	for i := 2; i < 5; i++ {
		c.setDims(i, state.Dim(1))
	}
	return nil
}

func gruCellGrad(c *Inference) error {
	if err := c.need(10); err != nil {
		return err
	}
	x, err := c.ranked(0, 2)
	if err != nil {
		return err
	}
	h, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	w, err := c.ranked(2, 2)
	if err != nil {
		return err
	}
	c.set(0, x)
	c.setDims(1, x.Dim(0), h.Dim(1))
	c.setDims(2, x.Dim(0), h.Dim(1))
	c.setDims(3, x.Dim(0), w.Dim(1))
	return nil
}

// sequences returns the shape of the logits in input 0, time × batch × classes.
// An unknown batch follows from the lengths in the given input.
func (c *Inference) sequences(lengths int) (graph.PartialShape, error) {
	x, err := c.ranked(0, 3)
	if err != nil {
		return x, err
	}
	n, err := c.vector(lengths)
	if err != nil {
		return x, err
	}
	b, ok := graph.MergeDim(x.Dim(1), n)
	if !ok {
		return x, fmt.Errorf("%d lengths of %d sequences", n, x.Dim(1))
	}
	return x.With(1, b), nil
}

func ctcLoss(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	x, err := c.sequences(3)
	if err != nil {
		return err
	}
	at, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	n, err := c.vector(2)
	if err != nil {
		return err
	}
	if _, ok := graph.MergeDim(at.Dim(0), n); !ok {
		return fmt.Errorf("%d labels at %d indices", n, at.Dim(0))
	}
	c.setDims(0, x.Dim(1))
	c.set(1, x)
	return nil
}

func ctcGreedy(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	x, err := c.sequences(1)
	if err != nil {
		return err
	}
	n := graph.NewDim()
	c.setDims(0, n, 2)
	c.setDims(1, n)
	c.setDims(2, 2)
	c.setDims(3, x.Dim(1), 1)
	return nil
}

func ctcBeam(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	x, err := c.sequences(1)
	if err != nil {
		return err
	}
	top := len(c.Out) / 3
	for i := range top {
		n := graph.NewDim()
		c.setDims(i, n, 2)
		c.setDims(top+i, n)
		c.setDims(2*top+i, 2)
	}
	c.setDims(3*top, x.Dim(1), top)
	return nil
}

// cudnn infers the outputs of cuDNN's networks; the memory for a backward pass
// stays unknown.
func cudnn(c *Inference) error {
	if err := c.atLeast(4); err != nil {
		return err
	}
	x, err := c.ranked(0, 3)
	if err != nil {
		return err
	}
	h, err := c.ranked(1, 3)
	if err != nil {
		return err
	}
	if _, err := c.vector(3); err != nil {
		return err
	}
	n := h.Dim(2)
	if c.Attrs.String("direction", "unidirectional") == "bidirectional" {
		if n, err = MulDims(n, 2); err != nil {
			return err
		}
	}
	c.setDims(0, x.Dim(0), x.Dim(1), n)
	c.set(1, h)
	if c.Attrs.String("rnn_mode", "lstm") != "lstm" {
		c.setDims(2)
		return nil
	}
	if c.Op == "CudnnRNNV3" {
		if h, err = c.ranked(2, 3); err != nil {
			return err
		}
	}
	c.set(2, h)
	return nil
}

// cudnnBackprop infers the gradients with regard to the network's first inputs.
func cudnnBackprop(c *Inference) error {
	if err := c.atLeast(4); err != nil {
		return err
	}
	for i := range 4 {
		c.set(i, c.In[i].Shape)
	}
	return nil
}

func cudnnParamsSize(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	for i := range 3 {
		if err := c.scalar(i); err != nil {
			return err
		}
	}
	c.setDims(0, 1)
	return nil
}

func cudnnToParams(c *Inference) error {
	c.set(0, graph.OfRank(1))
	return nil
}

func cudnnToCanonical(c *Inference) error {
	if err := c.need(4); err != nil {
		return err
	}
	if _, err := c.vector(3); err != nil {
		return err
	}
	weights := c.Attrs.Int("num_params_weights", int64(len(c.Out)/2))
	for i := range c.Out {
		rank := 1
		if int64(i) < weights {
			rank = 2
		}
		c.set(i, graph.OfRank(rank))
	}
	return nil
}
