package bundle

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// An index holds a version 2 checkpoint's entries in the order of their keys. An
// entry stays encoded until it is asked for, since decoded it takes ten times
// the memory, and an index can have millions.
type index struct {
	chunks [][]indexEntry // so that growing copies nothing
	n      int            // the number of entries
	shards int            // the number of data files

	sliced map[int]*slicedTensor // by the entry of the tensor
	owners map[int]sliceOf       // by the entry of the slice
	// visible are the entries of tensors, not of slices; nil if all are.
	visible []int32

	// The entries in the order of their bytes, without tensors stored in slices; an
	// entry of no bytes comes before the one at the same place.
	order []int32
	rank  []int32                      // position of an entry in order; -1 if it has none
	bits  placeBits                    // of all places
	shape atomic.Pointer[tensor.Shape] // of the entry that was given out last
	kinds kinds

	found    atomic.Int32 // the entry that was found last
	searches atomic.Int64 // how many look-ups findAfter couldn't guess
	hash     sync.Once    // makes table
	table    keyTable     // all keys, after many searches
}

// indexEntry is an entry in memory: the key followed by the message, since two
// strings would take twice the space; and the most used fields, decoded. Most
// messages have no other fields, and aren't kept.
type indexEntry struct {
	bytes    *byte
	key, raw uint32 // their lengths, of 31 bits; raw is 0 if the message can be encoded from kind and place
	place           // of a tensor stored in slices: noPlace
}

// slicedTensor describes a tensor stored in slices.
type slicedTensor struct {
	slices []Slice
	parts  []int // the entries of the slices
	size   int64 // of all slices
}

// sliceOf is the owner of an entry that is a slice, and the slice's number.
type sliceOf struct{ owner, n int32 }

const (
	chunkShift = 12       // 1<<chunkShift entries are in a chunk, and in one of entryTable.rows
	keyArena   = 64 << 10 // bytes that are allocated at once for messages
)

// add appends entries.
func (x *index) add(list []indexEntry) {
	for len(list) > 0 {
		if x.n>>chunkShift == len(x.chunks) {
			capacity := 1 << chunkShift
			if x.n == 0 {
				capacity = min(capacity, len(list)) // all there are, mostly
			}
			x.chunks = append(x.chunks, make([]indexEntry, 0, capacity))
		}
		last := &x.chunks[len(x.chunks)-1]
		n := min(len(list), 1<<chunkShift-len(*last))
		*last = append(*last, list[:n]...)
		x.n += n
		list = list[n:]
	}
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// at returns an entry.
func (x *index) at(i int) *indexEntry { return &x.chunks[i>>chunkShift][i&(1<<chunkShift-1)] }

func (e *indexEntry) name() string { return unsafe.String(e.bytes, e.key) }

// message returns an entry as it is encoded in the file.
func (x *index) message(e *indexEntry) []byte {
	if e.raw > 0 {
		return unsafe.Slice(e.bytes, e.key+e.raw)[e.key:]
	}
	prefix := x.kinds.numbered(e.kind).prefix
	return e.place.location().append(append(make([]byte, 0, len(prefix)+locationMost), prefix...))
}

// find returns the number of the entry with a key.
func (x *index) find(key string) (int, bool) {
	last := x.found.Load()
	i, ok := x.findAfter(key, last)
	if ok {
		x.found.Store(int32(i))
	}
	return i, ok
}

// findAfter works like find. It first tries the entries that follow entry number last, in
// the index and in the data files, because callers mostly ask in one of these orders.
func (x *index) findAfter(key string, last int32) (int, bool) {
	if int(last) < len(x.rank) {
		if next := int(last) + 1; next < x.n && x.key(next) == key {
			return next, true
		}
		if at := x.rank[last] + 1; int(at) < len(x.order) {
			if next := int(x.order[at]); x.key(next) == key {
				return next, true
			}
		}
	}
	return x.search(key)
}

// search returns the number of the entry with a key, by binary search or in the hash table.
func (x *index) search(key string) (int, bool) {
	// After many look-ups all keys are put into a hash table, which is several
	// times as fast.
	if n := x.searches.Add(1); n > 64 && n > int64(x.n)/8 {
		x.hash.Do(func() {
			x.table.grow(x.n)
			for i := range x.n {
				x.table.add(i, x.key(i))
			}
		})
		return x.table.find(key, x.key)
	}
	i := sort.Search(x.n, func(i int) bool { return x.key(i) >= key })
	return i, i < x.n && x.key(i) == key
}

// hidden reports whether an entry is a slice's.
func (x *index) hidden(i int) bool {
	_, part := x.owners[i]
	return part
}

// key returns the key of an entry.
func (x *index) key(i int) string { return x.at(i).name() }

// tensors returns the number of tensors.
func (x *index) tensors() int {
	if x.visible != nil {
		return len(x.visible)
	}
	return x.n
}

// tensor returns the entry of the tensor number k.
func (x *index) tensor(k int) int {
	if x.visible != nil {
		return int(x.visible[k])
	}
	return k
}

// record decodes an entry that was checked when it was read.
func (x *index) record(i int) *record {
	rec := new(record)
	x.decode(rec, i, nil)
	return rec
}

// decode works like record, but fills rec. shape is the parameter into of decodeEntry. If it
// isn't nil, the record may share its shape with other entries.
func (x *index) decode(rec *record, i int, shape tensor.Shape) {
	e := x.at(i)
	if e.raw == 0 {
		k := x.kinds.numbered(e.kind)
		*rec = record{elems: k.elems, Entry: Entry{
			Name: e.name(), DType: k.dtype, Shape: k.shape, Shard: int(e.shard), Offset: e.off, Size: e.size, CRC: e.crc}}
		if shape == nil {
			rec.Shape = k.shape.Clone()
		}
	} else {
		_, _ = rec.parse(e.name(), x.message(e), x.shards, shape)
	}
	rec.index, rec.number, rec.at = x, int32(i), e.at()
	if s := x.sliced[i]; s != nil {
		rec.home = rec.Shard
		rec.Shard, rec.Offset, rec.CRC = 0, 0, 0
		rec.Size, rec.Slices, rec.parts = s.size, s.slices, s.parts
	}
	if o, ok := x.owners[i]; ok {
		rec.slice = &x.sliced[int(o.owner)].slices[o.n]
	}
}

// entryFields are an entry's fields; its slices are counted only.
type entryFields struct {
	dtype, shard int32
	offset, size int64
	crc          uint32
	shape        tensor.Shape
	elems        int64
	shapeErr     error
	slices       int
}

// decodeEntry decodes an entry without intermediate messages: an index may have
// millions of them, and a small message can demand much larger storage. It
// accepts the same as pb.BundleEntryProto. The error is for invalid messages;
// one about the shape is stored in the fields. The shape uses the memory of into
// if that is empty and large enough, or is into if that is the same.
func decodeEntry(m *entryFields, raw []byte, into tensor.Shape) error {
	var buf [8]int64
	shape := shapeFields{dims: buf[:0]}
	for rest := raw; len(rest) > 0; {
		num, typ, n := fieldTag(rest)
		if n < 0 {
			return entryError(raw, n)
		}
		rest = rest[n:]
		size := 0
		switch typ {
		case protowire.VarintType:
			var v uint64
			if v, size = fieldNumber(rest); size < 0 {
				break
			}
			switch num {
			case 1:
				m.dtype = int32(v)
			case 3:
				m.shard = int32(v)
			case 4:
				m.offset = int64(v)
			case 5:
				m.size = int64(v)
			}
		case protowire.Fixed32Type:
			var v uint32
			if v, size = protowire.ConsumeFixed32(rest); num == 6 && size > 0 {
				m.crc = v
			}
		case protowire.BytesType:
			var b []byte
			if b, size = protowire.ConsumeBytes(rest); size < 0 {
				break
			}
			switch num {
			case 2:
				var n int
				if shape, n = shape.with(b); n < 0 {
					size = n
				}
			case 7:
				m.slices++
			}
		default:
			size = protowire.ConsumeFieldValue(num, typ, rest)
		}
		if size < 0 {
			return entryError(raw, size)
		}
		rest = rest[size:]
	}
	m.shape, m.elems, m.shapeErr = shape.shape(into)
	return nil
}

// fieldTag does the work of protowire.ConsumeTag with a fast path for a tag of one byte.
func fieldTag(b []byte) (protowire.Number, protowire.Type, int) {
	if t := b[0]; t < 0x80 && t >= 1<<3 && t&7 <= 5 {
		return protowire.Number(t >> 3), protowire.Type(t & 7), 1
	}
	return protowire.ConsumeTag(b)
}

// fieldNumber does the work of protowire.ConsumeVarint, which isn't inlined, with a fast path
// for a number of one byte.
func fieldNumber(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// entryError reports the place in an entry that can't be decoded, as far as
// that is cheap to find out.
func entryError(raw []byte, n int) error {
	var m pb.BundleEntryProto
	if len(raw) <= 64<<10 {
		if err := m.Unmarshal(raw); err != nil {
			return err
		}
	}
	return protowire.ParseError(n)
}

// shapeFields gathers the fields of a shape.
type shapeFields struct {
	dims    []int64
	more    int // dimensions beyond the most that there can be
	unknown bool
}

// with returns the fields with an encoded shape, or another part of it, added;
// the number is negative if b isn't one. (A method that changes s would move
// the dimensions to the heap.)
func (s shapeFields) with(b []byte) (shapeFields, int) {
	for len(b) > 0 {
		num, typ, n := fieldTag(b)
		if n < 0 {
			return s, n
		}
		b = b[n:]
		size := 0
		switch {
		case num == 2 && typ == protowire.BytesType:
			var dim []byte
			if dim, size = protowire.ConsumeBytes(b); size < 0 {
				return s, size
			}
			d, n := dimOf(dim)
			if n < 0 {
				return s, n
			}
			if len(s.dims) == tensor.MaxRank {
				s.more++
			} else {
				s.dims = append(s.dims, d)
			}
		case num == 3 && typ == protowire.VarintType:
			var v uint64
			v, size = protowire.ConsumeVarint(b)
			s.unknown = protowire.DecodeBool(v)
		default:
			size = protowire.ConsumeFieldValue(num, typ, b)
		}
		if size < 0 {
			return s, size
		}
		b = b[size:]
	}
	return s, 0
}

// dimOf returns the size in an encoded dimension.
func dimOf(b []byte) (d int64, n int) {
	for len(b) > 0 {
		num, typ, n := fieldTag(b)
		if n < 0 {
			return 0, n
		}
		b = b[n:]
		size := 0
		if num == 1 && typ == protowire.VarintType {
			var v uint64
			v, size = protowire.ConsumeVarint(b)
			d = int64(v)
		} else {
			size = protowire.ConsumeFieldValue(num, typ, b)
		}
		if size < 0 {
			return 0, size
		}
		b = b[size:]
	}
	return d, 0
}

// shape returns the shape, and its number of elements. The rank must be known, and the
// number must fit 64 bits. The caller checks that the number fits this platform's int.
// The use of into is that of decodeEntry.
func (s *shapeFields) shape(into tensor.Shape) (shape tensor.Shape, elements int64, err error) {
	if s.unknown {
		return nil, 0, errors.New("the shape has no known rank")
	}
	if s.more > 0 {
		return nil, 0, fmt.Errorf("the shape has %d dimensions, the most is %d", len(s.dims)+s.more, tensor.MaxRank)
	}
	share := len(into) > 0 && len(into) == len(s.dims)
	for i := range into {
		share = share && int64(into[i]) == s.dims[i]
	}
	if shape = into; !share && (len(into) > 0 || cap(into) < len(s.dims) || into == nil) {
		shape = make(tensor.Shape, len(s.dims))
	}
	shape = shape[:len(s.dims)]
	elements = 1
	zero := false
	for i, d := range s.dims {
		switch {
		case d < 0:
			return nil, 0, fmt.Errorf("dimension %d has the negative size %d", i, d)
		case d == 0:
			zero = true
		case elements > math.MaxInt64/d:
			return nil, 0, errors.New("the number of elements overflows 64 bits")
		default:
			elements *= d
		}
		if int64(int(d)) != d {
			return nil, 0, fmt.Errorf("dimension %d has %d elements, more than this platform can count: %w", i, d, errors.ErrUnsupported)
		}
		if !share {
			shape[i] = int(d)
		}
	}
	if zero {
		elements = 0
	}
	return shape, elements, nil
}

// eachSlice decodes the slices of an entry one by one.
func eachSlice(raw []byte, full tensor.Shape, f func(n int, s Slice) error) error {
	k := 0
	for len(raw) > 0 {
		num, typ, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(num, typ, raw[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		field := raw[n : n+size]
		raw = raw[n+size:]
		if num != 7 || typ != protowire.BytesType { // 7 is slices
			continue
		}
		b, _ := protowire.ConsumeBytes(field)
		s, err := decodeSlice(b, full)
		if err == nil {
			err = f(k, s)
		} else {
			err = fmt.Errorf("slice %d: %w", k, err)
		}
		if err != nil {
			return err
		}
		k++
	}
	return nil
}

// decodeSlice decodes a slice of a tensor of shape full.
func decodeSlice(b []byte, full tensor.Shape) (Slice, error) {
	// An extent of two bytes takes thirty times as much once it is decoded.
	if n := countExtents(b); n > tensor.MaxRank {
		return Slice{}, fmt.Errorf("it has %d dimensions, the most is %d", n, tensor.MaxRank)
	}
	var m pb.TensorSliceProto
	if err := m.Unmarshal(b); err != nil {
		return Slice{}, err
	}
	return parseSlice(&m, full)
}

// countExtents returns the number of extents in an encoded slice, as far as it
// can be decoded.
func countExtents(b []byte) int {
	count := 0
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			break
		}
		if num == 1 && typ == protowire.BytesType {
			count++
		}
		b = b[n+size:]
	}
	return count
}

// parse decodes an entry; its error is in words only, the caller adds the
// place. The number is that of the slices that the entry lists; shape is the
// parameter into of decodeEntry.
func (r *record) parse(key string, value []byte, shards int, shape tensor.Shape) (int, error) {
	*r = record{Entry: Entry{Name: key}}
	var m entryFields
	if err := decodeEntry(&m, value, shape); err != nil {
		return 0, fmt.Errorf("the entry can't be decoded: %w", err)
	}
	r.DType = tensor.DType(m.dtype)
	r.Shard, r.Offset, r.Size = int(m.shard), m.offset, m.size
	r.CRC = crc32c.Unmask(m.crc)
	switch {
	case errors.Is(m.shapeErr, errors.ErrUnsupported):
		r.err = fmt.Errorf("bundle: tensor %q: %w", key, m.shapeErr)
	case m.shapeErr != nil:
		return 0, m.shapeErr
	}
	r.Shape, r.elems = m.shape, m.elems
	switch {
	case r.DType == tensor.Invalid:
		return 0, errors.New("the entry has no element type")
	case m.dtype < 0:
		return 0, fmt.Errorf("the element type is %d", m.dtype)
	case m.shard < 0 || r.Shard >= shards:
		return 0, fmt.Errorf("it is in data file %d (want below %d)", r.Shard, shards)
	case r.Offset < 0 || r.Size < 0 || r.Offset > math.MaxInt64-r.Size:
		return 0, fmt.Errorf("it can't have %d bytes at offset %d", r.Size, r.Offset)
	}
	if !r.DType.Valid() || r.DType == tensor.Resource {
		r.err = errUnsupported("tensor %q has elements of %v, which can't be read", key, r.DType)
	}
	if m.slices > 0 || r.err != nil {
		return m.slices, nil
	}
	if err := checkSize(r.DType, m.elems, r.Size); err != nil {
		return 0, fmt.Errorf("%v%v: %w", r.DType, r.Shape, err)
	}
	return 0, nil
}
