package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/faultfs"
	"github.com/cairnml/cairn/trackable"
	"github.com/google/go-cmp/cmp"
)

func TestManagerOptionsThatCannotBeMeant(t *testing.T) {
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	step := func() int64 { return 0 }
	for want, o := range map[string]*ManagerOptions{
		"MaxToKeep is -1":                       {MaxToKeep: -1},
		"KeepEvery is -1s":                      {MaxToKeep: 1, KeepEvery: -time.Second},
		"Interval is -5":                        {Interval: -5, Step: step},
		"Interval counts steps":                 {Interval: 5},
		"Policies have nothing to decide":       {Policies: []Policy{EveryNSteps{1}}},
		"EveryNSteps.N is 0":                    {MaxToKeep: 1, Policies: []Policy{EveryNSteps{}}},
		"BestN.N is 0":                          {MaxToKeep: 1, Policies: []Policy{BestN{Metric: "m"}}},
		"BestN needs the name":                  {MaxToKeep: 1, Policies: []Policy{BestN{N: 1}}},
		"a policy is nil":                       {MaxToKeep: 1, Policies: []Policy{nil}},
		`CheckpointName "../x"`:                 {CheckpointName: "../x"},
		`CheckpointName "/x"`:                   {CheckpointName: "/x"},
		`CheckpointName "."`:                    {CheckpointName: "."},
		`CheckpointName "a/" is no slash-separ`: {CheckpointName: "a/"},
	} {
		o.Dir = bundle.MemDir()
		if m, err := NewManager(ck, "run", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v, %v", want, m, err)
		}
	}
	if _, err := NewManager(nil, "run", nil); err == nil {
		t.Error("no checkpoint was taken")
	}
	if _, err := NewManager(ck, "", nil); err == nil {
		t.Error("no directory was taken")
	}
}

func TestSecondManagerIsToldWhoHoldsTheDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManager(ck, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	me := fmt.Sprintf("process %d on ", os.Getpid())
	var locked *LockedError
	for _, same := range []string{dir, dir + "/.", filepath.Join(dir, "..", "run")} {
		if _, err := NewManager(ck, same, nil); !errors.As(err, &locked) || !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), me) {
			t.Errorf("%s: %v", same, err)
		}
	}
	other, err := NewManager(ck, dir, &ManagerOptions{NoLock: true})
	if err != nil {
		t.Errorf("without a lock: %v", err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if files := filesBelow(t, dir); len(files) > 0 {
		t.Errorf("left behind: %q", files)
	}

	// Another process holds the lock on the file only.
	file := filepath.Join(dir, lockName)
	unlock, err := lockFile(file, dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil { // where files can be locked
		if _, err := NewManager(ck, dir, nil); !errors.As(err, &locked) || locked.Dir != dir || !strings.Contains(locked.Holder, me) {
			t.Errorf("held by another process: %v", err)
		}
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	// A lock file that a killed process left is no lock.
	if err := os.WriteFile(file, []byte(" process 1 on nowhere"), 0o666); err != nil {
		t.Fatal(err)
	}
	if m, err = NewManager(ck, dir, nil); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	mem := bundle.MemDir()
	m, err = NewManager(ck, "run", &ManagerOptions{Dir: mem})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewManager(ck, "run", &ManagerOptions{Dir: mem}); !errors.Is(err, ErrLocked) {
		t.Errorf("a folder in memory: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestClosedManager(t *testing.T) {
	ctx := context.Background()
	p := startProgram(t, faultfs.New(), ManagerOptions{}, false)
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.m.Save(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("save: %v", err)
	}
	if _, err := p.m.RestoreLatest(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("restore: %v", err)
	}
	if _, err := p.m.RestoreOrInitialize(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("restore or initialize: %v", err)
	}
	if err := p.m.Wait(ctx); err != nil {
		t.Errorf("wait: %v", err)
	}
	if p.m.Latest() != "run/ckpt-1" || p.m.Directory() != "run" {
		t.Errorf("latest %q in %q", p.m.Latest(), p.m.Directory())
	}
}

func TestBackgroundSaveHoldsTheStateOfItsCall(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{Async: true, MaxToKeep: 2}, false)
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	p.train()
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Create && strings.HasPrefix(op.Name, "ckpt-2.") {
			held <- struct{}{}
			<-hold
		}
		return nil
	})
	cctx, cancel := context.WithCancel(ctx)
	path, err := p.m.Save(cctx)
	if err != nil || path != "run/ckpt-2" {
		t.Fatalf("%q, %v", path, err)
	}
	cancel() // the end of the call's context doesn't end the write
	<-held
	if p.m.Latest() != "run/ckpt-1" || len(p.m.Checkpoints()) != 1 {
		t.Errorf("the latest moved to %s before its data was durable", p.m.Latest())
	}
	wctx, stop := context.WithTimeout(ctx, 5*time.Millisecond)
	defer stop()
	if err := p.m.Wait(wctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting while a save is held up: %v", err)
	}
	close(hold)
	for range 20 { // training goes on
		p.train()
	}
	if err := p.m.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if p.m.Latest() != "run/ckpt-2" {
		t.Errorf("the latest is %s", p.m.Latest())
	}
	if _, err := p.m.RestoreLatest(ctx); err != nil || p.at() != 2 {
		t.Errorf("restored step %d: %v", p.at(), err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestFailureOfABackgroundSaveIsToldOnce(t *testing.T) {
	ctx := context.Background()
	for name, told := range map[string]func(*Manager) error{
		"the next save": func(m *Manager) error {
			path, err := m.Save(ctx)
			if path != "" {
				return fmt.Errorf("saved %s", path)
			}
			return err
		},
		"Wait":  func(m *Manager) error { return m.Wait(ctx) },
		"Close": func(m *Manager) error { return m.Close() },
	} {
		disk := faultfs.New()
		p := startProgram(t, disk, ManagerOptions{Async: true, Interval: 1}, false)
		if _, err := p.save(nil); err != nil {
			t.Fatal(err)
		}
		p.train()
		disk.FailAt(0, faultfs.ErrFault)
		disk.Hook(func(op faultfs.Op) error {
			if op.Kind == faultfs.Sync {
				return faultfs.ErrFault
			}
			return nil
		})
		if path, err := p.m.Save(ctx); err != nil || path == "" {
			t.Fatalf("%q, %v", path, err)
		}
		p.m.busy <- struct{}{} // the background save has ended, nobody was told
		<-p.m.busy
		disk.Hook(nil)
		var failed *SaveError
		if err := told(p.m); !errors.Is(err, faultfs.ErrFault) || !errors.As(err, &failed) || !failed.Async || failed.Latest != "run/ckpt-1" ||
			!strings.Contains(err.Error(), "in the background") {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.m.Wait(ctx); err != nil {
			t.Errorf("%s: told twice: %v", name, err)
		}
		if name != "Close" {
			// Nothing was saved at this step, so Interval doesn't hold a save back.
			if path, err := p.save(nil); err != nil || path == "" || path != p.m.Latest() {
				t.Errorf("%s: after the failure: %q, %v; the latest is %s", name, path, err, p.m.Latest())
			}
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
}

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
		// The run goes on over the damaged ones.
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
	// What is kept for ever isn't listed, but found.
	if report, err := p.m.RestoreLatest(ctx); err != nil || report.Path != "run/ckpt-1" {
		t.Errorf("%v", err)
	}
	disk.Damage("ckpt-1.index", 0, -1)
	var damaged *DamagedError
	if _, err := p.m.RestoreLatest(ctx); !errors.As(err, &damaged) || damaged.Previous != "" || !strings.Contains(err.Error(), "no older one holds") {
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
	// Without a state file the error says what is there.
	p = startProgram(t, disk, ManagerOptions{}, false)
	if _, err := p.m.RestoreLatest(ctx); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "run/ckpt-1 is there") {
		t.Errorf("%v", err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestPoliciesOverSeveralManagers(t *testing.T) {
	disk := faultfs.New()
	opts := ManagerOptions{MaxToKeep: 1, Policies: []Policy{BestN{N: 2, Metric: "loss", Lower: true}, EveryNSteps{5}}}
	losses := []float64{9, 3, 7, math.NaN(), 5, 2, math.Inf(1), 8, 8, 8, 8}
	var p *program
	for i, loss := range losses {
		if i%3 == 0 { // a new program now and then
			if p != nil {
				if err := p.m.Close(); err != nil {
					t.Fatal(err)
				}
			}
			p = startProgram(t, disk, opts, false)
			if _, err := p.m.RestoreOrInitialize(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		p.train()
		if _, err := p.save(&SaveOptions{Metrics: map[string]float64{"loss": loss, "n": float64(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"run/ckpt-2", "run/ckpt-5", "run/ckpt-6", "run/ckpt-10", "run/ckpt-11"}
	if d := cmp.Diff(want, p.m.Checkpoints()); d != "" {
		t.Error(d)
	}
	saved := p.m.Saved()
	if s := saved[0]; s.Path != want[0] || s.Step != 2 || s.Metrics["loss"] != 3 || s.Metrics["n"] != 1 {
		t.Errorf("%+v", s)
	}
	if s := p.strays(); len(s) > 0 {
		t.Errorf("strays %q", s)
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	disk.Put(sideName, []byte(`{"checkpoints": {"ckpt-2": {"metrics": {"loss": "x"}}}}`))
	var se *StateError
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewManager(ck, "run", &ManagerOptions{Dir: disk}); !errors.As(err, &se) || !strings.Contains(err.Error(), sideName) {
		t.Errorf("a damaged side file: %v", err)
	}
}

func TestWriteCallbacks(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("writes paths with slashes")
	}
	ctx := context.Background()
	for _, async := range []bool{false, true} {
		var told []string
		var m *Manager
		tell := func(who string) func(context.Context, string) error {
			return func(_ context.Context, path string) error {
				told = append(told, who+" "+path+" "+m.Latest())
				return nil
			}
		}
		ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, &Options{OnWrite: []func(context.Context, string) error{tell("checkpoint")}})
		if err != nil {
			t.Fatal(err)
		}
		opts := &ManagerOptions{Dir: bundle.MemDir(), Async: async, OnWrite: []func(context.Context, string) error{tell("first"), tell("second")}}
		if m, err = NewManager(ck, "run", opts); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Save(ctx); err != nil {
			t.Fatal(err)
		}
		if err := m.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		want := []string{"checkpoint run/ckpt-1 run/ckpt-1", "first run/ckpt-1 run/ckpt-1", "second run/ckpt-1 run/ckpt-1"}
		if d := cmp.Diff(want, told); d != "" {
			t.Error(d)
		}
		if len(opts.OnWrite) != 2 {
			t.Error("the caller's options were changed")
		}
		for _, bad := range []func(context.Context, string) error{
			func(context.Context, string) error { return errors.New("no mail today") },
			func(context.Context, string) error { panic("no mail today") },
		} {
			m.opts.OnWrite = []func(context.Context, string) error{bad}
			path, err := func() (path string, err error) {
				defer func() {
					if p := recover(); p != nil && !async {
						path, err = m.Latest(), fmt.Errorf("%v", p)
					}
				}()
				return m.Save(ctx)
			}()
			if async {
				err = m.Wait(ctx)
			}
			if err == nil || !strings.Contains(err.Error(), "no mail today") || path == "" || m.Latest() != path {
				t.Errorf("async %v: a failing callback: %q, %v; the latest is %s", async, path, err, m.Latest())
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestProgressAndShardsOfASave(t *testing.T) {
	var last, total int64
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{Shards: MaxShardSize(64), Progress: func(d, n int64) { last, total = d, n }}, false)
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	if last == 0 || last != total {
		t.Errorf("%d of %d bytes", last, total)
	}
	if path, err := p.m.SaveAs(context.Background(), 40); err != nil || path != "run/ckpt-40" || p.m.ck.SaveCounter().Get() != 2 {
		t.Errorf("%q, %v", path, err)
	}
	if n := len(disk.Names()); n < 4 || !slices.Contains(disk.Names(), "ckpt-1.data-00002-of-00003") && n < 5 {
		t.Errorf("files %q", disk.Names())
	}
	if _, err := p.m.RestoreLatest(context.Background()); err != nil || p.at() != 1 {
		t.Error(err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestManagerFromManyGoroutines(t *testing.T) {
	ctx := context.Background()
	for _, async := range []bool{false, true} {
		disk := faultfs.New()
		p := startProgram(t, disk, ManagerOptions{MaxToKeep: 3, Async: async}, false)
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				for range 8 {
					if _, err := p.m.Save(ctx); err != nil {
						t.Error(err)
					}
					_ = p.m.Checkpoints()
					_ = p.m.Saved()
					_ = p.m.Latest()
					p.root.Step.Add(1)
					if g == 0 {
						if err := p.m.Wait(ctx); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		if err := p.m.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if want := []string{"run/ckpt-46", "run/ckpt-47", "run/ckpt-48"}; !slices.Equal(p.m.Checkpoints(), want) {
			t.Errorf("%q", p.m.Checkpoints())
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	p := startProgram(t, faultfs.New(), ManagerOptions{}, false)
	if _, err := p.m.Save(stopped); !errors.Is(err, context.Canceled) || p.m.ck.SaveCounter().Get() != 0 {
		t.Errorf("a save that was called off: %v", err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}

func TestManagerTakesOverStatesFromElsewhere(t *testing.T) {
	ctx := context.Background()
	for what, c := range map[string]struct{ prefix, missing string }{
		"a folder that was moved": {"/somewhere/else/", ""},
		"a folder from Windows":   {`C:\runs\7\`, ""},
		"dots":                    {"./", ""},
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

func TestManagerNeverDeletesOutsideItsDirectory(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "run")
	touch(t, base, "ckpt-1.index", "ckpt-1.data-00000-of-00001", "run/x")
	s := &CheckpointState{ModelCheckpointPath: "../ckpt-1", AllModelCheckpointPaths: []string{"../ckpt-1", filepath.Join(base, "ckpt-1")},
		AllModelCheckpointTimestamps: []float64{1.6e9, 1.6e9}}
	text, err := s.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, dir, string(text))
	ck, err := New(&stepRoot{trackable.NewScalar[int64](0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewManager(ck, dir, &ManagerOptions{MaxToKeep: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Checkpoints()) != 2 {
		t.Errorf("%q", m.Checkpoints())
	}
	if _, err := m.Save(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(dir, "ckpt-1")}; !slices.Equal(m.Checkpoints(), want) {
		t.Errorf("%q", m.Checkpoints())
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"ckpt-1.data-00000-of-00001", "ckpt-1.index", "run/checkpoint", "run/ckpt-1.data-00000-of-00001", "run/ckpt-1.index", "run/x"}
	if d := cmp.Diff(want, filesBelow(t, base)); d != "" {
		t.Error(d)
	}
}

func TestOnlyOurOwnLeftoversAreCleaned(t *testing.T) {
	disk := faultfs.New()
	p := startProgram(t, disk, ManagerOptions{}, true)
	p.train()
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	others := []string{
		"other-1.index.tempstate123", "notes.tmp", "ckpt-1.txt", "ckpt-7.data-00000-of-00001", "ckpt-8.index", "ckpt-8-Other.saver.index",
		"checkpoint.cairn-0123.tmp", "checkpoint.bak", "ckpt-x-Test.odd.index", "ckpt-9-replacement.txt", "ckpt-z_temp/part-00000-of-00001.index",
		"ckpt-3_temp/else", "ckpt-1.tempstate", "other.cairn-0123456789abcdef.tmp",
	}
	ours := []string{
		"ckpt-1.index.tempstate123", "ckpt-22.data-00000-of-00001.tempstate00012", "checkpoint.cairn-0123456789abcdef.tmp",
		sideName + ".cairn-0123456789abcdef.tmp", "ckpt-9-replacement.index", "ckpt-9-replacement.data-00000-of-00001", "ckpt-9.index.cairn-0123456789abcdef.tmp",
		"ckpt-3-Test.odd.index", "ckpt-3-Test.odd.data-00000-of-00001", "ckpt-3-replacement-Test.odd.index", "ckpt-3_temp/part-00000-of-00001.index",
	}
	for _, f := range slices.Concat(others, ours) {
		disk.Put(f, nil)
	}
	before := disk.Names()
	p = startProgram(t, disk, ManagerOptions{}, true)
	if _, err := p.m.RestoreLatest(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.save(nil); err != nil {
		t.Fatal(err)
	}
	after := disk.Names()
	for _, f := range others {
		if !slices.Contains(after, f) {
			t.Errorf("%s is gone", f)
		}
	}
	for _, f := range ours {
		if slices.Contains(after, f) || !slices.Contains(before, f) {
			t.Errorf("%s is still there", f)
		}
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
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
