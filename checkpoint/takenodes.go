package checkpoint

import (
	"context"
	"runtime"
	"slices"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/trackable"
)

// A program has most of its variables in rows: nodes without children that follow
// each other in the queue. The plan for one of them doesn't depend on the others,
// so workers share a long row.

// rowBatch is how many variables a worker takes at least.
const rowBatch = 4096

// row returns how many variables without children the queue begins with.
func (m *match) row() int {
	if len(m.queue) < 2*rowBatch || !m.l.ck.o.Savers.none() {
		return 0 // a saver's functions are called one at a time
	}
	for i := 0; i < len(m.queue); i++ {
		q := &m.queue[i]
		if q.row > 0 {
			i += int(q.row) - 1
			continue
		}
		if obj, _ := m.bound.get(q.node); !m.l.graph.nodes[q.node].lone || !plainVariable(obj) {
			return i
		}
	}
	return len(m.queue)
}

// listOf returns the elements of a slice of variables, whose edges are called by their
// indices; nil ones have none. ok is false for all other objects.
func (ck *Checkpoint) listOf(obj any) (list []*trackable.Variable, ok bool) {
	p, ok := obj.(*[]*trackable.Variable)
	if !ok || p == nil || obj == ck.root { // the root may have other edges
		return nil, false
	}
	return *p, true
}

// bindList binds the elements of a long list to the nodes of one in the file, in
// parallel. If that isn't possible, done is false and nothing is bound. If no object is
// queued before them, it takes them too.
func (m *match) bindList(ctx context.Context, s start, list []*trackable.Variable) (done bool, err error) {
	l := m.l
	nodes, n := l.graph.lists[s.node], len(list)
	if len(nodes) == 0 || len(nodes) != n || l.bound.len() > 0 {
		return false, nil
	}
	take := len(m.queue) == 0 && l.ck.o.Savers.none()
	// Increasing numbers show that no variable and no node occurs twice.
	vars := make([]*trackable.Variable, n)
	copy(vars, list)
	// Mostly all of them get a value: those that do are this row, which isn't copied.
	shared := take && len(m.values.vars) == 0
	if shared {
		m.values.vars, m.values.nodes = vars[:0], nodes[:0:n]
	}
	parts := m.partsOf(n)
	failed := make([]bool, len(parts))
	cores.Each(len(parts), func(i int) {
		p := &parts[i]
		last := uint64(0)
		for k, v := range vars[p.from:p.to] {
			if k%checkEvery == 0 && ctx.Err() != nil {
				return
			}
			node := nodes[p.from+k]
			row := &l.graph.nodes[node]
			if v == nil || internals.Made(v) <= last || !row.lone {
				failed[i] = true
				return
			}
			last = internals.Made(v)
			if take {
				p.takeLone(start{node: node, obj: v}, v, row)
				if shared && !p.apart && len(p.values.vars) == k {
					p.apart = true
					p.values.vars, p.values.nodes = slices.Clone(p.values.vars), slices.Clone(p.values.nodes)
				}
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return false, err
	}
	sound, apart := true, false
	for i := range parts {
		from := parts[i].from
		sound = sound && !failed[i] && (i == 0 || internals.Made(vars[from-1]) < internals.Made(vars[from]))
		apart = apart || parts[i].apart
	}
	ok := sound && m.addRow(nodes, vars)
	if shared && (apart || !ok) {
		m.values.vars, m.values.nodes = nil, nil
	}
	if !ok {
		return false, nil
	}
	m.noteBound(s, n, n)
	if take {
		return true, m.join(ctx, parts)
	}
	m.queue = slices.Grow(m.queue, n)
	for _, node := range nodes {
		m.queue = append(m.queue, queued{node: node})
	}
	m.queue[len(m.queue)-n].row = int32(n)
	return true, nil
}

// addRow binds the nodes of a row. If that isn't possible, ok is false and nothing is
// bound.
func (m *match) addRow(nodes []int32, vars []*trackable.Variable) (ok bool) {
	before := m.bound.rows
	if !m.bound.addRow(nodes, vars) {
		return false
	}
	if !m.objects.addRow(vars) {
		m.bound.rows, m.bound.n = before, m.bound.n-len(nodes)
		return false
	}
	return true
}

// rowPart is a worker's part of a row: from one index in it to another.
type rowPart struct {
	match
	from, to int
	edges    []start // nodes that may have edges
	apart    bool    // some of the row get no value
}

// partsOf divides a row of n variables. Most of them have one value each, which is
// written directly to its final index.
func (m *match) partsOf(n int) []rowPart {
	m.values.grow(n)
	parts := make([]rowPart, min(runtime.GOMAXPROCS(0), n/rowBatch))
	for i := range parts {
		p := &parts[i]
		p.from, p.to = i*n/len(parts), (i+1)*n/len(parts)
		p.match = match{l: m.l, late: m.late, values: m.values.part(p.from, p.to)}
	}
	return parts
}

// takeLone works like take, for a variable whose node is that of a lone variable. No saver, serializer
// or iterator concerns it.
func (p *rowPart) takeLone(s start, v *trackable.Variable, row *nodeRow) {
	l := p.l
	current := !s.again && internals.Stamp(v.TrackableNode()) < l.order
	if row.value.Valid() {
		p.takeFound(s, v, row.value, current)
	} else {
		p.takeValue(s, v, l.graph.loneKey(row), current)
	}
	if internals.HasEdges(v.TrackableNode()) || len(l.slotsOf) > 0 || len(l.slotsLeft) > 0 {
		p.edges = append(p.edges, s)
	}
}

func plainVariable(obj any) bool {
	_, ok := obj.(*trackable.Variable)
	return ok
}

// takeNodes performs take and finish for the first n nodes of the queue.
func (m *match) takeNodes(ctx context.Context, n int) error {
	row := m.queue[:n]
	m.queue = m.queue[n:]
	parts := m.partsOf(n)
	cores.Each(len(parts), func(i int) {
		p := &parts[i]
		for k, q := range row[p.from:p.to] {
			if k%checkEvery == 0 && ctx.Err() != nil {
				return
			}
			obj, _ := m.bound.get(q.node)
			p.takeLone(start{q.node, obj, q.again}, obj.(*trackable.Variable), &m.l.graph.nodes[q.node])
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.join(ctx, parts)
}

// join adds the results of the parts of a row, and finishes the nodes with
// edges.
func (m *match) join(ctx context.Context, parts []rowPart) error {
	for i := range parts {
		m.joinPart(&parts[i].match)
	}
	for i := range parts {
		for _, s := range parts[i].edges {
			node := m.l.graph.node(s.node)
			if err := m.finish(ctx, s, &node); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinPart adds the results of a part of a row.
func (m *match) joinPart(p *match) {
	before := int32(len(m.values.whole))
	for _, d := range p.restored {
		if d.run > 0 {
			d.node += before
		}
		m.addDone(d)
	}
	m.values.join(&p.values) // onto itself, mostly
	m.stamped = append(m.stamped, p.stamped...)
	m.missing = append(m.missing, p.missing...)
	m.mismatched = append(m.mismatched, p.mismatched...)
	m.written = append(m.written, p.written...)
	m.writtenIn = append(m.writtenIn, p.writtenIn...)
}
