package checkpoint

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// subNet is a part that a Checkpoint of the whole model and one of the part alone save.
type subNet struct {
	trackable.Base
	L *orderPart
	W *trackable.Variable
}

func newSubNet(l, w float32) *subNet { return &subNet{L: &orderPart{variable(l)}, W: variable(w)} }

// TestPartsOfAModelInEveryOrder checks that a Checkpoint inside another one represents
// the object that holds the parts. The values are TensorFlow 2.21's.
func TestPartsOfAModelInEveryOrder(t *testing.T) {
	type model struct {
		Net  *subNet
		Head *trackable.Variable
	}
	whole := written(t, &struct{ Model *model }{&model{newSubNet(1, 2), variable(3)}}, nil)
	part := func(n *subNet) *Checkpoint { return newCheckpoint(t, &struct{ Net *subNet }{n}, nil) }
	through := func(n *subNet) *Checkpoint { return newCheckpoint(t, &struct{ Model *Checkpoint }{part(n)}, nil) }
	partial := &RestoreOptions{Partial: true}
	step := func() {
		t.Helper()
		if err := trackable.Step(ctx, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	read := func(ck *Checkpoint, n *subNet, l, w float32) {
		t.Helper()
		r, err := ck.ReadFS(ctx, whole, "ckpt", partial)
		if err != nil {
			t.Fatal(err)
		}
		step()
		wantFloats(t, n.L.V, l)
		wantFloats(t, n.W, w)
		if err := r.AssertExistingObjectsMatched(); err != nil {
			t.Error(err)
		}
		if r.AssertConsumed() == nil {
			t.Error("nothing has taken the head")
		}
	}
	t.Run("by another path", func(t *testing.T) {
		n := newSubNet(9, 9)
		if _, err := part(n).ReadFS(ctx, whole, "ckpt", partial); err == nil {
			t.Error("objects without values pass")
		}
		r, err := part(n).ReadFS(ctx, whole, "ckpt", &RestoreOptions{Partial: true, AllowMissing: true})
		if err != nil || r.AssertExistingObjectsMatched() == nil {
			t.Errorf("%v, and the report says nothing", err)
		}
		wantFloats(t, n.L.V, 9)
	})
	t.Run("after creation", func(t *testing.T) {
		n := newSubNet(9, 9)
		if _, err := through(n).ReadFS(ctx, whole, "ckpt", nil); err == nil {
			t.Error("a strict restore leaves the head")
		}
		read(through(n), n, 1, 2)
	})
	t.Run("before creation", func(t *testing.T) {
		n := new(subNet)
		ck := through(n)
		if _, err := ck.ReadFS(ctx, whole, "ckpt", partial); err != nil {
			t.Fatal(err)
		}
		n.L, n.W = &orderPart{variable(9)}, variable(9)
		step()
		wantFloats(t, n.L.V, 1)
		wantFloats(t, n.W, 2)
	})
	t.Run("replaced after", func(t *testing.T) {
		n := newSubNet(9, 9)
		ck := through(n)
		r, err := ck.ReadFS(ctx, whole, "ckpt", &RestoreOptions{Partial: true, AllowMissing: true})
		if err != nil {
			t.Fatal(err)
		}
		n.L = &orderPart{variable(8)}
		step()
		wantFloats(t, n.L.V, 8)
		wantFloats(t, n.W, 2)
		if r.AssertExistingObjectsMatched() == nil {
			t.Error("what was put in place of a restored object counts as restored")
		}
	})
	t.Run("trained between", func(t *testing.T) {
		n := newSubNet(9, 9)
		read(through(n), n, 1, 2)
		if err := n.L.V.Store(variable(6).Load()); err != nil {
			t.Fatal(err)
		}
		read(through(n), n, 1, 2)
	})
	t.Run("two restores", func(t *testing.T) {
		second := written(t, &struct{ Net *subNet }{newSubNet(4, 5)}, nil)
		n := new(subNet)
		a, b := through(n), part(n)
		if _, err := b.ReadFS(ctx, second, "ckpt", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := a.ReadFS(ctx, whole, "ckpt", partial); err != nil {
			t.Fatal(err)
		}
		n.L, n.W = &orderPart{variable(9)}, variable(9)
		step()
		wantFloats(t, n.L.V, 1)
		wantFloats(t, n.W, 2)
	})
	t.Run("saved by the inner, then by the outer", func(t *testing.T) {
		n := newSubNet(9, 9)
		inner := part(n)
		outer := newCheckpoint(t, &struct{ Model *Checkpoint }{inner}, nil)
		if _, err := outer.ReadFS(ctx, whole, "ckpt", partial); err != nil {
			t.Fatal(err)
		}
		dir := vfs.MemDir()
		keys := func(ck *Checkpoint, prefix string) []string {
			path, err := ck.SaveTo(ctx, dir, prefix)
			if err != nil {
				t.Fatal(err)
			}
			again := newSubNet(7, 7)
			if prefix == "inner" {
				if _, err := part(again).RestoreFS(ctx, dir, path, nil); err != nil {
					t.Error(err)
				}
				wantFloats(t, again.L.V, 1)
				wantFloats(t, again.W, 2)
			}
			return slices.Sorted(maps.Keys(valuesOf(t, ck)))
		}
		if d := cmp.Diff([]string{"net/l/v", "net/w", "save_counter"}, trimmed(keys(inner, "inner"))); d != "" {
			t.Errorf("the inner's keys (-TensorFlow +ours):\n%s", d)
		}
		if got := inner.SaveCounter().Get(); got != 1 {
			t.Errorf("the inner has counted %d saves", got)
		}
		if d := cmp.Diff([]string{"model/net/l/v", "model/net/w", "model/save_counter", "save_counter"}, trimmed(keys(outer, "outer"))); d != "" {
			t.Errorf("the outer's keys (-TensorFlow +ours):\n%s", d)
		}
		// A program that starts again continues with both, including the inner one's
		// counter.
		again := newSubNet(9, 9)
		inner = part(again)
		outer = newCheckpoint(t, &struct{ Model *Checkpoint }{inner}, nil)
		r, err := outer.RestoreFS(ctx, dir, "outer-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.AssertConsumed(); err != nil {
			t.Error(err)
		}
		wantFloats(t, again.L.V, 1)
		var paths []string
		for _, ck := range []*Checkpoint{inner, outer, inner} {
			path, err := ck.SaveTo(ctx, vfs.MemDir(), "next")
			if err != nil {
				t.Error(err)
			}
			paths = append(paths, path)
		}
		managed := part(newSubNet(9, 9))
		if _, err := newCheckpoint(t, &struct{ Model *Checkpoint }{managed}, nil).RestoreFS(ctx, dir, "outer-1", nil); err != nil {
			t.Fatal(err)
		}
		m, err := NewManager(managed, "managed", &ManagerOptions{Dir: vfs.MemDir()})
		if err != nil {
			t.Fatal(err)
		}
		path, err := m.Save(ctx)
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"next-2", "next-2", "next-3", "managed/ckpt-2"}, append(paths, path)); d != "" {
			t.Errorf("saved (-TensorFlow +ours):\n%s", d)
		}
	})
}

// trimmed returns keys without the suffix of all variables' keys.
func trimmed(keys []string) []string {
	for i, k := range keys {
		keys[i] = strings.TrimSuffix(k, "/.ATTRIBUTES/VARIABLE_VALUE")
	}
	return keys
}
