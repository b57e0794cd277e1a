// Package render draws object graphs as trees of text, and object graphs and networks as Graphviz's
// DOT and as pictures on a [Canvas]. It knows no formats of files: packages inspect,
// savedmodel/describe and keras make its graphs and networks.
package render

import (
	"fmt"
	"slices"
	"strings"
)

// NodeKind is the kind of a node of an object graph; pictures colour by it.
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
	Title string // the root's name; other nodes go by their edges
	Info  string // type and shape, saver, …
	Value string // a small tensor's value, or ""
}

// MaxPath is the length in bytes from which on the beginning of a node's path is left out. Files can
// have graphs so deep that all paths together would fill any memory. The number is ours and may change.
const MaxPath = 512

// Path returns the first path from the root to a node, edges joined by "/"; ""
// for the root and for nodes that the root doesn't reach. [Graph.Link] must
// have been called.
func (g *Graph) Path(i int) string {
	var labels []string
	for n := 0; i > 0 && i < len(g.parent) && g.parent[i] >= 0; i = int(g.parent[i]) {
		if n += len(g.label[i]) + 1; n > MaxPath {
			labels = append(labels, fmt.Sprintf("…%d", i))
			break
		}
		labels = append(labels, g.label[i])
	}
	slices.Reverse(labels)
	return strings.Join(labels, "/")
}

// Link sets the path of every node from the edges marked Tree. Whoever makes a Graph calls it once.
func (g *Graph) Link() {
	g.parent, g.label = make([]int32, len(g.Nodes)), make([]string, len(g.Nodes))
	for i := range g.parent {
		g.parent[i] = -1
	}
	for _, e := range g.Edges {
		if e.Tree {
			g.parent[e.To], g.label[e.To] = int32(e.From), e.Label
		}
	}
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

	// Outside is the number of tensors that no object holds, for a picture's
	// legend.
	Outside int

	parent []int32  // in the tree
	label  []string // of the tree's edge to each node
}

// out lists each node's outgoing edges, of which a node may have very many.
func (g *Graph) out() [][]Edge {
	counts := make([]int32, len(g.Nodes))
	for _, e := range g.Edges {
		counts[e.From]++
	}
	out := make([][]Edge, len(g.Nodes))
	all := make([]Edge, len(g.Edges))
	for i, n := range counts {
		out[i], all = all[:0:n], all[n:]
	}
	for _, e := range g.Edges {
		out[e.From] = append(out[e.From], e)
	}
	return out
}
