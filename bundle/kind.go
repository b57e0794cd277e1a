package bundle

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/tensor"
)

// A kind is the type and shape of a tensor, which are the first fields of an
// entry. So entries of one kind begin with the same bytes. An index has very many
// of these in sequence, and they don't have to be decoded one by one.
type kind struct {
	prefix string // the bytes with which its entries begin
	dtype  tensor.DType
	shape  tensor.Shape
	elems  int64  // the number of elements
	number uint16 // 1 + its place in kinds.list; 0 if it isn't in there
	size   int64  // how many bytes its elements take; -1 if the kind doesn't determine that
}

// kinds are the kinds of an index.
type kinds struct {
	last [64]atomic.Pointer[kind] // the kinds met last, by the slot of kindBytes

	mu     sync.Mutex       // guards the other fields while the index is loaded; after that they don't change
	list   []*kind          // up to maxKinds
	listed map[string]*kind // the same by prefix
}

// maxKinds bounds the number of kinds that a file can create. Entries of further kinds are decoded each time.
// The bound may change; numbers must fit a uint16.
const maxKinds = 1 << 12

// numbered returns the kind with that number, or nil if there is none.
func (t *kinds) numbered(n uint16) *kind {
	if n == 0 {
		return nil
	}
	return t.list[n-1]
}

// kindBytes returns the length of an entry's kind, and its slot in the table; n
// is 0 for an entry that is encoded in another way.
func kindBytes(raw []byte) (n, slot int) {
	if len(raw) < 4 || raw[0] != 1<<3 || raw[1] >= 0x80 || raw[2] != 2<<3|2 || raw[3] >= 0x80 {
		return 0, 0
	}
	if n = 4 + int(raw[3]); n > len(raw) {
		return 0, 0
	}
	return n, int(31*raw[1]+17*raw[3]+7*raw[n-1]+3*raw[n-2]) % 64
}

// of returns the kind of an encoded entry, or nil if it is unknown.
func (t *kinds) of(raw []byte) *kind {
	n, slot := kindBytes(raw)
	if k := t.last[slot].Load(); n > 0 && k != nil && k.prefix == string(raw[:n]) {
		return k
	}
	return nil
}

// learn keeps the kind of an entry that was decoded and is sound, and returns it.
// It returns nil if the first bytes don't determine the kind.
func (t *kinds) learn(raw []byte) *kind {
	n, slot := kindBytes(raw)
	if n == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.listed[string(raw[:n])]; k != nil {
		t.last[slot].Store(k)
		return k
	}
	var m entryFields // of these bytes alone: later fields may differ
	k := &kind{prefix: string(raw[:n])}
	if err := decodeEntry(&m, bytesOf(k.prefix), nil); err != nil || m.shapeErr != nil {
		return nil
	}
	k.dtype, k.shape, k.elems = tensor.DType(m.dtype), m.shape, m.elems
	if !k.dtype.Valid() || k.dtype == tensor.Resource {
		return nil
	}
	k.size = -1
	if width := int64(k.dtype.Size()); width > 0 && k.elems <= math.MaxInt64/width {
		k.size = k.elems * width
	}
	if len(t.list) < maxKinds {
		if t.listed == nil {
			t.listed = make(map[string]*kind)
		}
		t.list = append(t.list, k)
		k.number = uint16(len(t.list))
		t.listed[k.prefix] = k
	}
	t.last[slot].Store(k)
	return k
}

// place decodes an entry of this kind, which may be nil, to p. ok is false if the entry
// has fields other than the location of the bytes, or if that location is invalid. plain
// is true if the encoding is that of writers, so that kind and place reproduce it.
func (k *kind) place(p *place, raw []byte, shards int) (ok, plain bool) {
	if k == nil {
		return false, false
	}
	shard, crc, off, size := uint64(0), uint32(0), int64(0), int64(0)
	last := byte(0) // tag
	plain = true
	for b := raw[len(k.prefix):]; len(b) > 0; {
		tag := b[0]
		plain, last = plain && tag > last, tag
		if tag == 6<<3|5 && len(b) >= 5 {
			crc, b = binary.LittleEndian.Uint32(b[1:]), b[5:]
			plain = plain && crc != 0
			continue
		}
		v, n := fieldNumber(b[1:])
		if n < 0 {
			return false, false
		}
		// A number that ends with a zero is a zero, or has bytes that it doesn't need.
		plain = plain && b[n] != 0
		switch tag {
		case 3 << 3:
			shard = v
		case 4 << 3:
			off = int64(v)
		case 5 << 3:
			size = int64(v)
		default:
			return false, false
		}
		b = b[1+n:]
	}
	if shard >= uint64(shards) || off < 0 || size < 0 || off > math.MaxInt64-size || size != k.size && (k.size >= 0 || checkSize(k.dtype, k.elems, size) != nil) {
		return false, false
	}
	p.off, p.size, p.shard, p.crc, p.kind = off, size, int32(shard), crc32c.Unmask(crc), k.number
	return true, plain && k.number > 0
}

// kind returns the kind of entry number i.
func (x *index) kind(i int) *kind {
	if p := x.placeOf(i); p != nil {
		if k := x.kinds.numbered(p.kind); k != nil {
			return k
		}
	}
	e := x.at(i)
	var rec record
	_, _ = rec.parse(e.name(), x.message(e), x.shards, nil)
	return &kind{dtype: rec.DType, shape: rec.Shape, elems: rec.elems}
}
