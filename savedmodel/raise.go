package savedmodel

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/raise"
)

// runnable is a graph with functional control flow only.
type runnable struct {
	*graph.Graph
	problems raise.Problems // control flow of TensorFlow 1 that could not be raised
}

// raised returns a graph of its own with functional control flow only, and with the
// functions that only says, as [graph.Options] has it. What could not be raised matters
// only to those who need it.
func (g *MetaGraph) raised(only []string) (*runnable, error) {
	gr, err := g.decodeGraph(only)
	if err != nil || !raise.Needed(gr) {
		return &runnable{Graph: gr}, err
	}
	return &runnable{gr, raise.Graph(gr)}, nil
}

// makers returns the names of the functions that make the objects which are resources,
// and fill them.
func (g *MetaGraph) makers() []string {
	names := []string{}
	for _, o := range g.Objects {
		for _, role := range []string{"_create_resource", "_initialize"} {
			if f := o.Child(role); f != nil && f.Function != nil && len(f.Function.Concrete) > 0 {
				names = append(names, f.Function.Concrete[0].Name)
			}
		}
	}
	return names
}
