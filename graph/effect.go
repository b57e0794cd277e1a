package graph

import (
	"strings"
	"sync"
)

// Effect is a set of the constants below: the actions and dependencies of an op
// besides its inputs and outputs. The zero Effect is that of a pure op, which
// returns the same outputs for the same inputs whenever it runs.
type Effect uint16

const (
	// Random ops draw numbers from the state of their node.
	Random Effect = 1 << iota
	// Reads state that others change: variables, tables, queues.
	Reads
	// Writes state that others read, or makes an object that is changed.
	Writes
	// Checks is for ops that check or show their inputs: assertions, prints.
	Checks
	// FileReads is the reading of files.
	FileReads
	// FileWrites is the writing of files.
	FileWrites
	// Network is communication with other processes and other devices.
	Network
	// Code is for ops that run code outside of the graph: Python functions,
	// compiled programs, graphs that are serialized in a tensor.
	Code
)

// Files is the reading and the writing of files.
const Files = FileReads | FileWrites

// Outside are the effects that reach beyond the model and its state.
const Outside = Files | Network | Code

// effectNames are the names of the constants, in their order.
var effectNames = [...]string{"random", "reads state", "writes state", "checks", "reads files", "writes files", "network", "runs code"}

// String lists the effects, "reads state, reads files"; "pure" if there are none.
func (e Effect) String() string {
	var parts []string
	for i, name := range effectNames {
		if e&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	if parts == nil {
		return "pure"
	}
	return strings.Join(parts, ", ")
}

// Pure reports whether the op can be left out, repeated, shared and computed
// ahead.
func (e Effect) Pure() bool { return e == 0 }

// Effect returns the effect that running the op may have with any inputs and
// attributes, without that of functions in the attributes; see [Node.Effect].
//
// Tables have the effects of TensorFlow's ops. An op that they lack reads and writes
// state if its definition is stateful or has a Ref input. Otherwise it is pure.
func (d *OpDef) Effect() Effect {
	e := d.ownEffect()
	for _, r := range referencesByOp()[d.Name] {
		e |= r.effect
	}
	return e
}

// ownEffect returns the effect of the op without the effects on things outside
// of the graph that its inputs and attributes name.
func (d *OpDef) ownEffect() Effect {
	if e, ok := effectOf(d.Name); ok {
		return e
	}
	if referencesByOp()[d.Name] != nil {
		return 0
	}
	for i := range d.Inputs {
		if d.Inputs[i].Ref {
			return Reads | Writes
		}
	}
	if d.Stateful {
		return Reads | Writes
	}
	return 0
}

// effectOf returns the table's effect of an op, and whether the table has the
// op.
func effectOf(op string) (Effect, bool) {
	t := effectTable()
	if e, ok := t.exact[op]; ok {
		return e, true
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(op, p.prefix) {
			return p.effect, true
		}
	}
	return 0, false
}

type effects struct {
	exact    map[string]Effect
	prefixes []struct {
		prefix string
		effect Effect
	}
}

// effectTable is [effectList] as maps for lookups. A name that ends in "*"
// matches all ops that begin so.
var effectTable = sync.OnceValue(func() *effects {
	t := &effects{exact: map[string]Effect{}}
	for _, row := range effectList {
		for _, name := range strings.Fields(row.ops) {
			if p, ok := strings.CutSuffix(name, "*"); ok {
				t.prefixes = append(t.prefixes, struct {
					prefix string
					effect Effect
				}{p, row.effect})
			} else {
				t.exact[name] = row.effect
			}
		}
	}
	return t
})

// callingOps are the ops that do nothing themselves but call the functions in
// their attributes. The effect of a node is that of the functions alone.
var callingOps = map[string]bool{
	"If": true, "StatelessIf": true, "While": true, "StatelessWhile": true, "XlaWhile": true, "For": true, "Case": true, "StatelessCase": true,
	"PartitionedCall": true, "StatefulPartitionedCall": true, "_If": true, "_While": true, "BatchFunction": true,
	"ScanDataset": true, "MapDataset": true, "SymbolicGradient": true, "TPUPartitionedCall": true,
}

// Effect returns the effect of running the node: that of its op, and those of
// the functions that it calls. An op without a definition, and a function that
// the library lacks, have the effect [Code]. [Graph.KeepEffects] keeps the effects
// of functions.
func (n *Node) Effect() Effect {
	e, callees := n.parts(nil)
	if len(callees) == 0 {
		return e
	}
	return e | n.graph.kept().ofAll(callees)
}

// Effect returns the effect of running the function.
func (fn *Function) Effect() Effect { return fn.Graph.kept().Of(fn) }

// ownEffect returns the effects of the nodes without those of the functions that they
// call, and these functions.
func (fn *Function) ownEffect() (e Effect, callees []*Function) {
	for _, n := range fn.Graph.nodes {
		var own Effect
		own, callees = n.parts(callees)
		e |= own
	}
	return e, callees
}

// parts returns the effect of the node without those of the functions that it calls, and
// appends these functions to callees.
func (n *Node) parts(callees []*Function) (Effect, []*Function) {
	d := n.Def
	if d == nil {
		d = LookupOp(n.Op)
	}
	var e Effect
	switch f := n.graph.library().Lookup(n.Op); {
	case f != nil:
		return 0, append(callees, f)
	case n.IsArg():
		return 0, callees
	case d == nil:
		return Code, callees // the op's behaviour is unknown
	case !callingOps[n.Op]:
		e = n.ownEffect(d)
	}
	call := func(c Callee) {
		if c.Function == nil {
			e |= Code
		} else {
			callees = append(callees, c.Function)
		}
	}
	for _, a := range n.Attrs {
		switch v := a.value.(type) {
		case Callee:
			call(v)
		case []Callee:
			for _, c := range v {
				call(c)
			}
		}
	}
	return e, callees
}

// OwnEffect returns the effect of running the node without the effects of the
// functions that it calls. It is 0 for an argument, for a node whose op is a
// function of the library, and for an op without a definition.
func (n *Node) OwnEffect() Effect {
	d := n.Def
	if d == nil {
		d = LookupOp(n.Op)
	}
	if d == nil || n.IsArg() || n.Graph().library().Lookup(n.Op) != nil {
		return 0
	}
	return n.ownEffect(d)
}

func (n *Node) ownEffect(d *OpDef) Effect {
	e := d.ownEffect()
	for _, r := range n.References() {
		e |= r.Effect
	}
	return e
}

func (g *Graph) library() *Library {
	if g == nil {
		return nil
	}
	return g.Library
}
