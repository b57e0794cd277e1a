package checkpoint

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
)

var pairRuns = flag.Int("faults.pairs", 20, "how many pairs of faults TestPairsOfFaults tries in each case")

// bystander is a checkpoint under one of the manager's names that no manager
// manages.
const bystander = "ckpt-9000"

// stepOn returns the step that a checkpoint on the disk holds, with every byte
// verified.
func stepOn(disk *faultfs.FS, name string) (int64, error) {
	ctx := context.Background()
	if err := holds(disk, name); err != nil {
		return 0, err
	}
	r, err := bundle.Open(ctx, disk, name, nil)
	if err != nil {
		return 0, err
	}
	x, err := r.Read(ctx, "step/.ATTRIBUTES/VARIABLE_VALUE")
	if err != nil {
		return 0, err
	}
	return tensor.Values[int64](x)[0], r.Close()
}

// invariants checks the promises of the commit protocol for a disk, whatever has
// happened to it. durable is the step of the last save that was reported done,
// or 0 if there is none.
func invariants(disk *faultfs.FS, durable int64) error {
	state, err := readState(disk, statefile.Name, statefile.Name)
	switch {
	case errors.Is(err, ErrNotFound) && durable == 0:
	case err != nil:
		return fmt.Errorf("the state file: %w", err)
	default:
		step, err := stepOn(disk, state.ModelCheckpointPath)
		if err != nil {
			return fmt.Errorf("the state file names %s as the latest: %w", state.ModelCheckpointPath, err)
		}
		if step < durable {
			return fmt.Errorf("the latest is of step %d, but step %d was saved", step, durable)
		}
		for _, name := range state.AllModelCheckpointPaths { // whole, or gone
			if disk.Bytes(name+".index") == nil {
				continue
			}
			if err := holds(disk, name); err != nil {
				return fmt.Errorf("the state file lists %s: %w", name, err)
			}
		}
	}
	if disk.Bytes(bystander+".index") == nil {
		return nil
	}
	if err := holds(disk, bystander); err != nil {
		return fmt.Errorf("the checkpoint that isn't managed: %w", err)
	}
	return nil
}

// a fault makes one operation of a run fail.
type fault struct {
	n    int
	kind string
	err  error
}

func (f fault) String() string { return fmt.Sprintf("operation %d %s", f.n, f.kind) }

func randomFault(rnd *rand.Rand, ops int) fault {
	f := fault{n: rnd.IntN(ops), kind: "fails", err: faultfs.ErrFault}
	if rnd.IntN(2) == 0 {
		f.kind, f.err = "fails, done", faultfs.Afterwards(faultfs.ErrFault)
	}
	return f
}

// TestPairsOfFaults makes two operations fail in a run of three saves, and stops
// the machine after each save. Then the protocol's invariants must hold, and a
// program that continues must leave no extra files.
func TestPairsOfFaults(t *testing.T) {
	for _, c := range crashCases() {
		for _, recurring := range []bool{true, false} {
			if !recurring && (c.save != nil || len(c.opts.Policies) > 0) {
				continue
			}
			name := c.name
			if !recurring {
				name += ", numbers that never recur"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.pairs(t, recurring)
			})
		}
	}
}

func (c crashCase) pairs(t *testing.T, recurring bool) {
	base := c.base(t)
	if c.opts.CheckpointName == "" && len(c.history) > 0 {
		state, err := readState(base, statefile.Name, statefile.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range base.Names() {
			if rest, ok := strings.CutPrefix(f, state.ModelCheckpointPath+"."); ok {
				base.Put(bystander+"."+rest, base.Bytes(f))
			}
		}
	}
	options := func() *SaveOptions { return c.save }
	if !recurring { // as a program with its own steps numbers them
		next := int64(100)
		options = func() *SaveOptions { next += 7; return number(next) }
	}
	const saves = 3
	p := c.before(t, base)
	p.disk.Hook(nil)
	for range saves {
		p.train()
		if _, err := p.save(options()); err != nil {
			t.Fatal(err)
		}
	}
	ops := len(p.disk.Ops())
	_ = p.m.Close()

	rnd := rand.New(rand.NewPCG(3, uint64(len(c.name))))
	runs := *pairRuns
	if testing.Short() {
		runs /= 5
	}
	for range runs {
		faults := []fault{randomFault(rnd, ops), randomFault(rnd, ops)}
		what := fmt.Sprint(faults)
		p := c.before(t, base)
		p.disk.Hook(func(op faultfs.Op) error {
			for _, f := range faults {
				if f.n == op.N {
					return f.err
				}
			}
			return nil
		})
		durable := int64(len(c.history))
		for i := range saves {
			p.train()
			path, err := p.save(options())
			if path != "" {
				durable = p.root.Step.Get()
			} else if !errors.Is(err, faultfs.ErrFault) {
				t.Fatalf("%s: save %d: %v", what, i, err)
			}
			seed := rnd.Uint64()
			for _, loss := range faultfs.Losses {
				if broken := invariants(p.disk.AfterCrash(loss, seed), durable); broken != nil {
					t.Fatalf("%s: after save %d, which gave %q, %v, and a crash with loss %d: %v; the disk holds %q", what, i, path, err, loss, broken, p.disk.Names())
				}
			}
		}
		_ = p.m.Close()
		c.goOn(t, what, p.disk.AfterCrash(faultfs.Losses[rnd.IntN(len(faultfs.Losses))], rnd.Uint64()), durable, options)
	}
}

// goOn restores and saves as a new process does, without faults.
func (c crashCase) goOn(t *testing.T, what string, disk *faultfs.FS, durable int64, options func() *SaveOptions) {
	t.Helper()
	ctx := context.Background()
	c.opts.Clock = ticking(1000)
	p := startProgram(t, disk, c.opts, c.odd)
	defer p.m.Close()
	if _, err := p.m.RestoreOrInitialize(ctx); err != nil {
		t.Fatalf("%s: going on: %v; the disk holds %q", what, err, disk.Names())
	}
	if p.at() < durable {
		t.Fatalf("%s: going on from step %d, but %d was saved", what, p.at(), durable)
	}
	for range 2 {
		p.train()
		if path, err := p.save(options()); err != nil || path != p.m.Latest() {
			t.Fatalf("%s: going on: saved %q, %v; the disk holds %q", what, path, err, disk.Names())
		}
	}
	for _, n := range names(p.m.Checkpoints()) {
		if err := holds(disk, n); err != nil {
			t.Fatalf("%s: after the next saves, %s: %v", what, n, err)
		}
	}
	kept := []string{bystander}
	if c.opts.KeepEvery > 0 {
		kept = append(kept, p.preserved()...)
	}
	if s := p.strays(kept...); len(s) > 0 {
		t.Fatalf("%s: after the next saves, the strays %q are there", what, s)
	}
	if max := c.opts.MaxToKeep; max > 0 && len(c.opts.Policies) == 0 && len(p.m.Checkpoints()) > max {
		t.Fatalf("%s: %q are kept", what, p.m.Checkpoints())
	}
	if n := slices.Index(disk.Names(), bystander+".index"); c.opts.CheckpointName == "" && len(c.history) > 0 && n < 0 {
		t.Fatalf("%s: the checkpoint that isn't managed is gone", what)
	}
}

// TestListedReplacementIsCompleteOrAbsent checks a save over a checkpoint that was interrupted
// and left a replacement, after which other checkpoints are saved. Another save over that
// checkpoint writes the replacement again. Wherever that is interrupted, the state
// never lists half of it.
func TestListedReplacementIsCompleteOrAbsent(t *testing.T) {
	opts := ManagerOptions{MaxToKeep: 3}
	p := startProgram(t, faultfs.New(), opts, false)
	p.train()
	if _, err := p.save(number(5)); err != nil {
		t.Fatal(err)
	}
	p.disk.Hook(func(op faultfs.Op) error { // no copy of the replacement gets its name
		if op.Kind == faultfs.Rename && op.To == "ckpt-5.index" {
			return faultfs.ErrFault
		}
		return nil
	})
	p.train()
	if path, err := p.save(number(5)); path != "" || !errors.Is(err, faultfs.ErrFault) {
		t.Fatalf("%q, %v", path, err)
	}
	p.disk.Hook(nil)
	p.train()
	if _, err := p.save(number(7)); err != nil {
		t.Fatal(err)
	}
	if got := names(p.m.Checkpoints()); !slices.Equal(got, []string{"ckpt-5" + replacementSuffix, "ckpt-7"}) {
		t.Fatalf("%q are managed", got)
	}
	if err := p.m.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(hook func(faultfs.Op) error) (*program, string) {
		q := startProgram(t, p.disk.AfterCrash(faultfs.LoseNone, 0), opts, false)
		if _, err := q.m.RestoreLatest(context.Background()); err != nil {
			t.Fatal(err)
		}
		q.train()
		// Another program has written one of that name meanwhile.
		for _, f := range []string{".index", ".data-00000-of-00001"} {
			q.disk.Put("ckpt-5"+f, q.disk.Bytes("ckpt-7"+f))
		}
		q.disk.Hook(hook)
		path, _ := q.save(&SaveOptions{Number: number(5).Number, Replace: true})
		return q, path
	}
	whole, path := run(nil)
	if path != "run/ckpt-5" {
		t.Fatal(path)
	}
	for n := range whole.disk.Ops() {
		q, _ := run(func(op faultfs.Op) error {
			if op.N >= n {
				return faultfs.ErrFault
			}
			return nil
		})
		for _, loss := range faultfs.Losses {
			if err := invariants(q.disk.AfterCrash(loss, uint64(n)), 3); err != nil {
				t.Errorf("cut off at operation %d, loss %d: %v", n, loss, err)
			}
		}
		_ = q.m.Close()
	}
}
