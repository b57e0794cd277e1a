package restoring

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
)

// Arrival is a child that is being added to an object: other goroutines may see
// it, and the values that restores have for it aren't all delivered. Node.Add in package
// trackable creates one. Other readers of the object graph leave the child to the goroutine
// that adds it; a snapshot waits.
type Arrival struct {
	Parent any // the Node of the object
	Child  any // its identity

	goroutine uint64        // that delivers values to the child; 0 before Delivers
	ended     chan struct{} // closed by End; nil until somebody waits
}

// arrivals are those of the process. There are few at a time.
var arrivals struct {
	begun atomic.Uint64 // calls of Arrive
	some  atomic.Bool   // len(list) > 0, read without the lock
	mu    sync.Mutex    // held for list, and for the fields of its elements
	list  []*Arrival
}

// ArrivalsBegun counts the children that trackable.Node.Add was called with so far in the
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

// Arrive records that a child, given by its identity, is being added to an object. The caller calls
// [Arrival.End] once it has been.
func Arrive(node, child any) *Arrival {
	a := &Arrival{Parent: node, Child: child}
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	arrivals.begun.Add(1)
	arrivals.list = append(arrivals.list, a)
	arrivals.some.Store(true)
	return a
}

// Delivers records that code which the calling goroutine calls from now on may call Own.
func (a *Arrival) Delivers() {
	id := callers.Goroutine()
	arrivals.mu.Lock()
	defer arrivals.mu.Unlock()
	a.goroutine = id
}

// End records that the child has been added. It does nothing the second time.
func (a *Arrival) End() {
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
