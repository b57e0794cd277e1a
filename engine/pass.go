package engine

import (
	"github.com/cairnml/cairn/graph"
)

// Pass rewrites a function before it is compiled. The function may be changed
// freely: it is the compiler's own copy. Its nodes carry complete attributes
// and facts.
type Pass struct {
	// Name is what the pass is called in options and dumps: "constant folding".
	Name string
	// ChangesRounding says that results may differ from the function's as it was
	// written by rounding. Default: false, every bit is the same.
	ChangesRounding bool
	// Run rewrites u.Function, or puts another one in its place.
	Run func(u *Unit) error
}

// Unit is what a pass works on.
type Unit struct {
	Function *graph.Function
	Options  *CompileOptions
}

// WithoutPass returns the list without the passes of these names.
func WithoutPass(passes []Pass, names ...string) []Pass {
	out := []Pass{}
	for _, p := range passes {
		keep := true
		for _, n := range names {
			keep = keep && p.Name != n
		}
		if keep {
			out = append(out, p)
		}
	}
	return out
}
