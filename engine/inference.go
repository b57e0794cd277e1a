package engine

// InferencePasses returns the passes for functions that are called with weights
// that rarely change, as loaded models are: the default ones, and such as
// compute sums and products in another order, so that results differ by
// rounding.
func InferencePasses() []Pass {
	return append(DefaultPasses(),
		Pass{Name: "batch norm", ChangesRounding: true, Run: foldBatchNorms},
		Pass{Name: "epilogues", ChangesRounding: true, Run: fuseEpilogues},
	)
}
