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
	all  []*graph.Node // the ops that a call must run even if no result depends on them
	vars map[resource]*uses
	from map[resource][]resource // by an iterator, the resources of the datasets that it reads
	last *graph.Node             // the last one with an effect on nothing in particular
}

// resource is the state to which a handle refers: the output that made the handle, or, if
// the state has a name, its op, container and name. Handles with one name refer to one resource.
type resource struct {
	handle          graph.Output
	op, group, name string
}

// resourceOf returns the resource that a handle refers to.
func resourceOf(o graph.Output) resource {
	for o.Node != nil && o.Node.Op == "Identity" {
		o = o.Node.In[0]
	}
	if r, ok := shared(o.Node); ok {
		return r
	}
	return resource{handle: o}
}

// drawn appends the resources that a dataset, and those that it is made of, touch when
// their elements are drawn: the captures of the functions of a map or a filter.
func drawn(into []resource, dataset *graph.Node, seen map[*graph.Node]bool) []resource {
	if dataset == nil || seen[dataset] {
		return into
	}
	seen[dataset] = true
	for _, in := range dataset.In {
		switch in.Fact().DType {
		case tensor.Resource:
			if r := resourceOf(in); !slices.Contains(into, r) {
				into = append(into, r)
			}
		case tensor.Variant:
			into = drawn(into, in.Node, seen)
		}
	}
	return into
}

// touched returns the resources that n touches besides its input handles.
func (e *effects) touched(n *graph.Node) []resource {
	switch n.Op {
	case "DatasetToSingleElement", "DatasetToTFRecord", "ReduceDataset":
		return drawn(nil, n, map[*graph.Node]bool{})
	case "MakeIterator":
		at := resourceOf(n.In[1])
		if e.from == nil {
			e.from = map[resource][]resource{}
		}
		for _, r := range drawn(nil, n.In[0].Node, map[*graph.Node]bool{}) {
			if !slices.Contains(e.from[at], r) {
				e.from[at] = append(e.from[at], r)
			}
		}
	case "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional":
		return e.from[resourceOf(n.In[0])]
	}
	return inside(nil, n, map[*graph.Function]bool{})
}

// shared returns the resource whose handle n makes, if it has a name.
func shared(n *graph.Node) (resource, bool) {
	if n == nil {
		return resource{}, false
	}
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

// note adds the control inputs that n needs, and remembers n. ins are n's inputs, and vars the
// variables of the trace. A write to a variable ends the use of its earlier read.
func (e *effects) note(n *graph.Node, ins []*Value, vars map[*trackable.Variable]*varTrace) {
	effect := effectOf(n)
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
	// Writes to a variable by ways other than its own handle change it too.
	indirectly := func(r resource) {
		touch(r)
		for _, vt := range vars {
			if !reads && vt.handle != nil && resourceOf(vt.handle.extras().out) == r {
				vt.read = nil
			}
		}
	}
	for _, in := range ins {
		if in.extras().out.Fact().DType != tensor.Resource {
			continue
		}
		touched = true
		r := resourceOf(in.extras().out)
		vt := vars[in.Variable()]
		if vt == nil {
			indirectly(r)
			continue
		}
		if touch(r); !reads {
			vt.read = nil
		}
	}
	for _, r := range e.touched(n) {
		indirectly(r)
	}
	if reads && touched {
		return
	}
	// A call may have other effects besides those on the variables it is given.
	if !touched || calls(n) {
		after(n, e.last)
		e.last = n
	}
	e.all = append(e.all, n)
}

// effect is the way in which an op uses state.
type effect uint8

const (
	noEffect effect = iota
	reading
	writing
)

// effectOf returns n's effect, as far as it matters for the order; that of a call is
// its functions'. Random numbers need none: each node draws its own.
func effectOf(n *graph.Node) effect {
	if n.Def == nil || !n.Def.Stateful {
		return noEffect
	}
	switch e := n.Effect() &^ graph.Random; e {
	case 0:
		return noEffect
	case graph.Reads:
		return reading
	}
	return writing
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
