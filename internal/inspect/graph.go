package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/render"
	"github.com/cairnml/cairn/internal/store"
	"github.com/cairnml/cairn/tensor"
)

const variableValue = "VARIABLE_VALUE"

var errAbsent = errors.New("absent")

// Graph turns a store's object graph into one that can be drawn, small values
// included. Where there is no object graph, as in name-based checkpoints and
// .npz files, the names make the tree, parted at "/"; objects is false then.
func Graph(ctx context.Context, s *store.Store) (g *render.Graph, objects bool, err error) {
	og, err := s.Graph(ctx)
	if err != nil {
		return nil, false, err
	}
	values := smallValues(ctx, s)
	if og == nil || len(og.Nodes) == 0 {
		return nameGraph(s, values), false, nil
	}
	if faults := checkGraph(og); len(faults) > 0 {
		return nil, true, fmt.Errorf("%s: the object graph is broken: %s", s.Prefix, faults[0])
	}
	return objectGraph(s, og, values), true, nil
}

// maxSmall is how many values of small tensors are read to be shown.
const maxSmall = 256

// smallValues reads the scalars of a store, so that they can be shown. A value
// that can't be read is left out: to show what a damaged file holds is worth
// more than its numbers.
func smallValues(ctx context.Context, s *store.Store) map[string]string {
	out := map[string]string{}
	var names []string
	for _, e := range s.Entries() {
		if len(e.Shape) == 0 && e.DType.Fixed() && len(names) < maxSmall {
			names = append(names, e.Name)
		}
	}
	keep := func(name string, t *tensor.Tensor) { out[name] = strings.TrimSuffix(t.String(), ".0") }
	if r := s.Bundle(); r != nil {
		reqs := make([]bundle.ReadRequest, len(names))
		for i, n := range names {
			reqs[i].Name = n
		}
		if err := r.ReadAll(ctx, reqs, nil); err == nil {
			for i, n := range names {
				keep(n, reqs[i].Dst)
			}
			return out
		}
	}
	for _, n := range names {
		if t, err := s.Read(ctx, n); err == nil {
			keep(n, t)
		}
	}
	return out
}

func describe(e store.Entry) string {
	if len(e.Shape) == 0 {
		return e.DType.String()
	}
	return e.DType.String() + " " + e.Shape.String()
}

func title(s *store.Store) string {
	n, bytes := 0, int64(0)
	for _, e := range s.Entries() {
		if e.Name != store.GraphKey {
			n++
			bytes += e.Bytes
		}
	}
	word := "tensors"
	if n == 1 {
		word = "tensor"
	}
	return fmt.Sprintf("%s  (%d %s, %s)", s.Prefix, n, word, Size(bytes))
}

// Size prints a number of bytes for people.
func Size(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		v /= 1024
		switch {
		case v < 9.995:
			return strconv.FormatFloat(v, 'f', 2, 64) + " " + unit
		case v < 99.95:
			return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
		case v < 1023.5 || unit == "TiB":
			return strconv.FormatFloat(v, 'f', 0, 64) + " " + unit
		}
	}
	return ""
}

// maxNameParts is how deep a tree of names goes; the rest of a name stays whole.
const maxNameParts = 64

// nameGraph makes a tree of the parts of names.
func nameGraph(s *store.Store, values map[string]string) *render.Graph {
	g := &render.Graph{Nodes: []render.Node{{Title: title(s)}}}
	at := map[string]int{"": 0}
	for _, e := range s.Entries() {
		parent, path := 0, ""
		parts := strings.SplitN(e.Name, "/", maxNameParts)
		for i, p := range parts {
			path += "/" + p
			id, ok := at[path]
			if !ok || i == len(parts)-1 {
				id = len(g.Nodes)
				g.Nodes = append(g.Nodes, render.Node{})
				at[path] = id
				g.Edges = append(g.Edges, render.Edge{From: parent, To: id, Label: p, Tree: true})
			}
			parent = id
		}
		n := &g.Nodes[parent]
		n.Kind, n.Info, n.Value = render.Variable, describe(e), values[e.Name]
	}
	g.Link()
	return g
}

// objectGraph turns the message into a drawing's graph: the children's edges,
// then each variable's slots.
func objectGraph(s *store.Store, og *pb.TrackableObjectGraph, values map[string]string) *render.Graph {
	g := &render.Graph{Nodes: make([]render.Node, len(og.Nodes))}
	g.Nodes[0].Title = title(s)
	slots := make([][]render.Edge, len(og.Nodes)) // by the variable
	for i, n := range og.Nodes {
		o := &g.Nodes[i]
		var info []string
		for _, a := range n.Attributes {
			var e store.Entry
			err := errAbsent
			if s.Has(a.CheckpointKey) {
				e, err = s.Entry(a.CheckpointKey)
			}
			switch {
			case a.Name == variableValue && err == nil:
				o.Kind = render.Variable
				info = append(info, describe(e))
				o.Value = values[e.Name]
			case a.Name == variableValue:
				o.Kind = render.Variable
				info = append(info, "value not in the file")
			case err == nil:
				info = append(info, strings.ToLower(a.Name)+" "+describe(e))
			default:
				info = append(info, strings.ToLower(a.Name))
			}
		}
		if n.RegisteredSaver != nil && n.RegisteredSaver.Name != "" {
			info = append(info, "saved by "+n.RegisteredSaver.Name)
		}
		o.Info = strings.Join(info, ", ")
		for _, c := range n.Children {
			g.Edges = append(g.Edges, render.Edge{From: i, To: int(c.NodeId), Label: c.LocalName})
		}
		for _, v := range n.SlotVariables {
			from := int(v.OriginalVariableNodeId)
			slots[from] = append(slots[from], render.Edge{From: from, To: int(v.SlotVariableNodeId), Label: v.SlotName, Slot: true})
			g.Edges = append(g.Edges, render.Edge{From: i, To: int(v.SlotVariableNodeId), Label: v.SlotName, Slot: true})
		}
	}
	for i, n := range og.Nodes {
		for _, v := range n.SlotVariables {
			g.Nodes[v.SlotVariableNodeId].Kind = render.Slot
		}
		if len(n.SlotVariables) > 0 {
			g.Nodes[i].Kind = render.Optimizer
			g.Nodes[i].Info = slotWords(n)
		}
	}
	// The tree: first ways from the root, then the slots below their variables.
	edges := g.Edges
	g.Edges = nil
	out := make([][]int, len(og.Nodes))
	for i, e := range edges {
		out[e.From] = append(out[e.From], i)
	}
	seen := make([]bool, len(og.Nodes))
	seen[0] = true
	queue := []int{0}
	for i := 0; i < len(queue); i++ {
		from := queue[i]
		for _, k := range out[from] {
			e := &edges[k]
			if e.Slot || seen[e.To] {
				continue
			}
			e.Tree, seen[e.To] = true, true
			if g.Nodes[e.To].Kind == render.Plain && e.Label == "optimizer" {
				g.Nodes[e.To].Kind = render.Optimizer
			}
			queue = append(queue, e.To)
		}
	}
	for _, from := range queue {
		for i := range slots[from] {
			e := &slots[from][i]
			if !seen[e.To] {
				e.Tree, seen[e.To] = true, true
			}
		}
	}
	for i := range og.Nodes {
		g.Edges = append(g.Edges, slots[i]...)
		for _, k := range out[i] {
			g.Edges = append(g.Edges, edges[k])
		}
	}
	g.Link()
	return g
}

// slotWords says which slots an optimizer has, and of how many variables.
func slotWords(n *pb.TrackableObject) string {
	var names []string
	variables := map[int32]bool{}
	for _, v := range n.SlotVariables {
		if !slices.Contains(names, v.SlotName) && len(names) < 8 {
			names = append(names, v.SlotName)
		}
		variables[v.OriginalVariableNodeId] = true
	}
	word := "variables"
	if len(variables) == 1 {
		word = "variable"
	}
	return fmt.Sprintf("slots %s of %d %s", strings.Join(names, ", "), len(variables), word)
}

func join(path, edge string) string {
	if path == "" {
		return edge
	}
	return path + "/" + edge
}

// checkGraph lists what is wrong with an object graph: references to nodes that
// aren't there.
func checkGraph(og *pb.TrackableObjectGraph) []string {
	var faults []string
	bad := func(node int, what string, id int32) {
		if (id < 0 || int(id) >= len(og.Nodes)) && len(faults) < 100 {
			faults = append(faults, fmt.Sprintf("node %d: %s leads to node %d of %d", node, what, id, len(og.Nodes)))
		}
	}
	for i, n := range og.Nodes {
		for _, c := range n.Children {
			bad(i, fmt.Sprintf("the edge %q", c.LocalName), c.NodeId)
		}
		for _, v := range n.SlotVariables {
			bad(i, fmt.Sprintf("the slot %q's variable", v.SlotName), v.OriginalVariableNodeId)
			bad(i, fmt.Sprintf("the slot %q", v.SlotName), v.SlotVariableNodeId)
		}
	}
	return faults
}
