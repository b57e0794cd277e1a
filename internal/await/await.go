// Package await waits for work that can't be interrupted, no longer than until a context ends. Packages engine,
// kernel/image, kernel/text and savedmodel/run use it.
package await

import "context"

// Do calls f on another goroutine and waits until it returns. Thus callers.InTrace is false in f. If the
// context ends first, Do returns its cause, and f continues alone: its result may serve a later caller. A
// panic of f reaches the caller while it waits.
func Do(ctx context.Context, f func()) error {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case r := <-done:
		if r != nil {
			panic(r)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
