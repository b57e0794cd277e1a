// Package render draws: object graphs as trees of text, as Graphviz's DOT and
// as SVG pictures, and tensors' values as histograms.
package render

// NodeKind says what a node of an object graph is; pictures colour by it.
type NodeKind int

// The kinds of nodes. Colours are those of TensorFlow's checkpoint guide.
const (
	Plain     NodeKind = iota // black
	Optimizer                 // red: it owns slot variables
	Variable                  // blue
	Slot                      // orange: an optimizer's state for one variable
)

// Node is an object of a graph.
type Node struct {
	Kind  NodeKind
	Path  string // the first way from the root, edges joined by "/"; "" for the root
	Title string // the root's name; other nodes go by their edges
	Info  string // type and shape, saver, …
	Value string // a small tensor's value, or ""
}

// Edge leads from a node to another.
type Edge struct {
	From, To int
	Label    string
	Slot     bool // from a variable to its slot variable, or from the optimizer
	Tree     bool // the first edge that leads to To, breadth first
}

// Graph is an object graph, ready to be drawn. Node 0 is the root.
type Graph struct {
	Nodes []Node
	Edges []Edge // in the order of the checkpoint, node by node
}

// out lists each node's outgoing edges.
func (g *Graph) out() [][]Edge {
	out := make([][]Edge, len(g.Nodes))
	for _, e := range g.Edges {
		out[e.From] = append(out[e.From], e)
	}
	return out
}
