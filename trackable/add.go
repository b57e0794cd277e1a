package trackable

import (
	"slices"

	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/internal/restoring"
)

// Add calls put, which makes child one of the object's children, visible to walks
// of the graph, and returns its edge. Then it restores child from all values that
// are pending for the edge: those of the latest restore first, so that an earlier
// one can't overwrite it, and those that arrive meanwhile. Failed deliveries stay
// pending. It is an error if a variable below child is left without a value
// although a strict restore should have one for it. Add also returns the error of
// put.
func (n *Node) Add(child Trackable, put func() (edge string, err error)) error {
	a := restoring.Arrive(n, Identity(child))
	defer a.End()
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
			a.Delivers()
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
func (n *Node) endUnlessPending(a *restoring.Arrival, asked []Pending) []Pending {
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
		a.End()
	}
	return list
}
