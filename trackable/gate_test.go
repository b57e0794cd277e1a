package trackable

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestGate(t *testing.T) {
	ctx := WithGate(context.Background(), new(Gate))
	var steps, inside atomic.Int32
	var wg sync.WaitGroup
	var stop atomic.Bool
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				_ = Step(ctx, func(ctx context.Context) error {
					inside.Add(1)
					defer inside.Add(-1)
					steps.Add(1)
					return Step(ctx, func(context.Context) error { return nil })
				})
			}
		})
	}
	for i := 0; i < 200 || steps.Load() < 200; i++ {
		err := Freeze(ctx, func(ctx context.Context) error {
			if n := inside.Load(); n != 0 {
				t.Errorf("%d steps run during a snapshot", n)
			}
			// Functions called by a snapshot may run steps.
			return Step(ctx, func(context.Context) error { return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	wg.Wait()
}

func TestGateErrors(t *testing.T) {
	g := new(Gate)
	ctx := WithGate(context.Background(), g)
	if err := Step(ctx, func(ctx context.Context) error { return Freeze(ctx, nil) }); !errors.Is(err, ErrInsideStep) {
		t.Errorf("a snapshot inside a step: %v", err)
	}
	want := errors.New("mine")
	if err := Step(ctx, func(context.Context) error { return want }); err != want {
		t.Errorf("error %v", err)
	}
	// A step that lasts keeps a snapshot waiting until its context ends.
	release := make(chan struct{})
	running := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- Step(ctx, func(context.Context) error { close(running); <-release; return nil })
	}()
	<-running
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := Freeze(short, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a snapshot that waits: %v", err)
	}
	// Then new steps run again.
	if err := Step(ctx, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := Freeze(ctx, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	// A panic in a step leaves the gate usable.
	func() {
		defer func() { _ = recover() }()
		_ = Step(ctx, func(context.Context) error { panic("oops") })
	}()
	if err := Freeze(ctx, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
}
