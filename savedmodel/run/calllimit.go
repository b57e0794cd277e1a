package run

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/engine"
)

// callLimit is a limit on the calls that run at once, over all instances of a model; nil is none. It
// bounds memory: results of one call and of several are the same. LoadOptions.MaxCalls documents it.
type callLimit chan struct{}

// newCallLimit makes the limit that the options ask for.
func newCallLimit(o *LoadOptions) callLimit {
	most := o.MaxCalls
	if most == 0 {
		workers := o.Workers
		if workers == nil {
			workers = engine.SharedWorkers()
		}
		most = max(2, workers.Count())
	}
	if most < 0 {
		return nil
	}
	return make(callLimit, most)
}

// take waits until a call may run, in the order in which calls came, or until its context ends.
func (t callLimit) take(ctx context.Context, where string) error {
	if t == nil {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("savedmodel: %s: it waited for other calls: %w", where, context.Cause(ctx))
	}
}

// release lets another call run.
func (t callLimit) release() {
	if t != nil {
		<-t
	}
}
