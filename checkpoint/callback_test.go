package checkpoint

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cairnml/cairn/vfs"
)

// within fails the test if f deadlocks by waiting for itself.
func within(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s doesn't return", what)
		return nil
	}
}

// TestCallbacksThatWouldWaitForTheirSaveAreErrors checks that a save inside an
// OnWrite callback fails instead of waiting for itself, and that calls which
// needn't wait succeed.
func TestCallbacksThatWouldWaitForTheirSaveAreErrors(t *testing.T) {
	dir := vfs.MemDir()
	var ck, other *Checkpoint
	calls := 0
	ck = newCheckpoint(t, &orderPart{variable(1)}, &Options{OnWrite: []func(context.Context, string) error{func(ctx context.Context, path string) error {
		if calls++; calls > 1 {
			return nil
		}
		if _, err := other.SaveTo(ctx, dir, "other"); err != nil {
			t.Errorf("another Checkpoint: %v", err)
		}
		if err := ck.WriteTo(ctx, dir, "copy"); err != nil {
			t.Errorf("WriteTo: %v", err)
		}
		if _, err := ck.ReadFS(ctx, dir, path, nil); err != nil {
			t.Errorf("ReadFS: %v", err)
		}
		_, err := ck.SaveTo(ctx, dir, "again")
		return err
	}}})
	other = newCheckpoint(t, &orderPart{variable(2)}, nil)
	save := func() error { _, err := ck.SaveTo(ctx, dir, "first"); return err }
	if err := within(t, "SaveTo", save); !errors.Is(err, ErrInsideCallback) {
		t.Errorf("error %v, want ErrInsideCallback", err)
	}
	if err := within(t, "the next SaveTo", save); err != nil {
		t.Errorf("the next one: %v", err)
	}

	for name, async := range map[string]bool{"a Manager": false, "one that saves in the background": true} {
		t.Run(name, func(t *testing.T) {
			var m *Manager
			found := map[string]error{}
			m, err := NewManager(newCheckpoint(t, &orderPart{variable(1)}, nil), t.TempDir(), &ManagerOptions{Async: async, OnWrite: []func(context.Context, string) error{
				func(ctx context.Context, path string) error {
					_, found["Save"] = m.Save(ctx)
					_, found["RestoreLatest"] = m.RestoreLatest(ctx)
					found["Wait"] = m.Wait(ctx)
					if m.Latest() != path {
						t.Errorf("the latest is %s, want %s", m.Latest(), path)
					}
					return nil
				}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := within(t, "Save", func() error {
				_, err := m.Save(ctx)
				return errors.Join(err, m.Wait(ctx), m.Close())
			}); err != nil {
				t.Error(err)
			}
			for call, err := range found {
				if !errors.Is(err, ErrInsideCallback) {
					t.Errorf("%s: %v, want ErrInsideCallback", call, err)
				}
			}
			if len(found) != 3 {
				t.Errorf("the callback wasn't called: %v", found)
			}
		})
	}
}
