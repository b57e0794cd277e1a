package engine

import "slices"

// InferencePasses returns the passes for functions that are called with weights
// that rarely change, as loaded models are: the default ones, and such as
// compute sums and products in another order, so that results differ by
// rounding.
func InferencePasses() []Pass {
	passes := DefaultPasses()
	return slices.Insert(passes, len(passes)-1, // chains are made of what the others leave
		Pass{Name: "padding", ChangesRounding: true, Run: foldPads},
		Pass{Name: "batch norm", ChangesRounding: true, Run: foldBatchNorms},
		Pass{Name: "epilogues", ChangesRounding: true, Run: fuseEpilogues},
	)
}
