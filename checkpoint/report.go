package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Report describes the result of a restore and the values it left open. Its lists
// show the state at the end of the restore; [Report.Current] and the Assert
// methods first deliver pending values, as [Checkpoint.Sync] does, and show the
// state then.
type Report struct {
	// Path is the checkpoint's prefix; "" if nothing was restored.
	Path string
	// Deferred are values that are pending for an object that doesn't exist yet.
	Deferred []Item
	// Missing are objects for which the checkpoint holds no value
	// (RestoreOptions.AllowMissing).
	Missing []Item
	// Unused are values that no object can take (RestoreOptions.Partial).
	Unused []Item

	ck *Checkpoint // set if nothing was restored
	l  *load

	restored *restoredList
}

// restoredList lists the restored values. There may be very many, and most
// callers never ask for them, so items are created on demand.
type restoredList struct {
	done  []done
	attrs []string
	nodes []int32         // the nodes that runs refer to by index
	whole []bundle.Handle // the tensors, by the same index
	once  sync.Once
	items []Item // all values, once they were asked for
}

// Restored lists the values that objects got. The caller must not change the list.
func (r *Report) Restored() []Item {
	list := r.restored
	if list == nil {
		return nil
	}
	list.once.Do(func() {
		if list.items == nil {
			list.items = r.l.items(list.single(), list.attrs)
		}
	})
	return list.items
}

// count returns how many values objects got.
func (l *restoredList) count() int {
	if l == nil {
		return 0
	}
	n := 0
	for _, d := range l.done {
		n += max(int(d.run), 1)
	}
	return max(n, len(l.items))
}

// restoredBy returns the list of a match's values.
func (m *match) restoredBy() *restoredList {
	return &restoredList{done: m.restored, attrs: m.attrs, nodes: m.values.nodes, whole: m.values.whole}
}

// single returns the values one by one.
func (l *restoredList) single() []done {
	list := make([]done, 0, l.count())
	for _, d := range l.done {
		if d.run == 0 {
			list = append(list, d)
		}
		for i := d.node; i < d.node+d.run; i++ {
			list = append(list, done{node: l.nodes[i], tensor: l.whole[i]})
		}
	}
	return list
}

// String returns a one-line summary of the report, followed by lists of the
// deferred, missing or unused values.
func (r *Report) String() string {
	if r.Path == "" {
		return "nothing restored"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s restored from %s", inWords(r.restored.count(), "value"), r.Path)
	for _, part := range []struct {
		what  string
		items []Item
	}{{"deferred, for objects still to come", r.Deferred}, {"missing in the checkpoint", r.Missing}, {"unused", r.Unused}} {
		if n := len(part.items); n > 0 {
			fmt.Fprintf(&b, "\n%d %s:%s", n, part.what, list(part.items))
		}
	}
	return b.String()
}

// Item is one value of a [Report].
type Item struct {
	// Path is the object's path with dots, "(root)" for the root.
	Path string
	// Attribute is the attribute's name, "VARIABLE_VALUE" for variables; the
	// saver's for objects that a registered saver has in charge.
	Attribute string
	// Key is the tensor's name in the checkpoint, "" if there is none.
	Key string
	// DType and Shape are the checkpoint's, or the object's if the checkpoint has
	// no value.
	DType tensor.DType
	Shape tensor.Shape
	// Why is the cause of the item's mismatch, "" if there is none.
	Why string
	// Nearest are similar paths on the other side, best first; at most three.
	Nearest []string
}

// String returns the path, with type, shape and reason.
func (it Item) String() string {
	var b strings.Builder
	b.WriteString(it.Path)
	if it.Attribute != "" && it.Attribute != trackable.VariableValue {
		fmt.Fprintf(&b, " (%s)", it.Attribute)
	}
	if it.DType.Valid() {
		fmt.Fprintf(&b, " %s", describe(it.DType, it.Shape))
	}
	if it.Why != "" {
		fmt.Fprintf(&b, ": %s", it.Why)
	}
	if len(it.Nearest) > 0 {
		fmt.Fprintf(&b, " (similar: %s)", strings.Join(it.Nearest, ", "))
	}
	return b.String()
}

// scratch returns the report of a restore of the empty path.
func (ck *Checkpoint) scratch() *Report { return &Report{ck: ck} }

// errScratch is the error of the assertions if nothing was restored.
var errScratch = errors.New("checkpoint: there was no checkpoint to restore (the path is empty), so nothing was matched")

// AssertConsumed returns nil if every value of the checkpoint was restored and
// every object found one.
func (r *Report) AssertConsumed() error {
	if err := r.AssertExistingObjectsMatched(); err != nil {
		return err
	}
	deferred, unused := r.l.left(context.Background())
	if len(deferred) > 0 {
		return fmt.Errorf("checkpoint: %s has values that no object uses yet:%s", r.Path, list(deferred))
	}
	if len(unused) > 0 {
		return fmt.Errorf("checkpoint: %s has values that no object uses; unused attributes:%s", r.Path, list(unused))
	}
	return nil
}

// AssertExistingObjectsMatched returns nil if every object that exists now has
// its value from the checkpoint. Objects that don't exist yet don't matter.
func (r *Report) AssertExistingObjectsMatched() error {
	if r.l == nil {
		return errScratch
	}
	if r.l.allBound() {
		return nil
	}
	if err := r.l.ck.deliverAll(context.Background()); err != nil {
		return err
	}
	missing, err := r.l.missing()
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("checkpoint: no value from %s for %s:%s", r.Path, inWords(len(missing), "object"), list(missing))
	}
	return nil
}

// missing lists the program's objects without a value.
func (l *load) missing() ([]Item, error) {
	g, err := l.ck.walk()
	if err != nil {
		return nil, err
	}
	return l.unmatched(g)
}

// AssertNontrivialMatch returns nil if something below the root matched.
func (r *Report) AssertNontrivialMatch() error {
	if r.l == nil {
		return errScratch
	}
	if err := r.l.ck.deliverAll(context.Background()); err != nil {
		return err
	}
	r.l.mu.Lock()
	n := r.l.bound.len()
	if r.l.graph == nil {
		n = 1 + r.l.objects.len()
	}
	r.l.mu.Unlock()
	if n > 1 {
		return nil
	}
	missing, err := r.l.missing()
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return fmt.Errorf("checkpoint: the root %T has no edges yet; add objects before the restore", r.l.ck.root)
	}
	return fmt.Errorf("checkpoint: nothing but the root matched %s; these objects found no value:%s", r.Path, list(missing))
}

// ExpectPartial declares that pending values needn't ever be delivered: saves
// aren't refused for them, and a variable that a value doesn't fit, or that was
// written since it was created, keeps its value. It returns r.
func (r *Report) ExpectPartial() *Report {
	if r.l != nil {
		r.l.mu.Lock()
		r.l.partial, r.l.expectPartial = true, true
		r.l.mu.Unlock()
	}
	return r
}

// AllowMissing declares that variables created from now on needn't have a value
// in the checkpoint, as when a model gets a new layer for fine-tuning. It
// returns r.
func (r *Report) AllowMissing() *Report {
	if r.l != nil {
		r.l.guards.Store(false)
	}
	return r
}

// Current returns the present report, after delivering pending values to
// objects that were assigned to fields, slices and maps since.
func (r *Report) Current() (*Report, error) {
	if r.l == nil {
		return r, nil
	}
	if err := r.l.ck.deliverAll(context.Background()); err != nil {
		return nil, err
	}
	g, err := r.l.ck.walk()
	if err != nil {
		return nil, err
	}
	j, err := r.l.findLeftovers(context.Background(), g)
	if err != nil {
		return nil, err
	}
	now := &Report{Path: r.Path, l: r.l, Deferred: j.deferred, Missing: j.missing, Unused: j.unused, restored: r.restored}
	if r.l.graph != nil {
		now.restored = &restoredList{items: r.l.current()}
	}
	return now, nil
}

// inWords returns "1 value", "2 values".
func inWords(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxListed is how many items an error shows of each kind.
const maxListed = 10

func list(items []Item) string {
	var b strings.Builder
	for i, it := range items {
		if i == maxListed {
			fmt.Fprintf(&b, "\n\t… and %d more", len(items)-i)
			break
		}
		b.WriteString("\n\t")
		b.WriteString(it.String())
	}
	return b.String()
}

// RestoreError is the reason that a restore, or a delivery, was refused before
// anything changed.
type RestoreError struct {
	Path       string
	Missing    []Item // objects without a value
	Mismatched []Item // values of another type or shape
	Unused     []Item // values without an object
	ByName     bool   // the checkpoint has no object graph, names were compared
	Late       bool   // whether a delivery to objects that appeared after the restore was refused

	causes []error
}

// Unwrap returns the errors that objects reported for their values.
func (e *RestoreError) Unwrap() []error { return e.causes }

// Error lists the faults and the remedies.
func (e *RestoreError) Error() string {
	var b strings.Builder
	if e.Late {
		fmt.Fprintf(&b, "checkpoint: pending values of %s don't fit the objects that they are for, which keep their values", e.Path)
	} else {
		fmt.Fprintf(&b, "checkpoint: %s doesn't fit the program's objects, nothing was changed", e.Path)
	}
	if e.ByName {
		b.WriteString(" (it has no object graph, so full names were compared)")
	}
	if len(e.Missing) > 0 {
		fmt.Fprintf(&b, "\n%d missing in the checkpoint (RestoreOptions.AllowMissing lets them keep their values):%s", len(e.Missing), list(e.Missing))
	}
	if len(e.Mismatched) > 0 {
		fmt.Fprintf(&b, "\n%d of an incompatible type or shape:%s", len(e.Mismatched), list(e.Mismatched))
	}
	if len(e.Unused) > 0 {
		fmt.Fprintf(&b, "\n%d unused (RestoreOptions.Partial leaves them out):%s", len(e.Unused), list(e.Unused))
	}
	return b.String()
}

// PendingError reports that a save was refused because values of a restore, of
// this Checkpoint or of another one of the same objects, are still pending.
// This save would lose them.
type PendingError struct {
	Path     string
	Deferred []Item
}

// Error lists the pending values and the remedies.
func (e *PendingError) Error() string {
	return fmt.Sprintf("checkpoint: not saved, because %s of %s would be lost, pending for objects that aren't there yet; build those, or drop the values with Report.ExpectPartial:%s",
		inWords(len(e.Deferred), "value"), e.Path, list(e.Deferred))
}

// InterruptedRestoreError reports that a save was refused because a restore
// failed halfway, through a damaged file or a cancelled context. The restore
// was one of this Checkpoint or of another one of the same objects. The objects
// hold a mixture of old and restored values, which must not become the latest
// checkpoint.
type InterruptedRestoreError struct {
	Path string // the checkpoint that was being restored
	Err  error  // why that broke off
}

// Error names the remedy.
func (e *InterruptedRestoreError) Error() string {
	return fmt.Sprintf("checkpoint: not saved, because the restore from %s failed halfway and left a mixture of values; restore an intact checkpoint, or make the objects anew: %v", e.Path, e.Err)
}

// Unwrap returns why the restore broke off.
func (e *InterruptedRestoreError) Unwrap() error { return e.Err }

// SaverError reports that an object was saved by a registered saver that can't
// restore it here.
type SaverError struct {
	Path       string   // the checkpoint
	Object     string   // the object's path
	Saver      string   // the saver's full name, "package.name"
	Registered []string // the registered savers, if it isn't among them
	Refused    string   // the type that its Matches refuses, if it does
}

// Error names the saver and the remedy.
func (e *SaverError) Error() string {
	if e.Refused != "" {
		return fmt.Sprintf("checkpoint: %s of %s was saved by the registered saver %q, whose Matches refuses the %s that is there now", e.Object, e.Path, e.Saver, e.Refused)
	}
	return fmt.Sprintf("checkpoint: %s of %s was saved by the registered saver %q, which isn't registered here; register it with Savers.Register (there are %q)", e.Object, e.Path, e.Saver, e.Registered)
}
