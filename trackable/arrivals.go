package trackable

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
)

// Arrival is a child that is being added to an object: other goroutines may see
// it, and the values that restores have for it aren't all delivered. [Node.Add]
// creates one. Other readers of the object graph leave the child to the goroutine
// that adds it; a snapshot waits.
type Arrival struct {
	Parent *Node
	Child  any // its identity

	goroutine uint64 // 0: nothing was pending when it began
	ended     chan struct{}
}

// arrivals are those of the process. There are few at a time.
var arrivals struct {
	begun atomic.Uint64
	some  atomic.Bool
	mu    sync.Mutex
	list  []*Arrival
}

// ArrivalsBegun counts the children that [Node.Add] was called with so far in the
// process.
func ArrivalsBegun() uint64 { return arrivals.begun.Load() }

// Arrivals returns the children that are being added at this moment. A child
// that is not among them, and was seen before, has its pending values.
func Arrivals() []*Arrival {
	if !arrivals.some.Load() {
		return nil
	}
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	return slices.Clone(arrivals.list)
}

// Own reports whether the calling goroutine adds the child: it runs code called
// by a delivery.
func (a *Arrival) Own() bool {
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	return a.goroutine != 0 && a.goroutine == callers.Goroutine()
}

// Wait returns once the child has been added, or with ctx's error.
func (a *Arrival) Wait(ctx context.Context) error {
	arrivals.mu.Lock()
	if !slices.Contains(arrivals.list, a) {
		arrivals.mu.Unlock()
		return nil
	}
	if a.ended == nil {
		a.ended = make(chan struct{})
	}
	ended := a.ended
	arrivals.mu.Unlock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func arrive(n *Node, child any) *Arrival {
	a := &Arrival{Parent: n, Child: Identity(child)}
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	arrivals.begun.Add(1)
	arrivals.list = append(arrivals.list, a)
	arrivals.some.Store(true)
	return a
}

// delivers records that code called by a from now on may call Own.
func (a *Arrival) delivers() {
	id := callers.Goroutine()
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	a.goroutine = id
}

// end does nothing the second time.
func (a *Arrival) end() {
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	i := slices.Index(arrivals.list, a)
	if i < 0 {
		return
	}
	arrivals.list = slices.Delete(arrivals.list, i, i+1)
	arrivals.some.Store(len(arrivals.list) > 0)
	if a.ended != nil {
		close(a.ended)
	}
}

// Add calls put, which makes child one of the object's children, visible to walks
// of the graph, and returns its edge. Then it restores child from all values that
// are pending for the edge: those of the latest restore first, so that an earlier
// one can't overwrite it, and those that arrive meanwhile. Failed deliveries stay
// pending. It is an error if a variable below child is left without a value
// although a strict restore should have one for it. Add also returns the error of
// put.
func (n *Node) Add(child Trackable, put func() (edge string, err error)) error {
	a := arrive(n, child)
	defer a.end()
	edge, err := put()
	if err != nil {
		return err
	}
	var asked []Pending
	for {
		list := n.endUnlessPending(a, asked)
		if len(list) == 0 {
			return nil
		}
		if len(asked) == 0 {
			a.delivers()
		}
		for _, p := range list {
			callers.Outside(func() { err = p.Deliver(edge, child) })
			if err != nil {
				return err
			}
		}
		for _, p := range list {
			if err := p.Unfilled(edge, child); err != nil {
				return err
			}
		}
		asked = append(asked, list...)
	}
}

// endUnlessPending returns the pending restores other than asked, the latest
// first; if there are none it ends a, so that no restore comes between.
func (n *Node) endUnlessPending(a *Arrival, asked []Pending) []Pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropDone()
	var list []Pending
	for _, p := range n.pending {
		if !slices.Contains(asked, p) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		a.end()
	}
	return list
}
