package trackable

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// nameAll works out the scopes and the full names. Numbers of automatic names
// are given depth first, since that is the order in which a Python program
// makes the objects: a list's layers before the layer in the next field.
func (g *Graph) nameAll() {
	var derived []int
	name := func(id, below int) {
		n := &g.Nodes[id]
		switch {
		case n.Variable() == nil:
		case n.named == nameDerived:
			derived = append(derived, id)
		case n.named == nameRelative:
			n.FullName = joinScope(g.Nodes[max(below, 0)].scope, n.FullName)
		}
	}
	if g.scoped {
		g.scopeAll(name)
	} else {
		for id := range g.Nodes {
			name(id, int(g.Nodes[id].parent))
		}
	}
	for _, id := range derived {
		g.Nodes[id].FullName = g.NameOf(id, g.Nodes[id].Variable())
	}
}

// scopeAll works out the scopes and calls name for every node, with the one that
// it is named below, -1 for the root.
func (g *Graph) scopeAll(name func(id, below int)) {
	taken := map[string]int{}
	own := make([]string, len(g.Nodes))
	inScope := g.inScope()
	g.eachNamed(inScope, true, func(id, _ int) {
		if g.Nodes[id].scoped {
			own[id] = ownScope(g.Nodes[id].Object, taken)
		}
	})
	g.eachNamed(inScope, false, func(id, parent int) {
		n := &g.Nodes[id]
		if parent >= 0 {
			n.scope = g.Nodes[parent].scope
		}
		if fresh, ok := strings.CutPrefix(own[id], "/"); ok {
			n.scope = fresh
		} else if own[id] != "." {
			n.scope = joinScope(n.scope, own[id])
		}
		name(id, parent)
	})
}

// inScope marks the nodes below an object with a scope, except optimizers. It
// returns nil if there are none. A model's part that the root holds as well is
// named after the model, as in Python, where the model makes or builds it.
func (g *Graph) inScope() []bool {
	var marked []bool
	var queue []int
	for id := range g.Nodes {
		if g.givesScope(id) {
			queue = append(queue, id)
		}
	}
	if len(queue) > 0 {
		marked = make([]bool, len(g.Nodes))
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if g.Nodes[queue[0]].owner {
			continue
		}
		for _, e := range g.Nodes[queue[0]].Edges {
			if !marked[e.ID] {
				marked[e.ID] = true
				queue = append(queue, e.ID)
			}
		}
	}
	return marked
}

func (g *Graph) givesScope(id int) bool {
	n := &g.Nodes[id]
	return n.scoped && !n.owner
}

// eachNamed visits every node once, with the node that it is named below: depth
// first or breadth first, but nodes in a scope only from within a scope.
func (g *Graph) eachNamed(inScope []bool, depthFirst bool, f func(id, parent int)) {
	type visit struct {
		id, parent int32
		inside     bool // below an object that has a scope
	}
	seen := make([]bool, len(g.Nodes))
	var todo []visit
	run := func() {
		for len(todo) > 0 {
			at := todo[0]
			if depthFirst {
				at = todo[len(todo)-1]
				todo = todo[:len(todo)-1]
			} else {
				todo = todo[1:]
			}
			if seen[at.id] {
				continue
			}
			seen[at.id] = true
			f(int(at.id), int(at.parent))
			inside := !g.Nodes[at.id].owner && (at.inside || g.givesScope(int(at.id)))
			edges := g.Nodes[at.id].Edges
			todo = slices.Grow(todo, len(edges)) // a list may hold very many
			add := func(e Ref) {
				if !seen[e.ID] && (inside || inScope == nil || !inScope[e.ID]) {
					todo = append(todo, visit{int32(e.ID), at.id, inside})
				}
			}
			if depthFirst {
				for _, e := range slices.Backward(edges) {
					add(e)
				}
			} else {
				for _, e := range edges {
					add(e)
				}
			}
		}
	}
	for id := range g.Nodes { // the root, then objects that hold each other in a cycle
		if !seen[id] {
			todo = append(todo, visit{int32(id), int32(g.Nodes[id].parent), false})
			run()
		}
	}
}

// ownScope returns the scope of a Scoped: its name, or an automatic one. taken counts the
// automatic names so far, by stem.
func ownScope(obj Trackable, taken map[string]int) string {
	if name := obj.(Scoped).ScopeName(); name != "" {
		return name
	}
	base := scopeName(reflect.TypeOf(obj).Elem().Name())
	n := taken[base]
	taken[base]++
	if n > 0 {
		return base + "_" + strconv.Itoa(n)
	}
	return base
}

func joinScope(scope, name string) string {
	switch {
	case scope == "":
		return name
	case name == "":
		return scope
	}
	return scope + "/" + name
}
