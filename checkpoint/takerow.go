package checkpoint

import (
	"context"
	"runtime"
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
	for i, q := range m.queue {
		if obj, _ := m.bound.get(q.node); !m.l.graph.nodes[q.node].lone || !plainVariable(obj) {
			return i
		}
	}
	return len(m.queue)
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
	var wg sync.WaitGroup
	for i := 1; i < len(parts); i++ {
		wg.Go(func() { part(i) })
	}
	part(0)
	wg.Wait()
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
