package trackable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/callers"
)

// Gate separates training steps and snapshots, so that a checkpoint shows every
// variable between the same two steps. Many steps may run at a time. A snapshot
// waits for the running ones and delays new ones for the microseconds that it
// takes. The zero Gate is ready to use.
//
// A step begins by delivering the values that restores under its gate have
// pending for objects assigned to plain fields, slices and maps since. For that
// it reads the restored objects' fields. Programs that build one model while
// they call another in parallel use a separate gate for each ([WithGate]).
type Gate struct {
	mu      sync.Mutex
	running int           // steps
	frozen  bool          // a snapshot or restore runs, and no step
	freezes int           // snapshots that wait: new steps let them pass
	steps   int           // steps that wait
	owed    int           // of them, how many go before the next snapshot
	changed chan struct{} // closed when any of this changes; nil if no goroutine waits

	watched atomic.Bool // whether there are watchers
	watch   watchers
}

// DefaultGate is the Gate of contexts that carry none.
var DefaultGate = new(Gate)

type gateKey struct{}   // the Gate that a context carries
type insideKey struct{} // insideKey is the key of the Gate whose step a context belongs to

// WithGate returns a context whose steps and snapshots use g instead of
// [DefaultGate].
func WithGate(ctx context.Context, g *Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

func gateOf(ctx context.Context) *Gate {
	if g, ok := ctx.Value(gateKey{}).(*Gate); ok && g != nil {
		return g
	}
	return DefaultGate
}

// ErrInsideStep is the error of a snapshot inside a step. The snapshot would
// wait for itself.
var ErrInsideStep = errors.New("trackable: a checkpoint can't be taken inside a training step; save between steps")

// Step runs f as one training step: no snapshot is taken while it runs, and
// pending restores are delivered before it (see [Gate]). A step inside a step,
// known by its context, is part of the outer one. Functions called by f must
// get the context that f got: a save with another one would wait for f forever.
// Step returns f's error, or ctx's if it ended before f could start.
func Step(ctx context.Context, f func(ctx context.Context) error) error {
	return gateOf(ctx).Step(ctx, f)
}

// Step works like the function [Step], on this gate.
func (g *Gate) Step(ctx context.Context, f func(ctx context.Context) error) error {
	if ctx.Value(insideKey{}) == g {
		return g.watching(ctx, f)
	}
	err := g.enter(ctx, &g.steps,
		func() bool { return !g.frozen && (g.freezes == 0 || g.owed > 0) },
		func() {
			g.running++
			if g.owed > 0 {
				g.owed--
			}
		})
	if err != nil {
		return err
	}
	defer g.leave(func() { g.running-- })
	return g.watching(context.WithValue(ctx, insideKey{}, g), f)
}

// Freeze runs f while no step runs; steps that f starts with its context are
// part of it. Inside a step, Freeze is [ErrInsideStep].
func Freeze(ctx context.Context, f func(ctx context.Context) error) error {
	return gateOf(ctx).Freeze(ctx, f)
}

// Freeze works like the function [Freeze], on this gate.
func (g *Gate) Freeze(ctx context.Context, f func(ctx context.Context) error) error {
	if callers.Traces() > 0 { // which is a step, whatever ctx is
		return fmt.Errorf("%s: %w: it %w", callers.Site(), ErrInsideStep, ErrInTrace)
	}
	if ctx.Value(insideKey{}) == g {
		return ErrInsideStep
	}
	err := g.enter(ctx, &g.freezes,
		func() bool { return !g.frozen && g.running == 0 && g.owed == 0 },
		func() { g.frozen = true })
	if err != nil {
		return err
	}
	// Steps that waited meanwhile go first, so that a loop of snapshots can't
	// keep them out for ever.
	defer g.leave(func() { g.frozen, g.owed = false, g.steps })
	return f(unwatched(context.WithValue(ctx, insideKey{}, g)))
}

// enter waits until free, counted in *queue meanwhile.
func (g *Gate) enter(ctx context.Context, queue *int, free func() bool, take func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	*queue++
	defer func() {
		*queue--
		g.owed = min(g.owed, g.steps)
		g.wake()
	}()
	for !free() {
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		wait := g.changed
		g.mu.Unlock()
		select {
		case <-wait:
			g.mu.Lock()
		case <-ctx.Done():
			g.mu.Lock()
			return ctx.Err()
		}
	}
	take()
	return nil
}

func (g *Gate) leave(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
	g.wake()
}

func (g *Gate) wake() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
