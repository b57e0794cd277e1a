package trackable

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cairnml/cairn/internal/callers"
	"github.com/cairnml/cairn/internal/restoring"
)

// watchers are the watchers of a Gate: package checkpoint's restores that still have values
// for objects in plain fields.
type watchers struct {
	mu   sync.Mutex // held while they run
	list []restoring.Watcher
	seen uint64 // the watchers are asked unless this is the number of variables made so far
}

// always is a number of variables that is never reached.
const always = ^uint64(0)

// variablesMade counts the variables made so far in the process.
func variablesMade() uint64 { return variableIDs.Load() }

// addWatcher adds w until it answers [restoring.WatchEnded].
func (g *Gate) addWatcher(w restoring.Watcher) {
	g.watch.mu.Lock()
	defer g.watch.mu.Unlock()
	if !slices.Contains(g.watch.list, w) {
		g.watch.list = append(g.watch.list, w)
	}
	g.watch.seen = always
	g.watched.Store(true)
}

// currentWatchers returns the watchers that deliver restores for the steps under g.
func (g *Gate) currentWatchers() []restoring.Watcher {
	g.watch.mu.Lock()
	defer g.watch.mu.Unlock()
	return slices.Clone(g.watch.list)
}

// settle delivers pending values, as the beginning of a step does. It is for
// code that runs outside of steps.
func settle(ctx context.Context) {
	g := gateOf(ctx)
	if g.watched.Load() && ctx.Value(unwatchedKey{}) == nil {
		_ = g.ask(ctx, before)
	}
}

func before(w restoring.Watcher, ctx context.Context) (restoring.Watch, error) {
	return w.BeforeStep(ctx), nil
}

type unwatchedKey struct{}

// unwatched returns a context whose steps ask no watcher: snapshots and
// deliveries, which run while the objects are held.
func unwatched(ctx context.Context) context.Context {
	return context.WithValue(ctx, unwatchedKey{}, true)
}

// watching runs f between its watchers. Without any it costs one atomic load.
func (g *Gate) watching(ctx context.Context, f func(ctx context.Context) error) error {
	if !g.watched.Load() || ctx.Value(unwatchedKey{}) != nil {
		return f(ctx)
	}
	_ = g.ask(ctx, before)
	made := variableIDs.Load()
	if err := f(ctx); err != nil {
		return err
	}
	return g.ask(ctx, func(w restoring.Watcher, ctx context.Context) (restoring.Watch, error) { return w.AfterStep(ctx, made) })
}

// ask runs the watchers if something may have changed for them.
func (g *Gate) ask(ctx context.Context, of func(restoring.Watcher, context.Context) (restoring.Watch, error)) error {
	w := &g.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	made := variableIDs.Load()
	if w.seen == made {
		return nil
	}
	ctx = unwatched(ctx)
	next := restoring.WatchEnded
	keep := w.list[:0:0]
	var errs []error
	for _, x := range w.list {
		var when restoring.Watch
		var err error
		callers.Outside(func() { when, err = of(x, ctx) })
		errs = append(errs, err)
		if when != restoring.WatchEnded {
			keep = append(keep, x)
		}
		next = max(next, when)
	}
	w.list = keep
	switch next {
	case restoring.WatchSteps:
		w.seen = always
	default:
		w.seen = made
	}
	g.watched.Store(len(keep) > 0)
	return errors.Join(errs...)
}
