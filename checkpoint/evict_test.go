package checkpoint

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
	"github.com/google/go-cmp/cmp"
)

// evictions is a directory that records the files it is asked to evict from the
// cache.
type evictions struct {
	vfs.Dir
	names []string
}

// Evict implements [vfs.Evicter].
func (d *evictions) Evict(name string) { d.names = append(d.names, name) }

func (d *evictions) take() []string {
	names := d.names
	d.names = nil
	return names
}

func TestASaveForgetsTheCachedDataOfWhatItDeletesOnly(t *testing.T) {
	ctx := context.Background()
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := &evictions{Dir: vfs.MemDir()}
	m, err := NewManager(ck, "run", &ManagerOptions{Dir: dir, MaxToKeep: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i, want := range [][]string{nil, nil, {"ckpt-1.data-00000-of-00001"}, {"ckpt-2.data-00000-of-00001"}} {
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, dir.take()); diff != "" {
			t.Errorf("save %d: %s", i+1, diff)
		}
	}
	if _, err := m.SaveAs(ctx, 4); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ckpt-4.data-00000-of-00001"}, dir.take()); diff != "" {
		t.Errorf("replacing the latest: %s", diff)
	}

	if err := ck.WriteTo(ctx, dir, "x"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string(nil), dir.take()); diff != "" {
		t.Errorf("a first write: %s", diff)
	}
	if err := ck.WriteTo(ctx, dir, "x"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x.data-00000-of-00001"}, dir.take()); diff != "" {
		t.Errorf("a second write: %s", diff)
	}
}

// TestAPanicOfADirReachesWhoSaves: it could not be recovered elsewhere.
func TestAPanicOfADirReachesWhoSaves(t *testing.T) {
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := &panics{vfs.MemDir()}
	if err := ck.WriteTo(t.Context(), dir, "x"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != "evict" {
			t.Errorf("recovered %v", p)
		}
	}()
	err = ck.WriteTo(t.Context(), dir, "x")
	t.Errorf("no panic, but %v", err)
}

// panics is a directory with a fault.
type panics struct{ vfs.Dir }

// Evict implements [vfs.Evicter].
func (*panics) Evict(string) { panic("evict") }
