package ops

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// effects orders the ops of a trace that touch state, as TensorFlow's automatic
// control dependencies do: a read of a variable comes after the last write, a
// write after the last write and all reads since, and ops with an effect on
// nothing in particular (printing, files) one after the other.
type effects struct {
	all  []*graph.Node // whose effect a call must have
	vars map[resource]*uses
	last *graph.Node // the last one with an effect on nothing in particular
}

// resource is what an op touches: what a handle refers to. Handles that are made by one
// name are of one resource.
type resource struct {
	handle          graph.Output
	op, group, name string
}

// shared returns the resource whose handle n makes, if it has a name.
func shared(n *graph.Node) (resource, bool) {
	name := n.Attrs.String("shared_name", "")
	if name == "" || len(n.In) > 0 || n.Def == nil || !n.Def.Stateful {
		return resource{}, false
	}
	return resource{op: n.Op, group: n.Attrs.String("container", ""), name: name}, true
}

// inside appends the resources with names that a call's functions make handles of.
func inside(into []resource, n *graph.Node, seen map[*graph.Function]bool) []resource {
	for _, a := range n.Attrs {
		for _, f := range callees(a) {
			if f == nil || seen[f] {
				continue
			}
			seen[f] = true
			for _, n := range f.Graph.Nodes() {
				if r, ok := shared(n); ok && !slices.Contains(into, r) {
					into = append(into, r)
				}
				into = inside(into, n, seen)
			}
		}
	}
	return into
}

// uses are the ops of a trace that touched one resource.
type uses struct {
	write *graph.Node
	reads []*graph.Node // since the write
}

// note adds the control inputs that n needs, and remembers n.
func (e *effects) note(n *graph.Node, ins []*Value, vars map[*trackable.Variable]*varTrace) {
	effect := effectOf(n, map[*graph.Function]bool{})
	if effect == noEffect {
		return
	}
	reads := effect == reading
	touched := false
	touch := func(r resource) {
		u := e.vars[r]
		if u == nil {
			u = new(uses)
			if e.vars == nil {
				e.vars = map[resource]*uses{}
			}
			e.vars[r] = u
		}
		after(n, u.write)
		if reads {
			u.reads = append(u.reads, n)
			return
		}
		for _, r := range u.reads {
			after(n, r)
		}
		u.write, u.reads = n, nil
	}
	for _, in := range ins {
		if in.also().out.Fact().DType != tensor.Resource {
			continue
		}
		touched = true
		r := resource{handle: in.also().out}
		if named, ok := shared(r.handle.Node); ok {
			r = named
		}
		touch(r)
		if vt := vars[in.Variable()]; vt != nil && !reads {
			vt.read = nil
		}
	}
	for _, r := range inside(nil, n, map[*graph.Function]bool{}) {
		touch(r)
	}
	if reads {
		return
	}
	// A call may have other effects besides those on the variables it is given.
	if !touched || calls(n) {
		after(n, e.last)
		e.last = n
	}
	e.all = append(e.all, n)
}

// effect is what an op does to state.
type effect uint8

const (
	noEffect effect = iota
	reading
	writing
)

// effectOf returns n's effect; that of a call is the strongest of what it
// calls. seen are the functions that were looked at.
func effectOf(n *graph.Node, seen map[*graph.Function]bool) effect {
	switch {
	case n.Def == nil || !n.Def.Stateful || unordered[n.Op]:
		return noEffect
	case readOnly[n.Op]:
		return reading
	case !calls(n):
		return writing
	}
	strongest := noEffect
	for _, a := range n.Attrs {
		for _, f := range callees(a) {
			if f == nil {
				return writing
			}
			if seen[f] {
				continue
			}
			seen[f] = true
			for _, inner := range f.Graph.Nodes() {
				strongest = max(strongest, effectOf(inner, seen))
			}
		}
	}
	return strongest
}

// calls reports whether n calls functions.
func calls(n *graph.Node) bool {
	for _, a := range n.Attrs {
		if a.Kind == graph.AttrFunc || a.Kind == graph.AttrFuncs {
			return true
		}
	}
	return false
}

// callees returns the functions that an attribute refers to.
func callees(a graph.Attr) (list []*graph.Function) {
	switch v := a.Value().(type) {
	case graph.Callee:
		return []*graph.Function{v.Function}
	case []graph.Callee:
		for _, c := range v {
			list = append(list, c.Function)
		}
	}
	return list
}

func after(n, before *graph.Node) {
	if before != nil && before != n && !slices.Contains(n.Control, before) {
		n.Control = append(n.Control, before)
	}
}

// readOnly are the stateful ops that change nothing.
var readOnly = map[string]bool{
	"ReadVariableOp": true, "VariableShape": true, "VarIsInitializedOp": true, "ResourceGather": true, "ResourceGatherNd": true,
	"LookupTableFind": true, "LookupTableFindV2": true, "LookupTableSizeV2": true, "LookupTableExportV2": true,
}

// unordered are the stateful ops whose only state is their random numbers: they
// run where somebody needs what they draw.
var unordered = map[string]bool{
	"RandomUniform": true, "RandomUniformInt": true, "RandomStandardNormal": true, "TruncatedNormal": true,
	"ParameterizedTruncatedNormal": true, "RandomShuffle": true, "Multinomial": true, "RandomGamma": true, "RandomPoissonV2": true,
}
