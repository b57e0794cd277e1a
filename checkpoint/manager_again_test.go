package checkpoint

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
)

// TestAFileOfAKilledSaveThatCouldNotBeRemovedStopsNoSave kills a save at each
// operation, and lets the first removal that the next program tries fail: its save
// under the same number goes through all the same, or the one after it.
func TestAFileOfAKilledSaveThatCouldNotBeRemovedStopsNoSave(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{MaxToKeep: 2}, false)
	disk.Hook(func(faultfs.Op) error { return nil })
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	ops := disk.Ops()
	disk.Hook(nil)
	marked := 0
	for _, op := range ops {
		disk := faultfs.New()
		p := startProgram(t, disk, ManagerOptions{MaxToKeep: 2}, false)
		disk.FailFrom(op.N, faultfs.ErrFault)
		p.train()
		if _, err := p.save(nil); err == nil {
			continue
		}
		disk = disk.AfterCrash(faultfs.LoseNone, 0)
		failed := 0
		disk.Hook(func(op faultfs.Op) error {
			if op.Kind == faultfs.Remove && failed == 0 {
				failed++
				return faultfs.ErrFault
			}
			return nil
		})
		p = startProgram(t, disk, ManagerOptions{MaxToKeep: 2}, false)
		if _, err := p.m.RestoreOrInitialize(ctx); err != nil {
			t.Fatalf("%v: %v", op, err)
		}
		p.train()
		path, err := p.save(nil)
		if err != nil || path == "" {
			t.Errorf("killed at %v, then a removal failed %d times: save %q, %v; the disk holds %q", op, failed, path, err, disk.Names())
			continue
		}
		marked += failed
		if s := p.strays(); len(s) > 0 {
			if path, err = p.save(nil); err != nil {
				t.Errorf("%v: the save after that: %v", op, err)
			}
			if s := p.strays(); len(s) > 0 {
				t.Errorf("%v: strays after %s: %q", op, path, s)
			}
		}
	}
	if marked == 0 {
		t.Error("no removal failed")
	}
}
