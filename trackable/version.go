package trackable

import (
	"weak"

	"github.com/cairnml/cairn/tensor"
)

// Version identifies the value of a variable: a result computed from a value is
// valid as long as its Version is the same. Variables that share a value that
// never changes have the same Version. The zero Version is that of no value.
type Version struct {
	t    *tensor.Tensor // of a value that never changes
	cell *cell          // of one that may be updated in place
	n    uint64         // how often it was handed out for an update
}

// VersionOf returns the version of a tensor that never changes.
func VersionOf(t *tensor.Tensor) Version { return Version{t: t} }

// Version returns the version of the present value; zero if there is none.
func (v *Variable) Version() Version {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cell.Load().version()
}

// version returns the version of the cell's value. The caller holds the
// variable's lock.
func (c *cell) version() Version {
	switch {
	case c == nil:
		return Version{}
	case c.t.Shared():
		return Version{t: c.t}
	}
	return Version{cell: c, n: c.updates}
}

// LeaseVersion works like [Variable.Lease], and also returns the value's version,
// which stays the same until the lease is released.
func (v *Variable) LeaseVersion() (*tensor.Tensor, Lease, Version) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.cell.Load()
	if c == nil {
		return nil, Lease{}, Version{}
	}
	c.refs.Add(1)
	return c.t, Lease{c}, c.version()
}

// WeakVersion is a [Version] that keeps no value from being collected.
type WeakVersion struct {
	t    weak.Pointer[tensor.Tensor]
	cell weak.Pointer[cell]
	n    uint64
}

// Weak returns the version without a hold on the value.
func (v Version) Weak() WeakVersion {
	return WeakVersion{t: weak.Make(v.t), cell: weak.Make(v.cell), n: v.n}
}

// Gone reports whether the version's value was collected, so that no variable will have
// the version again. It doesn't notice a change in place: see [WeakVersion.Replaces].
func (w WeakVersion) Gone() bool {
	if w.t != (weak.Pointer[tensor.Tensor]{}) {
		return w.t.Value() == nil
	}
	return w.cell.Value() == nil
}

// Replaces reports whether w is another version of the storage that old was in,
// so that old will not come back.
func (w WeakVersion) Replaces(old WeakVersion) bool {
	return w.cell != (weak.Pointer[cell]{}) && w.cell == old.cell && w.n != old.n
}
