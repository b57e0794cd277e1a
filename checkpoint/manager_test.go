package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
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
		`CheckpointName is "../x"`:              {CheckpointName: "../x"},
		`CheckpointName is "/x"`:                {CheckpointName: "/x"},
		`CheckpointName is "."`:                 {CheckpointName: "."},
		`CheckpointName is "a/", want a slash-`: {CheckpointName: "a/"},
	} {
		o.Dir = vfs.MemDir()
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
		opts := &ManagerOptions{Dir: vfs.MemDir(), Async: async, OnWrite: []func(context.Context, string) error{tell("first"), tell("second")}}
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
		"ckpt-44", "ckpt-3_temp/else", "ckpt-3_temp/part-of-another/file", "ckpt-1.tempstate", "other.cairn-0123456789abcdef.tmp",
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
