package checkpoint

import (
	"slices"
	"sync"
	"weak"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
)

// An interruption is a restore that broke off half way. Its objects hold a mixture
// of values until a restore of them goes through, by whichever Checkpoint, so that
// none may save them meanwhile. It outlives its Checkpoint, which a program may have
// given up, and keeps no variable in memory.
type interruption struct {
	err     *InterruptedRestoreError
	objects map[any]struct{} // by weakly
}

// interruptions are those of the whole process, whatever their gates.
var interruptions struct {
	mu   sync.Mutex
	list []*interruption
}

// weakly returns a key that identifies an object without keeping it in memory. An
// object without a Node is kept.
func weakly(obj any) any {
	if v := variableOf(obj); v != nil {
		return weak.Make(v)
	}
	if n, ok := obj.(trackable.Noder); ok {
		return weak.Make(n.TrackableNode())
	}
	return trackable.Identity(obj)
}

// gone reports whether the object that weakly stood for is there no more.
func gone(key any) bool {
	switch key := key.(type) {
	case weak.Pointer[trackable.Variable]:
		return key.Value() == nil
	case weak.Pointer[trackable.Node]:
		return key.Value() == nil
	}
	return false
}

// interrupted notes that the match was carried out in part.
func (m *match) interrupted(err error) {
	n := &interruption{err: &InterruptedRestoreError{Path: m.l.src.path, Err: err}, objects: map[any]struct{}{}}
	add := func(obj any) { n.objects[weakly(obj)] = struct{}{} }
	m.values.each(func(v *trackable.Variable, _ int32, _ bundle.Handle) { add(v) })
	for _, s := range m.newSlots {
		add(s.v)
	}
	for _, c := range m.counts {
		add(c.at)
	}
	for _, obj := range m.stamped {
		add(obj)
	}
	interruptions.mu.Lock()
	defer interruptions.mu.Unlock()
	interruptions.list = append(interruptions.list, n)
}

// checkInterrupted returns an *InterruptedRestoreError if a restore that failed
// halfway involved an object of g; the latest restore comes first. If g is nil it
// walks when needed.
func (ck *Checkpoint) checkInterrupted(g *trackable.Graph) (err error) {
	interruptions.mu.Lock()
	list := slices.Clone(interruptions.list)
	interruptions.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	if g == nil {
		if g, err = ck.walk(); err != nil {
			return err
		}
	}
	interruptions.mu.Lock()
	defer interruptions.mu.Unlock()
	for _, n := range slices.Backward(list) {
		for id := range g.Nodes {
			if _, ok := n.objects[weakly(g.Nodes[id].Object)]; ok {
				return n.err
			}
		}
	}
	return nil
}

// noteCompleteRestore notes that a restore of all that ck holds went through.
func (ck *Checkpoint) noteCompleteRestore() {
	ck.mu.Lock()
	ck.restored++
	ck.mu.Unlock()
	interruptions.mu.Lock()
	none := len(interruptions.list) == 0
	interruptions.mu.Unlock()
	if none {
		return
	}
	g, err := ck.walk()
	if err != nil {
		return // saves report it, too
	}
	interruptions.mu.Lock()
	defer interruptions.mu.Unlock()
	interruptions.list = slices.DeleteFunc(interruptions.list, func(n *interruption) bool {
		for id := range g.Nodes {
			delete(n.objects, weakly(g.Nodes[id].Object))
		}
		for key := range n.objects {
			if gone(key) {
				delete(n.objects, key)
			}
		}
		return len(n.objects) == 0
	})
}
