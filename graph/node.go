package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// Node is an op in a graph. Its inputs are outputs of other nodes of the same
// graph.
type Node struct {
	// Name is the node's name, unique in its graph.
	Name string
	// Op is the op's name, or the name of a function that the node calls.
	Op string
	// Def is the op's definition; nil for an op without one.
	Def *OpDef
	// Device is the device that a file asks for. It is kept but has no effect.
	Device string
	// Attrs are the attributes as they were given. [OpDef.Bind] completes them.
	Attrs Attrs
	// In are the data inputs, in order. The node of an input may come later in
	// the graph, as in the loops of TensorFlow 1.
	In []Output
	// Control are the nodes that run before this one although it takes nothing
	// from them.
	Control []*Node
	// Out are the facts of the outputs, one per output.
	Out []Fact
	// Site is the line of the Go program that made the node, "model.go:12"; empty
	// for a node that was read.
	Site string
	// Extra keeps the rest of the node's message in a file: its debug info,
	// full type and fields that this package doesn't know.
	Extra *NodeExtra

	origin *Node   // that this one is a copy of
	path   []*Node // the calls in whose bodies it stood
	graph  *Graph
	index  int  // in graph.nodes
	read   bool // from a file, whose names stay as they are
}

// NodeExtra is the part of a node's message in a file that this module doesn't
// use.
type NodeExtra struct {
	debugInfo *pb.ExperimentalDebugInfo
	fullType  *pb.FullTypeDef
	unknown   []byte
}

// Origin returns the node that n is a copy of, by [Function.Clone], [Prune] or
// [Function.Inline], directly or through other copies. A node that is no copy
// returns itself. Origin identifies a node's state between calls, however often
// the node is compiled.
func (n *Node) Origin() *Node {
	if n.origin != nil {
		return n.origin
	}
	return n
}

// Path returns the calls that [Function.Inline] replaced by the bodies that
// contain n, outermost first. Each is the [Node.Origin] of the call. The path
// distinguishes copies of a node that different calls run.
func (n *Node) Path() []*Node { return n.path }

// clone returns a copy of n in no graph, whose inputs are still n's.
func (n *Node) clone() *Node {
	c := *n
	c.graph, c.origin = nil, n.Origin()
	c.In, c.Control = slices.Clone(n.In), nil
	c.Out = slices.Clone(n.Out)
	return &c
}

// Output is output Index of Node.
type Output struct {
	Node  *Node
	Index int
}

// Fact returns the fact of the output.
func (o Output) Fact() Fact {
	if o.Node == nil || o.Index >= len(o.Node.Out) {
		return Fact{}
	}
	return o.Node.Out[o.Index]
}

// String returns "name:1", or "name" for the first output, as a GraphDef has
// it.
func (o Output) String() string {
	switch {
	case o.Node == nil:
		return "<nil>"
	case o.Index == 0:
		return o.Node.Name
	}
	return fmt.Sprintf("%s:%d", o.Node.Name, o.Index)
}

// Output returns output i of the node.
func (n *Node) Output(i int) Output { return Output{n, i} }

// Graph returns the graph that the node is in; nil after [Graph.Remove].
func (n *Node) Graph() *Graph { return n.graph }

// Index returns the node's index among the graph's nodes. It changes when nodes
// are removed.
func (n *Node) Index() int { return n.index }

// IsArg reports whether the node is an argument of a function.
func (n *Node) IsArg() bool { return n.Op == ArgOp }

// String returns "name = Op(a, b:1; ^c) axis=1".
func (n *Node) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s(", n.Name, n.Op)
	for i, in := range n.In {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(in.String())
	}
	for i, c := range n.Control {
		if i == 0 && len(n.In) > 0 {
			b.WriteString("; ")
		} else if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("^" + c.Name)
	}
	b.WriteByte(')')
	if d := n.Attrs.Describe(); d != "" {
		b.WriteString(" " + d)
	}
	for i, f := range n.Out {
		if i == 0 {
			b.WriteString(" → ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(f.String())
	}
	return b.String()
}
