package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine/internal/analysis"
	"github.com/cairnml/cairn/graph"
)

// maxShared is the number of elements of the largest constants that are compared.
// Larger constants are rarely equal.
const maxShared = 16

// maxSimilar is the number of nodes with equal ops and inputs after which the texts of
// attributes are part of the key.
const maxSimilar = 8

// shareEqual merges nodes without effects whose ops, attributes and inputs are
// equal.
func shareEqual(u *Unit) error {
	first := map[string][]*graph.Node{}
	replaced := map[graph.Output]graph.Output{}
	for _, n := range u.Function.Graph.Nodes() {
		for i, in := range n.In {
			if o, ok := replaced[in]; ok {
				n.In[i] = o
			}
		}
		if !removable(n) || analysis.CallsFunctions(n) {
			continue
		}
		var key strings.Builder
		key.WriteString(n.Op)
		for _, in := range n.In {
			key.WriteByte(' ')
			key.WriteString(in.String())
		}
		if v, ok := analysis.ConstantOf(n); ok {
			if v.Len() > maxShared || !v.DType().Fixed() {
				continue
			}
			fmt.Fprint(&key, v.DType(), v.Shape())
			key.Write(v.Bytes())
		}
		at := key.String()
		equal := equalTo(n, first[at])
		if equal == nil && len(first[at]) >= maxSimilar {
			at += " " + n.Attrs.Describe()
			equal = equalTo(n, first[at])
		}
		if equal == nil {
			first[at] = append(first[at], n)
			continue
		}
		for i := range n.Out {
			replaced[n.Output(i)] = equal.Output(i)
		}
	}
	rewire(u.Function, replaced)
	return nil
}

// equalTo returns the first node of the list whose attributes are those of n, or nil.
func equalTo(n *graph.Node, list []*graph.Node) *graph.Node {
	for _, o := range list {
		if slices.EqualFunc(o.Attrs, n.Attrs, graph.Attr.Equal) {
			return o
		}
	}
	return nil
}
