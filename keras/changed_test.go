package keras

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/vfs"
)

// TestObjectsThatChangeAfterTheRestore: a program puts other objects in the place of
// those that a restore filled, or that two restores have values for. Each comes out
// with the value that counts, or with an error; none begins anew without a word.
func TestObjectsThatChangeAfterTheRestore(t *testing.T) {
	ctx := context.Background()
	inEveryMode(t, func(t *testing.T, m mode) {
		trained := func(steps int) *vfs.Mem {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			r.train(steps)
			return r.save()
		}
		// goesOn returns the checkpoint of a run whose objects exist before the
		// restore.
		goesOn := func(from *vfs.Mem) *vfs.Mem {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			r.restore(from, nil)
			r.train(1)
			return r.save()
		}
		old := trained(3)
		saveError := func(r *run, want any) {
			t.Helper()
			if err := r.ck.WriteTo(ctx, vfs.MemDir(), "x"); err == nil || !errors.As(err, want) {
				t.Errorf("save: %v, want a %T", err, want)
			}
		}

		t.Run("a layer for one that wasn't built", func(t *testing.T) {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			r.restore(old, nil)
			r.Net.Field = dense(3)
			var unfilled *checkpoint.UnfilledError
			if _, err := r.step(ctx, batchOf2); !errors.As(err, &unfilled) {
				t.Errorf("step: %v, want an UnfilledError", err)
			}
			saveError(r, new(*checkpoint.PendingError))
		})

		t.Run("an optimizer for the restored one", func(t *testing.T) {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			report := r.restore(old, nil)
			r.Optimizer = optimizers.NewAdam(0.1)
			r.train(1)
			saveError(r, new(*checkpoint.PendingError))
			report.ExpectPartial()
			must(t, r.ck.WriteTo(ctx, vfs.MemDir(), "x"))
		})

		t.Run("an optimizer where there was none", func(t *testing.T) {
			r := newRun(t, m)
			r.Net.Field = dense(3)
			optimizer := r.Optimizer
			r.Optimizer = nil
			report := r.restore(old, nil)
			r.Optimizer = optimizer
			r.train(1)
			must(t, report.AssertConsumed())
			if d := cmp.Diff(contents(t, goesOn(old)), contents(t, r.save())); d != "" {
				t.Errorf("what is saved (-without the change +with it):\n%s", d)
			}
		})

		t.Run("a layer that two Checkpoints have values for", func(t *testing.T) {
			r := newRun(t, m)
			second, err := checkpoint.New(r, nil)
			must(t, err)
			r.restore(old, nil)
			later := trained(7)
			_, err = second.RestoreFS(ctx, later, "ckpt-1", nil)
			must(t, err)
			r.Net.Field = dense(3)
			r.train(1)
			if d := cmp.Diff(contents(t, goesOn(later)), contents(t, r.save())); d != "" {
				t.Errorf("what is saved (-from the later restore alone +after both):\n%s", d)
			}
			must(t, second.WriteTo(ctx, vfs.MemDir(), "x"))
		})

		t.Run("one layer for two", func(t *testing.T) {
			two := newRun(t, m)
			two.Net.Field, two.Net.Any = dense(3), dense(3)
			two.train(1)
			r := newRun(t, m)
			l := dense(3)
			r.Net.Field, r.Net.Any = l, l
			var refused *checkpoint.RestoreError
			if _, err := r.ck.RestoreFS(ctx, two.save(), "ckpt-1", nil); !errors.As(err, &refused) || len(refused.Unused) == 0 {
				t.Errorf("restore: %v, want a RestoreError about unused values", err)
			}
		})

		t.Run("two layers for one", func(t *testing.T) {
			one := newRun(t, m)
			l := dense(3)
			one.Net.Field, one.Net.Any = l, l
			one.train(1)
			r := newRun(t, m)
			r.Net.Field, r.Net.Any = dense(3), dense(3)
			var refused *checkpoint.RestoreError
			if _, err := r.ck.RestoreFS(ctx, one.save(), "ckpt-1", nil); !errors.As(err, &refused) || len(refused.Missing) == 0 {
				t.Errorf("restore: %v, want a RestoreError about missing values", err)
			}
		})
	})
}
