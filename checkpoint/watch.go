package checkpoint

import (
	"context"
	"errors"
	"slices"
	"weak"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/trackable"
)

// watcher asks a Checkpoint before and after each step. It doesn't keep the
// Checkpoint, and so the program's objects, in memory.
type watcher struct{ ck weak.Pointer[Checkpoint] }

// BeforeStep delivers what is pending for objects that have appeared.
func (w watcher) BeforeStep(ctx context.Context) trackable.Watch {
	when, _ := w.settle(ctx, nil)
	return when
}

// AfterStep refuses a step that made variables which a restore should have
// filled before.
func (w watcher) AfterStep(ctx context.Context, before uint64) (trackable.Watch, error) {
	return w.settle(ctx, &before)
}

// settle delivers, and makes the objects for which that fails tell so when they
// are used. With before it is the end of a step, and the error is about
// variables that were made since.
func (w watcher) settle(ctx context.Context, before *uint64) (trackable.Watch, error) {
	ck := w.ck.Value()
	if ck == nil {
		return trackable.WatchEnded, nil
	}
	ck.settling.Lock()
	defer ck.settling.Unlock()
	loads := ck.pendingLoads()
	found := faults{}
	var errs []error
	// The latest restore first: an earlier one doesn't overwrite what it set.
	for _, l := range slices.Backward(loads) {
		if before != nil {
			errs = append(errs, l.usedTooEarly(ctx, *before))
		}
		l.syncEach(ctx, found)
	}
	var unfilled *UnfilledError
	if errors.As(ck.checkFilled(ctx, true), &unfilled) {
		for _, v := range unfilled.variables {
			if found[v] == nil { // why a value wasn't delivered says more
				found[v] = unfilled
			}
		}
	}
	ck.setFaults(found)
	if before != nil {
		errs = append(errs, found.since(*before))
	}
	next := trackable.WatchEnded
	if len(found) > 0 {
		next = trackable.WatchSteps
	}
	for _, l := range loads {
		next = max(next, l.wants())
	}
	return next, errors.Join(errs...)
}

// faults are what is wrong with variables, and with the Nodes of objects whose
// variables aren't made yet.
type faults map[faulty]error

type faulty interface{ SetFault(error) }

// add puts err on all of obj that l didn't fill.
func (f faults) add(l *load, obj any, err error) {
	g, walkErr := trackable.Walk(obj, &trackable.WalkOptions{NoSlots: true})
	if walkErr != nil {
		return // saves say so
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if l.objects.has(n.Object) {
			continue
		}
		if v := n.Variable(); v != nil {
			f[v] = err
		} else if noder, ok := n.Object.(trackable.Noder); ok {
			f[noder.TrackableNode()] = err
		}
	}
}

// since returns the first fault of a variable made after the first n.
func (f faults) since(n uint64) error {
	for at, err := range f {
		if v, ok := at.(*trackable.Variable); ok && v.Made() > n {
			return err
		}
	}
	return nil
}

// setFaults replaces the faults that the Checkpoint's objects tell.
func (ck *Checkpoint) setFaults(found faults) {
	for at, err := range found {
		at.SetFault(err)
	}
	for at := range ck.faults {
		if found[at] == nil {
			at.SetFault(nil)
		}
	}
	ck.faults = found
}

// syncEach delivers as sync does, object by object where one of them fails.
func (l *load) syncEach(ctx context.Context, found faults) {
	if l.sync(ctx, true) == nil {
		return
	}
	if l.graph == nil {
		var written *WrittenError
		if err := l.deliverNames(ctx, nil); errors.As(err, &written) {
			for _, v := range written.variables {
				found[v] = err
			}
		}
		return
	}
	starts, err := l.appeared(true)
	if err != nil {
		return
	}
	for _, s := range starts {
		if err := l.deliver(ctx, s); err != nil {
			found.add(l, s.obj, err)
		}
	}
}

// wants says when l has to be asked again.
func (l *load) wants() trackable.Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph == nil && l.open && len(l.usedNames) < l.src.reader.Len() {
		return trackable.WatchSteps
	}
	for _, w := range l.pending {
		if w.plain {
			return trackable.WatchSteps
		}
	}
	if l.guards.Load() || len(l.pending) > 0 {
		return trackable.WatchVariables
	}
	return trackable.WatchEnded
}

// checkOthers returns what keeps ck from saving g after another Checkpoint's
// restore: the fault of a variable, or a *PendingError where something is pending
// for an object of g, which a save of either would lose.
func (ck *Checkpoint) checkOthers(ctx context.Context, g *trackable.Graph) error {
	watchers := trackable.GateOf(ctx).Watchers()
	if len(watchers) == 0 {
		return nil
	}
	for id := range g.Nodes {
		if v := g.Nodes[id].Variable(); v != nil && v.Fault() != nil {
			return v.Fault()
		}
	}
	for _, w := range watchers {
		w, ok := w.(watcher)
		if !ok {
			continue
		}
		other := w.ck.Value()
		if other == nil || other == ck {
			continue
		}
		for _, l := range slices.Backward(other.pendingLoads()) {
			if !l.pendingIn(g) {
				continue
			}
			if deferred, _ := l.left(ctx); len(deferred) > 0 {
				return &PendingError{Path: l.src.path, Deferred: deferred}
			}
		}
	}
	return nil
}

// pendingIn reports whether something is pending for an object of g.
func (l *load) pendingIn(g *trackable.Graph) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.partial {
		return false
	}
	if l.graph == nil {
		for obj := range l.watched { // their Nodes ask for names
			if _, ok := g.ID(obj); ok {
				return true
			}
		}
	}
	for _, w := range l.pending {
		if _, ok := g.ID(w.parent); ok && !w.superseded && w.edge != counterEdge {
			return true
		}
	}
	return false
}

// usedTooEarly returns an error where a step made variables in an object that
// it put into its place too late for their values to be delivered: the step
// computed with first values. Variables that there were before count as not
// used.
func (l *load) usedTooEarly(ctx context.Context, before uint64) error {
	if l.graph == nil {
		return nil // their names were looked up when they were made
	}
	starts, err := l.appeared(true)
	if err != nil || len(starts) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.match(ctx, true, starts...)
	if err != nil || m.refuse() != nil || l.letGo {
		return nil
	}
	var items []Item
	m.values.each(func(v *trackable.Variable, node int32, tensor bundle.Handle) {
		if v.Made() > before {
			e := l.src.reader.EntryOf(tensor)
			items = append(items, Item{Path: l.graph.human(node), Attribute: trackable.VariableValue, Key: e.Name, DType: v.DType(), Shape: e.Shape})
		}
	})
	if len(items) > 0 {
		return &WrittenError{Path: l.src.path, Written: items, InStep: true}
	}
	return nil
}

// pendingLoads returns the restores that something is pending of, and the
// latest.
func (ck *Checkpoint) pendingLoads() []*load {
	ck.mu.Lock()
	defer ck.mu.Unlock()
	return slices.Clone(ck.loads)
}

// checkFilled returns an *UnfilledError where the program has a variable that
// the latest restore, a strict one, has no value for. Since it walks the whole
// graph, steps ask for it where variables were made only.
func (ck *Checkpoint) checkFilled(ctx context.Context, inStep bool) error {
	made := trackable.VariablesMade()
	ck.mu.Lock()
	var l *load
	if n := len(ck.loads); n > 0 && ck.loads[n-1].guards.Load() {
		l = ck.loads[n-1]
	}
	known := ck.filled
	ck.mu.Unlock()
	if l == nil || inStep && known == made {
		return nil
	}
	g, err := ck.walk()
	if err != nil {
		return err
	}
	arriving := arrivingIn(g, true)
	if items, vars := l.unfilled(g, arriving); len(items) > 0 {
		return l.unfilledError(items, vars)
	}
	l.watchBelow(g)
	if len(arriving) > 0 {
		return nil // who adds them gets the error; what else shows them is asked again
	}
	ck.mu.Lock()
	ck.filled = made
	ck.mu.Unlock()
	return nil
}
