package shape

import "github.com/cairnml/cairn/graph"

// xlaRules returns the rules of those of XLA's ops that the CPU runs.
func xlaRules() map[string]Rule {
	return map[string]Rule{
		"XlaSharding": unchanged, "XlaOptimizationBarrier": xlaBarrier, "XlaEinsum": einsum,
		"XlaDynamicSlice": xlaDynamicSlice, "XlaDynamicUpdateSlice": unchanged,
	}
}

// xlaBarrier gives every input as it is.
func xlaBarrier(c *Inference) error {
	for i := range min(len(c.In), len(c.Out)) {
		c.pass(i, i)
	}
	return nil
}

// xlaDynamicSlice gives a block of known size.
func xlaDynamicSlice(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	n := c.shape(0).Rank()
	size, ok := c.list(2, n)
	if !ok {
		if n >= 0 {
			c.set(0, graph.OfRank(n))
		}
		return nil
	}
	dims := make([]int, len(size))
	for i, e := range size {
		if k, ok := e.Int(); ok && k >= 0 {
			dims[i] = int(k)
		} else {
			dims[i] = -1
		}
	}
	c.setDims(0, dims...)
	return nil
}
