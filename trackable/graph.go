package trackable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/arena"
)

// The order of nodes and the names must stay: files contain the numbers and the paths.
// Packages checkpoint, savedmodel, convert, keras/saving and keras/callbacks use graphs.

// Graph lists the objects reachable from a root, with their edges. The order is that
// of TensorFlow's numbers: breadth first, then slot variables. Slot variables are ordered
// by owner, then by slot name, then by variable.
type Graph struct {
	Nodes []GraphNode
	ids   identities
	paths arena.Strings

	scoped bool // some node is a Scoped
}

// GraphNode is one object of a [Graph].
type GraphNode struct {
	Object Trackable
	// Path is the escaped path that keys begin with: the first one on which the
	// object is reached, "" for the root. A slot variable's has the
	// ".OPTIMIZER_SLOT" part.
	Path string
	// Edges are the references to other nodes, in order.
	Edges []Ref
	// Slots are the slot variables that this object owns, in order.
	Slots []SlotRef
	// FullName is a variable's full name (see [Variable.Named] and [Scoped]), ""
	// for all else.
	FullName string
	// IsSlot reports whether the object is a slot variable, reached over its
	// owner's Slots only.
	IsSlot bool

	scoped, owner bool     // Object is a Scoped, a SlotOwner
	named         nameKind // how FullName is derived; until nameAll runs, FullName is only the variable's own part

	parent int32  // -1 for the root and for slots
	edge   string // the first edge, raw
	scope  string // the prefix of full names below the node
}

// Ref is an edge to the node with number ID.
type Ref struct {
	Name string
	ID   int
}

// SlotRef records that node ID is the slot Name for the variable of node
// Variable.
type SlotRef struct {
	Name         string
	Variable, ID int
}

// Variable returns the node's variable, or nil if it isn't one.
func (n *GraphNode) Variable() *Variable { return asVariable(n.Object) }

// ID returns the number of obj's node.
func (g *Graph) ID(obj Trackable) (id int, ok bool) {
	if isNil(obj) {
		return 0, false
	}
	id, ok = g.ids.get(obj)
	return id, ok
}

// Human returns a node's path for people: raw edge names joined by dots,
// "(root)" for the root.
func (g *Graph) Human(id int) string {
	if g.Nodes[id].IsSlot {
		return g.Nodes[id].Path
	}
	var names []string
	for i := id; i > 0; i = int(g.Nodes[i].parent) {
		names = append(names, g.Nodes[i].edge)
	}
	if len(names) == 0 {
		return "(root)"
	}
	slices.Reverse(names)
	return strings.Join(names, ".")
}

// Scope returns the scope that full names below a node begin with.
func (g *Graph) Scope(id int) string { return g.Nodes[id].scope }

// NameBelow returns the full name that [Base.AddVariable] assigns to a variable
// on an edge of a node; name is [VariableSpec].Name.
func (g *Graph) NameBelow(id int, edge, name string) string {
	if name == "" {
		name = edge
	}
	if abs, ok := strings.CutPrefix(name, "/"); ok {
		return abs
	}
	return joinScope(g.Nodes[id].scope, name)
}

// NameOf returns the full name that v would have as a child of a node.
func (g *Graph) NameOf(id int, v *Variable) string {
	switch name, kind := v.nameAndKind(); kind {
	case nameRelative:
		return joinScope(g.Nodes[id].scope, name)
	case nameDerived:
		prefix, of := v.derivedName()
		if at, ok := g.ids.get(of); ok {
			return prefix + g.Nodes[at].FullName
		}
		return prefix + of.Name()
	default:
		return name
	}
}

// WalkOptions select the edges and slot variables that [Walk] visits.
type WalkOptions struct {
	// SortRoot sorts the root's own edges by name, as a TensorFlow Checkpoint's
	// keyword arguments are. Default: the order of [Children].
	SortRoot bool
	// Extra are more edges of the root, after its own and not sorted. One with the
	// name and object of an own edge counts once; another object is an error.
	// Default: none.
	Extra []Edge
	// NoSlots leaves slot variables out. Default: they are walked.
	NoSlots bool
	// HasSlots selects the owners whose slot variables are walked. Default: all.
	HasSlots func(owner Trackable) bool
	// Children lists the edges of an object. Walk may change the root's slice.
	// Default: [Children].
	Children func(obj Trackable) ([]Edge, error)
}

// Walk visits every object reachable from root once. Cycles and shared objects
// are fine. Errors are those of [Children], with the object's path.
func Walk(root Trackable, o *WalkOptions) (*Graph, error) {
	if o == nil {
		o = new(WalkOptions)
	}
	if err := checkTrackable(root); err != nil {
		return nil, fmt.Errorf("trackable: the root: %w", err)
	}
	children := o.Children
	if children == nil {
		children = Children
	}
	g := &Graph{}
	g.visit(root, -1, "")
	for id := 0; id < len(g.Nodes); id++ {
		edges, err := children(g.Nodes[id].Object)
		if err != nil {
			return nil, fmt.Errorf("%w (object %s)", err, g.Human(id))
		}
		if id == 0 {
			if edges, err = rootEdges(root, edges, o); err != nil {
				return nil, err
			}
		}
		if len(edges) == 0 {
			continue
		}
		refs := make([]Ref, len(edges))
		if len(edges) > 64 {
			g.Nodes = slices.Grow(g.Nodes, len(edges))
			g.ids.grow(len(edges))
		}
		for i, e := range edges {
			refs[i] = Ref{e.Name, g.visit(e.Child, id, e.Name)}
		}
		g.Nodes[id].Edges = refs
	}
	g.nameAll()
	if !o.NoSlots {
		return g, g.addSlots(o.HasSlots)
	}
	return g, nil
}

func rootEdges(root Trackable, edges []Edge, o *WalkOptions) ([]Edge, error) {
	if o.SortRoot {
		slices.SortStableFunc(edges, func(a, b Edge) int { return cmp.Compare(a.Name, b.Name) })
	}
	if len(o.Extra) == 0 {
		return edges, nil
	}
	c := collector{edges: edges}
	for _, e := range o.Extra {
		if err := checkTrackable(e.Child); err != nil {
			return nil, fmt.Errorf("trackable: extra edge %q: %w", e.Name, err)
		}
		if err := c.add(root, e.Name, e.Child); err != nil {
			return nil, err
		}
	}
	return c.edges, nil
}

// visit returns the number of obj's node. It adds a node for an object that has none yet.
func (g *Graph) visit(obj Trackable, parent int, edge string) int {
	v := asVariable(obj)
	id, there := g.ids.add(obj, v, len(g.Nodes))
	if there {
		return id
	}
	g.Nodes = append(g.Nodes, GraphNode{Object: obj, parent: int32(parent), edge: edge})
	n := &g.Nodes[id]
	if _, plain := obj.(*Variable); !plain {
		_, n.scoped = obj.(Scoped)
		_, n.owner = obj.(SlotOwner)
		g.scoped = g.scoped || n.scoped
	}
	if v != nil {
		n.FullName, n.named = v.nameAndKind()
	}
	if parent >= 0 {
		if n.Path = Escape(edge); parent > 0 {
			n.Path = g.paths.Join(g.Nodes[parent].Path, "/", n.Path) // an edge's name may be empty
		}
	}
	return id
}

// addSlots appends the slot variables of the owners. Owners, slot names and variables nest in this order, as in
// TensorFlow's serialize_slot_variables. It decides the numbers of slot nodes in files.
func (g *Graph) addSlots(has func(Trackable) bool) error {
	ordinary := len(g.Nodes)
	type owned struct {
		id int
		v  *Variable
	}
	var vars []owned
	for id := range ordinary {
		if !g.Nodes[id].owner || has != nil && !has(g.Nodes[id].Object) {
			continue
		}
		owner := g.Nodes[id].Object.(SlotOwner)
		if vars == nil {
			for i := range ordinary {
				if v := g.Nodes[i].Variable(); v != nil {
					vars = append(vars, owned{i, v})
				}
			}
		}
		for _, name := range owner.SlotNames() {
			for _, l := range vars {
				slot := owner.Slot(l.v, name)
				if slot == nil {
					continue
				}
				slotID := len(g.Nodes)
				if at, there := g.ids.add(slot, slot, slotID); there {
					return fmt.Errorf("trackable: slot %q of %s for %s is used as %s too; a slot variable can't be tracked elsewhere",
						name, g.Human(id), g.Human(l.id), g.Human(at))
				}
				n := GraphNode{
					Object: slot, Path: slotPath(g.Nodes[l.id].Path, g.Nodes[id].Path, name),
					IsSlot: true, parent: -1,
				}
				if full, kind := slot.nameAndKind(); kind == nameUnset {
					n.FullName = joinScope(g.Nodes[id].scope, g.Nodes[l.id].FullName+"/"+name)
				} else {
					n.FullName = full
				}
				g.Nodes[id].Slots = append(g.Nodes[id].Slots, SlotRef{name, l.id, slotID})
				g.Nodes = append(g.Nodes, n)
			}
		}
	}
	return nil
}

// Variables lists the variables reachable from root, slots left out, in the
// order of a [Walk].
func Variables(root Trackable) ([]*Variable, error) {
	g, err := Walk(root, &WalkOptions{NoSlots: true})
	if err != nil {
		return nil, err
	}
	var vars []*Variable
	for i := range g.Nodes {
		if v := g.Nodes[i].Variable(); v != nil {
			vars = append(vars, v)
		}
	}
	return vars, nil
}
