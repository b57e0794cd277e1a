package shape

func fusedRules() map[string]Rule {
	return map[string]Rule{
		"_FusedConv2D":                fused("Conv2D", conv),
		"_FusedDepthwiseConv2dNative": fused("DepthwiseConv2dNative", conv),
		"_FusedMatMul":                fused("MatMul", matMul),
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
