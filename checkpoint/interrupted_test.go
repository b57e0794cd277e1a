package checkpoint

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestNoSaveAfterARestoreThatBrokeOff checks that objects of a restore that
// failed halfway never become a checkpoint.
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

// TestSaveAfterARestoreThatChangedNothing checks that saving continues after a
// restore that is refused, or cancelled before it began, since that changes
// nothing.
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

// Every Checkpoint with one of the objects knows of a restore that failed
// halfway, also after the Checkpoint that restored is gone. That ends when a
// restore of the objects succeeds.
func TestNoCheckpointSavesWhatARestoreLeftHalfDone(t *testing.T) {
	type encoder struct{ A, B *trackable.Variable }
	type part struct{ Encoder *encoder }
	type whole struct {
		Encoder *encoder
		Head    *trackable.Variable
	}
	v := func(x float32) *trackable.Variable { return trackable.NewVariable(tensor.Vector(x, x)) }
	ctx := t.Context()
	dir := vfs.MemDir()
	for i, name := range []string{"good", "bad"} {
		x := float32(i + 1)
		if err := newCheckpoint(t, &part{&encoder{A: v(x), B: v(x)}}, nil).WriteTo(ctx, dir, name); err != nil {
			t.Fatal(err)
		}
	}
	spoil(t, dir, "bad.data-00000-of-00001")
	breakOff := func(e *encoder) *Checkpoint {
		ck := newCheckpoint(t, &part{e}, nil)
		if _, err := ck.ReadFS(ctx, dir, "bad", nil); !errors.Is(err, bundle.ErrCorrupt) {
			t.Fatalf("error %v, want ErrCorrupt", err)
		}
		return ck
	}
	refused := func(what string, ck *Checkpoint) {
		t.Helper()
		var interrupted *InterruptedRestoreError
		if err := ck.WriteTo(ctx, dir, "mixed"); !errors.As(err, &interrupted) || interrupted.Path != "bad" {
			t.Errorf("%s: %v, want an InterruptedRestoreError about bad", what, err)
		}
	}
	saves := func(what string, ck *Checkpoint) {
		t.Helper()
		if err := ck.WriteTo(ctx, dir, "sound"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}

	restore := func(ck *Checkpoint, name string) {
		t.Helper()
		if _, err := ck.ReadFS(ctx, dir, name, nil); err != nil {
			t.Fatal(err)
		}
	}

	e := &encoder{A: v(0), B: v(0)}
	first, all := breakOff(e), newCheckpoint(t, &whole{e, v(3)}, nil)
	refused("the restore's own Checkpoint", first)
	refused("one of more objects", all)
	refused("one of a single variable", newCheckpoint(t, &struct{ X *trackable.Variable }{e.B}, nil))
	saves("one of other objects", newCheckpoint(t, &whole{&encoder{A: v(1), B: v(1)}, v(3)}, nil))
	other := trackable.WithGate(ctx, new(trackable.Gate))
	var interrupted *InterruptedRestoreError
	if err := all.WriteTo(other, dir, "mixed"); !errors.As(err, &interrupted) {
		t.Errorf("under another gate: %v", err)
	}
	second := newCheckpoint(t, &struct{ X *trackable.Variable }{e.A}, nil)
	saved := newCheckpoint(t, &struct{ X *trackable.Variable }{v(9)}, nil)
	if err := saved.WriteTo(ctx, dir, "single"); err != nil {
		t.Fatal(err)
	}
	restore(second, "single")
	saves("one whose only variable was restored", second)
	refused("one that has another one, too", all)
	restore(newCheckpoint(t, &part{e}, nil), "good")
	saves("the first, after another one's restore", first)
	saves("one of more objects, after a part's restore", all)

	e = &encoder{A: v(0), B: v(0)}
	own := weak.Make(breakOff(e))
	for i := 0; own.Value() != nil && i < 100; i++ {
		runtime.GC()
	}
	if own.Value() != nil {
		t.Error("the Checkpoint is kept in memory")
	}
	refused("after the restore's Checkpoint is gone", newCheckpoint(t, &whole{e, v(3)}, nil))

	// Objects that the program no longer holds aren't kept alive here either.
	alive := weak.Make(e.A)
	e = nil
	for i := 0; alive.Value() != nil && i < 100; i++ {
		runtime.GC()
	}
	if alive.Value() != nil {
		t.Error("the variables are kept in memory")
	}
	restore(newCheckpoint(t, &part{&encoder{A: v(0), B: v(0)}}, nil), "good")
	interruptions.mu.Lock()
	defer interruptions.mu.Unlock()
	for _, n := range interruptions.list {
		for key := range n.objects {
			if gone(key) {
				t.Errorf("an object that is gone is listed still, of %v", n.err)
			}
		}
	}
}
