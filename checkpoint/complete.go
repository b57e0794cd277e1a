package checkpoint

import "github.com/cairnml/cairn/trackable"

// A match sees the edges of every object that it binds. Where each leads to an
// object that it binds too, every object that can be reached is bound, and only
// where not a walk over the whole program is needed to tell what has no value.

// covered is what a complete match saw: as long as no other edge appears, every
// object of the program is still bound.
type covered struct {
	holders  []start // the bound objects that may have edges
	attached uint64  // trackable.EdgesAttached before the match
}

// sees notes an object that was bound, found of whose edges lead to nodes of the
// file.
func (m *match) sees(s start, edges, found int) {
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
	if c == nil || trackable.EdgesAttached() != c.attached {
		return false
	}
	for _, h := range c.holders {
		edges, err := l.ck.children(h.obj)
		if err != nil || !l.bindsAll(edges) {
			return false
		}
	}
	return true
}

// bindsAll reports whether all edges lead to bound objects.
func (l *load) bindsAll(edges []trackable.Edge) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range edges {
		if !l.objects.has(edges[i].Child) {
			return false
		}
	}
	return true
}
