package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// colors are the fills of nodes, as in the pictures of TensorFlow's checkpoint guide. svg.go uses them too.
var colors = map[NodeKind]string{Plain: "#202124", Optimizer: "#d93025", Variable: "#1a73e8", Slot: "#f29900"}

// DOT writes the graph in Graphviz's language.
func (g *Graph) DOT(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("digraph checkpoint {\n  rankdir=LR;\n  node [shape=circle, style=filled, label=\"\", width=0.22, fixedsize=true];\n  edge [fontname=\"Helvetica\", fontsize=11, color=\"#5f6368\", arrowsize=0.6];\n")
	for i, n := range g.Nodes {
		label := n.Info
		if i == 0 {
			label = n.Title
		}
		if n.Value != "" {
			label += " = " + n.Value
		}
		fmt.Fprintf(b, "  n%d [fillcolor=%q, color=%q, xlabel=%s, tooltip=%s];\n", i, colors[n.Kind], colors[n.Kind], dotString(label), dotString(g.Path(i)))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(b, "  n%d -> n%d [label=%s", e.From, e.To, dotString(e.Label))
		if e.Slot {
			b.WriteString(", style=dashed")
		}
		if !e.Tree {
			b.WriteString(", constraint=false")
		}
		b.WriteString("];\n")
	}
	b.WriteString("}\n")
	return b.Flush()
}

// dotString quotes a text for DOT. Line breaks become spaces and control characters visible, so that a
// hostile name can't leave the quotes.
func dotString(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Printable(strings.ReplaceAll(s, "\n", " ")))
	return `"` + s + `"`
}
