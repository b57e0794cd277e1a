package await_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/internal/await"
)

// TestDoEndsWithItsWorkOrItsContext checks the three ways in which Do returns.
func TestDoEndsWithItsWorkOrItsContext(t *testing.T) {
	done := false
	if err := await.Do(context.Background(), func() { done = true }); err != nil || !done {
		t.Errorf("error %v, the work is done: %v", err, done)
	}
	ctx, cancel := context.WithCancel(context.Background())
	wait := make(chan struct{})
	defer close(wait)
	if err := await.Do(ctx, func() { cancel(); <-wait }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("panic %v, want that of the work", r)
		}
	}()
	_ = await.Do(context.Background(), func() { panic("broken") })
}
