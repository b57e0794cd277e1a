package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/inspect/render"
	"github.com/cairnml/cairn/internal/objects"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// errAbsent means that a file lacks the tensor of an object. It is never returned.
var errAbsent = errors.New("absent")

// View is a store's object graph, ready to be drawn.
type View struct {
	*render.Graph
	// Objects is false if there is no object graph, as in name-based checkpoints
	// and .npz files: the names, split at "/", make the tree then.
	Objects bool
	// Outside are the tensors that no object of the graph holds.
	Outside []tensorfile.Entry
	Count   Count
}

// Graph turns a store's object graph into one that can be drawn, small values
// included.
func Graph(ctx context.Context, s *tensorfile.File) (*View, error) {
	og, err := s.Graph(ctx)
	if err != nil {
		return nil, err
	}
	values := SmallValues(ctx, s)
	v := &View{Count: countOf(s, og, s.Entries())}
	if og == nil || len(og.Nodes) == 0 {
		v.Graph = nameGraph(s, values)
		return v, nil
	}
	if faults := checkGraph(og); len(faults) > 0 {
		return nil, fmt.Errorf("%s: the object graph is broken: %s", s.Prefix, faults[0])
	}
	v.Graph, v.Objects, v.Outside = objectGraph(s, og, values), true, outside(s, og)
	v.Graph.Outside = len(v.Outside)
	return v, nil
}

// outside lists the tensors that no object holds: those of tables, iterators
// and registered savers are stored under their objects' names.
func outside(s *tensorfile.File, og *pb.TrackableObjectGraph) []tensorfile.Entry {
	held := map[string]bool{tensorfile.GraphKey: true}
	var stems []string
	for _, n := range og.Nodes {
		for _, a := range n.Attributes {
			held[a.CheckpointKey] = true
			if !s.Has(a.CheckpointKey) {
				stems = append(stems, a.CheckpointKey)
			}
		}
		if r := n.RegisteredSaver; r != nil && r.Name != "" {
			stems = append(stems, r.ObjectName+"/")
		}
	}
	slices.Sort(stems)
	stems = slices.Compact(stems)
	var out []tensorfile.Entry
	next := 0
	for e := range s.Entries().All() { // sorted as the stems are
		if held[e.Name] {
			continue
		}
		for next < len(stems) && stems[next] < e.Name && !strings.HasPrefix(e.Name, stems[next]) {
			next++
		}
		if next == len(stems) || !strings.HasPrefix(e.Name, stems[next]) {
			out = append(out, e)
		}
	}
	return out
}

// maxSmall is the number of scalars whose values are read to be shown. It may change.
const maxSmall = 1 << 14

// SmallValues returns the scalars of a store in words, by name, for display. A value that can't
// be read is left out: the structure of a damaged file is worth more than its numbers.
func SmallValues(ctx context.Context, s *tensorfile.File) map[string]string {
	out := map[string]string{}
	var names []string
	for e := range s.Entries().All() {
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

// title returns the root's text: the file's prefix and the sums of its tensors.
func title(s *tensorfile.File, og *pb.TrackableObjectGraph) string {
	return s.Prefix + "  (" + countOf(s, og, s.Entries()).String() + ")"
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

// maxNameParts bounds the depth of a tree of names; the rest of a name stays whole. It may change.
const maxNameParts = 64

// nameGraph makes a tree of the parts of names.
func nameGraph(s *tensorfile.File, values map[string]string) *render.Graph {
	g := &render.Graph{Nodes: make([]render.Node, 1, 1+s.Entries().Len()), Edges: make([]render.Edge, 0, s.Entries().Len())}
	g.Nodes[0].Title = title(s, nil)
	at := map[string]int{"": 0}
	for e := range s.Entries().Natural().All() {
		parent, path := 0, ""
		parts := strings.SplitN(tensorfile.Short(e.Name), "/", maxNameParts)
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
func objectGraph(s *tensorfile.File, og *pb.TrackableObjectGraph, values map[string]string) *render.Graph {
	g := &render.Graph{Nodes: make([]render.Node, len(og.Nodes))}
	g.Nodes[0].Title = title(s, og)
	slots := make([][]render.Edge, len(og.Nodes)) // by the variable
	for i, n := range og.Nodes {
		o := &g.Nodes[i]
		var info []string
		for _, a := range n.Attributes {
			var e tensorfile.Entry
			err := errAbsent
			if s.Has(a.CheckpointKey) {
				e, err = s.Entry(a.CheckpointKey)
			}
			switch {
			case a.Name == objects.Value && err == nil:
				o.Kind = render.Variable
				info = append(info, describe(e))
				o.Value = values[e.Name]
			case a.Name == objects.Value:
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
	tree := objects.NewTree(og.Nodes)
	for i, n := range og.Nodes {
		for _, v := range n.SlotVariables {
			g.Nodes[v.SlotVariableNodeId].Kind = render.Slot
		}
		if len(n.SlotVariables) > 0 {
			g.Nodes[i].Info = slotWords(n)
		}
		if k := &g.Nodes[i].Kind; tree.Optimizer[i] {
			*k = render.Optimizer
		} else if tree.State[i] && *k == render.Variable && len(g.Nodes[i].Info) > 0 && g.Nodes[i].Value == "" {
			*k = render.Slot // Keras 3's optimizers keep theirs in lists
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
	for _, id := range tree.Order {
		seen[id] = true
		if parent := tree.Parent[id]; parent >= 0 {
			// The children's edges come first among the parent's.
			e := &edges[out[parent][tree.Edge[id]]]
			e.Tree = true
			if g.Nodes[id].Kind == render.Plain && e.Label == "optimizer" {
				g.Nodes[id].Kind = render.Optimizer
			}
		}
	}
	for _, from := range tree.Order {
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

// slotWords returns the slots of an optimizer, and the number of their
// variables, in words.
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

// checkGraph lists the faults of an object graph: references to missing nodes. Graph, CountOf,
// diffGraphs and Verify call it before they follow references.
func checkGraph(og *pb.TrackableObjectGraph) []string {
	var faults []string
	bad := func(node int, what string, id int32) {
		if id < 0 || int(id) >= len(og.Nodes) {
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
