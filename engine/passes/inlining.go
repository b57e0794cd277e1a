package passes

import (
	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
)

// inlineCalls replaces calls of functions by the functions' bodies, so that the
// other passes can match across the calls. A function with Switch or Merge stays a
// call.
func inlineCalls(u *Unit) error {
	f, err := u.Function.Inline(&graph.InlineOptions{Stays: analysis.HasBranches})
	if err != nil || f == u.Function {
		return err
	}
	u.Function = f
	return u.Shapes.InferFunction(f)
}
