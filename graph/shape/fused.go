package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// fusedRules returns the rules of the ops that engine/passes makes. Their names begin with "_".
func fusedRules() map[string]Rule {
	return map[string]Rule{
		"_FusedConv2D":                fused("Conv2D", conv),
		"_FusedDepthwiseConv2dNative": fused("DepthwiseConv2dNative", conv),
		"_FusedMatMul":                fused("MatMul", matMul),
		"_Elementwise":                broadcastAll,
		"_UpdateVariables":            nothing,
		"_Attention":                  attention,
		"_Gelu":                       unchanged,
		"_LayerNorm":                  unchanged,
		"_LSTM":                       recurrent,
		"_GRU":                        recurrent,
		"_Rows":                       rowShapes,
	}
}

// fused returns the rule of an op that computes another op of its first two
// inputs, and then changes only the values of the elements.
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

// attention infers the output's shape from the layouts of an attention.
func attention(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	layouts := c.Attrs.Strings("layouts")
	if len(layouts) != 4 {
		return fmt.Errorf("%d layouts, where queries, keys, values and the output have one each", len(layouts))
	}
	sizes := map[rune]int{}
	for i, layout := range layouts[:3] {
		s, err := c.ranked(i, len(layout))
		if err != nil {
			return err
		}
		for k, l := range layout {
			d := s.Dim(k)
			if old, seen := sizes[l]; seen && old >= 0 && d >= 0 && old != d {
				return fmt.Errorf("the sizes %d and %d of dimension %q differ", old, d, l)
			}
			if _, seen := sizes[l]; !seen || d >= 0 {
				sizes[l] = d
			}
		}
	}
	var out []int
	for _, l := range layouts[3] {
		d, ok := sizes[l]
		if !ok {
			return fmt.Errorf("no input has the dimension %q of the output", l)
		}
		out = append(out, d)
	}
	c.setDims(0, out...)
	return nil
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
	h, err := c.ranked(1, 2)
	if err != nil {
		return err
	}
	steps := 0
	if c.Attrs.Bool("sequence") {
		steps = int(c.Attrs.Int("steps", 0))
	}
	switch layouts := c.Attrs.Strings("layouts"); {
	case len(layouts) != 2:
		return fmt.Errorf("%d layouts, where the inputs and the states have one each", len(layouts))
	case layouts[1] == "btw":
		c.setDims(0, h.Dim(0), steps, h.Dim(1))
	default:
		c.setDims(0, steps, h.Dim(0), h.Dim(1))
	}
	for i := 1; i < len(c.Out); i++ {
		c.set(i, h)
	}
	return nil
}

// rowShapes sets the outputs' shapes to those that the attribute lists.
func rowShapes(c *Inference) error {
	shapes := c.Attrs.Shapes("shapes")
	if len(shapes) != len(c.Out) {
		return fmt.Errorf("%d shapes for %d outputs", len(shapes), len(c.Out))
	}
	for i, s := range shapes {
		c.Out[i].Shape = s
	}
	return nil
}
