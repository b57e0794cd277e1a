package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

func newSteps(t *testing.T) (*stepRoot, *Checkpoint) {
	t.Helper()
	root := &stepRoot{trackable.NewScalar[int64](0)}
	ck, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return root, ck
}

func newManager(t *testing.T, ck *Checkpoint, dir string, o *ManagerOptions) *Manager {
	t.Helper()
	m, err := NewManager(ck, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestUnmanagedCheckpointIsReplacedOnlyWhenAsked(t *testing.T) {
	ctx := context.Background()
	for _, async := range []bool{false, true} {
		dir := vfs.MemDir()
		_, ck := newSteps(t)
		if err := ck.WriteTo(ctx, dir, "ckpt-1"); err != nil { // by hand
			t.Fatal(err)
		}
		before, _ := fs.ReadFile(dir, "ckpt-1.index")
		root, ck := newSteps(t)
		root.Step.Set(5)
		m := newManager(t, ck, "run", &ManagerOptions{Dir: dir, MaxToKeep: 1, Async: async})
		path, err := m.Save(ctx)
		var refused *RefusedError
		if path != "" || !errors.As(err, &refused) || !errors.Is(err, fs.ErrExist) || filepath.ToSlash(refused.Path) != "run/ckpt-1" || !strings.Contains(err.Error(), "SaveOptions.Replace") {
			t.Fatalf("%q, %v", path, err)
		}
		if after, _ := fs.ReadFile(dir, "ckpt-1.index"); string(after) != string(before) || ck.SaveCounter().Get() != 0 {
			t.Errorf("the refused save changed something")
		}
		for range 3 { // in parallel, saves and rotation continue
			if _, err := m.SaveAs(ctx, 7+ck.SaveCounter().Get()); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if !existsIn(dir, "ckpt-1") {
			t.Error("the checkpoint that isn't managed is gone")
		}
		one := int64(1)
		if _, err := m.SaveWith(ctx, &SaveOptions{Number: &one, Replace: true}); err != nil {
			t.Fatal(err)
		}
		if err := m.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if got := m.Latest(); filepath.ToSlash(got) != "run/ckpt-1" {
			t.Errorf("the latest is %s", got)
		}
	}
}

func TestNothingIsSavedOverTheGoodOnesAfterADamagedLatest(t *testing.T) {
	ctx := context.Background()
	fresh := func(disk *faultfs.FS) (*stepRoot, *Manager) {
		root, ck := newSteps(t)
		return root, newManager(t, ck, "run", &ManagerOptions{Dir: disk, MaxToKeep: 2, NoLock: true})
	}
	disk := faultfs.New()
	_, m := fresh(disk)
	for range 2 {
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
	disk.Damage("ckpt-2.data-00000-of-00001", 0, -1)

	_, m = fresh(disk)
	_, err := m.RestoreLatest(ctx)
	var damaged *DamagedError
	if !errors.As(err, &damaged) || filepath.ToSlash(damaged.Previous) != "run/ckpt-1" {
		t.Fatal(err)
	}
	for range 2 { // a program that continues as if nothing had happened
		path, err := m.Save(ctx)
		var refused *RefusedError
		if path != "" || !errors.As(err, &refused) || !errors.As(err, &damaged) || !strings.Contains(err.Error(), "ckpt-1") {
			t.Fatalf("%q, %v", path, err)
		}
	}
	if err := holds(disk, "ckpt-1"); err != nil {
		t.Fatal(err)
	}
	// The ways out: restoring another one, a fallback, and saying so.
	if _, err := m.ck.RestoreFS(ctx, disk, "ckpt-1", nil); err != nil {
		t.Fatal(err)
	}
	if path, err := m.Save(ctx); err != nil || filepath.ToSlash(path) != "run/ckpt-2" {
		t.Errorf("after another restore: %q, %v", path, err)
	}
	disk.Damage("ckpt-2.data-00000-of-00001", 0, -1)
	_, m = fresh(disk)
	m.opts.Fallback = func(*DamagedError) bool { return true }
	if _, err := m.RestoreLatest(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx); err != nil {
		t.Errorf("after the fallback: %v", err)
	}
	disk.Damage("ckpt-2.data-00000-of-00001", 0, -1)
	_, m = fresh(disk)
	if _, err := m.RestoreLatest(ctx); err == nil {
		t.Fatal("a damaged checkpoint was restored")
	}
	if _, err := m.SaveWith(ctx, &SaveOptions{Replace: true}); err != nil {
		t.Errorf("beginning anew: %v", err)
	}
	if _, err := m.Save(ctx); err != nil {
		t.Errorf("beginning anew: %v", err)
	}
}

func TestFailedSaveLeavesACounterThatWentOn(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	_, ck := newSteps(t)
	m := newManager(t, ck, "run", &ManagerOptions{Dir: disk, Async: true})
	failed := false
	disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Rename && !failed {
			failed = true
			// Another save of the same Checkpoint counts on in the meantime.
			if _, err := ck.SaveTo(ctx, vfs.MemDir(), "elsewhere"); err != nil {
				t.Error(err)
			}
			return faultfs.ErrFault
		}
		return nil
	})
	if _, err := m.Save(ctx); err != nil {
		t.Fatal(err)
	}
	if err := m.Wait(ctx); !errors.Is(err, faultfs.ErrFault) {
		t.Fatal(err)
	}
	if n := ck.SaveCounter().Get(); n != 2 {
		t.Errorf("save_counter is %d, though elsewhere-2 exists", n)
	}
}

func TestManagerNoticesThatItsFolderWasDeleted(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "run")
	root, ck := newSteps(t)
	m := newManager(t, ck, dir, &ManagerOptions{MaxToKeep: 2})
	if m.lock.f == nil {
		t.Skip("files can't be locked here")
	}
	if _, err := m.Save(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Skip(err) // an open file can't be removed
	}
	// The directory is gone. It is created and locked again, and the old state
	// is forgotten.
	root.Step.Set(2)
	path, err := m.Save(ctx)
	if err != nil || !slices.Equal(m.Checkpoints(), []string{path}) {
		t.Fatalf("%q, %v, %q", path, err, m.Checkpoints())
	}
	if !isLocked(m.lock.f, m.lock.file) {
		t.Error("the new directory isn't locked")
	}
	// Now another process makes it, and holds it.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	other, err := lockFile(filepath.Join(dir, lockName), dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err = m.Save(ctx)
	var locked *LockedError
	if path != "" || !errors.As(err, &locked) {
		t.Errorf("saved into a directory that another manager holds: %q, %v", path, err)
	}
	if files := filesBelow(t, dir); !slices.Equal(files, []string{lockName}) {
		t.Errorf("wrote %q there", files)
	}
	if err := other.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Save(ctx); err != nil {
		t.Errorf("when it is free: %v", err)
	}
}

func TestLockIsNotWrittenThroughALink(t *testing.T) {
	for name, link := range map[string]func(old, new string) error{"symbolic": os.Symlink, "hard": os.Link} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			precious, dir := filepath.Join(top, "precious"), filepath.Join(top, "run")
			if err := errors.Join(os.WriteFile(precious, []byte("precious"), 0o666), os.Mkdir(dir, 0o777)); err != nil {
				t.Fatal(err)
			}
			if err := link(precious, filepath.Join(dir, lockName)); err != nil {
				t.Skip(err)
			}
			_, ck := newSteps(t)
			m, err := NewManager(ck, dir, nil)
			if name == "symbolic" && (err == nil || !strings.Contains(err.Error(), "no regular file")) {
				t.Errorf("%v", err)
			}
			if err == nil {
				m.Close()
			}
			if b, err := os.ReadFile(precious); string(b) != "precious" {
				t.Errorf("the file outside holds %q, %v", b, err)
			}
		})
	}
}

func TestRotationStaysInTheDirectory(t *testing.T) {
	ctx := context.Background()
	top := t.TempDir()
	dir, other := filepath.Join(top, "run"), filepath.Join(top, "other")
	_, ck := newSteps(t)
	theirs := newManager(t, ck, other, nil)
	for range 2 {
		if _, err := theirs.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
	before := filesBelow(t, other)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": filepath.Join("..", "other"), "absolute": other} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	state := &CheckpointState{ModelCheckpointPath: "absolute/ckpt-2", AllModelCheckpointPaths: []string{"link/ckpt-1", "../other/ckpt-1", "link/ckpt-2", "absolute/ckpt-1", "absolute/ckpt-2"},
		AllModelCheckpointTimestamps: []float64{1, 2, 3, 4, 5}}
	text, err := state.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	_, ck = newSteps(t)
	m := newManager(t, ck, dir, &ManagerOptions{MaxToKeep: 1})
	for range 3 {
		if path, err := m.Save(ctx); err != nil || path != m.Latest() {
			t.Fatalf("%q, %v", path, err)
		}
	}
	if got := m.Checkpoints(); len(got) != 1 {
		t.Errorf("%q are managed", got)
	}
	if after := filesBelow(t, other); !slices.Equal(before, after) {
		t.Errorf("the other run's directory holds %q, before it held %q", after, before)
	}
	// A name that leads into a linked directory is refused.
	if _, err := newManager(t, ck, dir, &ManagerOptions{CheckpointName: "link/model", NoLock: true}).Save(ctx); err == nil {
		t.Error("saved through a link")
	}
	if after := filesBelow(t, other); !slices.Equal(before, after) {
		t.Errorf("the other run's directory holds %q, before it held %q", after, before)
	}
}

// TestIndexIsRemovedFirst checks that the files that a crash leaves of a
// checkpoint during its deletion are no checkpoint.
func TestIndexIsRemovedFirst(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	_, ck := newSteps(t)
	if err := ck.WriteTo(ctx, disk, "c"); err != nil {
		t.Fatal(err)
	}
	disk.Hook(nil)
	if err := removeCheckpoint(disk, "c"); err != nil {
		t.Fatal(err)
	}
	var removed []string
	for _, op := range disk.Ops() {
		if op.Kind == faultfs.Remove {
			removed = append(removed, op.Name)
		}
	}
	if want := []string{"c.index", "c.data-00000-of-00001"}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
}

// TestLatestOfAPossibleStateStays holds the last line of defence: whatever the
// protocol does, it deletes no checkpoint that a restore may be sent to.
func TestLatestOfAPossibleStateStays(t *testing.T) {
	disk := faultfs.New()
	_, ck := newSteps(t)
	m := newManager(t, ck, "run", &ManagerOptions{Dir: disk})
	if _, err := m.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	m.disk = append(m.disk, record{latest: entry{name: "ckpt-9"}})
	if err := m.remove("ckpt-1"); err == nil || holds(disk, "ckpt-1") != nil {
		t.Errorf("%v; the disk holds %q", err, disk.Names())
	}
}

// TestRotationThatMayNotLastIsReported checks that the save succeeds and reports the
// failed rotation, and that deleted checkpoints are no longer managed.
func TestRotationThatMayNotLastIsReported(t *testing.T) {
	ctx := context.Background()
	for what, fails := range map[string]func(faultfs.Op) bool{
		"names":      func(op faultfs.Op) bool { return op.Kind == faultfs.SyncDir },
		"state file": func(op faultfs.Op) bool { return op.Kind == faultfs.Rename && op.To == "checkpoint" },
	} {
		disk := faultfs.New()
		_, ck := newSteps(t)
		m := newManager(t, ck, "run", &ManagerOptions{Dir: disk, MaxToKeep: 1})
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		removed := false
		disk.Hook(func(op faultfs.Op) error {
			if fails(op) && removed {
				removed = false
				return faultfs.ErrFault
			}
			removed = removed || op.Kind == faultfs.Remove && op.Name == "ckpt-1.index"
			return nil
		})
		path, err := m.Save(ctx)
		if filepath.ToSlash(path) != "run/ckpt-2" || m.Latest() != path || !errors.Is(err, faultfs.ErrFault) {
			t.Errorf("%s: %q, %v", what, path, err)
		}
		if got := m.Checkpoints(); !slices.Equal(got, []string{path}) {
			t.Errorf("%s: %q are managed", what, got)
		}
		if path, err = m.Save(ctx); err != nil || len(m.Checkpoints()) != 1 {
			t.Errorf("%s: afterwards: %q, %v", what, path, err)
		}
	}
}

// TestLeftoversThatCouldNotBeReadGoLater, as those that couldn't be removed do.
func TestLeftoversThatCouldNotBeReadGoLater(t *testing.T) {
	ctx := context.Background()
	for _, folder := range []string{".", "sub"} {
		disk := faultfs.New()
		_, ck := newSteps(t)
		const left, leftState = "sub/m-7.index.tempstate123", "checkpoint.cairn-0123456789abcdef.tmp"
		disk.Put(left, nil)
		disk.Put(leftState, nil)
		m := newManager(t, ck, "run", &ManagerOptions{Dir: disk, CheckpointName: "sub/m"})
		disk.Hook(func(op faultfs.Op) error {
			if op.Name == folder && (op.Kind == faultfs.Open || op.Kind == faultfs.Read) {
				return faultfs.ErrFault
			}
			return nil
		})
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		if disk.Bytes(left) == nil && disk.Bytes(leftState) == nil {
			t.Errorf("%s: nothing was left", folder)
		}
		disk.Hook(nil)
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		for _, f := range disk.Names() {
			if f == left || f == leftState {
				t.Errorf("%s: %s is still there", folder, f)
			}
		}
	}
}

// TestACheckpointThatIsListedTwiceIsOne, in its first place with its last time, as
// in TensorFlow: rotation must not delete it and keep it in the list.
func TestACheckpointThatIsListedTwiceIsOne(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	_, ck := newSteps(t)
	for _, name := range []string{"ckpt-1", "ckpt-2"} {
		if err := ck.WriteTo(ctx, disk, name); err != nil {
			t.Fatal(err)
		}
	}
	state := &CheckpointState{ModelCheckpointPath: "ckpt-2", AllModelCheckpointPaths: []string{"ckpt-2", "ckpt-1", "ckpt-2"}, AllModelCheckpointTimestamps: []float64{1, 2, 3}}
	text, err := state.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	disk.Put("checkpoint", text)
	m := newManager(t, ck, "run", &ManagerOptions{Dir: disk, MaxToKeep: 3})
	if got := m.Saved(); len(got) != 2 || filepath.ToSlash(got[0].Path) != "run/ckpt-2" || got[0].Time.Unix() != 3 {
		t.Fatalf("%+v are managed", got)
	}
	if _, err := m.SaveAs(ctx, 3); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ckpt-1", "ckpt-2", "ckpt-3"} {
		if err := holds(disk, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestALostCheckpointIsNoOtherOfItsName checks that paths outside the directory
// refer to files in it only if a whole directory was moved.
func TestALostCheckpointIsNoOtherOfItsName(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	_, ck := newSteps(t)
	if err := ck.Write(ctx, filepath.Join(dir, "ckpt-9")); err != nil { // no manager manages it
		t.Fatal(err)
	}
	before := filesBelow(t, dir)
	lost := filepath.Join(dir, "sub", "ckpt-9")
	state := &CheckpointState{ModelCheckpointPath: lost, AllModelCheckpointPaths: []string{lost}, AllModelCheckpointTimestamps: []float64{1}}
	text, err := state.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, string(text))
	m := newManager(t, ck, dir, &ManagerOptions{MaxToKeep: 1})
	if got := m.Checkpoints(); !slices.Equal(got, []string{lost}) {
		t.Errorf("%q are managed", got)
	}
	for range 2 {
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
	after := filesBelow(t, dir)
	for _, f := range before {
		if !slices.Contains(after, f) {
			t.Errorf("%s is gone", f)
		}
	}
}
