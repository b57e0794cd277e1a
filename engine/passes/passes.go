package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// Pass rewrites a function before the engine compiles it.
type Pass struct {
	// Name is the name of the pass in [Without] and in errors, such as
	// "constant folding".
	Name string
	// ChangesRounding reports whether results may differ by rounding from those of
	// the function as it was written. Default: false, all bits stay.
	ChangesRounding bool
	// Run rewrites u.Function or replaces it by another function.
	Run func(u *Unit) error
}

// Unit is the input of a pass.
type Unit struct {
	// Function is a copy that the pass may change. Its nodes have complete
	// attributes and facts.
	Function *graph.Function
	// Kernels describe the ops that the rewritten function may use.
	Kernels Kernels
	// Shapes are the shape rules.
	Shapes *shape.Rules
	// ConstantsOnly reports whether only values that depend on constants alone are
	// invariant. Default: false, values of variables are invariant too.
	ConstantsOnly bool
}

// Kernels describe the ops that the engine can execute.
type Kernels interface {
	// Has reports whether op has a kernel.
	Has(op string) bool
	// Definition returns the definition of op, or nil if there is none.
	Definition(op string) *graph.OpDef
	// Fusion returns the ops that the kernel of op can execute as its steps, or nil
	// if op has no kernel.
	Fusion(op string) *Fusion
	// Evaluate executes n with these inputs and returns its outputs. It returns nil
	// if n has no kernel or fails, or if an output needs more than maxBytes.
	Evaluate(n *graph.Node, in []*tensor.Tensor, maxBytes int64) []*tensor.Tensor
}

// Fusion is a kernel that executes a program of other ops, such as that of
// [ElementwiseOp].
type Fusion struct {
	// Ops are the ops that a program may contain.
	Ops []string
	// Types are the element types of a program. Default: all.
	Types []tensor.DType
}

// The passes in the lists of [Default] and [Inference].
var (
	inlining       = Pass{Name: "inlining", Run: inlineCalls}
	identities     = Pass{Name: "identity chains", Run: skipIdentities}
	folding        = Pass{Name: "constant folding", Run: foldConstants}
	noOps          = Pass{Name: "no-ops", Run: skipNoOps}
	recurrences    = Pass{Name: "recurrences", ChangesRounding: true, Run: raiseRecurrences}
	sequences      = Pass{Name: "layouts of sequences", Run: turnSequences}
	products       = Pass{Name: "products", ChangesRounding: true, Run: makeProducts}
	subexpressions = Pass{Name: "common subexpressions", Run: shareEqual}
	updates        = Pass{Name: "variable updates", Run: fuseUpdates}
	padding        = Pass{Name: "padding", ChangesRounding: true, Run: foldPads}
	scales         = Pass{Name: "scales", ChangesRounding: true, Run: foldScales}
	attention      = Pass{Name: "attention", Run: fuseAttention}
	gelu           = Pass{Name: "gelu", ChangesRounding: true, Run: raiseGelus}
	layerNorm      = Pass{Name: "layer norm", ChangesRounding: true, Run: raiseLayerNorms}
	batchNorm      = Pass{Name: "batch norm", ChangesRounding: true, Run: foldBatchNorms}
	convolutions   = Pass{Name: "convolutions", Run: fuseConvolutions}
	epilogues      = Pass{Name: "epilogues", ChangesRounding: true, Run: fuseEpilogues}
	rows           = Pass{Name: "rows", Run: fuseRows}
	chains         = Pass{Name: "elementwise chains", Run: fuseChains}
	fastFunctions  = Pass{Name: "fast functions", ChangesRounding: true, Run: markFast}
)

// Default returns the passes that change no bit of a result, in their order.
func Default() []Pass {
	return []Pass{inlining, identities, folding, noOps, subexpressions, updates, convolutions, chains}
}

// Inference returns the passes for functions whose weights rarely change, such as
// those of a loaded model. They include most passes of [Default], and passes that
// change the order of sums and products, so that results differ by rounding. An
// infinite weight may produce NaN instead of an infinity, because a factor may meet
// zeros among the other weights. A filter with infinities or NaN may produce fewer
// NaN at the border, because a convolution does not multiply its padding, but it
// multiplies the zeros of a Pad.
func Inference() []Pass {
	return []Pass{
		inlining, identities, folding, noOps,
		recurrences, sequences, products, // before subexpressions, which shares the reshapes that they add
		subexpressions, updates,
		padding, scales, attention, gelu, layerNorm, batchNorm, epilogues, rows,
		chains, // fuses the ops that the other passes leave
		fastFunctions,
	}
}

// Without returns the list without the passes of these names.
func Without(list []Pass, names ...string) []Pass {
	left := []Pass{}
	for _, p := range list {
		if !slices.Contains(names, p.Name) {
			left = append(left, p)
		}
	}
	return left
}
