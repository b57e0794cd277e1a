package checkpoint

import (
	"slices"

	"github.com/cairnml/cairn/trackable"
)

// A match sees the edges of every object that it binds. If each edge leads to
// an object that it binds too, every reachable object is bound. Otherwise a
// walk over the whole program is needed to find the objects without a value.

// covered describes the graph that a complete match saw. Unless another edge
// appears, every object of the program is still bound.
type covered struct {
	holders  []start // the bound objects that may have edges
	attached uint64  // trackable.EdgesAttached before the match
}

// noteBound notes a bound object. edges is the number of its edges, found the number of those
// that lead to nodes of the file.
func (m *match) noteBound(s start, edges, found int) {
	m.open = m.open || found < edges
	if _, ok := s.obj.(trackable.SlotOwner); ok {
		m.open = true // it has slots for variables, which are no edges
	}
	m.holders = append(m.holders, s)
}

// complete reports whether every object that can be reached is bound.
func (m *match) complete() bool { return !m.open && len(m.clashes) == 0 }

// allBound reports whether every object of the program is bound, as far as that is
// known without a walk.
func (l *load) allBound() bool {
	l.mu.Lock()
	c := l.covered
	l.mu.Unlock()
	if c == nil || internals.EdgesAttached() != c.attached {
		return false
	}
	for _, h := range c.holders {
		if !l.bindsAll(h.obj) {
			return false
		}
	}
	return true
}

// bindsAll reports whether all children of an object are bound.
func (l *load) bindsAll(obj any) bool {
	if list, ok := l.ck.listOf(obj); ok {
		// Listing the edges of very many takes most of the time for their names.
		l.mu.Lock()
		defer l.mu.Unlock()
		if slices.ContainsFunc(l.objects.rows, func(row []*trackable.Variable) bool { return slices.Equal(row, list) }) {
			return true
		}
		return !slices.ContainsFunc(list, func(v *trackable.Variable) bool { return v != nil && !l.objects.has(v) })
	}
	edges, err := l.ck.children(obj)
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(edges, func(e trackable.Edge) bool { return !l.objects.has(e.Child) })
}
