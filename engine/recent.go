package engine

import (
	"unsafe"

	"github.com/cairnml/cairn/graph"
)

// Recent remembers the prepared kernels of the last eager calls of one
// goroutine, so that later calls need no lookup. The zero Recent is ready for
// use. It isn't safe for concurrent use. Each scope of package ops has one.
type Recent struct {
	set   *KernelSet
	slots [64]*Prepared
}

// Prepare returns the result of [KernelSet.PrepareEager], without its lookup if a recent call
// was the same.
func (r *Recent) Prepare(ks *KernelSet, op string, attrs graph.Attrs, in []Value) (*Prepared, error) {
	if r.set != ks {
		*r = Recent{set: ks}
	}
	slot := &r.slots[place(op, attrs, in)]
	if p := *slot; p != nil && p.node.Op == op && p.fits(attrs, in) {
		return p, nil
	}
	p, err := ks.PrepareEager(op, attrs, in)
	// PrepareEager sets given only if it keeps p itself: other attributes may be large.
	if err == nil && len(p.given) == len(attrs) {
		*slot = p
	}
	return p, err
}

// place returns the index of a call's slot. Names of ops and lists of attributes are
// mostly literals and shared lists, so equal ones have the same address. Equal ones at
// another address only miss, since Prepare compares the contents.
func place(op string, attrs graph.Attrs, in []Value) uintptr {
	h := uintptr(unsafe.Pointer(unsafe.StringData(op))) ^ uintptr(unsafe.Pointer(unsafe.SliceData(attrs)))>>3
	if len(in) > 0 && in[0].Tensor != nil {
		h ^= uintptr(in[0].Tensor.DType()) << 4
	}
	h ^= h >> 12
	return (h ^ h>>6) % 64
}
