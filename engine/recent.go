package engine

import (
	"unsafe"

	"github.com/cairnml/cairn/graph"
)

// Recent remembers what the last eager calls of one goroutine were prepared as, so
// that those that follow look nothing up. The zero Recent is ready for use.
type Recent struct {
	set   *KernelSet
	slots [64]*Prepared
}

// Prepare returns what [KernelSet.PrepareEager] does.
func (r *Recent) Prepare(ks *KernelSet, op string, attrs graph.Attrs, in []Value) (*Prepared, error) {
	if r.set != ks {
		*r = Recent{set: ks}
	}
	slot := &r.slots[place(op, attrs, in)]
	if p := *slot; p != nil && p.node.Op == op && p.fits(attrs, in) {
		return p, nil
	}
	p, err := ks.PrepareEager(op, attrs, in)
	if err == nil && len(p.given) == len(attrs) {
		*slot = p
	}
	return p, err
}

// place returns where a call is remembered. The names of ops and lists of attributes
// are mostly literals and shared lists: equal ones lie at one address.
func place(op string, attrs graph.Attrs, in []Value) uintptr {
	h := uintptr(unsafe.Pointer(unsafe.StringData(op))) ^ uintptr(unsafe.Pointer(unsafe.SliceData(attrs)))>>3
	if len(in) > 0 && in[0].Tensor != nil {
		h ^= uintptr(in[0].Tensor.DType()) << 4
	}
	h ^= h >> 12
	return (h ^ h>>6) % 64
}
