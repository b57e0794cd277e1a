package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// trained is a program's state whose parts have to agree with each other.
type trained struct {
	Step   *trackable.Scalar[int64]
	Weight *trackable.Variable
	Odd    *oddPart // saved by a registered saver
}

// oddPart is saved by a registered saver.
type oddPart struct{ trackable.Variable }

var oddSaver = Saver{
	Name:    "odd",
	Matches: func(o trackable.Trackable) bool { _, ok := o.(*oddPart); return ok },
	Save: func(ctx context.Context, call *SaveCall) ([]string, error) {
		w, err := bundle.NewWriter(call.Dir, call.Prefix, nil)
		if err != nil {
			return nil, err
		}
		for prefix, part := range Only[*oddPart](call.Objects) {
			if err := w.Add(ctx, prefix+"/odd", part.Load()); err != nil {
				return nil, errors.Join(err, w.Abort())
			}
		}
		if err := w.Finish(ctx); err != nil {
			return nil, errors.Join(err, w.Abort())
		}
		return []string{call.Prefix}, nil
	},
	Restore: func(ctx context.Context, call *RestoreCall) error {
		r, err := bundle.Open(ctx, call.FS, call.Prefix, nil)
		if err != nil {
			return err
		}
		for prefix, part := range Only[*oddPart](call.Objects) {
			x, err := r.Read(ctx, prefix+"/odd")
			if err != nil {
				return err
			}
			if err := part.Store(x); err != nil {
				return err
			}
		}
		return r.Close()
	},
}

// a program is one run of a trainer, over one disk.
type program struct {
	t    testing.TB
	disk *faultfs.FS
	root *trained
	m    *Manager
	opts ManagerOptions
}

const weights = 40

func weightAt(step int64) *tensor.Tensor {
	v := make([]float32, weights)
	for i := range v {
		v[i] = float32(step)
	}
	return tensor.Vector(v...)
}

// startProgram creates the program's objects and its manager, and restores the latest
// checkpoint.
func startProgram(t testing.TB, disk *faultfs.FS, opts ManagerOptions, odd bool) *program {
	t.Helper()
	if filepath.Separator != '/' {
		t.Skip("the tests over this disk write paths with slashes")
	}
	p := &program{t: t, disk: disk, opts: opts}
	p.root = &trained{Step: trackable.NewScalar[int64](0), Weight: trackable.NewVariable(weightAt(0))}
	savers := new(Savers)
	if odd {
		if err := savers.Register("Test", oddSaver); err != nil {
			t.Fatal(err)
		}
		p.root.Odd = &oddPart{*trackable.NewVariable(weightAt(0))}
	}
	ck, err := New(p.root, &Options{Savers: savers})
	if err != nil {
		t.Fatal(err)
	}
	p.opts.Dir = disk
	p.opts.Step = p.root.Step.Get
	if p.m, err = NewManager(ck, "run", &p.opts); err != nil {
		t.Fatalf("making the manager over %q: %v", disk.Names(), err)
	}
	return p
}

// train makes a step, and save saves it.
func (p *program) train() {
	step := p.root.Step.Add(1)
	if err := p.root.Weight.Store(weightAt(step)); err != nil {
		p.t.Fatal(err)
	}
	if p.root.Odd != nil {
		if err := p.root.Odd.Store(weightAt(step)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *program) save(o *SaveOptions) (string, error) {
	ctx := context.Background()
	path, err := p.m.SaveWith(ctx, o)
	if err == nil && p.opts.Async {
		if err = p.m.Wait(ctx); err != nil {
			var failed *SaveError
			if errors.As(err, &failed) {
				path = ""
			}
		}
	}
	return path, err
}

// at returns the step that the objects are at, which have to agree.
func (p *program) at() int64 {
	p.t.Helper()
	step := p.root.Step.Get()
	for _, v := range []*trackable.Variable{p.root.Weight, p.odd()} {
		if v == nil {
			continue
		}
		for _, x := range tensor.Values[float32](v.Load()) {
			if x != float32(step) {
				p.t.Fatalf("step %d, but a weight of step %v", step, x)
			}
		}
	}
	return step
}

func (p *program) odd() *trackable.Variable {
	if p.root.Odd == nil {
		return nil
	}
	return p.root.Odd.AsVariable()
}

// holds verifies every byte of a checkpoint on the disk.
func holds(disk *faultfs.FS, name string) error {
	ctx := context.Background()
	r, err := bundle.Open(ctx, disk, name, nil)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(ctx, nil), r.Close())
}

// strays returns the files on the disk that belong to no managed checkpoint.
func (p *program) strays(kept ...string) []string {
	var out []string
	for _, f := range p.disk.Names() {
		base, _, _ := strings.Cut(f, ".")
		path := "run/" + base
		if f != "checkpoint" && f != sideName && !slices.Contains(p.m.Checkpoints(), path) && !slices.Contains(kept, base) ||
			strings.Contains(f, "temp") || strings.HasSuffix(f, ".tmp") {
			out = append(out, f)
		}
	}
	return out
}

// A crashCase is a save to be cut off everywhere, after a history of saves.
type crashCase struct {
	name    string
	opts    ManagerOptions
	odd     bool
	history []*SaveOptions
	save    *SaveOptions
	next    *SaveOptions // the save after it; nil: as save
}

func number(n int64) *SaveOptions { return &SaveOptions{Number: &n} }

func crashCases() []crashCase {
	score := func(v float64) *SaveOptions { return &SaveOptions{Metrics: map[string]float64{"score": v}} }
	three := []*SaveOptions{nil, nil, nil}
	cases := []crashCase{
		{name: "first save"},
		{name: "keep all", history: three},
		{name: "rotation", opts: ManagerOptions{MaxToKeep: 2}, history: three},
		{name: "rotation of several", opts: ManagerOptions{MaxToKeep: 3}, history: append(three, nil, nil, nil)},
		{name: "preserved by time", opts: ManagerOptions{MaxToKeep: 1, KeepEvery: 2 * time.Second}, history: three},
		{name: "the only one replaced", opts: ManagerOptions{MaxToKeep: 1}, history: []*SaveOptions{number(7)}, save: number(7)},
		{name: "the latest replaced", opts: ManagerOptions{MaxToKeep: 3}, history: []*SaveOptions{number(5), number(7)}, save: number(7)},
		{name: "an older one replaced", opts: ManagerOptions{MaxToKeep: 3}, history: []*SaveOptions{number(5), number(7)}, save: number(5)},
		{name: "metrics", opts: ManagerOptions{MaxToKeep: 1, Policies: []Policy{BestN{N: 1, Metric: "score"}}}, history: []*SaveOptions{score(3), score(1), score(2)}, save: score(5)},
		{name: "steps", opts: ManagerOptions{MaxToKeep: 1, Policies: []Policy{EveryNSteps{2}}}, history: three},
		{name: "shards", opts: ManagerOptions{MaxToKeep: 2, Shards: MaxShardSize(64)}, history: three},
		{name: "a registered saver", opts: ManagerOptions{MaxToKeep: 2}, odd: true, history: three},
		{name: "a registered saver, replaced", opts: ManagerOptions{MaxToKeep: 2}, odd: true, history: []*SaveOptions{number(1), number(2)}, save: number(2)},
		{name: "numbers that never recur", opts: ManagerOptions{MaxToKeep: 2}, history: []*SaveOptions{number(10), number(20), number(30)}, save: number(47), next: number(59)},
		{name: "a registered saver, numbers that never recur", opts: ManagerOptions{MaxToKeep: 2, Shards: MaxShardSize(64)}, odd: true, history: []*SaveOptions{number(10), number(20)}, save: number(47), next: number(59)},
		{name: "a directory in the name", opts: ManagerOptions{MaxToKeep: 2, CheckpointName: "sub/model"}, history: three},
	}
	for _, c := range cases {
		switch c.name { // the others differ in nothing that a separate goroutine changes
		case "first save", "rotation", "the latest replaced", "a registered saver":
			c.name += ", in the background"
			c.opts.Async = true
			cases = append(cases, c)
		}
	}
	return cases
}

// ticking returns a clock that advances by a second at each call.
func ticking(from int64) func() time.Time {
	now := time.Unix(1_700_000_000+from, 0)
	return func() time.Time { now = now.Add(time.Second); return now }
}

// base returns the disk after a case's history.
func (c crashCase) base(t testing.TB) *faultfs.FS {
	t.Helper()
	c.opts.Clock = ticking(0)
	p := startProgram(t, faultfs.New(), c.opts, c.odd)
	for _, o := range c.history {
		p.train()
		if _, err := p.save(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	return p.disk
}

// before returns a program that continues from a copy of the disk, up to the
// save that is to be interrupted.
func (c crashCase) before(t testing.TB, base *faultfs.FS) *program {
	t.Helper()
	c.opts.Clock = ticking(500)
	p := startProgram(t, base.AfterCrash(faultfs.LoseNone, 0), c.opts, c.odd)
	if _, err := p.m.RestoreOrInitialize(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.train()
	return p
}

// preserved returns the checkpoints on the disk that aren't listed.
func (p *program) preserved() []string {
	var out []string
	for _, f := range p.disk.Names() {
		if base, ok := strings.CutSuffix(f, ".index"); ok && !slices.Contains(p.m.Checkpoints(), "run/"+base) {
			out = append(out, base)
		}
	}
	return out
}

// plan describes a case's save without faults.
type plan struct {
	base   *faultfs.FS // the disk before
	ops    []faultfs.Op
	before int64    // the step of the latest checkpoint; 0 for none
	after  int64    // the step of the new one
	stay   []string // checkpoints that are there before and after
}

func (c crashCase) plan(t *testing.T) plan {
	t.Helper()
	if testing.Short() && !c.opts.Async && c.name != "metrics" && c.name != "an older one replaced" {
		t.Skip("in short runs, a few cases are enough")
	}
	base := c.base(t)
	p := c.before(t, base)
	pl := plan{base: base, before: int64(len(c.history)), after: int64(len(c.history)) + 1}
	old := append(p.preserved(), names(p.m.Checkpoints())...)
	p.disk.Hook(nil)
	path, err := p.save(c.save)
	if err != nil {
		t.Fatal(err)
	}
	pl.ops = p.disk.Ops()
	for _, n := range old {
		if "run/"+n != path && slices.Contains(p.disk.Names(), n+".index") {
			pl.stay = append(pl.stay, n)
		}
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	if s := p.strays(p.preserved()...); len(s) > 0 {
		t.Fatalf("a save without faults leaves %q", s)
	}
	return pl
}

func names(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, strings.TrimPrefix(p, "run/"))
	}
	return out
}

// check restores from the disk as a new process would, and saves once more.
func (c crashCase) check(t *testing.T, what string, disk *faultfs.FS, pl plan, saved bool) {
	t.Helper()
	ctx := context.Background()
	c.opts.Clock = ticking(1000)
	p := startProgram(t, disk, c.opts, c.odd)
	defer p.m.Close()
	_, err := p.m.RestoreLatest(ctx)
	switch {
	case errors.Is(err, ErrNotFound) && pl.before == 0 && !saved:
	case err != nil:
		t.Fatalf("%s: %v; the disk holds %q", what, err, disk.Names())
	default:
		step := p.at()
		if step != pl.after && (saved || step != pl.before) {
			t.Fatalf("%s: restored step %d, want %d or %d", what, step, pl.before, pl.after)
		}
	}
	for _, n := range pl.stay {
		if err := holds(disk, n); err != nil {
			t.Fatalf("%s: %s was to be kept: %v; the disk holds %q", what, n, err, disk.Names())
		}
	}
	p.train()
	next := c.save
	if c.next != nil {
		next = c.next
	}
	path, err := p.save(next)
	if err != nil {
		t.Fatalf("%s: the next save: %v", what, err)
	}
	if path != p.m.Latest() {
		t.Fatalf("%s: saved %s, but %s is the latest", what, path, p.m.Latest())
	}
	for _, n := range p.m.Checkpoints() {
		if err := holds(disk, strings.TrimPrefix(n, "run/")); err != nil {
			t.Fatalf("%s: after the next save, %s: %v", what, n, err)
		}
	}
	var kept []string
	if c.opts.KeepEvery > 0 {
		kept = p.preserved() // no other save may leave a checkpoint that isn't listed
	}
	if s := p.strays(kept...); len(s) > 0 {
		t.Fatalf("%s: after the next save, the strays %q are there", what, s)
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEveryFaultOfASave makes every file operation of a managed save fail, once
// and from then on, also when it was done all the same.
func TestEveryFaultOfASave(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pl := c.plan(t)
			for _, op := range pl.ops {
				for kind, hook := range map[string]func(*faultfs.FS){
					"fails":         func(d *faultfs.FS) { d.FailAt(op.N, faultfs.ErrFault) },
					"fails, done":   func(d *faultfs.FS) { d.FailAt(op.N, faultfs.Afterwards(faultfs.ErrFault)) },
					"fails from on": func(d *faultfs.FS) { d.FailFrom(op.N, faultfs.ErrFault) },
				} {
					what := fmt.Sprintf("%v %s", op, kind)
					p := c.before(t, pl.base)
					hook(p.disk)
					path, err := p.save(c.save)
					p.disk.Hook(nil)
					if err != nil && !errors.Is(err, faultfs.ErrFault) {
						t.Fatalf("%s: the error is another one: %v", what, err)
					}
					if path != "" && path != p.m.Latest() {
						t.Fatalf("%s: saved %s, but %s is the latest", what, path, p.m.Latest())
					}
					// The same process continues: first it may restore …
					q := p
					if pl.before > 0 || path != "" {
						if _, err := q.m.RestoreLatest(context.Background()); err != nil {
							t.Fatalf("%s: restoring in the same process: %v; the disk holds %q", what, err, p.disk.Names())
						}
						if step := q.at(); step != pl.after && (path != "" || step != pl.before) {
							t.Fatalf("%s: restored step %d in the same process", what, step)
						}
					}
					if err := p.m.Close(); err != nil {
						t.Fatal(err)
					}
					// … and a new one finds the same.
					c.check(t, what, p.disk, pl, path != "")
				}
			}
		})
	}
}

// TestSaveAfterEveryFault continues saving in the process that saw the fault.
func TestSaveAfterEveryFault(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pl := c.plan(t)
			for _, op := range pl.ops {
				p := c.before(t, pl.base)
				p.disk.FailAt(op.N, faultfs.ErrFault)
				_, _ = p.save(c.save)
				p.disk.Hook(nil)
				for range 3 { // a fault while deleting may take one more save to mend
					p.train()
					if path, err := p.save(c.save); err != nil || path != p.m.Latest() {
						t.Fatalf("%v: the next save: %q, %v; the latest is %q", op, path, err, p.m.Latest())
					}
				}
				if s := p.strays(p.preserved()...); len(s) > 0 {
					t.Fatalf("%v: strays %q", op, s)
				}
				if max := c.opts.MaxToKeep; max > 0 && len(c.opts.Policies) == 0 && len(p.m.Checkpoints()) > max {
					t.Fatalf("%v: %q are kept", op, p.m.Checkpoints())
				}
				want := p.at()
				if _, err := p.m.RestoreLatest(context.Background()); err != nil || p.at() != want {
					t.Fatalf("%v: restored step %d of %d: %v", op, p.at(), want, err)
				}
				if err := p.m.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestCrashAnywhereInASave stops the machine after every file operation, with
// everything that wasn't made durable lost, or some of it.
func TestCrashAnywhereInASave(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pl := c.plan(t)
			for n := range len(pl.ops) + 1 {
				if n > 0 && (pl.ops[n-1].Kind == faultfs.Open || pl.ops[n-1].Kind == faultfs.Read) {
					continue // a crash before it and one after it are the same
				}
				p := c.before(t, pl.base)
				p.disk.FailFrom(n, faultfs.ErrCrashed)
				path, err := p.save(c.save)
				if n == len(pl.ops) && err != nil {
					t.Fatal(err)
				}
				for _, loss := range faultfs.Losses {
					seeds := 1
					if loss == faultfs.LoseSome {
						seeds = 3
					}
					for seed := range seeds {
						what := fmt.Sprintf("crash at operation %d of %d, loss %d (%d)", n, len(pl.ops), loss, seed)
						c.check(t, what, p.disk.AfterCrash(loss, uint64(seed*1000+n)), pl, path != "" && err == nil)
					}
				}
				_ = p.m.Close()
			}
		})
	}
}

// TestCrashAfterCrash crashes again and again at random places, so that each
// crash finds the files that the previous one left.
func TestCrashAfterCrash(t *testing.T) {
	rounds := 250
	if testing.Short() {
		rounds = 50
	}
	for kind := range 4 {
		async, numbers := kind&1 != 0, kind&2 != 0
		t.Run(fmt.Sprintf("async %v, own numbers %v", async, numbers), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(3, 5))
			clock := ticking(0)
			disk := faultfs.New()
			durable := int64(0) // the step that may not be lost any more
			for round := range rounds {
				opts := ManagerOptions{MaxToKeep: 2, Async: async, Clock: clock}
				p := startProgram(t, disk, opts, false)
				if _, err := p.m.RestoreLatest(context.Background()); err != nil && !(errors.Is(err, ErrNotFound) && durable == 0) {
					t.Fatalf("round %d: %v; the disk holds %q", round, err, disk.Names())
				}
				if p.at() < durable {
					t.Fatalf("round %d: restored step %d, but step %d was saved", round, p.at(), durable)
				}
				crash := rnd.IntN(120)
				disk.FailFrom(crash, faultfs.ErrCrashed)
				for range 4 {
					p.train()
					var o *SaveOptions
					if numbers && rnd.IntN(3) == 0 {
						o = number(int64(rnd.IntN(6)))
					}
					path, err := p.save(o)
					if path != "" && err == nil {
						durable = p.root.Step.Get()
					}
					if err != nil && !errors.Is(err, faultfs.ErrCrashed) {
						t.Fatalf("round %d: %v", round, err)
					}
				}
				_ = p.m.Close()
				disk = disk.AfterCrash(faultfs.Losses[rnd.IntN(len(faultfs.Losses))], rnd.Uint64())
			}
			// A crash between the checkpoint and its entry in the state file leaves an
			// unlisted checkpoint. The next run uses its number again.
			if n := len(disk.Names()); n > 12 && !numbers {
				t.Errorf("the disk fills up: %d files, %q", n, disk.Names())
			}
		})
	}
}

func TestFullDiskSaysSoAndKeepsTheLastGoodCheckpoint(t *testing.T) {
	for _, async := range []bool{false, true} {
		c := crashCase{opts: ManagerOptions{MaxToKeep: 2, Async: async}, history: []*SaveOptions{nil, nil}}
		p := c.before(t, c.base(t))
		used := int64(0)
		for _, n := range p.disk.Names() {
			used += int64(len(p.disk.Bytes(n)))
		}
		latest := p.m.Latest()
		for room := int64(0); ; room += 37 {
			p.disk.Capacity(used + room)
			path, err := p.save(nil)
			if err == nil {
				if room < 100 {
					t.Errorf("saved with only %d bytes free", room)
				}
				break
			}
			var failed *SaveError
			if !errors.Is(err, ErrNoSpace) || errors.Is(err, ErrNotFound) || !errors.As(err, &failed) || failed.Latest != latest || failed.Async != async || path != "" ||
				!strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), latest) {
				t.Fatalf("with %d bytes free: %q, %v", room, path, err)
			}
			if p.m.Latest() != latest {
				t.Fatalf("the latest is %s", p.m.Latest())
			}
			if err := holds(p.disk, strings.TrimPrefix(latest, "run/")); err != nil {
				t.Fatal(err)
			}
		}
		p.disk.Capacity(-1)
		p.train()
		if path, err := p.save(nil); err != nil || path != "run/ckpt-4" { // failed saves take no numbers
			t.Fatalf("%q, %v", path, err)
		}
		if s := p.strays(); len(s) > 0 {
			t.Errorf("strays %q", s)
		}
		if err := p.m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNamesAreDurableBeforeTheStateSpeaksOfThem, also on file systems that make
// names durable in another order than they are given in, which this disk doesn't.
func TestNamesAreDurableBeforeTheStateSpeaksOfThem(t *testing.T) {
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := c.before(t, c.base(t))
			p.disk.Hook(nil)
			for _, o := range []*SaveOptions{c.save, c.next} {
				p.train()
				if _, err := p.save(o); err != nil {
					t.Fatal(err)
				}
			}
			states, given := 0, ""
			for _, op := range p.disk.Ops() {
				switch {
				case op.Kind == faultfs.SyncDir:
					given = ""
				case op.Kind == faultfs.Rename && op.To == statefile.Name:
					if states++; given != "" {
						t.Errorf("%v comes before the name %s is durable", op, given)
					}
				case op.Kind == faultfs.Rename && strings.HasSuffix(op.To, ".index"):
					given = op.To
				}
			}
			if states < 2 {
				t.Errorf("the state was written %d times", states)
			}
			if err := p.m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNoSaveWithoutItsMetrics: a policy would judge the checkpoint without them.
func TestNoSaveWithoutItsMetrics(t *testing.T) {
	p := startProgram(t, faultfs.New(), ManagerOptions{MaxToKeep: 1, Policies: []Policy{BestN{N: 1, Metric: "score"}}}, false)
	p.train()
	p.disk.Hook(func(op faultfs.Op) error {
		if op.Kind == faultfs.Rename && op.To == sideName {
			return faultfs.ErrFault
		}
		return nil
	})
	o := &SaveOptions{Metrics: map[string]float64{"score": 1}}
	if path, err := p.save(o); path != "" || !errors.Is(err, faultfs.ErrFault) {
		t.Errorf("%q, %v", path, err)
	}
	p.disk.Hook(nil)
	if path, err := p.save(o); err != nil || path != p.m.Latest() {
		t.Errorf("%q, %v", path, err)
	}
	if err := p.m.Close(); err != nil {
		t.Error(err)
	}
}
