package hdf5

import (
	"fmt"
	"math"
	"math/bits"
)

// layoutKind is the way the elements of a dataset are stored. The numbers are the
// format's.
type layoutKind uint8

const (
	compact    layoutKind = 0 // in the header
	contiguous layoutKind = 1 // in one run
	chunked    layoutKind = 2 // in tiles of one shape, found through an index
)

// The kinds of chunk indexes. indexTree1 is of layouts of version 3, the numbers of the others
// are those of version 4.
const (
	indexTree1      = 0
	indexSingle     = 1
	indexImplicit   = 2
	indexFixed      = 3
	indexExtensible = 4
	indexTree2      = 5
)

// A layout is the location of a dataset's elements.
type layout struct {
	kind layoutKind
	data []byte // of a compact dataset
	addr uint64 // of the elements, or of the chunks' index
	size uint64 // of contiguous elements

	chunk     []uint64 // the shape of a chunk, in elements
	chunkSize uint64   // its bytes before filters
	index     uint8    // indexTree1 and so on
	plainEdge bool     // chunks that reach beyond the shape go through no filters
	// A single chunk that went through filters:
	single     bool
	storedSize uint64 // bytes in the file
	mask       uint32 // the filters that it skipped, a bit each
}

// layout decodes a layout message of a dataset whose elements have typeSize bytes.
func (f *File) layout(msg message, rank, typeSize int) (*layout, error) {
	c := f.cursor(msg.body, msg.addr)
	version, kind := c.u8(), layoutKind(c.u8())
	if version != 3 && version != 4 {
		return nil, &UnsupportedError{Feature: fmt.Sprintf("a data layout of version %d (3 and 4 are)", version)}
	}
	l := &layout{kind: kind}
	switch {
	case kind == compact:
		l.addr = uint64(c.Offset()-f.base) + 2
		l.data = c.Bytes(uint64(c.u16()))
		return l, c.err()
	case kind == contiguous:
		l.addr, l.size = c.addr(), c.length()
		return l, c.err()
	case kind == 3:
		return nil, &UnsupportedError{Feature: "virtual datasets"}
	case kind != chunked:
		return nil, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("a data layout of kind %d", kind)}
	}
	flags, dims, width := uint8(0), 0, 4
	if version == 3 {
		dims = int(c.u8())
		l.addr = c.addr()
	} else {
		flags, dims, width = c.u8(), int(c.u8()), int(c.u8())
	}
	if c.Err() == nil && (dims != rank+1 || rank == 0 || width < 1 || width > 8) {
		return nil, &CorruptError{Offset: f.base + int64(msg.addr), What: fmt.Sprintf("chunks of %d dimensions in a dataset of %d", dims-1, rank)}
	}
	l.chunkSize = 1
	for i := range dims {
		n := c.uint(width)
		over, size := bits.Mul64(l.chunkSize, n)
		if c.Err() == nil && (n == 0 || over != 0 || size > math.MaxInt64 || i == rank && n != uint64(typeSize)) {
			return nil, &CorruptError{Offset: f.base + int64(msg.addr), What: "chunks of an impossible shape"}
		}
		l.chunkSize = size
		l.chunk = append(l.chunk, n)
	}
	if len(l.chunk) > 0 {
		l.chunk = l.chunk[:len(l.chunk)-1]
	}
	if version == 3 {
		return l, c.err()
	}
	l.plainEdge = flags&1 != 0
	l.index = c.u8()
	switch l.index {
	case indexSingle:
		if flags&2 != 0 {
			l.single, l.storedSize, l.mask = true, c.length(), c.u32()
		}
	case indexImplicit:
	case indexFixed:
		c.skip(1)
	case indexExtensible:
		c.skip(5)
	case indexTree2:
		c.skip(4 + 1 + 1)
	default:
		return nil, &UnsupportedError{Feature: fmt.Sprintf("chunk indexes of kind %d", l.index)}
	}
	l.addr = c.addr()
	return l, c.err()
}
