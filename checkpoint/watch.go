package checkpoint

import (
	"context"
	"errors"
	"math"
	"slices"
	"weak"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
)

// watcher asks a Checkpoint before and after each step. It doesn't keep the
// Checkpoint, and so the program's objects, in memory.
type watcher struct{ ck weak.Pointer[Checkpoint] }

// BeforeStep delivers pending values to objects that have appeared.
func (w watcher) BeforeStep(ctx context.Context) restoring.Watch {
	when, _ := w.settle(ctx, nil)
	return when
}

// AfterStep refuses a step that made variables which a restore should have
// filled before.
func (w watcher) AfterStep(ctx context.Context, before uint64) (restoring.Watch, error) {
	return w.settle(ctx, &before)
}

// settle delivers, and records failures so that the objects return them when
// they are used. before is set at the end of a step. Then the error is about
// variables that were created since.
func (w watcher) settle(ctx context.Context, before *uint64) (restoring.Watch, error) {
	ck := w.ck.Value()
	if ck == nil {
		return restoring.WatchEnded, nil
	}
	ck.settling.Lock()
	defer ck.settling.Unlock()
	loads := ck.pendingLoads()
	found := faults{}
	var errs []error
	// The latest restore comes first, so that an earlier one doesn't overwrite its
	// values.
	for _, l := range slices.Backward(loads) {
		if before != nil {
			errs = append(errs, l.usedTooEarly(ctx, *before))
		}
		l.syncEach(ctx, found)
	}
	var unfilled *UnfilledError
	if errors.As(ck.checkFilled(ctx, true), &unfilled) {
		for _, v := range unfilled.variables {
			if found[v] == nil { // the reason that a value wasn't delivered is more specific
				found[v] = unfilled
			}
		}
	}
	ck.setFaults(found)
	if before != nil {
		errs = append(errs, found.since(*before))
	}
	next := restoring.WatchEnded
	if len(found) > 0 {
		next = restoring.WatchSteps
	}
	for _, l := range loads {
		next = max(next, l.wants())
	}
	return next, errors.Join(errs...)
}

// faults are the errors of variables, and of the Nodes of objects whose
// variables aren't created yet.
type faults map[any]error // by *trackable.Variable or *trackable.Node

// setFault sets or removes the error of a variable or a Node.
func setFault(at any, err error) {
	switch at := at.(type) {
	case *trackable.Variable:
		internals.SetVariableFault(at, err)
	case *trackable.Node:
		internals.SetNodeFault(at, err)
	}
}

// add puts err on all of obj that l didn't fill.
func (f faults) add(l *load, obj any, err error) {
	g, walkErr := trackable.Walk(obj, &trackable.WalkOptions{NoSlots: true})
	if walkErr != nil {
		return // saves report it
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

// since returns the fault of the first faulty variable made after the first n.
func (f faults) since(n uint64) (fault error) {
	first := uint64(math.MaxUint64)
	for at, err := range f {
		v, ok := at.(*trackable.Variable)
		if !ok {
			continue
		}
		if made := internals.Made(v); made > n && made < first {
			first, fault = made, err
		}
	}
	return fault
}

// setFaults replaces the errors that the Checkpoint's objects return.
func (ck *Checkpoint) setFaults(found faults) {
	for at, err := range found {
		setFault(at, err)
	}
	for at := range ck.faults {
		if found[at] == nil {
			setFault(at, nil)
		}
	}
	ck.faults = found
}

// syncEach delivers as sync does, but one object at a time if one of them
// fails.
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

// wants returns the changes after which l must be called again.
func (l *load) wants() restoring.Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph == nil && l.open && len(l.usedNames) < l.src.reader.Len() {
		return restoring.WatchSteps
	}
	for _, w := range l.pending {
		if w.plain {
			return restoring.WatchSteps
		}
	}
	if l.guards.Load() || len(l.pending) > 0 {
		return restoring.WatchVariables
	}
	return restoring.WatchEnded
}

// checkOthers returns the reason that ck can't save g after another Checkpoint's
// restore. It is the fault of a variable, or a *PendingError if values are
// pending for an object of g, which a save of either would lose.
func (ck *Checkpoint) checkOthers(ctx context.Context, g *trackable.Graph) error {
	watchers := internals.Watchers(internals.Gate(ctx))
	if len(watchers) == 0 {
		return nil
	}
	for id := range g.Nodes {
		if v := g.Nodes[id].Variable(); v != nil && internals.VariableFault(v) != nil {
			return internals.VariableFault(v)
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

// usedTooEarly returns an error if a step created variables in an object that
// it attached too late for their values to be delivered: the step computed with
// initial values. Variables that existed before count as unused.
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
	if err != nil || m.refuse() != nil || l.expectPartial {
		return nil
	}
	var items []Item
	m.values.each(func(v *trackable.Variable, node int32, tensor bundle.Handle) {
		if internals.Made(v) > before {
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

// checkFilled returns an *UnfilledError if the program has a variable without a
// value in the latest restore, a strict one. Because it walks the whole graph,
// steps call it only if variables were created.
func (ck *Checkpoint) checkFilled(ctx context.Context, inStep bool) error {
	made := internals.VariablesMade()
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
		return nil // the caller that adds them gets the error; the others are checked again
	}
	ck.mu.Lock()
	ck.filled = made
	ck.mu.Unlock()
	return nil
}
