package checkpoint

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/cairnml/cairn/trackable"
)

// A program has most of its variables in rows: nodes without children that follow
// each other in the queue. What is planned for one of them depends on no other, so
// that workers share a long row.

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

// bindList binds the elements of a long list to the nodes of one in the file, as many
// workers as there are beside each other; done is false where that can't be done so, and
// nothing is bound then.
func (m *match) bindList(s start, list []*trackable.Variable) (done bool, err error) {
	nodes := m.l.graph.lists[s.node]
	if len(nodes) == 0 || len(nodes) != len(list) || m.bound.all == nil || m.l.bound.len() > 0 {
		return false, nil
	}
	// Numbers that increase tell that no variable and no node comes twice.
	vars := make([]*trackable.Variable, len(list))
	parts := make([]bool, min(runtime.GOMAXPROCS(0), len(list)/rowBatch)) // which failed
	share := func(i int) (from, to int) { return i * len(list) / len(parts), (i + 1) * len(list) / len(parts) }
	together(len(parts), func(i int) {
		last := uint64(0)
		from, to := share(i)
		copy(vars[from:to], list[from:to])
		for k, v := range vars[from:to] {
			row := &m.l.graph.nodes[nodes[from+k]]
			if v == nil || v.Made() <= last || !row.lone || m.bound.all[nodes[from+k]] != nil {
				parts[i] = true
				return
			}
			last = v.Made()
		}
	})
	for i := range parts {
		if from, _ := share(i); parts[i] || i > 0 && vars[from-1].Made() >= vars[from].Made() {
			return false, nil
		}
	}
	if !m.objects.addRow(vars) {
		return false, nil
	}
	at := len(m.queue)
	m.queue = slices.Grow(m.queue, len(vars))[:at+len(vars)]
	together(len(parts), func(i int) {
		from, to := share(i)
		for k, v := range vars[from:to] {
			node := nodes[from+k]
			m.bound.all[node] = v
			m.queue[at+from+k] = queued{node: node}
		}
	})
	m.bound.n += len(vars)
	m.queue[at].row = int32(len(vars))
	m.sees(s, len(vars), len(vars))
	return true, nil
}

// together calls f with the numbers below n, in as many goroutines beside each other.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { f(i) })
	}
	f(0)
	wg.Wait()
}

func plainVariable(obj any) bool {
	_, ok := obj.(*trackable.Variable)
	return ok
}

// takeRow does what take and finish do, for the first n of the queue.
func (m *match) takeRow(ctx context.Context, n int) error {
	row := m.queue[:n]
	m.queue = m.queue[n:]
	m.reserveValues(n)
	parts := make([]match, min(runtime.GOMAXPROCS(0), n/rowBatch))
	more := make([][]start, len(parts)) // what may have edges
	restored, values := len(m.restored), len(m.values)
	part := func(i int) {
		from, to := i*n/len(parts), (i+1)*n/len(parts)
		// Most give one value each, which gets into its place at once.
		p := &parts[i]
		*p = match{l: m.l, late: m.late, base: restored + from,
			restored: m.restored[:restored+n][restored+from : restored+from : restored+to],
			values:   m.values[:values+n][values+from : values+from : values+to]}
		for k, q := range row[from:to] {
			if k%lookAfter == 0 && ctx.Err() != nil {
				return
			}
			obj, _ := m.bound.get(q.node)
			s, v := start{q.node, obj, q.again}, obj.(*trackable.Variable)
			// No saver, serializer or iterator comes in between.
			current := !q.again && v.TrackableNode().Stamp() < m.l.order
			p.takeValue(s, v, m.l.graph.loneKey(&m.l.graph.nodes[q.node]), current)
			if v.TrackableNode().HasEdges() || len(m.l.slotsOf) > 0 || len(m.l.slotsLeft) > 0 {
				more[i] = append(more[i], s)
			}
		}
	}
	together(len(parts), part)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range parts {
		m.join(&parts[i])
	}
	for _, list := range more {
		for _, s := range list {
			node := m.l.graph.node(s.node)
			if err := m.finish(s, &node); err != nil {
				return err
			}
		}
	}
	return nil
}

// join adds what a part of a row came to.
func (m *match) join(p *match) {
	if shift := int32(p.base - len(m.restored)); shift != 0 {
		for i := range p.values {
			p.values[i].at -= shift
		}
	}
	m.restored = append(m.restored, p.restored...) // onto itself, mostly
	m.values = append(m.values, p.values...)
	m.stamped = append(m.stamped, p.stamped...)
	m.missing = append(m.missing, p.missing...)
	m.mismatched = append(m.mismatched, p.mismatched...)
	m.written = append(m.written, p.written...)
	m.writtenIn = append(m.writtenIn, p.writtenIn...)
}
