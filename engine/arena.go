package engine

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Arena owns the memory of the outputs of one call. A plan returns each buffer
// after its last use, so that a later op of the same call uses it again.
// [Arena.Recycle] takes back all buffers at the end of the call, except those
// that were kept. So the next call uses memory that is in the cache instead of
// new zeroed pages. A nil *Arena allocates new memory each time and recycles
// nothing.
//
// An Arena belongs to one goroutine at a time.
type Arena struct {
	chunk  []byte // of chunkSize; small buffers are cut off its front
	chunks [][]byte
	used   int // chunks in use
	heads  headers
	bare   []*Buffer // headers without memory that are free again

	unfreed []Variant // objects that freeObject has yet to free
	freeing bool      // it runs

	small  [smallClasses][]*Buffer // free again within this call
	all    []*Buffer               // large ones, in use or free
	gone   int                     // how many of all are kept and not used by the call any more
	free   [48][]*Buffer           // large ones that are free again, by class: a buffer of class c has up to 1<<c bytes
	values [][]Value               // slices of released lists, for Refs.Values

	// Limit is the most bytes that may be in use at once. Default: no limit.
	Limit int64
	inUse int64 // bytes now
	peak  int64 // most bytes in use so far
	// granted is the most bytes in use for which the process has had room.
	granted int64
	// text is the number of bytes of a kernel's strings, grantedText the most for which the
	// process has had room.
	text, grantedText int64

	held int64       // the bytes of large buffers when it was recycled
	idle *idleArenas // receives the arena at Close; nil if the arena is not reused
}

// Buffer is memory of an [Arena] with a count of references. A Buffer may also
// count the references to the storage of a variable, or to an object that only
// its owner may change.
type Buffer struct {
	mem   []byte
	refs  int32
	class int8 // the size class of mem
	small bool
	kept  bool // it has left the arena
	lease trackable.Lease
	heads [4]*tensor.Tensor // tensors of this memory, by type and shape, for later allocations
	more  []*tensor.Tensor  // more of them, if the buffer is large: a network whose layers grow has many shapes of one size
	head  uint8             // the index in heads and more of the tensor to be replaced next
	rows  []*tensor.Tensor  // the rows that Refs.Rows made last of a tensor of this memory
	items Variant           // the object whose references the buffer counts, if it has no memory
	loose int64             // bytes in use that the arena did not allocate: of a tensor, or of an object
}

// headers hands out the Buffers of small memory, all of which end with the
// call.
type headers struct {
	slabs [][]Buffer
	slab  int
	next  int
}

func (h *headers) take() *Buffer {
	if h.slab == len(h.slabs) {
		h.slabs = append(h.slabs, make([]Buffer, 64))
	}
	b := &h.slabs[h.slab][h.next]
	if h.next++; h.next == len(h.slabs[h.slab]) {
		h.slab, h.next = h.slab+1, 0
	}
	return b
}

// seenAs returns an earlier tensor of this memory with this type and shape, or
// nil.
func (b *Buffer) seenAs(d tensor.DType, shape tensor.Shape) *tensor.Tensor {
	for _, t := range b.heads {
		if t != nil && t.DType() == d && t.Shape().Equal(shape) {
			return t
		}
	}
	for _, t := range b.more {
		if t.DType() == d && t.Shape().Equal(shape) {
			return t
		}
	}
	return nil
}

// see stores a tensor of this memory for later calls.
func (b *Buffer) see(t *tensor.Tensor) {
	most := len(b.heads)
	if !b.small {
		most = maxHeads
	}
	switch i := int(b.head); {
	case i < len(b.heads):
		b.heads[i] = t
	case i < len(b.heads)+len(b.more):
		b.more[i-len(b.heads)] = t
	default:
		b.more = append(b.more, t)
	}
	b.head = uint8((int(b.head) + 1) % most)
}

// Keep removes the buffer from its arena, for an output that leaves the call.
// The garbage collector frees it.
func (b *Buffer) Keep() { b.kept = true }

// Shared reports whether more than one holder refers to the buffer.
func (b *Buffer) shared() bool { return b.refs > 1 || b.kept || b.lease.Held() }

// These numbers decide speed and the memory that is kept, and no result.
const (
	chunkSize    = 64 << 10 // bytes, as is smallMax
	smallMax     = 2 << 10
	smallClasses = 8       // 16 bytes to 2 KiB
	maxFree      = 8       // idle buffers kept of a size class
	maxHomeFree  = 64      // the same of an arena that serves calls of the same shapes
	maxBare      = 1 << 10 // headers kept in bare
	maxHeads     = 32      // tensors that a large buffer remembers in heads and more; at most 256
)

// smallClass returns the class of small memory: 16<<class bytes hold n.
func smallClass(n int) int { return bits.Len(uint(max(n, 1)-1) >> 4) }

// Alloc makes a buffer of n bytes, aligned to 16 bytes, with one reference to
// it. Its contents are undefined. The *Buffer is nil if the arena is nil; then
// the garbage collector frees the memory.
func (a *Arena) Alloc(n int) ([]byte, *Buffer) {
	mem, b := a.alloc(n)
	poison(mem)
	return mem, b
}

func (a *Arena) alloc(n int) ([]byte, *Buffer) {
	if a == nil {
		return words(n), nil
	}
	if n <= smallMax {
		return a.allocSmall(n)
	}
	class := int8(bits.Len(uint(n - 1)))
	if int(class) >= len(a.free) {
		return words(n), nil
	}
	list := a.free[class]
	// Newest first: it is the one that the caches may still hold.
	for i := len(list) - 1; i >= 0; i-- {
		if b := list[i]; cap(b.mem) >= n {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			a.free[class] = list[:len(list)-1]
			b.refs = 1
			a.count(cap(b.mem))
			return b.mem[:n:n], b
		}
	}
	b := &Buffer{mem: words(n), class: class, refs: 1}
	a.all = append(a.all, b)
	a.count(cap(b.mem))
	return b.mem[:n:n], b
}

// count notes n more bytes in use.
func (a *Arena) count(n int) {
	if a.inUse += int64(n); a.inUse > a.peak {
		a.peak = a.inUse
	}
}

func (a *Arena) allocSmall(n int) ([]byte, *Buffer) {
	class := smallClass(n)
	if list := a.small[class]; len(list) > 0 {
		b := list[len(list)-1]
		a.small[class] = list[:len(list)-1]
		b.refs = 1
		a.count(cap(b.mem))
		return b.mem[:n:n], b
	}
	size := 16 << class
	if size > len(a.chunk) {
		if a.used == len(a.chunks) {
			a.chunks = append(a.chunks, words(chunkSize))
		}
		a.chunk = a.chunks[a.used]
		a.used++
	}
	b := a.heads.take()
	mem := a.chunk[:size:size]
	if len(b.mem) == size && &b.mem[0] == &mem[0] {
		b.refs, b.kept = 1, false // the same memory as in an earlier call, whose tensors may be used again
	} else {
		*b = Buffer{mem: mem, class: int8(class), refs: 1, small: true}
	}
	a.chunk = a.chunk[size:]
	a.count(size)
	return b.mem[:n:n], b
}

// header returns a buffer without memory.
func (a *Arena) header() *Buffer {
	if a == nil {
		return new(Buffer)
	}
	if n := len(a.bare); n > 0 {
		b := a.bare[n-1]
		a.bare = a.bare[:n-1]
		return b
	}
	b := new(Buffer)
	a.all = append(a.all, b)
	return b
}

// object returns a buffer that counts the holders of an object.
func (a *Arena) object(o Variant) *Buffer {
	b := a.header()
	*b = Buffer{refs: 1, class: -1, items: o}
	return b
}

// loose returns a buffer that counts the holders of a tensor of so many bytes, which the
// arena did not make. The tensor may have other holders, so it counts as shared.
func (a *Arena) loose(bytes int64) *Buffer {
	b := a.header()
	*b = Buffer{refs: 1, class: -1, kept: true, loose: bytes}
	a.inUse += bytes
	a.peak = max(a.peak, a.inUse)
	return b
}

// lease returns a buffer that counts references to the storage of a variable.
func (a *Arena) lease(l trackable.Lease) *Buffer {
	b := a.header()
	*b = Buffer{refs: 1, class: -1, lease: l}
	return b
}

// Release releases a reference to v.
func (a *Arena) Release(v Value) { a.release(v.buf) }

// retain counts one more reference.
func (b *Buffer) retain() {
	if b != nil {
		b.refs++
	}
}

// release releases one reference. After the last one, the memory may be
// allocated again.
func (a *Arena) release(b *Buffer) {
	if b == nil {
		return
	}
	if b.refs--; b.refs > 0 {
		return
	}
	if o := b.items; o != nil {
		b.items = nil
		if !b.kept {
			a.freeObject(o)
		}
	}
	b.lease.Release()
	if a == nil {
		return
	}
	a.inUse -= int64(cap(b.mem)) + b.loose
	if !b.kept {
		poison(b.mem)
	}
	switch {
	case b.mem == nil:
		a.bare = append(a.bare, b)
	case b.kept:
		if a.gone++; a.gone > maxHomeFree && a.gone > len(a.all)/2 {
			a.forget()
		}
	case b.small:
		a.small[b.class] = append(a.small[b.class], b)
	default:
		a.free[b.class] = append(a.free[b.class], b)
	}
}

// freeObject frees an object that has no references any more. The objects in it
// that lose their last reference come after it, because a list may be in a list, and
// so on, a million times.
func (a *Arena) freeObject(o Variant) {
	if a == nil {
		o.Free(nil)
		return
	}
	a.unfreed = append(a.unfreed, o)
	if a.freeing {
		return // by the call that frees the object around it
	}
	a.freeing = true
	defer func() { a.freeing = false }()
	for n := len(a.unfreed); n > 0; n = len(a.unfreed) {
		o := a.unfreed[n-1]
		a.unfreed[n-1] = nil
		a.unfreed = a.unfreed[:n-1]
		o.Free(a)
	}
}

// forget drops the kept buffers that the call does not use any more, because a
// call may return values in a loop without end.
func (a *Arena) forget() {
	a.all = slices.DeleteFunc(a.all, func(b *Buffer) bool { return b.kept && b.mem != nil && b.refs <= 0 })
	a.gone = 0
}

// Peak returns the largest number of bytes that were in use at once since the
// arena's last Recycle.
func (a *Arena) Peak() int64 {
	if a == nil {
		return 0
	}
	return a.peak
}

// Recycle ends a call: all buffers but the kept ones may be handed out again.
func (a *Arena) Recycle() {
	if a == nil {
		return
	}
	for _, c := range a.chunks[:a.used] {
		poison(c)
	}
	a.chunk, a.used = nil, 0
	a.heads.slab, a.heads.next = 0, 0
	clear(a.bare)
	a.bare = a.bare[:0]
	for i := range a.small {
		a.small[i] = a.small[i][:0]
	}
	for i := range a.free {
		clear(a.free[i])
		a.free[i] = a.free[i][:0]
	}
	most := maxFree
	if a.idle != nil && a.idle.home {
		most = maxHomeFree
	}
	kept := a.all[:0]
	a.held = 0
	for _, b := range a.all {
		b.lease.Release()
		b.items = nil
		switch {
		case b.kept:
			continue
		case b.mem == nil:
			if len(a.bare) < maxBare {
				a.bare = append(a.bare, b)
				kept = append(kept, b)
			}
			continue
		case len(a.free[b.class]) >= most:
			continue
		}
		b.refs = 0
		poison(b.mem)
		a.held += int64(cap(b.mem))
		a.free[b.class] = append(a.free[b.class], b)
		kept = append(kept, b)
	}
	clear(a.all[len(kept):])
	a.all = kept
	a.inUse, a.peak, a.gone, a.granted, a.text, a.grantedText = 0, 0, 0, 0, 0, 0
}

// words makes n zeroed bytes, aligned for every element type.
func words(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	w := make([][2]uint64, (n+15)/16)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), n)
}

// arenas contains the idle arenas of all calls, except of plans that have a
// separate list.
var arenas idleArenas

// NewArena returns an idle arena, or a new one. [Arena.Close] makes it idle again.
func NewArena() *Arena { return arenas.get() }

// Close recycles the arena's buffers and lets another call use it. The arena
// must not be used afterwards.
func (a *Arena) Close() {
	if a != nil {
		a.Recycle()
		a.Limit = 0
		if a.idle != nil {
			a.idle.put(a)
		}
	}
}

func overlaps(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b)) && b0 < a0+uintptr(len(a))
}
