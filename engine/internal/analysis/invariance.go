package analysis

import (
	"math"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Invariance contains the values of a function that stay the same between its
// calls: constants, variables that are read before any write of the function, and
// whatever is computed from such values alone. The zero Invariance has none.
type Invariance struct {
	variables bool // includes variables; otherwise constants only
	kinds     map[*graph.Node]Kind
}

// Kind is the reason why the outputs of a node are invariant.
type Kind uint8

// The kinds of nodes.
const (
	Varies   Kind = iota // not invariant
	Constant             // a Const
	Handle               // the handle of a variable or a reference to one: an argument of the function, or the output of a node without inputs
	Read                 // the value of a variable
	Computed             // computed from invariant values
)

// MaxExtraBytes is how much larger an invariant value may be than twice the values
// that it is computed from.
const MaxExtraBytes = 1 << 16

// InvarianceOf analyzes a function whose nodes are in topological order. If
// variables is false, only values that depend on constants alone are invariant.
func InvarianceOf(f *graph.Function, variables bool) *Invariance {
	v := &Invariance{variables: variables, kinds: make(map[*graph.Node]Kind, f.Graph.Len())}
	after := make(map[*graph.Node]bool) // nodes that run after a write
	for _, n := range f.Graph.Nodes() {
		late := slices.ContainsFunc(n.In, func(o graph.Output) bool { return after[o.Node] }) ||
			slices.ContainsFunc(n.Control, func(c *graph.Node) bool { return after[c] })
		if late || writes(n) {
			after[n] = true
		}
		if k := v.kindOf(n, late); k != Varies {
			v.kinds[n] = k
		}
	}
	return v
}

// writes reports whether n may change a variable. An op that has the effect Writes and not Reads makes an object, such
// as VarHandleOp. That changes no value.
func writes(n *graph.Node) bool {
	e := n.Effect()
	return e&graph.Code != 0 || e&(graph.Reads|graph.Writes) == graph.Reads|graph.Writes
}

// kindOf returns the kind of a node, whose inputs' kinds are known. late means that a write to a variable may
// come before the node. A node of doubtful kind Varies, which is always right.
func (v *Invariance) kindOf(n *graph.Node, late bool) Kind {
	switch n.Op {
	case "Const":
		if _, ok := ConstantOf(n); ok {
			return Constant
		}
		return Varies
	case graph.ArgOp:
		if v.variables && (n.Out[0].DType == tensor.Resource || n.Out[0].Ref) {
			return Handle
		}
		return Varies
	case "VarHandleOp", "VariableV2", "Variable":
		if v.variables && len(n.In) == 0 && len(n.Control) == 0 && len(n.Out) == 1 {
			return Handle
		}
		return Varies
	case "ReadVariableOp":
		if !late && len(n.In) == 1 && v.kinds[n.In[0].Node] == Handle && n.In[0].Fact().DType == tensor.Resource {
			return Read
		}
		return Varies
	case "Placeholder", "PlaceholderV2", "PlaceholderWithDefault":
		return Varies // a call may feed them
	}
	if len(n.In) == 0 || len(n.Out) == 0 || !n.Effect().Pure() || CallsFunctions(n) {
		return Varies
	}
	from := 0
	for i, in := range n.In {
		fact := in.Fact()
		switch k := v.kinds[in.Node]; {
		case k == Varies, k == Handle && (late || !fact.Ref || WantsRef(n, i)):
			return Varies
		}
		from += bytesOf(fact)
	}
	for _, o := range n.Out {
		// A value that is much larger than its sources, such as the output of Fill or
		// Tile, is not worth its memory.
		if o.Ref || !o.DType.Fixed() || o.DType == tensor.Resource || o.DType == tensor.Variant || bytesOf(o) > 2*from+MaxExtraBytes {
			return Varies
		}
	}
	return Computed
}

// bytesOf returns the size of a value in bytes, or 0 if its shape is not known.
func bytesOf(f graph.Fact) int {
	const most = math.MaxInt - 64
	if !f.Shape.Known() || !f.DType.Fixed() {
		return 0
	}
	n, err := f.Shape.Dims().NumElements()
	if err != nil || n > most/f.DType.Size() {
		return most / 4
	}
	return n * f.DType.Size()
}

// KindOf returns the kind of n.
func (v *Invariance) KindOf(n *graph.Node) Kind { return v.kinds[n] }

// Has reports whether o is the same in all calls between two writes to variables.
// Handles are not counted.
func (v *Invariance) Has(o graph.Output) bool {
	switch v.kinds[o.Node] {
	case Constant, Read, Computed:
		return true
	}
	return false
}
