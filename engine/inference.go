package engine

import "slices"

// InferencePasses returns the passes for functions that are called with weights
// that rarely change, as loaded models are: the default ones, and such as
// compute sums and products in another order, so that results differ by
// rounding. Weights that are infinite may give NaN instead of an infinity, because
// a factor meets zeros among other weights then.
func InferencePasses() []Pass {
	passes := WithoutPass(DefaultPasses(), "convolutions") // "epilogues" comes behind others that need them apart
	// Reshapes of one value are shared.
	shared := slices.IndexFunc(passes, func(p Pass) bool { return p.Name == "common subexpressions" })
	passes = slices.Insert(passes, shared,
		Pass{Name: "recurrences", ChangesRounding: true, Run: raiseRecurrences},
		Pass{Name: "layouts of sequences", Run: turnSequences},
		Pass{Name: "products", ChangesRounding: true, Run: makeProducts},
	)
	passes = slices.Insert(passes, len(passes)-1, // chains are made of what the others leave
		Pass{Name: "padding", ChangesRounding: true, Run: foldPads},
		Pass{Name: "scales", ChangesRounding: true, Run: foldScales},
		Pass{Name: "attention", Run: fuseAttention},
		Pass{Name: "gelu", ChangesRounding: true, Run: raiseGelus},
		Pass{Name: "layer norm", ChangesRounding: true, Run: raiseLayerNorms},
		Pass{Name: "batch norm", ChangesRounding: true, Run: foldBatchNorms},
		Pass{Name: "epilogues", ChangesRounding: true, Run: fuseEpilogues},
		Pass{Name: "rows", Run: fuseRows},
	)
	return append(passes, Pass{Name: "fast functions", ChangesRounding: true, Run: markFast})
}
