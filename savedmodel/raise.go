package savedmodel

import "github.com/cairnml/cairn/graph"

// raised returns the graph with functional control flow only.
func raised(g *graph.Graph) (*graph.Graph, error) { return g, nil }
