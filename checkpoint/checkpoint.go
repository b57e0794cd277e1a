package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/internal/statefile"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// ErrNotFound is matched by errors.Is in the error of a restore that finds no
// checkpoint.
var ErrNotFound = bundle.ErrNotFound

// Options changes how a [Checkpoint] saves and restores; nil means the defaults.
type Options struct {
	// Savers are the registered savers. Default: DefaultSavers.
	Savers *Savers
	// Extra is a pointer to a struct (or a map) whose fields become edges of the
	// root, as the keyword arguments of tf.train.Checkpoint(root, **kwargs); the
	// root must be one that embeds trackable.Base or is no struct. Default: none.
	Extra any
	// Children lists the edges of an object. If it is set, the root has only the edges
	// that it lists: no edge "root" is added, and [Checkpoint.Write] writes no
	// save_counter. Slot variables are saved only if it lists them. It must list the same
	// edges until the Checkpoint is given up. Package savedmodel sets it, HasSlots and
	// Serialize. Default: [trackable.Children].
	Children func(obj trackable.Trackable) ([]trackable.Edge, error)
	// HasSlots reports whether the slot variables of an owner are saved. Default: they
	// are, unless Children is set.
	HasSlots func(owner trackable.Trackable) bool
	// Serialize returns the values that a save writes for an object in place of the
	// object's own. ok is false for an object with its own values. Registered savers
	// aren't asked about an object with values from Serialize. Default: no object.
	Serialize func(obj trackable.Trackable) (values []trackable.Attribute, ok bool)
	// Partial lets every restore leave values of the checkpoint unused, as
	// RestoreOptions.Partial does for one. Default: false.
	Partial bool
	// Writer contains the options for writing bundles. Default: bundle's defaults.
	Writer *bundle.WriterOptions
	// Reader contains the options for opening bundles. Default: bundle's defaults.
	Reader *bundle.ReaderOptions
	// Shards splits the values over several data files. Default: one file.
	Shards ShardPolicy
	// Progress is called while values are written or read, with bytes done and
	// bytes in all; calls don't overlap. Default: nothing is called.
	Progress func(done, total int64)
	// OnWrite is called in order with the path after each write and save. An error
	// ends the call that wrote, and the files stay. Inside a Save or SaveTo, a callback
	// that calls one of these with the context it got receives [ErrInsideCallback].
	// Default: nothing is called.
	OnWrite []func(ctx context.Context, path string) error
}

// Checkpoint saves and restores everything reachable from one root object:
// TensorFlow's tf.train.Checkpoint. It may be used from many goroutines; saves
// and restores run one at a time.
type Checkpoint struct {
	root  any
	plain bool             // whether the root represents tf.train.Checkpoint(**kwargs)
	extra []trackable.Edge // the root's edges besides its own, sorted
	o     Options

	saving sync.Mutex // held from counting a save to the state file
	busy   sync.Mutex // held by saves, restores and Sync; never by deliveries

	settling sync.Mutex // held by a step's deliveries
	faults   faults     // errors of failed deliveries, returned by the objects when they are used

	mu       sync.Mutex // guards the fields below
	counter  *trackable.Scalar[int64]
	restored uint64         // how many restores have gone through
	loads    []*load        // restores with something pending, and the latest
	stamps   map[any]uint64 // restore orders of objects that have no Node
	filled   uint64         // the number of variables made when none was unfilled; see watch.go
}

// counterEdge is the name of TensorFlow's edge from a Checkpoint to its counter.
const counterEdge = "save_counter"

// restoreOrders numbers the restores of the whole process, so that overlapping
// ones of different Checkpoints resolve by their order.
var restoreOrders atomic.Uint64

// New returns a Checkpoint of root, a pointer. It walks the graph once: anything
// that can't be tracked, such as an unexported layer or two children of one
// name, is an error here.
//
// A pointer to a plain struct (or a map) is TensorFlow's
// tf.train.Checkpoint(**kwargs): its fields are the edges, sorted by name. A
// struct that embeds [trackable.Base], or any other object that is a node
// itself, is tf.train.Checkpoint(root=obj): the edges keep their order, and an
// edge "root" leads from the root to itself.
func New(root any, o *Options) (*Checkpoint, error) {
	ck := &Checkpoint{root: root, stamps: map[any]uint64{}}
	if o != nil {
		ck.o = *o
		ck.o.OnWrite = slices.Clone(o.OnWrite)
	}
	if ck.o.Savers == nil {
		ck.o.Savers = DefaultSavers
	}
	if v := reflect.ValueOf(root); v.Kind() == reflect.Map && !v.IsNil() {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		ck.root = p.Interface()
	}
	ck.plain = isPlain(ck.root)
	if ck.o.Extra != nil {
		if ck.plain {
			return nil, fmt.Errorf("checkpoint: Options.Extra goes with a root that embeds trackable.Base; add the fields to the %T itself", ck.root)
		}
		var err error
		extra := ck.o.Extra
		if v := reflect.ValueOf(extra); v.Kind() == reflect.Map {
			p := reflect.New(v.Type())
			p.Elem().Set(v)
			extra = p.Interface()
		}
		if ck.extra, err = trackable.Children(extra); err != nil {
			return nil, fmt.Errorf("checkpoint: Options.Extra: %w", err)
		}
	}
	if ck.o.Children != nil {
		ck.plain = false
	} else if !ck.plain {
		ck.extra = append(ck.extra, trackable.Edge{Name: "root", Child: ck.root})
		slices.SortStableFunc(ck.extra, func(a, b trackable.Edge) int { return cmp.Compare(a.Name, b.Name) })
	}
	g, err := ck.walk()
	if err != nil {
		return nil, err
	}
	for _, e := range g.Nodes[0].Edges {
		if e.Name == counterEdge && ck.o.Children == nil {
			c, ok := g.Nodes[e.ID].Object.(*trackable.Scalar[int64])
			if !ok {
				return nil, fmt.Errorf("checkpoint: the root's own %q is a %T; it must be a *trackable.Scalar[int64]", counterEdge, g.Nodes[e.ID].Object)
			}
			ck.counter = c
		}
	}
	return ck, nil
}

// isPlain reports whether root's fields represent a Checkpoint's keyword
// arguments.
func isPlain(root any) bool {
	switch root.(type) {
	case trackable.Noder, trackable.Parent, trackable.VariableLike, trackable.Serializer, trackable.SlotOwner:
		return false
	}
	t := reflect.TypeOf(root)
	if t == nil || t.Kind() != reflect.Pointer {
		return true // walk reports the error
	}
	k := t.Elem().Kind()
	return k == reflect.Struct || k == reflect.Map
}

// Root returns the object given to New.
func (ck *Checkpoint) Root() any { return ck.root }

// SaveCounter returns the variable that counts saves. It is made when first
// asked for, at the latest by the first Save or Restore, with the value that a
// [Checkpoint.Read] before has for it; a root that has a field "save_counter"
// brings its own.
func (ck *Checkpoint) SaveCounter() *trackable.Scalar[int64] {
	ck.mu.Lock()
	c, loads := ck.counter, slices.Clone(ck.loads)
	ck.mu.Unlock()
	if c != nil {
		return c
	}
	c = trackable.NewScalar[int64](0)
	c.Named(counterEdge).SetTrainable(false)
	for _, l := range slices.Backward(loads) {
		p := &pending{l: l, parent: ck.root}
		// A value that can't be restored stays pending, which makes saves fail.
		if t, err := p.Initial(counterEdge, &c.Variable, tensor.Int64, nil); t != nil {
			c.Init(t)
			ck.setStamp(c, l.order)
		} else if err == nil {
			continue
		}
		break
	}
	ck.mu.Lock()
	defer ck.mu.Unlock()
	if ck.counter == nil {
		ck.counter = c
	}
	return ck.counter
}

// countingOn returns the counter of saves. A new counter has the value that is pending for it,
// also if the restore is that of another Checkpoint with ck as a part.
func (ck *Checkpoint) countingOn(ctx context.Context) *trackable.Scalar[int64] {
	ck.mu.Lock()
	c := ck.counter
	ck.mu.Unlock()
	if c == nil {
		c = ck.SaveCounter()
		internals.Settle(ctx)
	}
	return c
}

// walk visits the graph as it would be saved.
func (ck *Checkpoint) walk() (*trackable.Graph, error) {
	ck.mu.Lock()
	extra := slices.Clip(ck.extra)
	if ck.counter != nil {
		extra = append(extra, trackable.Edge{Name: counterEdge, Child: ck.counter})
	}
	ck.mu.Unlock()
	g, err := trackable.Walk(ck.root, &trackable.WalkOptions{SortRoot: ck.plain, Extra: extra, Children: ck.o.Children,
		NoSlots: ck.o.Children != nil && ck.o.HasSlots == nil, HasSlots: ck.o.HasSlots})
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return g, nil
}

// children returns the edges of one object as a restore sees them: the root has
// its extra ones.
func (ck *Checkpoint) children(obj any) ([]trackable.Edge, error) {
	list := ck.o.Children
	if list == nil {
		list = trackable.Children
	}
	edges, err := list(obj)
	if err != nil || trackable.Identity(obj) != trackable.Identity(ck.root) {
		return edges, err
	}
	edges = append(slices.Clip(edges), ck.extra...)
	ck.mu.Lock()
	defer ck.mu.Unlock()
	if ck.counter != nil {
		edges = append(edges, trackable.Edge{Name: counterEdge, Child: ck.counter})
	}
	return edges, nil
}

// TrackableChildren returns the edges of a Checkpoint that is itself part of a
// graph, as a tf.train.Checkpoint inside another is.
func (ck *Checkpoint) TrackableChildren() []trackable.Edge {
	var edges []trackable.Edge
	if ck.plain {
		edges, _ = trackable.Children(ck.root) // New has found it right
		slices.SortStableFunc(edges, func(a, b trackable.Edge) int { return cmp.Compare(a.Name, b.Name) })
	}
	edges = append(edges, ck.extra...)
	ck.mu.Lock()
	defer ck.mu.Unlock()
	if ck.counter != nil && !slices.ContainsFunc(edges, func(e trackable.Edge) bool { return e.Name == counterEdge }) {
		edges = append(edges, trackable.Edge{Name: counterEdge, Child: ck.counter})
	}
	return edges
}

// AcceptsChild reports whether the root has a place for edge.
func (ck *Checkpoint) AcceptsChild(edge string) bool {
	return ck.plain && internals.Accepts(ck.root, edge) == restoring.AcceptYes
}

// Save counts save_counter up, writes to "<prefix>-<save_counter>", records that in
// the "checkpoint" state file of the same directory, and returns the path written.
// Missing directories are made. Nothing appears under the final names before all of it
// is on the disk.
//
// It first delivers pending values, as [Checkpoint.Sync] does. Values of a restore
// that are still pending are an error, a *[PendingError], because this save would
// lose them; [Report.ExpectPartial] discards them. After a restore that failed
// halfway, of this Checkpoint or of another one of the same objects, the error is an
// *[InterruptedRestoreError] until a restore succeeds.
//
// Save takes its snapshot between training steps ([trackable.Step]); inside one it
// is an error. For rotation, locks and saving in the background see Manager.
func (ck *Checkpoint) Save(ctx context.Context, prefix string) (string, error) {
	folder, name := splitPath(prefix)
	saved, err := ck.save(ctx, vfs.OSDir(folder), name, func(name string) string { return inDirectoryOf(prefix, name) })
	if err != nil {
		return "", err
	}
	return inDirectoryOf(prefix, saved), nil
}

// SaveTo works like [Checkpoint.Save], but writes into dir. The prefix and the
// path returned are slash-separated paths in dir.
func (ck *Checkpoint) SaveTo(ctx context.Context, dir vfs.Dir, prefix string) (string, error) {
	return ck.save(ctx, dir, prefix, func(name string) string { return name })
}

// save writes the next numbered checkpoint. If that fails, the number is given back. After an error of a
// callback the checkpoint stays.
func (ck *Checkpoint) save(ctx context.Context, dir vfs.Dir, prefix string, full func(string) string) (string, error) {
	if err := notInCallback(ctx, ck); err != nil {
		return "", err
	}
	ck.saving.Lock()
	defer ck.saving.Unlock()
	counter := ck.countingOn(ctx)
	n := counter.Add(1)
	name := prefix + "-" + strconv.FormatInt(n, 10)
	if err := ck.checkStateName(name); err != nil {
		ck.releaseNumber(n)
		return "", err
	}
	if err := ck.writeNow(ctx, dir, name, nil); err != nil {
		ck.releaseNumber(n)
		return "", err
	}
	if err := ck.notify(inCallback(ctx, ck), full(name)); err != nil {
		return "", err
	}
	return name, ck.recordSaved(dir, name)
}

// releaseNumber returns an unused number, unless the counter has changed meanwhile:
// a used number must not be assigned twice.
func (ck *Checkpoint) releaseNumber(n int64) {
	ck.SaveCounter().Change(func(now int64) int64 {
		if now == n {
			return n - 1
		}
		return now
	})
}

// recordSaved makes name the latest checkpoint of the state file in its
// directory.
func (ck *Checkpoint) recordSaved(dir vfs.Dir, name string) error {
	base := path.Base(name)
	text, err := (&CheckpointState{ModelCheckpointPath: base, AllModelCheckpointPaths: []string{base}}).MarshalText()
	if err != nil {
		return err
	}
	if err := writeFileAtomically(dir, path.Join(path.Dir(name), statefile.Name), text); err != nil {
		return fmt.Errorf("checkpoint: %s is written, but the state file is not: %w", name, err)
	}
	return nil
}

func (ck *Checkpoint) checkStateName(name string) error {
	if path.Base(name) == statefile.Name {
		return fmt.Errorf("checkpoint: the prefix %q collides with the state file of that name; choose another", name)
	}
	return nil
}

// Write writes a checkpoint with that prefix, without a new save_counter, a number
// or an entry in the state file. It is for managers and for one-off files.
// Otherwise it is like [Checkpoint.Save]. If a crash interrupts a Write over
// another checkpoint of that prefix, [bundle.Recover] finishes it.
func (ck *Checkpoint) Write(ctx context.Context, prefix string) error {
	folder, name := splitPath(prefix)
	if err := ck.writeNow(ctx, vfs.OSDir(folder), name, nil); err != nil {
		return err
	}
	return ck.notify(ctx, prefix)
}

// WriteTo works like [Checkpoint.Write], but writes into dir.
func (ck *Checkpoint) WriteTo(ctx context.Context, dir vfs.Dir, prefix string) error {
	if err := ck.writeNow(ctx, dir, prefix, nil); err != nil {
		return err
	}
	return ck.notify(ctx, prefix)
}

// callbackKey marks the contexts of the callbacks that a save of saver, a Checkpoint or a
// Manager, calls while it holds the lock of its saves.
type callbackKey struct{ saver any }

func inCallback(ctx context.Context, saver any) context.Context {
	return context.WithValue(ctx, callbackKey{saver}, true)
}

// notInCallback returns ErrInsideCallback inside a callback of saver's.
func notInCallback(ctx context.Context, saver any) error {
	if ctx.Value(callbackKey{saver}) != nil {
		return ErrInsideCallback
	}
	return nil
}

// notify calls the write callbacks.
func (ck *Checkpoint) notify(ctx context.Context, path string) error {
	for _, f := range ck.o.OnWrite {
		if err := f(ctx, path); err != nil {
			return fmt.Errorf("checkpoint: %s is written, but a write callback failed: %w", path, err)
		}
	}
	return nil
}

// splitPath cuts a path of the operating system into its directory and the name
// in it.
func splitPath(p string) (folder, name string) {
	folder, name = filepath.Split(p)
	if folder == "" {
		folder = "."
	}
	return folder, name
}

// inDirectoryOf returns the path of name in the directory of p, keeping the directory's spelling.
func inDirectoryOf(p, name string) string {
	folder, _ := filepath.Split(p)
	return folder + name
}

// variableOf returns obj's variable, or nil if obj isn't one.
func variableOf(obj any) *trackable.Variable {
	switch obj := obj.(type) {
	case *trackable.Variable:
		return obj
	case trackable.VariableLike:
		return obj.AsVariable()
	}
	return nil
}

// stamp returns the order of the latest restore that set obj's values.
func (ck *Checkpoint) stamp(obj any) uint64 {
	if n, ok := obj.(trackable.Noder); ok {
		return internals.Stamp(n.TrackableNode())
	}
	ck.mu.Lock()
	defer ck.mu.Unlock()
	return ck.stamps[trackable.Identity(obj)]
}

// setStamp notes that the restore of that order set obj's values, unless a later
// one did.
func (ck *Checkpoint) setStamp(obj any, order uint64) {
	if n, ok := obj.(trackable.Noder); ok {
		if at := n.TrackableNode(); internals.Stamp(at) < order {
			internals.SetStamp(at, order)
		}
		return
	}
	ck.mu.Lock()
	defer ck.mu.Unlock()
	id := trackable.Identity(obj)
	ck.stamps[id] = max(ck.stamps[id], order)
}

// attributesOf returns the names of the attributes that obj saves, or nil if it
// saves none.
func attributesOf(obj any) ([]string, error) {
	if s, ok := obj.(trackable.Serializer); ok {
		attrs, err := s.SerializeToTensors()
		if err != nil {
			return nil, err
		}
		names := make([]string, len(attrs))
		for i, a := range attrs {
			names[i] = a.Name
		}
		return names, nil
	}
	if variableOf(obj) != nil {
		return variableAttributes, nil
	}
	return nil, nil
}

var variableAttributes = []string{trackable.VariableValue}

func describe(d tensor.DType, s tensor.Shape) string { return d.String() + s.String() }
