package shape

import "github.com/cairnml/cairn/graph"

func fusedRules() map[string]Rule {
	return map[string]Rule{
		"_FusedConv2D":                fused("Conv2D", conv),
		"_FusedDepthwiseConv2dNative": fused("DepthwiseConv2dNative", conv),
		"_FusedMatMul":                fused("MatMul", matMul),
		"_Elementwise":                broadcastAll,
		"_UpdateVariables":            nothing,
		"_Gelu":                       unchanged,
		"_LayerNorm":                  unchanged,
		"_LSTM":                       recurrent,
		"_GRU":                        recurrent,
	}
}

// fused returns the rule of an op that does what another op does to its first two
// inputs, and then changes the numbers only.
func fused(op string, rule Rule) Rule {
	return func(c *Inference) error {
		if err := c.atLeast(2); err != nil {
			return err
		}
		plain := *c
		plain.Op, plain.In = op, c.In[:2]
		return rule(&plain)
	}
}

// broadcastAll infers the shape to which all inputs broadcast.
func broadcastAll(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	all := c.shape(0)
	for i := 1; i < len(c.In); i++ {
		s := c.shape(i)
		if !all.HasRank() || !s.HasRank() {
			return nil
		}
		dims, err := Broadcast(all.Dims(), s.Dims())
		if err != nil {
			return err
		}
		all = graph.ShapeOf(dims...)
	}
	c.set(0, all)
	return nil
}

// recurrent infers the states after all steps, and the last ones.
func recurrent(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	h := c.shape(1)
	steps := 0
	if c.Attrs.Bool("sequence") {
		steps = int(c.Attrs.Int("steps", 0))
	}
	c.set(0, graph.ShapeOf(steps).Concat(h))
	for i := 1; i < len(c.Out); i++ {
		c.set(i, h)
	}
	return nil
}
