package checkpoint

import (
	"context"
	"errors"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// What a restore that broke off left behind never becomes a checkpoint.
func TestNoSaveAfterARestoreThatBrokeOff(t *testing.T) {
	type model struct{ A, B *trackable.Variable }
	fresh := func(x float32) *model {
		return &model{trackable.NewVariable(tensor.Vector(x, x)), trackable.NewVariable(tensor.Vector(x, x))}
	}
	ctx := t.Context()
	dir := vfs.MemDir()
	for _, c := range []struct {
		name string
		x    float32
	}{{"good", 1}, {"bad", 2}} {
		if err := newCheckpoint(t, fresh(c.x), nil).WriteTo(ctx, dir, c.name); err != nil {
			t.Fatal(err)
		}
	}
	spoil(t, dir, "bad.data-00000-of-00001")

	live := fresh(0)
	ck := newCheckpoint(t, live, nil)
	if _, err := ck.ReadFS(ctx, dir, "bad", nil); !errors.Is(err, bundle.ErrCorrupt) {
		t.Fatalf("error %v, want ErrCorrupt", err)
	}
	var interrupted *InterruptedRestoreError
	if err := ck.WriteTo(ctx, dir, "mixed"); !errors.As(err, &interrupted) || interrupted.Path != "bad" || !errors.Is(err, bundle.ErrCorrupt) {
		t.Fatalf("error %v, want a *InterruptedRestoreError about bad", err)
	}
	if _, err := bundle.Open(ctx, dir, "mixed", nil); !errors.Is(err, bundle.ErrNotFound) {
		t.Errorf("a mixture was written: %v", err)
	}
	if _, err := ck.ReadFS(ctx, dir, "good", nil); err != nil {
		t.Fatal(err)
	}
	if err := ck.WriteTo(ctx, dir, "again"); err != nil {
		t.Errorf("after a restore that went through: %v", err)
	}
}

// A restore that is refused, or cancelled before it began, changes nothing, so
// that saving goes on.
func TestSaveAfterARestoreThatChangedNothing(t *testing.T) {
	type model struct{ A *trackable.Variable }
	ctx := t.Context()
	dir := vfs.MemDir()
	ck := newCheckpoint(t, &model{trackable.NewVariable(tensor.Vector[float32](1))}, nil)
	if err := ck.WriteTo(ctx, dir, "ckpt"); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ck.ReadFS(cancelled, dir, "ckpt", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	other := newCheckpoint(t, &model{trackable.NewVariable(tensor.Vector[float32](1, 2))}, nil)
	var refused *RestoreError
	if _, err := other.ReadFS(ctx, dir, "ckpt", nil); !errors.As(err, &refused) {
		t.Fatalf("error %v", err)
	}
	for _, ck := range []*Checkpoint{ck, other} {
		if err := ck.WriteTo(ctx, dir, "after"); err != nil {
			t.Error(err)
		}
	}
}

// spoil turns the first byte of a file around.
func spoil(t *testing.T, dir *vfs.Mem, name string) {
	t.Helper()
	b := []byte(readFiles(t, dir, ".")[name])
	b[0] ^= 0xff
	f, err := dir.Create(name)
	if err == nil {
		_, err = f.Write(b)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
