package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
)

// Graph is a list of nodes in the order in which they were added. The zero
// value is an empty graph. It is safe for concurrent use as long as no
// goroutine changes it.
type Graph struct {
	// Library contains the functions of the file. Nodes refer to functions by
	// pointer; only names that a file's nodes use as ops are looked up in it.
	Library *Library
	// Versions are those of the GraphDef that the graph was read from.
	Versions Versions

	extra   *graphExtra
	nodes   []*Node
	byName  map[string]*Node
	last    map[string]int // suffixes given out, by name
	effects *Effects       // of the functions that nodes call; nil: each question walks through them
}

// Versions are the versions in a GraphDef.
type Versions struct {
	Producer, MinConsumer int32
	BadConsumers          []int32
}

// graphExtra is the part of a GraphDef that this module doesn't use.
type graphExtra struct {
	versions *pb.VersionDef // nil if the file has none
	version  int32
	debug    *pb.GraphDebugInfo
	library  []byte // unknown fields of the library
	unknown  []byte
}

// Nodes returns the graph's nodes in order. The slice must not be changed.
func (g *Graph) Nodes() []*Node { return g.nodes }

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Lookup returns the node called name, or nil.
func (g *Graph) Lookup(name string) *Node { return g.byName[name] }

// Add adds n at the end of the graph. An empty name is generated from the op's;
// a name that is taken is an error.
func (g *Graph) Add(n *Node) error {
	if n.graph != nil {
		return fmt.Errorf("graph: node %q is in a graph already", n.Name)
	}
	if n.Name == "" {
		n.Name = g.UniqueName(n.Op)
	}
	if g.byName[n.Name] != nil {
		return fmt.Errorf("graph: there are two nodes called %q", n.Name)
	}
	if g.byName == nil {
		g.byName = make(map[string]*Node)
	}
	n.graph, n.index = g, len(g.nodes)
	g.nodes = append(g.nodes, n)
	g.byName[n.Name] = n
	return nil
}

// UniqueName returns base, or base with the first of the suffixes "_1", "_2", …
// if a node has that name.
func (g *Graph) UniqueName(base string) string {
	if base == "" {
		base = "node"
	}
	if g.byName[base] == nil {
		return base
	}
	if g.last == nil {
		g.last = make(map[string]int)
	}
	for i := g.last[base] + 1; ; i++ {
		name := base + "_" + strconv.Itoa(i)
		if g.byName[name] == nil {
			g.last[base] = i
			return name
		}
	}
}

// Remove removes the nodes for which drop is true. The other nodes must not
// have inputs from them.
func (g *Graph) Remove(drop func(*Node) bool) {
	kept := g.nodes[:0]
	for _, n := range g.nodes {
		if drop(n) {
			delete(g.byName, n.Name)
			n.graph = nil
			continue
		}
		n.index = len(kept)
		kept = append(kept, n)
	}
	clear(g.nodes[len(kept):])
	g.nodes = kept
}

// Find returns the output with this name in a GraphDef: "node", "node:1".
func (g *Graph) Find(name string) (Output, error) {
	node, port, found := strings.Cut(name, ":")
	i := 0
	if found {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return Output{}, fmt.Errorf("graph: %q is no name of a tensor: the number of the output is wrong", name)
		}
		i = int(n)
	}
	n := g.byName[node]
	if n == nil {
		return Output{}, fmt.Errorf("graph: there is no node %q", node)
	}
	return Output{n, i}, nil
}

// String lists the nodes, one per line.
func (g *Graph) String() string {
	var b strings.Builder
	for _, n := range g.nodes {
		b.WriteString(n.String())
		b.WriteByte('\n')
	}
	return b.String()
}
