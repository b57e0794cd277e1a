package data

import (
	"context"
	"fmt"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
)

// waiting is a lock that can be released until the protected state changes.
type waiting struct {
	mu      sync.Mutex
	changed chan struct{} // closed, and another one made, when anything changes
	what    string        // `accumulator "name"`, for errors
}

// change wakes the waiting calls after a change; the caller holds the lock.
func (w *waiting) change() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// wait releases the lock until the state changes. If the context never ends, so
// that the call might wait forever, it fails at once.
func (w *waiting) wait(ctx context.Context, why string) error {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	changed := w.changed
	w.mu.Unlock()
	defer w.mu.Lock()
	if ctx.Done() == nil {
		return fmt.Errorf("the %s %s, and the call may not wait for another one that changes that: a context that ends, as of context.WithTimeout, lets it", w.what, why)
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the %s %s: %w", w.what, why, context.Cause(ctx))
	}
}

// turn lets one goroutine at a time use an object, and the others wait no longer
// than their contexts. It holds a token while the object is in use.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) lock(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) unlock() { <-t }

// resourceOf prepares an op that finds the resource of its shared name in the
// instance, or makes it there by create; one without a name belongs to its node.
// what names the resource in errors. With byRef, the handle is a reference, as in
// TensorFlow 1. Two nodes of one name must have compatible attributes: check
// returns an error if they don't. A nil check accepts all.
func resourceOf[T any](kind string, byRef bool, create func(as graph.Attrs, what string) (T, error), check func(T, graph.Attrs) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		name := n.Attrs.String("shared_name", "")
		key := engine.ResourceKey{Kind: kind, Container: n.Attrs.String("container", ""), Name: name}
		what := fmt.Sprintf("%s %q", kind, name)
		if name == "" {
			what = fmt.Sprintf("%s of node %q", kind, n.Name)
		}
		if _, err := create(n.Attrs, what); err != nil {
			return nil, err
		}
		return func(c *engine.Call) error {
			var o any
			if name == "" {
				o = c.NodeState(func() any {
					made, _ := create(n.Attrs, what) // made above without an error
					return made
				})
			} else {
				var err error
				if o, err = c.Instance().Resource(key, func() (any, error) { return create(n.Attrs, what) }); err != nil {
					return err
				}
			}
			if check != nil {
				if err := check(o.(T), n.Attrs); err != nil {
					return fmt.Errorf("the %s is another one: %w", what, err)
				}
			}
			c.Refs().Output(0, engine.Value{Object: o, Ref: byRef})
			return nil
		}, nil
	}
}
