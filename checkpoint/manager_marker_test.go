package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
)

var errCut = errors.New("cut off")

// failing makes the operations of a kind whose file's name holds part fail.
func failing(kind faultfs.Kind, part string) func(faultfs.Op) error {
	return func(op faultfs.Op) error {
		if op.Kind == kind && strings.Contains(op.Name, part) {
			return errCut
		}
		return nil
	}
}

// preserving returns options with a clock that advances by ten seconds at each call,
// so that KeepEvery preserves every checkpoint that rotation would delete.
func preserving() ManagerOptions {
	now := time.Unix(1_700_000_000, 0)
	return ManagerOptions{MaxToKeep: 1, KeepEvery: time.Second, Clock: func() time.Time {
		now = now.Add(10 * time.Second)
		return now
	}}
}

func (p *program) mustSave(numbers ...int64) {
	p.t.Helper()
	for _, n := range numbers {
		p.train()
		if path, err := p.save(&SaveOptions{Number: &n}); path == "" {
			p.t.Fatalf("save %d: %v", n, err)
		}
	}
}

func (p *program) close() {
	p.t.Helper()
	if err := p.m.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// cutOff saves ckpt-1, and then ckpt-2 until an operation for which stop
// returns true, after which every operation fails.
func cutOff(t *testing.T, stop func(faultfs.Op) bool) *faultfs.FS {
	t.Helper()
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{}, false)
	p.mustSave(1)
	stopped := false
	disk.Hook(func(op faultfs.Op) error {
		if stopped = stopped || stop(op); stopped {
			return errCut
		}
		return nil
	})
	p.train()
	if path, err := p.save(nil); path != "" || err == nil || !stopped {
		t.Fatalf("the save was not cut off: %q, %v", path, err)
	}
	disk.Hook(nil)
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	return disk
}

func atState(op faultfs.Op) bool {
	return op.Kind == faultfs.Create && strings.HasPrefix(op.Name, "checkpoint.")
}
func atIndex(op faultfs.Op) bool { return op.Kind == faultfs.Rename && op.To == "ckpt-2.index" }
func atData(op faultfs.Op) bool {
	return op.Kind == faultfs.Rename && strings.HasPrefix(op.To, "ckpt-2.data")
}

// TestMarkerOfAKilledSaveIsOfItsOwnFilesOnly lets another program, as TensorFlow
// does when it continues a run, write and preserve a checkpoint with the name of
// a save that was killed.
func TestMarkerOfAKilledSaveIsOfItsOwnFilesOnly(t *testing.T) {
	for what, stop := range map[string]func(faultfs.Op) bool{"before the state": atState, "before the index": atIndex, "before the data": atData} {
		for _, other := range []string{"nothing", "another checkpoint", "the same bytes"} {
			t.Run(what+", then "+other, func(t *testing.T) {
				disk := cutOff(t, stop)
				if !slices.ContainsFunc(disk.Names(), func(f string) bool { return strings.HasPrefix(f, "ckpt-2"+saving) }) {
					t.Fatalf("no marker in %q", disk.Names())
				}
				theirs := faultfs.New()
				p := startProgram(t, theirs, ManagerOptions{}, false)
				if other == "the same bytes" {
					p.train()
				} else {
					p.root.Step.Set(30)
				}
				p.root.Step.Add(1)
				if err := p.root.Weight.Store(weightAt(p.root.Step.Get())); err != nil {
					t.Fatal(err)
				}
				p.m.ck.SaveCounter().Set(2)
				if err := p.m.ck.WriteTo(context.Background(), theirs, "ckpt-2"); err != nil {
					t.Fatal(err)
				}
				p.close()
				if other != "nothing" {
					for _, f := range theirs.Names() {
						disk.Put(f, theirs.Bytes(f))
					}
				}
				p = startProgram(t, disk, ManagerOptions{}, false)
				p.mustSave(3)
				defer p.close()
				var kept []string
				if other != "nothing" {
					kept = []string{"ckpt-2"}
					if err := holds(disk, "ckpt-2"); err != nil {
						t.Errorf("the other program's checkpoint is gone: %v; the disk holds %q", err, disk.Names())
					}
				}
				if s := p.strays(kept...); len(s) > 0 {
					t.Errorf("strays %q", s)
				}
				for _, f := range disk.Names() {
					if strings.Contains(f, saving) {
						t.Errorf("%s is still there", f)
					}
				}
			})
		}
	}
}

// TestPreservedCheckpointStaysListedWithItsMarker makes sure that a finished
// checkpoint which still looks unfinished is never out of the state file's list.
func TestPreservedCheckpointStaysListedWithItsMarker(t *testing.T) {
	disk, opts := faultfs.New(), preserving()
	disk.Hook(failing(faultfs.Remove, saving))
	p := startProgram(t, disk, opts, false)
	p.mustSave(1)
	p.close()
	// A later run takes the marker over, and can't remove it either.
	p = startProgram(t, disk, opts, false)
	p.mustSave(2, 3)
	p.close()
	disk.Hook(nil)
	p = startProgram(t, disk, opts, false)
	p.mustSave(4, 5)
	defer p.close()
	for n := range 5 {
		if err := holds(disk, fmt.Sprintf("ckpt-%d", n+1)); err != nil {
			t.Errorf("checkpoint %d, which was preserved: %v", n+1, err)
		}
	}
	if got := p.m.Checkpoints(); !slices.Equal(got, []string{"run/ckpt-5"}) {
		t.Errorf("%q are managed when no marker is left", got)
	}
}

// TestPreservedReplacementStaysListed checks the same for replacements, which are known by
// their names.
func TestPreservedReplacementStaysListed(t *testing.T) {
	opts := preserving()
	disk, repl := interruptedReplacement(t, opts)
	for n := range int64(2) {
		p := startProgram(t, disk, opts, false)
		p.mustSave(2*n+8, 2*n+9)
		p.close()
		if err := holds(disk, repl); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(disk.Names(), "ckpt-1.index") {
		t.Errorf("the old checkpoint is still there: %q", disk.Names())
	}
}

// interruptedReplacement returns a disk on which a save over ckpt-1 was interrupted when its
// replacement was the latest already.
func interruptedReplacement(t *testing.T, opts ManagerOptions) (*faultfs.FS, string) {
	t.Helper()
	disk := faultfs.New()
	p := startProgram(t, disk, opts, false)
	p.mustSave(1)
	disk.Hook(failing(faultfs.Remove, "ckpt-1.index"))
	p.train()
	n := int64(1)
	if path, err := p.save(&SaveOptions{Number: &n}); err == nil || path != "" {
		t.Fatalf("the save was not cut off: %q, %v", path, err)
	}
	disk.Hook(nil)
	repl := "ckpt-1" + replacementSuffix
	if got := p.m.Latest(); got != "run/"+repl {
		t.Fatalf("the latest is %s", got)
	}
	p.close()
	return disk, repl
}

// TestFilesOfAnotherProgramAreNotReplaced lets another program save under the
// final name of a replacement and continue.
func TestFilesOfAnotherProgramAreNotReplaced(t *testing.T) {
	for what, c := range map[string]struct {
		put  []string // files of the replacement under the old name
		stay bool
	}{
		"another checkpoint":  {nil, true},
		"half of the new one": {[]string{".data-00000-of-00001"}, false},
		"the new one":         {[]string{".data-00000-of-00001", ".index"}, false},
	} {
		t.Run(what, func(t *testing.T) {
			disk, repl := interruptedReplacement(t, preserving())
			if c.put != nil {
				if err := errors.Join(disk.Remove("ckpt-1.index"), disk.Remove("ckpt-1.data-00000-of-00001")); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range c.put {
				disk.Put("ckpt-1"+f, disk.Bytes(repl+f))
			}
			continueAfterReplacement(t, disk, repl)
			p := startProgram(t, disk, ManagerOptions{}, false)
			p.mustSave(10)
			p.close()
			there := slices.ContainsFunc(disk.Names(), func(f string) bool { return strings.HasPrefix(f, "ckpt-1.") })
			if there != c.stay || c.stay && holds(disk, "ckpt-1") != nil {
				t.Errorf("the disk holds %q", disk.Names())
			}
		})
	}
}

// TestNoIndexGetsItsNameBeforeTheMarkerIsItsOwn checks that a save fails and leaves
// no files if the marker can't get the index's identity. Otherwise a killed save
// could not be distinguished from another program's checkpoint.
func TestNoIndexGetsItsNameBeforeTheMarkerIsItsOwn(t *testing.T) {
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{}, false)
	defer p.close()
	p.mustSave(1)
	named := false
	disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Rename && op.Name == "ckpt-2"+saving {
			return errCut
		}
		named = named || op.Kind == faultfs.Rename && op.To == "ckpt-2.index"
		return nil
	})
	p.train()
	if path, err := p.save(nil); path != "" || !errors.Is(err, errCut) {
		t.Errorf("the save gives %q, %v", path, err)
	}
	if named {
		t.Error("the index got its name")
	}
	disk.Hook(nil)
	if s := p.strays(); len(s) > 0 {
		t.Errorf("strays %q", s)
	}
	p.mustSave(2)
	if err := holds(disk, "ckpt-2"); err != nil {
		t.Error(err)
	}
}

// continueAfterReplacement adds a checkpoint of another program, ckpt-9, after the replacement.
func continueAfterReplacement(t *testing.T, disk *faultfs.FS, repl string) {
	t.Helper()
	other := faultfs.New()
	p := startProgram(t, other, preserving(), false)
	p.mustSave(9)
	p.close()
	for _, f := range other.Names() {
		if strings.HasPrefix(f, "ckpt-9.") {
			disk.Put(f, other.Bytes(f))
		}
	}
	text, err := (&CheckpointState{ModelCheckpointPath: "ckpt-9", AllModelCheckpointPaths: []string{repl, "ckpt-9"},
		AllModelCheckpointTimestamps: []float64{1.6e9, 1.7e9}}).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	disk.Put("checkpoint", text)
}

// TestLeftoversAreTriedAgain checks that if a copy of a replacement couldn't be
// examined or removed at one save, the next save removes it.
func TestLeftoversAreTriedAgain(t *testing.T) {
	for what, fails := range map[string]func(op faultfs.Op, repl string) bool{
		"removing the copy":       func(op faultfs.Op, _ string) bool { return op.Kind == faultfs.Remove && op.Name == "ckpt-1.index" },
		"reading the replacement": func(op faultfs.Op, repl string) bool { return op.Kind == faultfs.Read && op.Name == repl+".index" },
		"opening the replacement": func(op faultfs.Op, repl string) bool { return op.Kind == faultfs.Open && op.Name == repl+".index" },
		"reading the copy":        func(op faultfs.Op, _ string) bool { return op.Kind == faultfs.Read && op.Name == "ckpt-1.index" },
		"listing the directory":   func(op faultfs.Op, _ string) bool { return op.Kind == faultfs.Read && op.Name == "." },
	} {
		t.Run(what, func(t *testing.T) {
			disk, repl := interruptedReplacement(t, preserving())
			for _, f := range []string{".data-00000-of-00001", ".index"} {
				disk.Put("ckpt-1"+f, disk.Bytes(repl+f))
			}
			continueAfterReplacement(t, disk, repl)
			p := startProgram(t, disk, ManagerOptions{MaxToKeep: 5}, false)
			failed := false
			disk.Hook(func(op faultfs.Op) error {
				if fails(op, repl) {
					failed = true
					return errCut
				}
				return nil
			})
			p.mustSave(10)
			if !failed || !slices.Contains(disk.Names(), "ckpt-1.index") {
				t.Fatalf("failed is %v, the disk holds %q", failed, disk.Names())
			}
			disk.Hook(nil)
			p.mustSave(11)
			p.close()
			if slices.ContainsFunc(disk.Names(), func(f string) bool { return strings.HasPrefix(f, "ckpt-1.") }) {
				t.Errorf("the disk holds %q", disk.Names())
			}
			if err := holds(disk, repl); err != nil {
				t.Error(err)
			}
		})
	}
}

// badFile fails to be read, or to be closed.
type badFile struct {
	fs.File
	read, closed error
}

func (f badFile) Read(b []byte) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.File.Read(b)
}

func (f badFile) Close() error { return errors.Join(f.File.Close(), f.closed) }

// badFS has bad files only.
type badFS struct {
	fs.FS
	read, closed error
}

func (b badFS) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	return badFile{f, b.read, b.closed}, err
}

// TestWhatCantBeReadWhollyIsNotTaken: neither an index's identity nor the side file
// comes from a file that failed while it was read, or closed.
func TestWhatCantBeReadWhollyIsNotTaken(t *testing.T) {
	files := fstest.MapFS{"ckpt-1.index": {Data: []byte("index")}, sideName: {Data: []byte("{}")}}
	for _, dir := range []badFS{{files, errCut, nil}, {files, nil, errCut}} {
		if id, err := identity(dir, "ckpt-1.index"); id != "" || !errors.Is(err, errCut) {
			t.Errorf("%+v: the identity is %q, %v", dir, id, err)
		}
		if _, found, err := readSide(dir, "side"); found || !errors.Is(err, errCut) {
			t.Errorf("%+v: the side file: %v, %v", dir, found, err)
		}
	}
	if id, err := identity(files, "ckpt-1.index"); len(id) != idDigits || err != nil {
		t.Errorf("the identity is %q, %v", id, err)
	}
	if _, found, err := readSide(files, "side"); !found || err != nil {
		t.Errorf("the side file: %v, %v", found, err)
	}
}
