package trackable

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
)

// Arrival is a child on its way into an object: others may see it, and what
// restores hold for it isn't all delivered. [Node.Add] makes one. Whoever looks at
// the object graph meanwhile leaves the child to the goroutine that adds it; a
// snapshot waits.
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

// Arrivals returns the children that are being added at this moment. One that is
// not among them, and was seen before, has been given what is pending for it.
func Arrivals() []*Arrival {
	if !arrivals.some.Load() {
		return nil
	}
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	return slices.Clone(arrivals.list)
}

// Own reports whether the goroutine that asks adds the child: it runs what a
// delivery calls.
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

// delivers notes that what a calls from now on may come back to Own.
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

// Add calls put, which makes child one of the object's children, seen by whoever
// walks the graph, and returns its edge. Then it restores child from all that is
// pending for the edge: the latest restore first, so that an earlier one can't
// overwrite it, and those that come meanwhile. What fails stays pending. A variable
// below child that is left without a value although a strict restore should have
// one for it is an error too. An error of put is Add's.
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
// first; where there is none it ends a, so that no restore comes between.
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
