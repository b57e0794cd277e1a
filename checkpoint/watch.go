package checkpoint

import (
	"context"
	"runtime"
	"slices"
	"weak"

	"github.com/cairnml/cairn/trackable"
)

// watcher asks a Checkpoint before and after each step. It doesn't keep the
// Checkpoint, and so the program's objects, in memory.
type watcher struct{ ck weak.Pointer[Checkpoint] }

// BeforeStep delivers what is pending for objects that have appeared.
func (w watcher) BeforeStep(ctx context.Context) (trackable.Watch, error) {
	return w.settle(ctx, false)
}

// AfterStep refuses a step that made objects which a restore should have filled
// before.
func (w watcher) AfterStep(ctx context.Context) (trackable.Watch, error) { return w.settle(ctx, true) }

func (w watcher) settle(ctx context.Context, after bool) (trackable.Watch, error) {
	ck := w.ck.Value()
	if ck == nil {
		return trackable.WatchEnded, nil
	}
	loads := ck.pendingLoads()
	// The latest restore first: an earlier one doesn't overwrite what it set.
	for _, l := range slices.Backward(loads) {
		if after {
			if err := l.madeInStep(ctx); err != nil {
				return 0, err
			}
		}
		if err := l.sync(ctx, true); err != nil {
			return 0, err
		}
	}
	if err := ck.checkFilled(ctx, true); err != nil {
		return 0, err
	}
	next := trackable.WatchEnded
	for _, l := range loads {
		next = max(next, l.wants())
	}
	return next, nil
}

// wants says when l has to be asked again.
func (l *load) wants() trackable.Watch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.graph == nil && l.open && len(l.usedNames) < l.src.reader.Len() {
		return trackable.WatchSteps
	}
	for _, w := range l.waiting {
		if w.plain {
			return trackable.WatchSteps
		}
	}
	if l.guards.Load() {
		return trackable.WatchVariables
	}
	return trackable.WatchEnded
}

// madeInStep is an error where a step made variables in an object that it put
// into its place too late for their values to be delivered.
func (l *load) madeInStep(ctx context.Context) error {
	if l.graph == nil {
		return nil // their names were looked up when they were made
	}
	starts, err := l.appeared(true)
	if err != nil || len(starts) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := l.match(ctx, true, starts...)
	if err != nil {
		return err
	}
	if err := m.refuse(); err != nil || l.letGo {
		return err
	}
	var items []Item
	for _, r := range m.values {
		items = append(items, Item{Path: l.graph.human(r.node), Attribute: trackable.VariableValue, Key: r.key, DType: r.v.DType(), Shape: r.shape})
	}
	if len(items) > 0 {
		return &WrittenError{Path: l.src.path, Written: items, InStep: true}
	}
	return nil
}

// pendingLoads are the restores that something is pending of, and the latest.
func (ck *Checkpoint) pendingLoads() []*load {
	ck.mu.Lock()
	defer ck.mu.Unlock()
	return slices.Clone(ck.loads)
}

// checkFilled is an *UnfilledError where the program has a variable that the
// latest restore, a strict one, has no value for. Since it walks the whole
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
	const tries = 5
	for try := 1; ; try++ {
		g, err := ck.walk()
		if err != nil {
			return err
		}
		items := l.unfilled(g)
		if len(items) == 0 {
			l.watchBelow(g)
			break
		}
		if try == tries {
			return l.unfilledError(items)
		}
		// Another goroutine may be attaching objects, which get their values at
		// this moment.
		if err := l.sync(ctx, inStep); err != nil {
			return err
		}
		runtime.Gosched()
	}
	ck.mu.Lock()
	ck.filled = made
	ck.mu.Unlock()
	return nil
}
