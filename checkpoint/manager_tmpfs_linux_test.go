package checkpoint

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestRealFullDisk saves to a file system of a megabyte until it is full.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting needs rights that this test doesn't have (%v); TestFullDiskSaysSoAndKeepsTheLastGoodCheckpoint does it without", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ctx := context.Background()
	root := &struct {
		Weight *trackable.Variable
	}{trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 50_000)))}
	ck, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	m, err := NewManager(ck, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	saved, full := 0, 0
	for range 10 {
		latest := m.Latest()
		path, err := m.Save(ctx)
		if err == nil {
			saved++
			continue
		}
		full++
		if !errors.Is(err, ErrNoSpace) || path != "" || m.Latest() != latest {
			t.Fatalf("%q, %v; the latest is %q", path, err, m.Latest())
		}
		if found, err := LatestCheckpoint(run, nil); err != nil || found != latest {
			t.Fatalf("%q, %v", found, err)
		}
		if _, err := m.RestoreLatest(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if saved != 5 || full != 5 {
		t.Errorf("%d saves of 200 kB fit a megabyte, %d did not", saved, full)
	}
	for _, f := range filesBelow(t, run) {
		if filepath.Ext(f) != ".index" && filepath.Ext(f) != ".data-00000-of-00001" && f != "checkpoint" && f != lockName {
			t.Errorf("%s is left behind", f)
		}
	}
	// With free space again, saving continues.
	if err := RemoveCheckpoint(m.Checkpoints()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx); err != nil {
		t.Error(err)
	}
}
