package bundle

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// A Handle is a tensor that a [Reader] has found. The zero Handle is none.
type Handle struct {
	n    int32  // 1 + the entry's number; 0: none
	of   uint16 // the Reader's number
	kind uint16 // the number of the tensor's kind; 0 if the entry must be decoded
}

// Valid reports whether h is a tensor.
func (h Handle) Valid() bool { return h.n != 0 }

// entry returns the number of the entry.
func (h Handle) entry() int { return int(h.n) - 1 }

// Find looks a tensor up. The handle describes the tensor, and reads it,
// without another look-up.
func (r *Reader) Find(name string) (Handle, bool) {
	i, ok := r.lookup(name)
	if !ok {
		return Handle{}, false
	}
	return r.handle(i), true
}

// handle returns the handle of an entry.
func (r *Reader) handle(i int) Handle {
	h := Handle{n: int32(i + 1), of: r.number}
	if r.version == 1 {
		return h
	}
	if p := r.index.placeOf(i); p != nil {
		h.kind = p.kind
	}
	return h
}

// has reports whether a handle can be one of r's.
func (r *Reader) has(h Handle) bool {
	n := r.index.n
	if r.version == 1 {
		n = len(r.recs)
	}
	return h.Valid() && h.of == r.number && h.entry() < n
}

// FindAfter works like Find, for a tensor that most likely follows prev in the index or
// in the data files.
func (r *Reader) FindAfter(name string, prev Handle) (Handle, bool) {
	if r.version == 1 || !prev.Valid() {
		return r.Find(name)
	}
	i, ok := r.index.findAfter(name, int32(prev.entry()))
	if !ok || r.index.hidden(i) {
		return Handle{}, false
	}
	return r.handle(i), true
}

// EntryOf returns the entry of a tensor. The handle must be one that r has returned.
func (r *Reader) EntryOf(h Handle) Entry { return r.entry(h.entry(), nil) }

// KindOf returns type and shape of a tensor. The handle must be one that r has returned.
// Tensors of one shape mostly share it; the caller must not change it.
func (r *Reader) KindOf(h Handle) (tensor.DType, tensor.Shape) {
	if r.version == 1 {
		rec := &r.recs[h.entry()]
		return rec.DType, rec.Shape
	}
	k := r.index.kinds.numbered(h.kind)
	if k == nil {
		k = r.index.kind(h.entry())
	}
	return k.dtype, k.shape
}

// Request returns the request for a whole tensor. The handle must be one that r has returned.
func (r *Reader) Request(h Handle) ReadRequest {
	if r.version == 1 {
		return ReadRequest{Name: r.recs[h.entry()].Name, Handle: h}
	}
	return ReadRequest{Name: r.index.key(h.entry()), Handle: h}
}

// handled returns the number of the entry that a request brings along.
func (r *Reader) handled(req *ReadRequest) (int, error) {
	i := req.Handle.entry()
	if !r.has(req.Handle) || r.index.key(i) != req.Name {
		return 0, fmt.Errorf("bundle: tensor %q: the request's handle isn't this checkpoint's", req.Name)
	}
	return i, nil
}
