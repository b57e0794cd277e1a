package trackable

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cairnml/cairn/internal/callers"
)

// Watcher delivers the restores of one root for the steps that run under a
// [Gate]. A step may belong to another root, so errors of a watcher's objects are
// returned by these objects ([Variable.SetFault], [Node.SetFault]) when they are
// used.
type Watcher interface {
	// BeforeStep delivers pending values to objects that have appeared.
	BeforeStep(ctx context.Context) Watch
	// AfterStep does so too. The error is that the step made variables which a
	// restore should have filled before they were used; before is how many
	// variables there were when it began.
	AfterStep(ctx context.Context, before uint64) (Watch, error)
}

// Watch is the time at which a [Watcher] must be called again.
type Watch uint8

const (
	WatchEnded     Watch = iota // never: nothing is pending and nothing guarded
	WatchVariables              // once variables have been made
	WatchSteps                  // at every step
)

// watchers are a Gate's, with how far they have looked.
type watchers struct {
	mu   sync.Mutex // held while they run
	list []Watcher
	seen uint64 // no need to ask while there are so many variables
}

// always is a number of variables that is never reached.
const always = ^uint64(0)

// VariablesMade counts the variables made so far in the process.
func VariablesMade() uint64 { return variableIDs.Load() }

// GateOf returns the gate of the steps and snapshots that run with ctx.
func GateOf(ctx context.Context) *Gate { return gateOf(ctx) }

// Watch adds w until it answers [WatchEnded].
func (g *Gate) Watch(w Watcher) {
	g.watch.mu.Lock()
	defer g.watch.mu.Unlock()
	if !slices.Contains(g.watch.list, w) {
		g.watch.list = append(g.watch.list, w)
	}
	g.watch.seen = always
	g.watched.Store(true)
}

// Watchers returns the watchers that deliver restores for the steps under g.
func (g *Gate) Watchers() []Watcher {
	g.watch.mu.Lock()
	defer g.watch.mu.Unlock()
	return slices.Clone(g.watch.list)
}

// Settle delivers pending values, as the beginning of a step does. It is for
// code that runs outside of steps.
func Settle(ctx context.Context) {
	g := gateOf(ctx)
	if g.watched.Load() && ctx.Value(unwatchedKey{}) == nil {
		_ = g.ask(ctx, before)
	}
}

func before(w Watcher, ctx context.Context) (Watch, error) { return w.BeforeStep(ctx), nil }

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
	return g.ask(ctx, func(w Watcher, ctx context.Context) (Watch, error) { return w.AfterStep(ctx, made) })
}

// ask runs the watchers if something may have changed for them.
func (g *Gate) ask(ctx context.Context, of func(Watcher, context.Context) (Watch, error)) error {
	w := &g.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	made := variableIDs.Load()
	if w.seen == made {
		return nil
	}
	ctx = unwatched(ctx)
	next := WatchEnded
	keep := w.list[:0:0]
	var errs []error
	for _, x := range w.list {
		var when Watch
		var err error
		callers.Outside(func() { when, err = of(x, ctx) })
		errs = append(errs, err)
		if when != WatchEnded {
			keep = append(keep, x)
		}
		next = max(next, when)
	}
	w.list = keep
	switch next {
	case WatchSteps:
		w.seen = always
	default:
		w.seen = made
	}
	g.watched.Store(len(keep) > 0)
	return errors.Join(errs...)
}
