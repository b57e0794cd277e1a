package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/trackable"
)

func TestDamagedLatestCheckpointIsNamedAndThePreviousOneOffered(t *testing.T) {
	ctx := context.Background()
	wreck := map[string]func(d *faultfs.FS, name string){
		"a byte of the data":  func(d *faultfs.FS, name string) { d.Damage(name+".data-00000-of-00001", 20, 21) },
		"a byte of the index": func(d *faultfs.FS, name string) { d.Damage(name+".index", 10, 11) },
		"no data": func(d *faultfs.FS, name string) {
			if err := d.Remove(name + ".data-00000-of-00001"); err != nil {
				t.Fatal(err)
			}
		},
		"no index": func(d *faultfs.FS, name string) {
			if err := d.Remove(name + ".index"); err != nil {
				t.Fatal(err)
			}
		},
		"empty data":  func(d *faultfs.FS, name string) { d.Put(name+".data-00000-of-00001", nil) },
		"empty index": func(d *faultfs.FS, name string) { d.Put(name+".index", nil) },
	}
	for what, harm := range wreck {
		disk := faultfs.New()
		asked := 0
		allow := false
		p := startProgram(t, disk, ManagerOptions{MaxToKeep: 3, Fallback: func(d *DamagedError) bool { asked++; return allow }}, false)
		for range 4 {
			p.train()
			if _, err := p.save(nil); err != nil {
				t.Fatal(err)
			}
		}
		harm(disk, "ckpt-4")
		disk.Damage("ckpt-3.data-00000-of-00001", 20, 21) // damaged as well
		var damaged *DamagedError
		_, err := p.m.RestoreLatest(ctx)
		if !errors.As(err, &damaged) || damaged.Path != "run/ckpt-4" || damaged.Previous != "run/ckpt-2" || asked != 1 {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if errors.Is(err, ErrNotFound) || !errors.Is(err, bundle.ErrCorrupt) {
			t.Errorf("%s: the error looks as if there were no checkpoint: %v", what, err)
		}
		ran := false
		p.m.opts.Init = func(context.Context) error { ran = true; return nil }
		if _, err := p.m.RestoreOrInitialize(ctx); !errors.As(err, &damaged) || ran {
			t.Errorf("%s: initialized %v: %v", what, ran, err)
		}
		allow = true
		report, err := p.m.RestoreLatest(ctx)
		if err != nil || report.Path != "run/ckpt-2" || p.at() != 2 {
			t.Errorf("%s: falling back: step %d, %v", what, p.at(), err)
			continue
		}
		// The run continues over the damaged ones.
		for range 2 {
			p.train()
			if _, err := p.save(nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := holds(disk, "ckpt-4"); err != nil || p.m.Latest() != "run/ckpt-4" {
			t.Errorf("%s: after going on, %s: %v", what, p.m.Latest(), err)
		}
		if s := p.strays(); len(s) > 0 {
			t.Errorf("%s: strays %q", what, s)
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDamageWithNothingOlder(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{MaxToKeep: 1, KeepEvery: time.Nanosecond, Clock: ticking(0), Fallback: func(*DamagedError) bool { return true }}, false)
	for range 2 {
		p.train()
		if _, err := p.save(nil); err != nil {
			t.Fatal(err)
		}
	}
	disk.Damage("ckpt-2.index", 0, -1)
	// A checkpoint that is kept forever isn't listed, but found.
	if report, err := p.m.RestoreLatest(ctx); err != nil || report.Path != "run/ckpt-1" {
		t.Errorf("%v", err)
	}
	disk.Damage("ckpt-1.index", 0, -1)
	var damaged *DamagedError
	if _, err := p.m.RestoreLatest(ctx); !errors.As(err, &damaged) || damaged.Previous != "" || !strings.Contains(err.Error(), "no older checkpoint is intact") {
		t.Errorf("%v", err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestRestoreOrInitialize(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	inits := 0
	p := startProgram(t, disk, ManagerOptions{Init: func(context.Context) error { inits++; return nil }}, false)
	if _, err := p.m.RestoreLatest(ctx); !errors.Is(err, ErrNotFound) || inits != 0 {
		t.Errorf("no checkpoint: %v", err)
	}
	if report, err := p.m.RestoreOrInitialize(ctx); err != nil || report.Path != "" || inits != 1 {
		t.Errorf("initialized %d times: %v", inits, err)
	}
	p.m.opts.Init = func(context.Context) error { return errors.New("no luck") }
	if _, err := p.m.RestoreOrInitialize(ctx); err == nil || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("a failing Init: %v", err)
	}
	p.m.opts.Init = nil
	if report, err := p.m.RestoreOrInitialize(ctx); err != nil || report.Path != "" {
		t.Errorf("no Init: %v", err)
	}
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	p.train()
	if report, err := p.m.RestoreOrInitialize(ctx); err != nil || report.Path != "run/ckpt-1" || p.at() != 1 {
		t.Errorf("restored step %d: %v", p.at(), err)
	}
	if err := disk.Remove("checkpoint"); err != nil {
		t.Fatal(err)
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	// Without a state file the error lists the existing files.
	p = startProgram(t, disk, ManagerOptions{}, false)
	if _, err := p.m.RestoreLatest(ctx); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "run/ckpt-1 is there") {
		t.Errorf("%v", err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestManagerTakesOverStatesFromElsewhere(t *testing.T) {
	ctx := context.Background()
	for what, c := range map[string]struct{ prefix, missing string }{
		"a directory that was moved": {"/somewhere/else/", ""},
		"a directory from Windows":   {`C:\runs\7\`, ""},
		"dots":                       {"./", ""},
	} {
		disk := faultfs.New()
		p := startProgram(t, disk, ManagerOptions{MaxToKeep: 2, Clock: ticking(0)}, false)
		for range 2 {
			p.train()
			if _, err := p.save(nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.m.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := ReadCheckpointState(disk, "checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		s.ModelCheckpointPath = c.prefix + s.ModelCheckpointPath
		for i := range s.AllModelCheckpointPaths {
			s.AllModelCheckpointPaths[i] = c.prefix + s.AllModelCheckpointPaths[i]
		}
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		disk.Put("checkpoint", text)
		p = startProgram(t, disk, ManagerOptions{MaxToKeep: 2, Clock: func() time.Time { return time.Unix(1_800_000_000, 0) }}, false)
		if _, err := p.m.RestoreLatest(ctx); err != nil || p.at() != 2 {
			t.Errorf("%s: step %d, %v", what, p.at(), err)
		}
		p.train()
		if _, err := p.save(nil); err != nil {
			t.Fatal(err)
		}
		if want := []string{"run/ckpt-2", "run/ckpt-3"}; !slices.Equal(p.m.Checkpoints(), want) || slices.Contains(disk.Names(), "ckpt-1.index") {
			t.Errorf("%s: %q, files %q", what, p.m.Checkpoints(), disk.Names())
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestManagerRefusesAStateThatCannotBeRead(t *testing.T) {
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"garbage", "model_checkpoint_path: \"a", "all_model_checkpoint_paths: \"a\""} {
		disk := faultfs.New()
		disk.Put("checkpoint", []byte(text))
		var se *StateError
		if _, err := NewManager(ck, "run", &ManagerOptions{Dir: disk}); !errors.As(err, &se) || !strings.Contains(err.Error(), filepath.Join("run", "checkpoint")) {
			t.Errorf("%q: %v", text, err)
		}
		// The lock is free again.
		disk.Put("checkpoint", []byte(`model_checkpoint_path: "ckpt-1"`))
		m, err := NewManager(ck, "run", &ManagerOptions{Dir: disk})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRelativeFolderIsFoundAfterItMoved(t *testing.T) {
	ctx := context.Background()
	t.Chdir(t.TempDir())
	root := &stepRoot{trackable.NewScalar[int64](5)}
	ck, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ck.Save(ctx, filepath.Join("one", "two", "ckpt")); err != nil {
		t.Fatal(err)
	}
	if got, err := LatestCheckpoint(filepath.Join("one", "two"), nil); err != nil || got != filepath.Join("one", "two", "ckpt-1") {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Rename("one", "three"); err != nil {
		t.Fatal(err)
	}
	t.Chdir("three")
	latest, err := LatestCheckpoint("two", nil)
	if err != nil || latest != filepath.Join("two", "ckpt-1") {
		t.Fatalf("%q, %v", latest, err)
	}
	root.Step.Set(0)
	if _, err := ck.Restore(ctx, latest, nil); err != nil || root.Step.Get() != 5 {
		t.Errorf("step %d, %v", root.Step.Get(), err)
	}
}

// TestWhatIsDamageOfFiles checks which errors mean damaged files, and which
// mean a program that doesn't fit them.
func TestWhatIsDamageOfFiles(t *testing.T) {
	for _, c := range []struct {
		err    error
		damage bool
	}{
		{&bundle.CorruptError{}, true},
		{fmt.Errorf("reading: %w", fs.ErrNotExist), true},
		{io.ErrUnexpectedEOF, true},
		{io.EOF, true},
		{fs.ErrPermission, false},
		{context.Canceled, false},
		{&RestoreError{Missing: []Item{{}}}, false},
		{&RestoreError{causes: []error{fs.ErrNotExist}}, false}, // for example a vocabulary that an object requests
	} {
		if got := isDamage(c.err); got != c.damage {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
