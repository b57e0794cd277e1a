package run

import (
	"slices"
	"strings"
	"sync"

	"github.com/cairnml/cairn/engine"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/raise"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// runnable is a decoded graph. Its control flow is functional, except for the parts in
// problems and for the graph of unraised.
type runnable struct {
	*graph.Graph
	problems raise.Problems // control flow of TensorFlow 1 that could not be raised

	objectOf map[*graph.Node]*savedmodel.Object // nodes that make the handles of objects
	pathOf   map[graph.Output]*tensor.Tensor    // the paths of assets, scalar strings

	// unraised returns the graph with the control flow that the file has. It
	// is nil if nothing was raised.
	unraised func() (*runnable, error)
}

// raised decodes the MetaGraph's graph and raises its control flow. only and
// from select the functions of the library, as in [graph.Options]. Control flow
// that could not be raised is recorded in problems; only calls that need it
// fail.
func raised(g *savedmodel.MetaGraph, only, from []string) (*runnable, error) {
	gr, err := modelInternals.DecodeGraph(g, only, from)
	if err != nil {
		return nil, err
	}
	r := &runnable{Graph: gr}
	if raise.Needed(gr) {
		r.problems = raise.Graph(gr)
		r.unraised = sync.OnceValues(func() (*runnable, error) {
			gr, err := modelInternals.DecodeGraph(g, only, from)
			if err != nil {
				return nil, err
			}
			r := &runnable{Graph: gr, problems: raise.Functions(gr)}
			r.findHandles(g)
			r.findAssets(g)
			return r, nil
		})
	}
	r.findHandles(g)
	r.findAssets(g)
	return r, nil
}

// branching reports whether a part of the graph has a Switch or Merge that is no part of a
// conditional as TensorFlow makes them.
func branching(f *graph.Function) bool {
	return slices.ContainsFunc(f.Graph.Nodes(), func(n *graph.Node) bool { return engine.IsBranch(n.Op) })
}

// in returns the outputs and nodes of another graph of the same file by their
// names; ok is false if the graph lacks one.
func (r *runnable) in(outputs []graph.Output, nodes []*graph.Node) (outs []graph.Output, ns []*graph.Node, ok bool) {
	for _, o := range outputs {
		n := r.Lookup(o.Node.Name)
		if n == nil {
			return nil, nil, false
		}
		outs = append(outs, graph.Output{Node: n, Index: o.Index})
	}
	for _, x := range nodes {
		n := r.Lookup(x.Name)
		if n == nil {
			return nil, nil, false
		}
		ns = append(ns, n)
	}
	return outs, ns, true
}

// starts returns the names of the nodes that compute the outputs of signatures,
// and of the restore op if restore is set. It returns nil, which means all
// nodes, for a model of TensorFlow 1, because no objects own its nodes.
func starts(g *savedmodel.MetaGraph, restore bool) []string {
	if len(g.Objects) == 0 {
		return nil
	}
	names := []string{}
	add := func(tensor string) {
		name, _, _ := strings.Cut(tensor, ":")
		names = append(names, name)
	}
	for _, list := range [][]*savedmodel.SignatureDef{g.Signatures, modelInternals.OwnSignatures(g)} {
		for _, s := range list {
			for _, t := range savedmodel.PlainTensors(s.Outputs) {
				add(t.Tensor)
			}
		}
	}
	if _, op := g.SaverOps(); restore && op != "" {
		add(op)
	}
	return names
}

// reads reports whether the graph has all the functions that nodes need, each with those
// that it takes inputs from or waits for.
func (r *runnable) reads(nodes []*graph.Node) bool {
	seen := map[*graph.Node]bool{}
	for todo := slices.Clone(nodes); len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		if n.Def == nil {
			return false // its op is the name of a function, or an op without a definition
		}
		for _, a := range n.Attrs {
			switch v := a.Value().(type) {
			case graph.Callee:
				if v.Function == nil {
					return false
				}
			case []graph.Callee:
				if slices.ContainsFunc(v, func(c graph.Callee) bool { return c.Function == nil }) {
					return false
				}
			}
		}
		for _, in := range n.In {
			todo = append(todo, in.Node)
		}
		todo = append(todo, n.Control...)
	}
	return true
}

// makers returns the names of the functions that make the objects which are resources,
// and fill them.
func makers(g *savedmodel.MetaGraph) []string {
	names := []string{}
	for _, o := range g.Objects {
		for _, role := range []string{"_create_resource", "_initialize"} {
			if f := o.Child(role); f != nil && f.Function != nil && len(f.Function.Concrete) > 0 {
				names = append(names, f.Function.Concrete[0].Name)
			}
		}
	}
	return names
}
