package engine

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// invariance tells which values of a function stay the same between its calls:
// constants, variables that are read before anything in the function can have
// written to one, and what is computed from such values alone.
type invariance struct {
	variables bool // counted in, not constants only
	kinds     map[*graph.Node]invariantKind
}

type invariantKind uint8

const (
	varies       invariantKind = iota
	isConstant                 // a Const
	isHandle                   // a variable's handle or reference: of the function's argument, or made by a node
	isRead                     // the value of a variable
	isComputed                 // from invariant values
	maxInvariant = 1 << 16     // bytes that a value may have more than twice what it is computed from
)

// invarianceOf looks at a function whose nodes stand in order.
func invarianceOf(f *graph.Function, variables bool) *invariance {
	v := &invariance{variables: variables, kinds: make(map[*graph.Node]invariantKind, f.Graph.Len())}
	after := make(map[*graph.Node]bool) // nodes that come after a write
	for _, n := range f.Graph.Nodes() {
		late := slices.ContainsFunc(n.In, func(o graph.Output) bool { return after[o.Node] }) ||
			slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return after[c] })
		if late || writes(n) {
			after[n] = true
		}
		if k := v.kindOf(n, late); k != varies {
			v.kinds[n] = k
		}
	}
	return v
}

// writes reports whether running n may change a variable.
func writes(n *graph.Node) bool {
	e := n.Effect()
	return e&graph.Code != 0 || e&(graph.Reads|graph.Writes) == graph.Reads|graph.Writes
}

func (v *invariance) kindOf(n *graph.Node, late bool) invariantKind {
	switch n.Op {
	case "Const":
		if _, ok := constantOf(n); ok {
			return isConstant
		}
		return varies
	case graph.ArgOp:
		if v.variables && (n.Out[0].DType == tensor.Resource || n.Out[0].Ref) {
			return isHandle
		}
		return varies
	case "VarHandleOp", "VariableV2", "Variable":
		if v.variables && len(n.In) == 0 && len(n.Control) == 0 && len(n.Out) == 1 {
			return isHandle
		}
		return varies
	case "ReadVariableOp":
		if !late && len(n.In) == 1 && v.kinds[n.In[0].Node] == isHandle && n.In[0].Fact().DType == tensor.Resource {
			return isRead
		}
		return varies
	case "Placeholder", "PlaceholderV2", "PlaceholderWithDefault":
		return varies // these may be fed
	}
	if len(n.In) == 0 || len(n.Out) == 0 || !n.Effect().Pure() || callsFunctions(n) {
		return varies
	}
	from := 0
	for i, in := range n.In {
		fact := in.Fact()
		switch k := v.kinds[in.Node]; {
		case k == varies, k == isHandle && (late || !fact.Ref || wantsRef(n, i)):
			return varies
		}
		from += factBytes(fact)
	}
	for _, o := range n.Out {
		// A value that is larger than what it is computed from, such as that of Fill
		// or Tile, is not worth its memory.
		if o.Ref || !o.DType.Fixed() || o.DType == tensor.Resource || o.DType == tensor.Variant || factBytes(o) > 2*from+maxInvariant {
			return varies
		}
	}
	return isComputed
}

// factBytes returns the size of a value whose shape is known, 0 of others.
func factBytes(f graph.Fact) int {
	if !f.Shape.Known() || !f.DType.Fixed() {
		return 0
	}
	n, err := f.Shape.Dims().NumElements()
	if err != nil || n > maxBytes/f.DType.Size() {
		return maxBytes / 4
	}
	return n * f.DType.Size()
}

// Has reports whether o is the same in all calls, as far as nobody writes to a
// variable.
func (v *invariance) has(o graph.Output) bool {
	switch v.kinds[o.Node] {
	case isConstant, isRead, isComputed:
		return true
	}
	return false
}
