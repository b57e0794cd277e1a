package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/internal/arena"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/restoring"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// ShardTensor is one value that goes to a data file.
type ShardTensor struct {
	Name   string
	Tensor *tensor.Tensor
	Full   tensor.Shape  // the whole tensor's shape if Slice is set
	Slice  *bundle.Slice // nil: the whole tensor
}

// ShardPolicy splits the values of a checkpoint, which come in the order of
// writing (the object graph last), over data files. It may cut a tensor into
// slices. Every value must appear in the result.
type ShardPolicy func(values []ShardTensor) ([][]ShardTensor, error)

// snapshot is a consistent cut of a checkpoint's state: it can be written while
// training continues. A variable that is updated meanwhile moves to a copy of
// its storage; release ends that.
type snapshot struct {
	ck      *Checkpoint
	values  []ShardTensor // without the object graph
	release func()
	graph   savedGraph // until it is encoded
	encoded func() ShardTensor
	// Results of registered savers: the bundles' prefixes, in order. Savers run
	// during the snapshot; staged holds their files until write copies them, or is
	// nil if they were written in place.
	saved  []string
	staged *vfs.Mem
	parts  []string // bundles in the destination that are merged in the end
	prefix string   // prefix passed to savers
}

// writeOptions changes how a snapshot is written; nil means the Checkpoint's
// options.
type writeOptions struct {
	Shards   ShardPolicy
	Progress func(done, total int64)
}

// stagePrefix is the checkpoint prefix that registered savers see when they
// write to memory. The files don't contain it.
const stagePrefix = "staged"

// snapshot takes a consistent cut between training steps, after Sync. Values of
// the last restore that are still pending make it a *PendingError. The caller ends it
// with write, or with release.
func (ck *Checkpoint) snapshot(ctx context.Context) (*snapshot, error) {
	mem := vfs.MemDir()
	sn, err := ck.cut(ctx, mem, stagePrefix)
	if err != nil {
		return nil, err
	}
	sn.staged = mem
	return sn, nil
}

// writeNow does snapshot and write in one, for a save that isn't asynchronous:
// registered savers write straight to dir.
func (ck *Checkpoint) writeNow(ctx context.Context, dir vfs.Dir, prefix string, o *writeOptions) error {
	// A checkpoint of that name is about to be replaced. Its cached data is dropped
	// while the objects are examined.
	evicted := make(chan any, 1)
	go func() {
		defer func() { evicted <- recover() }() // a panic of the program's own Dir belongs to who saves
		evict(dir, prefix)
	}()
	sn, err := ck.cut(ctx, dir, prefix)
	if p := <-evicted; p != nil {
		panic(p)
	}
	if err != nil {
		return err
	}
	return sn.write(ctx, dir, prefix, o)
}

// cut takes the snapshot. It waits for children that other goroutines are adding. An error of pending values
// counts only if nothing arrived in the meantime.
func (ck *Checkpoint) cut(ctx context.Context, dir vfs.Dir, prefix string) (*snapshot, error) {
	for left := -1; ; {
		begun := restoring.ArrivalsBegun()
		sn, err := ck.tryCut(ctx, dir, prefix)
		var arriving *arrivingError
		var pending *PendingError
		switch {
		case errors.As(err, &arriving):
			for _, a := range arriving.list {
				if err := a.Wait(ctx); err != nil {
					return nil, err
				}
			}
		case errors.As(err, &pending) && len(pending.Deferred) != left && restoring.ArrivalsBegun() != begun:
			left = len(pending.Deferred) // one that arrived meanwhile may be the object of a pending value
		default:
			return sn, err
		}
	}
}

// ErrDelivering is the error of a checkpoint taken inside a delivery, in the middle
// of a restore: by a RestoreFromTensors, a RestoreSlot or a registered saver.
var ErrDelivering = errors.New("checkpoint: a checkpoint can't be taken while values of a restore are being delivered by the same goroutine; save when that is done")

// arrivingError reports that other goroutines are adding children to the
// program's objects, whose values aren't all delivered yet.
type arrivingError struct{ list []*restoring.Arrival }

func (*arrivingError) Error() string { return "checkpoint: values are being delivered" }

// checkArriving returns an error if children of g are being added.
func checkArriving(g *trackable.Graph) error {
	var others []*restoring.Arrival
	for _, a := range restoring.Arrivals() {
		if _, ok := g.ID(a.Child); !ok {
			continue
		}
		if a.Own() {
			return ErrDelivering
		}
		others = append(others, a)
	}
	if len(others) > 0 {
		return &arrivingError{others}
	}
	return nil
}

// tryCut works like cut, but fails if children are being added.
func (ck *Checkpoint) tryCut(ctx context.Context, dir vfs.Dir, prefix string) (*snapshot, error) {
	ck.busy.Lock()
	defer ck.busy.Unlock()
	if len(restoring.Arrivals()) > 0 {
		g, err := ck.walk()
		if err == nil {
			err = checkArriving(g)
		}
		if err != nil {
			return nil, err
		}
	}
	internals.Settle(ctx) // other Checkpoints may have restored a part of the program
	if err := ck.sync(ctx); err != nil {
		return nil, err
	}
	if err := cmp.Or(ck.checkInterrupted(nil), ck.checkDelivered()); err != nil {
		return nil, err
	}
	var sn *snapshot
	err := trackable.Freeze(ctx, func(ctx context.Context) (err error) {
		sn, err = ck.gather(ctx, dir, prefix)
		return err
	})
	if err != nil {
		if errors.Is(err, trackable.ErrInsideStep) {
			err = fmt.Errorf("checkpoint: %w", err)
		}
		return nil, err
	}
	sn.encode()
	return sn, nil
}

// encode begins to encode the object graph, the last value that is written: steps run
// again meanwhile, and the others are written.
func (sn *snapshot) encode() {
	graph := sn.graph
	sn.graph = savedGraph{}
	done := make(chan ShardTensor, 1)
	go func() {
		raw := graph.encode()
		done <- ShardTensor{Name: trackable.ObjectGraphKey, Tensor: tensor.Scalar(unsafe.String(unsafe.SliceData(raw), len(raw)))}
	}()
	sn.encoded = sync.OnceValue(func() ShardTensor { return <-done })
}

// all yields all values, the object graph last.
func (sn *snapshot) all(yield func(ShardTensor) bool) {
	for _, v := range sn.values {
		if !yield(v) {
			return
		}
	}
	yield(sn.encoded())
}

// valueKey is the part of a variable's key after the variable's path.
var valueKey = trackable.AttributeKey("", trackable.VariableValue)

// ObjectGraph returns the encoded TrackableObjectGraph that a save would write now. No
// value is written, and no registered saver runs.
func (ck *Checkpoint) ObjectGraph(ctx context.Context) ([]byte, error) {
	g, err := ck.walk()
	if err != nil {
		return nil, err
	}
	graph := newSavedGraph(g)
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if attrs, ok := ck.serialized(n.Object); ok {
			graph.note(id, attrs)
			continue
		}
		if name, saver := ck.o.Savers.find(n.Object, saves); saver != nil {
			graph.savers[id] = pb.RegisteredSaver{Name: name, ObjectName: n.Path}
			continue
		}
		if s, ok := n.Object.(trackable.Serializer); ok {
			if _, err := graph.serialize(id, s); err != nil {
				return nil, err
			}
			continue
		}
		if n.Variable() != nil {
			graph.keys[id] = n.Path + valueKey
		}
	}
	return graph.encode(), nil
}

// newSavedGraph returns the graph of a walk, of which nothing is saved yet.
func newSavedGraph(g *trackable.Graph) savedGraph {
	return savedGraph{walk: g, keys: make([]string, len(g.Nodes)), attributes: map[int][]pb.SerializedTensor{}, savers: map[int]pb.RegisteredSaver{}}
}

// serialize notes the attributes of an object and returns their values.
func (g *savedGraph) serialize(id int, s trackable.Serializer) (values []ShardTensor, err error) {
	n := &g.walk.Nodes[id]
	attrs, err := s.SerializeToTensors()
	if err != nil {
		return nil, fmt.Errorf("checkpoint: serializing %s (%T): %w", g.walk.Human(id), n.Object, err)
	}
	return g.note(id, attrs), nil
}

// note notes the attributes of an object and returns their values.
func (g *savedGraph) note(id int, attrs []trackable.Attribute) (values []ShardTensor) {
	n := &g.walk.Nodes[id]
	for _, a := range attrs {
		key := trackable.AttributeKey(n.Path, a.Name)
		g.attributes[id] = append(g.attributes[id], pb.SerializedTensor{Name: trackable.Escape(a.Name), FullName: n.FullName, CheckpointKey: key})
		if a.Tensor != nil {
			values = append(values, ShardTensor{Name: key, Tensor: a.Tensor})
		}
		for _, part := range a.Parts {
			values = append(values, ShardTensor{Name: key + part.Suffix, Tensor: part.Tensor})
		}
	}
	return values
}

// serialized returns the attributes that the options define for an object.
func (ck *Checkpoint) serialized(obj any) ([]trackable.Attribute, bool) {
	if ck.o.Serialize == nil {
		return nil, false
	}
	return ck.o.Serialize(obj)
}

// gather builds the object graph and takes hold of the values. No step runs.
func (ck *Checkpoint) gather(ctx context.Context, dir vfs.Dir, prefix string) (_ *snapshot, err error) {
	g, err := ck.walk()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkArriving(g), ck.checkInterrupted(g), ck.checkOthers(ctx, g)); err != nil {
		return nil, err
	}
	sn := &snapshot{ck: ck, prefix: prefix, graph: newSavedGraph(g)}
	leases := make([]trackable.Lease, 0, len(g.Nodes))
	sn.release = func() {
		for _, l := range leases {
			l.Release()
		}
		leases = nil
	}
	defer func() {
		if err != nil {
			sn.release()
			discard(dir, sn.saved)
		}
	}()

	sn.values = make([]ShardTensor, 0, len(g.Nodes))
	var registered saverObjects
	var keys arena.Strings
	for id := range g.Nodes {
		n := &g.Nodes[id]
		if attrs, ok := ck.serialized(n.Object); ok {
			sn.values = append(sn.values, sn.graph.note(id, attrs)...)
			continue
		}
		if name, saver := ck.o.Savers.find(n.Object, saves); saver != nil {
			registered.add(name, saver, n.Path, n.Object)
			sn.graph.savers[id] = pb.RegisteredSaver{Name: name, ObjectName: n.Path}
			continue
		}
		if s, ok := n.Object.(trackable.Serializer); ok {
			values, err := sn.graph.serialize(id, s)
			if err != nil {
				return nil, err
			}
			sn.values = append(sn.values, values...)
			continue
		}
		if v := n.Variable(); v != nil {
			t, lease := v.Lease()
			if t == nil {
				return nil, fmt.Errorf("checkpoint: variable %s (%q) has no value; call Init before saving", g.Human(id), n.FullName)
			}
			leases = append(leases, lease)
			key := keys.Join(n.Path, valueKey)
			sn.graph.keys[id] = key
			sn.values = append(sn.values, ShardTensor{Name: key, Tensor: t})
		}
	}
	// Registered savers go first: their shards are merged before the others.
	for _, r := range registered.list {
		call := &SaveCall{Objects: Objects{list: r.objects}, Prefix: prefix + "-" + r.name, Dir: dir}
		prefixes, err := r.saver.Save(ctx, call)
		sn.saved = append(sn.saved, prefixes...)
		if err != nil {
			sn.saved = append(sn.saved, call.Prefix)
			return nil, fmt.Errorf("checkpoint: registered saver %q: %w", r.name, err)
		}
		for _, p := range prefixes {
			if !strings.HasPrefix(p, call.Prefix) {
				sn.saved = []string{} // not ours to remove
				return nil, fmt.Errorf("checkpoint: registered saver %q wrote a shard %q, which doesn't begin with the prefix it was given, %q", r.name, p, call.Prefix)
			}
		}
	}
	return sn, nil
}

// write writes the snapshot and releases it. An error leaves a checkpoint that
// prefix was before as it was.
func (sn *snapshot) write(ctx context.Context, dir vfs.Dir, prefix string, o *writeOptions) (err error) {
	defer sn.release()
	defer func() {
		if err != nil {
			discard(dir, sn.parts)
		}
	}()
	if sn.staged == nil {
		sn.parts = sn.saved
	}
	policy, progress := sn.ck.o.Shards, sn.ck.o.Progress
	if o != nil {
		if o.Shards != nil {
			policy = o.Shards
		}
		if o.Progress != nil {
			progress = o.Progress
		}
	}
	shards := []iter.Seq[ShardTensor]{sn.all}
	if policy != nil {
		lists, err := policy(slices.Collect(sn.all))
		if err != nil {
			return fmt.Errorf("checkpoint: shard policy: %w", err)
		}
		shards = shards[:0]
		for _, list := range lists {
			shards = append(shards, slices.Values(list))
		}
	}
	if sn.staged != nil && len(sn.saved) > 0 {
		if err := sn.unstage(ctx, dir, prefix); err != nil {
			return err
		}
	}
	count := &counting{report: progress}
	if progress != nil {
		for _, s := range shards {
			for v := range s {
				count.total += v.Tensor.NumBytes()
			}
		}
	}
	if len(sn.saved) == 0 {
		return sn.writeBundle(ctx, dir, prefix, shards, count)
	}
	// With registered savers the default values are separate bundles, one per
	// shard, merged after the savers' as TensorFlow does.
	temp := prefix + "_temp"
	defer func() { _ = dir.Remove(temp) }() // empty by now; if it stays, the next managed save removes it
	for i, s := range shards {
		part := fmt.Sprintf("%s/part-%05d-of-%05d", temp, i, len(shards))
		if err = sn.writeBundle(ctx, dir, part, []iter.Seq[ShardTensor]{s}, count); err != nil {
			return err
		}
		sn.parts = append(sn.parts, part)
	}
	if err = bundle.Merge(ctx, dir, prefix, sn.parts, sn.mergeOptions()); err != nil {
		return fmt.Errorf("checkpoint: merging the shards of %s: %w", prefix, err)
	}
	return nil
}

// discard removes the files of bundles that won't be merged, as far as it can: a
// crash leaves the same files, and the next managed save removes them.
func discard(dir vfs.Dir, prefixes []string) {
	for _, p := range prefixes {
		folder, base := path.Split(p)
		list, err := fs.ReadDir(dir, path.Clean("./"+folder))
		if err != nil {
			continue
		}
		for _, f := range list {
			if rest, ok := strings.CutPrefix(f.Name(), base); ok && (rest == ".index" || strings.HasPrefix(rest, ".data-")) {
				_ = dir.Remove(folder + f.Name())
			}
		}
	}
}

func (sn *snapshot) mergeOptions() *bundle.MergeOptions {
	o := &bundle.MergeOptions{}
	if w := sn.ck.o.Writer; w != nil {
		o.NoSync = w.NoSync
	}
	return o
}

// writeBundle writes a bundle with a data file for each of shards.
func (sn *snapshot) writeBundle(ctx context.Context, dir vfs.Dir, prefix string, shards []iter.Seq[ShardTensor], count *counting) error {
	w, err := bundle.NewWriter(dir, prefix, sn.ck.o.Writer)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	for i, shard := range shards {
		if i > 0 {
			err = w.NextShard()
		}
		for v := range shard {
			if err != nil {
				break
			}
			if v.Slice != nil {
				err = w.AddSlice(ctx, v.Name, v.Full, *v.Slice, v.Tensor)
			} else {
				err = w.Add(ctx, v.Name, v.Tensor)
			}
			count.add(v.Tensor.NumBytes())
		}
	}
	if err == nil {
		err = w.Finish(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("checkpoint: writing %s: %w", prefix, err), w.Abort())
	}
	return nil
}

// unstage copies the files that registered savers wrote to memory into dir,
// under names that begin with the checkpoint's prefix.
func (sn *snapshot) unstage(ctx context.Context, dir vfs.Dir, prefix string) error {
	for _, from := range sn.saved {
		to := prefix + strings.TrimPrefix(from, sn.prefix)
		r, err := bundle.Open(ctx, sn.staged, from, nil)
		if err != nil {
			return fmt.Errorf("checkpoint: the files that a registered saver wrote as %s: %w", from, err)
		}
		w, err := bundle.NewWriter(dir, to, sn.ck.o.Writer)
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		// In the order of the data file, so that its bytes stay the same.
		for _, name := range r.NamesByPlace() {
			if err = w.CopyFrom(ctx, r, name, name); err != nil {
				break
			}
		}
		if err == nil {
			err = w.Finish(ctx)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("checkpoint: writing %s: %w", to, err), w.Abort())
		}
		sn.parts = append(sn.parts, to)
	}
	return nil
}

// counting adds up bytes and reports their number.
type counting struct {
	done, total int64
	report      func(done, total int64)
}

func (c *counting) add(n int64) {
	c.done += n
	if c.report != nil {
		c.report(c.done, c.total)
	}
}
