package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// graphSpec is an object graph as peer/graphs.py describes it, whose JSON has these keys.
type graphSpec struct {
	Seed       int        `json:"seed"`
	Style      string     `json:"style"`  // kwargs, object, both: the arguments of tf.train.Checkpoint
	Kwargs     []edgeSpec `json:"kwargs"` // the root's children by keyword
	Nodes      []nodeSpec `json:"nodes"`
	TFRestores bool       `json:"tf_restores"` // whether TensorFlow can restore it below another root; for join.go
}

// nodeSpec is an object. Name and tensor are a variable's, the slots an optimizer's.
type nodeSpec struct {
	Kind  string     `json:"kind"` // module, list, map, opt, var
	Edges []edgeSpec `json:"edges"`
	Name  string     `json:"name"`
	tensorSpec
	Slots []string   `json:"slots"`
	Held  []slotSpec `json:"held"`
}

// slotSpec is a slot variable.
type slotSpec struct {
	Slot string `json:"slot"`
	Of   int    `json:"of"` // the variable's node
	Name string `json:"name"`
	tensorSpec
}

// edgeSpec is [name, node] in the file: a child's name and the number of its node.
type edgeSpec struct {
	name  string
	child int
}

// UnmarshalJSON decodes the pair.
func (e *edgeSpec) UnmarshalJSON(b []byte) error {
	return unmarshalPair(b, &e.name, &e.child)
}

type module struct{ trackable.Base }

type optimizer struct {
	trackable.Base
	trackable.Slots
}

// objectGraph is a spec's objects.
type objectGraph struct {
	spec  *graphSpec
	nodes []any
	ck    *checkpoint.Checkpoint
	root  map[string]any // style kwargs
}

// newGraph makes a spec's objects, unconnected. If zero is set, variables are zero and
// optimizers have no slots: a restore has to set both.
func newGraph(spec *graphSpec, zero bool) (*objectGraph, error) {
	g := &objectGraph{spec: spec}
	for _, n := range spec.Nodes {
		var obj any
		switch n.Kind {
		case "var":
			t, err := n.tensor(zero)
			if err != nil {
				return nil, err
			}
			obj = trackable.NewVariable(t).Named(n.Name)
		case "list":
			obj = trackable.NewList[any]()
		case "map":
			obj = trackable.NewMap[any]()
		case "opt":
			o := new(optimizer)
			o.DeclareSlots(n.Slots...)
			obj = o
		case "module":
			obj = new(module)
		default:
			return nil, fmt.Errorf("a node of an unknown kind %q", n.Kind)
		}
		g.nodes = append(g.nodes, obj)
	}
	for i, n := range spec.Nodes {
		for _, h := range n.Held {
			if zero {
				break
			}
			v, err := g.nodes[i].(*optimizer).SlotOr(g.nodes[h.Of].(*trackable.Variable), h.Slot, func() (*tensor.Tensor, error) {
				return h.tensor(false)
			})
			if err != nil {
				return nil, err
			}
			v.Named(h.Name)
		}
	}
	return g, nil
}

// connect adds the edges of node i with numbers from from up to n, exclusive.
func (g *objectGraph) connect(i, from, n int) error {
	for _, e := range g.spec.Nodes[i].Edges[from:n] {
		var err error
		switch x := g.nodes[i].(type) {
		case *trackable.List[any]:
			err = x.Append(g.nodes[e.child])
		case *trackable.Map[any]:
			err = x.Set(e.name, g.nodes[e.child])
		case *module:
			err = x.Attach(e.name, g.nodes[e.child])
		case *optimizer:
			err = x.Attach(e.name, g.nodes[e.child])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *objectGraph) connectAll() error {
	for i, n := range g.spec.Nodes {
		if err := g.connect(i, 0, len(n.Edges)); err != nil {
			return err
		}
	}
	return nil
}

// open makes the checkpoint of the spec's style. The nodes may be connected later.
func (g *objectGraph) open() (err error) {
	kwargs := map[string]any{}
	for _, e := range g.spec.Kwargs {
		kwargs[e.name] = g.nodes[e.child]
	}
	switch g.spec.Style {
	case "kwargs":
		g.root = kwargs
		g.ck, err = checkpoint.New(kwargs, nil)
	case "both":
		g.ck, err = checkpoint.New(g.nodes[0], &checkpoint.Options{Extra: kwargs})
	default:
		g.ck, err = checkpoint.New(g.nodes[0], nil)
	}
	return err
}

// reached returns the nodes that a walk from the root reaches.
func (g *objectGraph) reached() map[int]bool {
	seen := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, e := range g.spec.Nodes[i].Edges {
			visit(e.child)
		}
	}
	for _, e := range g.spec.Kwargs {
		visit(e.child)
	}
	if g.spec.Style != "kwargs" {
		visit(0)
	}
	return seen
}

// compare returns an error that names the values that differ from the spec's.
func (g *objectGraph) compare() error {
	var errs []error
	seen := g.reached()
	for i, n := range g.spec.Nodes {
		if !seen[i] {
			continue
		}
		if n.Kind == "var" {
			if err := n.differs(g.nodes[i].(*trackable.Variable).Load()); err != nil {
				errs = append(errs, fmt.Errorf("node %d: %w", i, err))
			}
		}
		for _, h := range n.Held {
			if !seen[h.Of] {
				continue
			}
			slot := g.nodes[i].(*optimizer).Slot(g.nodes[h.Of].(*trackable.Variable), h.Slot)
			if slot == nil {
				errs = append(errs, fmt.Errorf("node %d has no slot %s of node %d", i, h.Slot, h.Of))
			} else if err := h.differs(slot.Load()); err != nil {
				errs = append(errs, fmt.Errorf("node %d, slot %s of node %d: %w", i, h.Slot, h.Of, err))
			}
		}
	}
	return errors.Join(errs...)
}

// graphPath returns the prefix of a spec's checkpoint on one side, r.ours or r.tf.
func (r *run) graphPath(side func(...string) string, g *graphSpec) string {
	return side("graphs", strconv.Itoa(g.Seed), "ckpt")
}

// graphCases writes and restores the random object graphs of peer/graphs.py.
func graphCases(ctx context.Context, r *run) {
	each := func(name string, f func(*graphSpec) error) {
		var wrong []string
		for i := range r.specs.Graphs {
			spec := &r.specs.Graphs[i]
			if err := guarded(func() error { return f(spec) }); err != nil {
				wrong = append(wrong, fmt.Sprintf("graph %d: %v", spec.Seed, err))
			}
		}
		n := len(r.specs.Graphs)
		r.result(name, wrong, fmt.Sprintf("%d of %d", n-len(wrong), n))
	}
	each("object graphs: our bytes are TensorFlow's", func(spec *graphSpec) error {
		g, err := newGraph(spec, false)
		if err != nil {
			return err
		}
		if err := errors.Join(g.connectAll(), g.open()); err != nil {
			return err
		}
		if err := g.ck.Write(ctx, r.graphPath(r.ours, spec)); err != nil {
			return err
		}
		return r.sameCheckpoint(r.graphPath(r.ours, spec), r.graphPath(r.tf, spec))
	})
	each("object graphs: strict restore of TensorFlow's", func(spec *graphSpec) error {
		g, err := newGraph(spec, true)
		if err != nil {
			return err
		}
		if err := errors.Join(g.connectAll(), g.open()); err != nil {
			return err
		}
		report, err := g.ck.Read(ctx, r.graphPath(r.tf, spec), nil)
		if err != nil {
			return err
		}
		return errors.Join(report.AssertConsumed(), g.compare())
	})
	each("object graphs: TensorFlow's restored first, built after", func(spec *graphSpec) error {
		g, err := newGraph(spec, true)
		if err != nil {
			return err
		}
		if err := g.open(); err != nil {
			return err
		}
		report, err := g.ck.Read(ctx, r.graphPath(r.tf, spec), nil)
		if err != nil {
			return err
		}
		// Edges are added in an order in which no program adds them, because values must
		// arrive in any order. The first half of each node's edges comes first, from the
		// last node to the first; then the second halves, from the first node to the last.
		for i := len(spec.Nodes) - 1; i >= 0; i-- {
			if err := g.connect(i, 0, len(spec.Nodes[i].Edges)/2); err != nil {
				return err
			}
		}
		for i, n := range spec.Nodes {
			if err := g.connect(i, len(n.Edges)/2, len(n.Edges)); err != nil {
				return err
			}
		}
		if err := g.ck.Sync(ctx); err != nil {
			return err
		}
		return errors.Join(report.AssertConsumed(), g.compare())
	})
}
