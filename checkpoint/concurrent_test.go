package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// TestConsistentCut: steps on several goroutines keep two variables equal; no
// checkpoint ever shows them different.
func TestConsistentCut(t *testing.T) {
	root := &struct{ A, B *trackable.Variable }{variable(make([]float32, 1000)...), variable(make([]float32, 1000)...)}
	ck := newCheckpoint(t, root, nil)
	var stop atomic.Bool
	var wg sync.WaitGroup
	var mu sync.Mutex // one step at a time changes the pair; the gate is about saves
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				err := trackable.Step(ctx, func(ctx context.Context) error {
					mu.Lock()
					defer mu.Unlock()
					for _, v := range []*trackable.Variable{root.A, root.B} {
						err := v.Update(func(buf *tensor.Tensor) error {
							for i := range tensor.Values[float32](buf) {
								tensor.Values[float32](buf)[i]++
							}
							return nil
						})
						if err != nil {
							return err
						}
					}
					return trackable.Step(ctx, func(context.Context) error { return nil })
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	dir := vfs.MemDir()
	for i := range 30 {
		name := fmt.Sprint("c", i)
		if i%2 == 0 {
			if err := ck.WriteTo(ctx, dir, name); err != nil {
				t.Fatal(err)
			}
		} else {
			sn, err := ck.snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := sn.write(ctx, dir, name, nil); err != nil {
				t.Fatal(err)
			}
		}
		r := mustOpen(t, dir, name)
		a, err := r.Load(ctx, "a/.ATTRIBUTES/VARIABLE_VALUE")
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Load(ctx, "b/.ATTRIBUTES/VARIABLE_VALUE")
		if err != nil {
			t.Fatal(err)
		}
		if !a.Equal(b) {
			t.Fatalf("save %d lies within a step", i)
		}
		if x := tensor.Values[float32](a); x[0] != x[999] {
			t.Fatalf("save %d lies within an update", i)
		}
		if i%5 == 0 {
			if _, err := ck.ReadFS(ctx, dir, name, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
}

// TestSaveInsideStep sees a save inside a step refused: the save would wait for
// its own step.
func TestSaveInsideStep(t *testing.T) {
	src := written(t, &struct{ V *trackable.Variable }{variable(1)}, nil)
	ck := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(1)}, nil)
	err := trackable.Step(ctx, func(ctx context.Context) error {
		if err := ck.WriteTo(ctx, vfs.MemDir(), "x"); !errors.Is(err, trackable.ErrInsideStep) {
			t.Errorf("save: %v", err)
		}
		_, err := ck.RestoreFS(ctx, src, "ckpt", nil)
		return err
	})
	if !errors.Is(err, trackable.ErrInsideStep) {
		t.Errorf("restore: %v", err)
	}
}

// TestUseFromManyGoroutines: one Checkpoint, variables and views used at once,
// while restores run and deliver.
func TestUseFromManyGoroutines(t *testing.T) {
	type state struct {
		L *trackable.List[*trackable.Variable]
		N *node
	}
	full := &state{trackable.NewList(variable(1)), new(node)}
	for g := range 8 {
		for i := range 20 {
			addScalar(t, &full.N.Base, fmt.Sprint(g, "-", i), 7)
			if err := full.L.Append(variable(7)); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := written(t, full, nil)
	root := &state{trackable.NewList(variable(1)), new(node)}
	ck := newCheckpoint(t, root, nil)
	v := mustOpen(t, dir, "ckpt")
	if _, err := ck.ReadFS(ctx, dir, "ckpt", nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				var err error
				switch (g + i) % 5 {
				case 0:
					var pending *PendingError
					mem := vfs.MemDir()
					if err = ck.WriteTo(ctx, mem, "x"); errors.As(err, &pending) {
						err = nil
						break
					}
					saved, openErr := OpenFS(ctx, mem, "x", nil)
					if err = errors.Join(err, openErr); err != nil {
						break
					}
					for _, n := range saved.Nodes() {
						if i, ok := strings.CutPrefix(n.Path, "l/"); ok && i != "0" {
							if x, err := saved.Reader().Read(ctx, n.Attributes[0].Key); err != nil || tensor.Values[float32](x)[0] != 7 {
								t.Errorf("%s was saved as %v (%v), want 7", n.Path, x, err)
							}
						}
					}
				case 1:
					_, err = ck.ReadFS(ctx, dir, "ckpt", nil)
				case 2:
					x := variable(0)
					if err = root.L.Append(x); err == nil {
						wantFloats(t, x, 7)
					}
				case 3:
					_, err = v.Diff(root)
				case 4:
					err = trackable.Step(ctx, func(context.Context) error {
						var x *trackable.Variable
						if err := root.N.AddVariable(&x, fmt.Sprint(g, "-", i), trackable.VariableSpec{}); err != nil {
							return err
						}
						wantFloats(t, x, 7)
						return nil
					})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i, x := range root.L.All() {
		if i > 0 {
			wantFloats(t, x, 7)
		}
	}
}

// TestSnapshotLeavesVariablesFree: after the write, updates work in place again.
func TestSnapshotLeavesVariablesFree(t *testing.T) {
	v := variable(1, 2, 3)
	ck := newCheckpoint(t, &struct{ V *trackable.Variable }{v}, nil)
	place := func() (p *float32) {
		_ = v.Update(func(buf *tensor.Tensor) error { p = &tensor.Values[float32](buf)[0]; return nil })
		return p
	}
	before := place()
	sn, err := ck.snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := sn.write(ctx, vfs.MemDir(), "x", nil); err != nil {
		t.Fatal(err)
	}
	if place() != before {
		t.Error("an update after the write moved to a copy")
	}
	if sn, err = ck.snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if place() == before {
		t.Error("an update wrote into a snapshot")
	}
	sn.release()
}

// TestCancelledSave checks that a cancelled save leaves no files.
func TestCancelledSave(t *testing.T) {
	c, cancel := context.WithCancel(ctx)
	cancel()
	dir := vfs.MemDir()
	err := newCheckpoint(t, &struct{ V *trackable.Variable }{variable(1)}, nil).WriteTo(c, dir, "x")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if names := dir.Names(); len(names) > 0 {
		t.Errorf("files %q", names)
	}
}
