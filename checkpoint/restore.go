package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"weak"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// RestoreOptions changes one restore; nil means the defaults.
type RestoreOptions struct {
	// Partial lets values of the checkpoint go unused; they are listed in the
	// report. Deferred ones may stay so: saves aren't refused for them. Default:
	// unused values are an error of the restore, and deferred ones an error of the next
	// save. Options.Partial sets it for all restores.
	Partial bool
	// AllowMissing lets objects keep their values if the checkpoint has none for
	// them, including objects created after the restore. The report lists the
	// present ones. Default: they are an error, of the restore or of the call that
	// creates them.
	AllowMissing bool
	// SkipSlots leaves optimizers' slot variables out. Default: they are restored.
	SkipSlots bool
	// SkipIterators leaves the positions of iterators over datasets unchanged, as
	// for a run that continues with other data. Default: they are restored.
	SkipIterators bool
	// Workers is how many goroutines read. Default: GOMAXPROCS.
	Workers int
	// Progress is called with bytes read and bytes in all. Default:
	// Options.Progress.
	Progress func(done, total int64)
}

// Restore sets the objects to the values of the checkpoint at path: a prefix, one
// of its files, a directory with a "checkpoint" state file (its latest), or a
// SavedModel's directory. The empty path means to start from scratch: nothing
// happens, and the report's Path is empty.
//
// It first matches the file's graph with the objects, without reading a value. If
// they don't match, the error is a *[RestoreError] that lists everything with the
// nearest names, and nothing has changed. Mismatches are an object without a value
// in the checkpoint, a value of another type or shape, and a value that no object
// can take. RestoreOptions can allow some of them. Then all values are read in
// parallel, checksums verified, between two training steps.
//
// Values whose objects don't exist yet are deferred: a variable that is built later
// has its value from the beginning ([trackable.Base.AddVariable]); Attach, List's
// Append and Map's Set restore at once; objects assigned to plain fields, slices
// and maps are restored at the beginning of the next step ([trackable.Step], which
// every function call is), by [Checkpoint.Sync], and by every save. If restores
// overlap, the later one wins. A variable that was written meanwhile isn't
// overwritten: the error is a *[WrittenError].
//
// A variable may be created below the root after the restore. If the checkpoint has no
// value for it, the call that creates it returns an *[UnfilledError]. So no program
// runs on weights that the restore didn't fill. AllowMissing and [Report.AllowMissing]
// permit it. Optimizers' own variables may start fresh.
//
// A checkpoint without an object graph, as TF1's savers write, is matched by the
// variables' full names, and late variables get their values by their names.
func (ck *Checkpoint) Restore(ctx context.Context, path string, o *RestoreOptions) (*Report, error) {
	return ck.restoreFile(ctx, path, o, true)
}

// RestoreFS works like [Checkpoint.Restore], but reads from fsys; path is
// slash-separated.
func (ck *Checkpoint) RestoreFS(ctx context.Context, fsys fs.FS, path string, o *RestoreOptions) (*Report, error) {
	return ck.restoreFS(ctx, fsys, path, o, true)
}

// Read works like [Checkpoint.Restore], for checkpoints of [Checkpoint.Write]: it
// creates no save_counter, and leaves the file's, if it has one, for later.
func (ck *Checkpoint) Read(ctx context.Context, path string, o *RestoreOptions) (*Report, error) {
	return ck.restoreFile(ctx, path, o, false)
}

// ReadFS works like [Checkpoint.Read], but reads from fsys.
func (ck *Checkpoint) ReadFS(ctx context.Context, fsys fs.FS, path string, o *RestoreOptions) (*Report, error) {
	return ck.restoreFS(ctx, fsys, path, o, false)
}

func (ck *Checkpoint) restoreFile(ctx context.Context, p string, o *RestoreOptions, counter bool) (*Report, error) {
	if p == "" {
		return ck.scratch(), nil
	}
	src, err := openFile(ctx, p, ck.o.Reader)
	if err != nil {
		return nil, err
	}
	return ck.restore(ctx, src, o, counter)
}

func (ck *Checkpoint) restoreFS(ctx context.Context, fsys fs.FS, p string, o *RestoreOptions, counter bool) (*Report, error) {
	if p == "" {
		return ck.scratch(), nil
	}
	src, err := openFS(ctx, fsys, p, ck.o.Reader)
	if err != nil {
		return nil, err
	}
	return ck.restore(ctx, src, o, counter)
}

// openFile finds and opens the checkpoint that a path of the operating system
// means.
func openFile(ctx context.Context, p string, o *bundle.ReaderOptions) (source, error) {
	found, err := bundle.FindFile(p)
	if err != nil {
		return source{}, fmt.Errorf("checkpoint: %w", err)
	}
	folder, name := splitPath(found.Prefix)
	src := source{fsys: vfs.OSDir(folder), prefix: name, path: found.Prefix}
	if src.reader, err = bundle.OpenFile(ctx, found.Prefix, graphAhead(o)); err != nil {
		return source{}, fmt.Errorf("checkpoint: %w", err)
	}
	src.names = sync.OnceValue(src.reader.Names)
	if o != nil {
		src.maxMemory = o.MaxMemory
	}
	return src, nil
}

// graphAhead returns the options with which the object graph is read ahead.
func graphAhead(o *bundle.ReaderOptions) *bundle.ReaderOptions {
	var ahead bundle.ReaderOptions
	if o != nil {
		ahead = *o
	}
	ahead.Ahead = cmp.Or(ahead.Ahead, trackable.ObjectGraphKey)
	return &ahead
}

func openFS(ctx context.Context, fsys fs.FS, p string, o *bundle.ReaderOptions) (source, error) {
	found, err := bundle.FindPrefix(fsys, path.Clean(p))
	if err != nil {
		return source{}, fmt.Errorf("checkpoint: %w", err)
	}
	src := source{fsys: fsys, prefix: found.Prefix, path: found.Prefix}
	if src.reader, err = bundle.Open(ctx, fsys, found.Prefix, graphAhead(o)); err != nil {
		return source{}, fmt.Errorf("checkpoint: %w", err)
	}
	src.names = sync.OnceValue(src.reader.Names)
	if o != nil {
		src.maxMemory = o.MaxMemory
	}
	return src, nil
}

// restore restores from src. If counter is set, it first makes the counter of saves, so that it gets its value too.
func (ck *Checkpoint) restore(ctx context.Context, src source, o *RestoreOptions, counter bool) (*Report, error) {
	var opts RestoreOptions
	if o != nil {
		opts = *o
	}
	opts.Partial = opts.Partial || ck.o.Partial
	ck.busy.Lock()
	defer ck.busy.Unlock()
	if counter {
		ck.SaveCounter()
	}
	if err := ck.checkPendingCount(); err != nil {
		return nil, err
	}
	l := ck.newLoad(src, opts)
	var report *Report
	err := trackable.Freeze(ctx, func(ctx context.Context) error {
		err := l.readGraph(ctx)
		switch {
		case err != nil:
			return err
		case l.graph == nil:
			var live *trackable.Graph
			if live, err = ck.walk(); err == nil {
				report, err = l.restoreByName(ctx, live)
			}
		default:
			report, err = l.restoreGraph(ctx)
		}
		internals.Watch(internals.Gate(ctx), watcher{weak.Make(ck)})
		return err
	})
	if errors.Is(err, trackable.ErrInsideStep) {
		err = fmt.Errorf("checkpoint: a restore inside a training step; restore before or between steps: %w", err)
	}
	if err == nil {
		ck.noteCompleteRestore()
	}
	return report, err
}

// restoreGraph matches the program's objects with the file's graph. If they fit it restores the values, and
// otherwise it returns a *RestoreError.
func (l *load) restoreGraph(ctx context.Context) (*Report, error) {
	const tries = 5
	for try := 1; ; try++ {
		begun, arriving := restoring.ArrivalsBegun(), len(restoring.Arrivals()) > 0
		p, err := l.propose(ctx)
		if err != nil {
			return nil, err
		}
		if p.refused == nil {
			if err := p.match.precheck(ctx); err != nil {
				return nil, err
			}
			return l.carryOut(ctx, p)
		}
		// If another goroutine added objects meanwhile, this attempt saw a changing
		// graph and isn't final.
		if try == tries || !arriving && restoring.ArrivalsBegun() == begun {
			return nil, p.refused
		}
	}
}

// proposal is a planned restore.
type proposal struct {
	match   *match
	graph   *trackable.Graph // the program's; nil if the match is known to be complete
	seen    covered
	found   leftovers
	refused *RestoreError // nil: it can be carried out
}

// propose matches and judges, without changing anything of the program.
func (l *load) propose(ctx context.Context) (*proposal, error) {
	p := &proposal{seen: covered{attached: internals.EdgesAttached()}}
	l.mu.Lock()
	m, err := l.match(ctx, false, start{obj: l.ck.root})
	if err = errors.Join(err, matchErr(m)); err == nil {
		l.adopt(m)
	}
	l.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !m.complete() {
		g, walkErr := l.ck.walk()
		if walkErr != nil || err != nil {
			return nil, cmp.Or(walkErr, err)
		}
		p.graph = g
	}
	p.match, p.seen.holders = m, m.holders
	p.found, err = l.findLeftovers(ctx, p.graph)
	l.mu.Lock()
	l.reset()
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p.found.missing = append(slices.Clone(m.missing), p.found.missing...)
	refused := &RestoreError{Path: l.src.path, Mismatched: m.mismatched}
	if !l.opts.AllowMissing {
		refused.Missing = p.found.missing
	}
	if !l.opts.Partial {
		refused.Unused = p.found.unused
	}
	if len(refused.Missing)+len(refused.Mismatched)+len(refused.Unused) > 0 {
		p.refused = refused
	}
	return p, nil
}

// adopt writes a match's results into a load that nothing else references yet,
// so that it can be judged; reset removes them again.
func (l *load) adopt(m *match) {
	l.bound, l.objects = m.bound, m.objects
	l.clashes = m.clashes
	for _, w := range m.pending {
		l.wait(w)
	}
	for node, attrs := range m.unused {
		l.unused[node] = attrs
	}
}

func (l *load) reset() {
	l.bound, l.objects = bindings{}, objectSet{} // the match keeps its own
	clear(l.pending)
	clear(l.unused)
	l.clashes = nil
}

// carryOut commits a match that fits, and reads its values into the objects.
func (l *load) carryOut(ctx context.Context, p *proposal) (*Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, found := p.match, p.found
	l.guards.Store(!l.opts.AllowMissing)
	l.mu.Lock()
	m.commit()
	if p.graph == nil {
		l.covered = &p.seen
	}
	l.mu.Unlock()
	if p.graph != nil { // else all that it has are bound, and watched
		l.watchBelow(p.graph)
	}
	l.ck.keep(l)
	if err := m.apply(ctx); err != nil {
		return nil, err
	}
	// Objects attached between the match and the commit were reported to no Node.
	if err := l.sync(ctx, false); err != nil {
		return nil, err
	}
	return &Report{Path: l.src.path, l: l, restored: m.restoredBy(), Missing: found.missing, Unused: found.unused, Deferred: found.deferred}, nil
}

func matchErr(m *match) error {
	if m == nil {
		return nil
	}
	return m.err
}

// maxPendingRestores is how many restores of one Checkpoint can have something
// pending at a time: each keeps its file's graph in memory. One whose pending
// values a later restore has too doesn't count.
const maxPendingRestores = 32

// checkPendingCount returns an error if too many restores are pending for another
// one.
func (ck *Checkpoint) checkPendingCount() error {
	var paths []string
	for _, l := range ck.pendingLoads() {
		if l.hasPending() {
			paths = append(paths, l.src.path)
		}
	}
	if len(paths) < maxPendingRestores {
		return nil
	}
	return fmt.Errorf("checkpoint: values of %d restores are still pending, the first of %s; build the objects that they are for, or make a new Checkpoint", len(paths), paths[0])
}

// keep remembers l as the latest restore, and forgets those that have nothing
// left to deliver.
func (ck *Checkpoint) keep(l *load) {
	// Only one restore runs at a time, so the list can't change meanwhile; a
	// delivery holds a load's lock when it asks for ck's, never the other way
	// round.
	old := slices.DeleteFunc(ck.pendingLoads(), func(old *load) bool {
		old.guards.Store(false)
		old.dropSuperseded(l)
		if old.hasPending() {
			return false
		}
		old.ended.Store(true)
		return true
	})
	ck.mu.Lock()
	ck.loads = append(old, l)
	ck.filled = 0
	ck.mu.Unlock()
}

// Sync delivers pending values to objects that exist by now: those in plain
// fields, slices and maps. Every save calls it, and every [trackable.Step] does
// the same for fields, slices and maps.
//
// A variable that was written since it was created isn't overwritten: the error
// is a *[WrittenError]. If a strict restore has no value for a variable, it is
// an *[UnfilledError].
func (ck *Checkpoint) Sync(ctx context.Context) error {
	ck.busy.Lock()
	defer ck.busy.Unlock()
	return ck.sync(ctx)
}

func (ck *Checkpoint) sync(ctx context.Context) error {
	if err := ck.deliverAll(ctx); err != nil {
		return err
	}
	return ck.checkFilled(ctx, false)
}

// deliverAll delivers pending values to objects that exist by now.
func (ck *Checkpoint) deliverAll(ctx context.Context) error {
	// The latest restore comes first, so that an earlier one doesn't overwrite its
	// values.
	for _, l := range slices.Backward(ck.pendingLoads()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.sync(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

// restoresDone returns how many restores have gone through.
func (ck *Checkpoint) restoresDone() uint64 {
	ck.mu.Lock()
	defer ck.mu.Unlock()
	return ck.restored
}

// checkDelivered returns a *PendingError while values of any restore are pending
// for objects that could still take them.
func (ck *Checkpoint) checkDelivered() error {
	for _, l := range slices.Backward(ck.pendingLoads()) {
		l.mu.Lock()
		partial := l.partial
		l.mu.Unlock()
		if partial {
			continue
		}
		if deferred, _ := l.left(context.Background()); len(deferred) > 0 {
			return &PendingError{Path: l.src.path, Deferred: deferred}
		}
	}
	return nil
}
