package savedmodel

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/raise"
)

// raised returns the graph with functional control flow only: g itself where it
// has no other, and otherwise a graph of its own. What could not be raised is
// told too; it matters only to those who need it.
func (g *MetaGraph) raised() (*graph.Graph, raise.Problems, error) {
	gr, err := g.Graph()
	if err != nil || !raise.Needed(gr) {
		return gr, nil, err
	}
	if gr, err = g.decodeGraph(g.proto.GraphDef); err != nil {
		return nil, nil, err
	}
	return gr, raise.Graph(gr), nil
}
