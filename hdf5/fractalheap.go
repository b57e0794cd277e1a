package hdf5

import (
	"fmt"
	"math/bits"
)

// A fractalHeap keeps objects of varying size, such as links and attributes, in blocks that
// double in size. A table of blocks (an indirect block) has rows of as many blocks as it is
// wide; the blocks of the first two rows have the starting size, those of each later row twice
// the size of the row before. Rows of blocks larger than the largest direct block hold tables.
type fractalHeap struct {
	f      *File
	m      *meter
	addr   uint64
	idSize int // bytes of an object's id

	width              uint64           // blocks in a row of a table
	start, largest     uint64           // sizes of direct blocks
	offsetSize         int              // bytes of an offset in the heap
	lengthSize         int              // bytes of an object's length
	root               uint64           // address of the table or block
	rows               int              // of the root if it is a table; 0 if it is a direct block
	checksums          bool             // direct blocks have one
	hugeTree           uint64           // address of the B-tree of objects outside of the blocks
	hugeIDSize         int              // bytes of such an object's number
	hugeDirect         bool             // an id has the object's address and size in place of its number
	huge               map[uint64]block // the objects by number, from hugeTree
	hugeRead, tinyWide bool             // huge is filled; the size of an object in its id has 12 bits, not 4

	tables  map[uint64]*cursor // tables that were read, by address
	directs map[uint64][]byte  // direct blocks that were read
}

// fractalHeap reads the header of the heap at an address.
func (f *File) fractalHeap(m *meter, addr uint64) (*fractalHeap, error) {
	what := "a fractal heap"
	n := 4 + 1 + 2 + 2 + 1 + 4 + 12*f.lengthSize + 3*f.offsetSize + 2 + 2 + 2 + 2 + 4
	b, err := f.read(m, addr, uint64(n), what)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b, addr)
	h := &fractalHeap{f: f, m: m, addr: addr, tables: map[uint64]*cursor{}, directs: map[uint64][]byte{}}
	ok := c.signature("FRHP")
	version := c.u8()
	h.idSize = int(c.u16())
	filters := c.u16()
	h.checksums = c.u8()&2 != 0
	mostManaged := uint64(c.u32())
	c.length() // the next huge object's number
	h.hugeTree = c.addr()
	c.length() // free space
	c.addr()   // its manager
	c.skip(4 * f.lengthSize)
	c.skip(4 * f.lengthSize)
	h.width, h.start, h.largest = uint64(c.u16()), c.length(), c.length()
	maxBits := int(c.u16())
	c.skip(2) // rows that the root begins with
	h.root, h.rows = c.addr(), int(c.u16())
	corrupt := func(what string) error { return &CorruptError{Offset: f.base + int64(addr), What: what} }
	switch {
	case !ok || version != 0:
		return nil, corrupt("a fractal heap without its signature, or of a version other than 0")
	case filters > 0:
		return nil, &UnsupportedError{Feature: "a fractal heap with filters"}
	case h.width == 0 || h.start == 0 || h.start&(h.start-1) != 0 || h.width&(h.width-1) != 0 || h.largest&(h.largest-1) != 0 ||
		h.largest < h.start || h.largest > 1<<32 || h.start*h.width > 1<<40 || maxBits > 64 || h.rows > 64 || h.idSize < 2:
		return nil, corrupt("a fractal heap with impossible sizes")
	}
	if _, err := f.checked(b, addr, "FRHP", what); err != nil {
		return nil, err
	}
	h.offsetSize = (maxBits + 7) / 8
	h.lengthSize = min((bits.Len64(h.largest)-1+7)/8, encodedSize(mostManaged))
	h.hugeDirect = f.offsetSize+f.lengthSize <= h.idSize-1
	h.hugeIDSize = min(f.lengthSize, h.idSize-1)
	h.tinyWide = h.idSize-1 > 16
	return h, nil
}

// object returns the object with an id, and the address of its first byte.
func (h *fractalHeap) object(id []byte, addr uint64) ([]byte, uint64, error) {
	c := h.f.cursor(id, addr)
	kind := c.u8()
	if kind>>6 != 0 || len(id) > h.idSize {
		return nil, 0, &CorruptError{Offset: h.f.base + int64(addr), What: "an id of a fractal heap of version 1"}
	}
	switch kind >> 4 & 3 {
	case 0:
		offset, n := c.uint(h.offsetSize), c.uint(h.lengthSize)
		if err := c.err(); err != nil {
			return nil, 0, err
		}
		return h.managed(offset, n)
	case 1:
		return h.hugeObject(c)
	case 2:
		n := uint64(kind&15) + 1
		if h.tinyWide {
			n = uint64(kind&15)<<8 | uint64(c.u8()) + 1
		}
		from := uint64(c.Offset() - h.f.base)
		return c.Bytes(n), from, c.err()
	}
	return nil, 0, &CorruptError{Offset: h.f.base + int64(addr), What: "an id of a fractal heap of an unknown kind"}
}

// hugeObject returns an object stored separately in the file.
func (h *fractalHeap) hugeObject(c *cursor) ([]byte, uint64, error) {
	var bl block
	if h.hugeDirect {
		bl = block{c.addr(), c.length()}
	} else {
		number := c.uint(h.hugeIDSize)
		if !h.hugeRead {
			h.hugeRead, h.huge = true, map[uint64]block{}
			if err := h.f.tree2(h.m, h.hugeTree, recordsOfHuge, func(c *cursor) error {
				bl := block{c.addr(), c.length()}
				h.huge[c.length()] = bl
				return c.err()
			}); err != nil {
				return nil, 0, err
			}
		}
		var ok bool
		if bl, ok = h.huge[number]; !ok {
			return nil, 0, &CorruptError{Offset: c.Offset(), What: fmt.Sprintf("a fractal heap has no huge object %d", number)}
		}
	}
	if err := c.err(); err != nil {
		return nil, 0, err
	}
	b, err := h.f.read(h.m, bl.addr, bl.size, "an object of a fractal heap")
	return b, bl.addr, err
}

// rowSize returns the size of a block of a row.
func (h *fractalHeap) rowSize(row int) uint64 {
	if row == 0 {
		return h.start
	}
	return h.start << (row - 1)
}

// directRows returns how many rows hold direct blocks.
func (h *fractalHeap) directRows() int {
	return bits.Len64(h.largest) - bits.Len64(h.start) + 2
}

// managed returns n bytes at an offset of the heap, and the address of the first.
func (h *fractalHeap) managed(offset, n uint64) ([]byte, uint64, error) {
	if h.rows == 0 {
		return h.direct(h.root, h.start, 0, offset, n)
	}
	addr, rows, base := h.root, h.rows, uint64(0)
	for range 64 {
		row, column, from, ok := h.find(offset-base, rows)
		if !ok {
			break
		}
		c, err := h.table(addr, rows, base)
		if err != nil {
			return nil, 0, err
		}
		c.skip((row*int(h.width) + column) * h.f.offsetSize)
		addr = c.addr()
		if err := c.err(); err != nil {
			return nil, 0, err
		}
		base += from
		size := h.rowSize(row)
		if row < h.directRows() {
			return h.direct(addr, size, base, offset, n)
		}
		rows = bits.Len64(size) - bits.Len64(h.start*h.width) + 1
	}
	return nil, 0, &CorruptError{Offset: h.f.base + int64(h.addr), What: fmt.Sprintf("a fractal heap has no byte %d", offset)}
}

// find returns the row and column of the block that contains a byte of a table, and the offset
// of the block.
func (h *fractalHeap) find(at uint64, rows int) (row, column int, from uint64, ok bool) {
	for row = range rows {
		if row > 40 {
			break
		}
		size := h.rowSize(row)
		if at-from < size*h.width {
			column = int((at - from) / size)
			return row, column, from + uint64(column)*size, true
		}
		from += size * h.width
	}
	return 0, 0, 0, false
}

// table returns a cursor over the addresses of a table's blocks.
func (h *fractalHeap) table(addr uint64, rows int, base uint64) (*cursor, error) {
	if c, ok := h.tables[addr]; ok {
		c := *c
		return &c, nil
	}
	n := 4 + 1 + h.f.offsetSize + h.offsetSize + rows*int(h.width)*h.f.offsetSize + 4
	c, err := h.f.checksummed(h.m, addr, uint64(n), "FHIB", "a fractal heap's table")
	if err != nil {
		return nil, err
	}
	c.skip(1)
	if heap, at := c.addr(), c.uint(h.offsetSize); heap != h.addr || at != base {
		return nil, &CorruptError{Offset: h.f.base + int64(addr), What: "a fractal heap's table belongs to another"}
	}
	h.tables[addr] = c
	again := *c
	return &again, nil
}

// direct returns n bytes at an offset of the heap, which is in the direct block at an address.
func (h *fractalHeap) direct(addr, size, base, offset, n uint64) ([]byte, uint64, error) {
	b, ok := h.directs[addr]
	if !ok {
		var err error
		if b, err = h.f.read(h.m, addr, size, "a fractal heap's block"); err != nil {
			return nil, 0, err
		}
		c := h.f.cursor(b, addr)
		if ok := c.signature("FHDB"); !ok || c.u8() != 0 || c.addr() != h.addr || c.uint(h.offsetSize) != base {
			return nil, 0, &CorruptError{Offset: h.f.base + int64(addr), What: "no block of the fractal heap"}
		}
		if h.checksums {
			if err := h.checkBlock(b, len(b)-c.Len(), addr); err != nil {
				return nil, 0, err
			}
		}
		h.directs[addr] = b
	}
	at := offset - base
	if offset < base || at > uint64(len(b)) || n > uint64(len(b))-at {
		return nil, 0, &CorruptError{Offset: h.f.base + int64(addr), What: fmt.Sprintf("%d bytes at byte %d of a fractal heap's block of %d", n, at, len(b))}
	}
	if err := h.m.take(n, "objects of a fractal heap"); err != nil {
		return nil, 0, err
	}
	return b[at : at+n], addr + at, nil
}

// checkBlock compares the checksum at a place of a direct block; it is of all bytes, with zeros
// in the place of the checksum.
func (h *fractalHeap) checkBlock(b []byte, at int, addr uint64) error {
	if len(b) < at+4 {
		return &CorruptError{Offset: h.f.base + int64(addr), What: "a fractal heap's block is too small"}
	}
	stored := string(b[at : at+4])
	clear(b[at : at+4])
	err := h.f.checkSum(b, []byte(stored), addr, "a fractal heap's block")
	copy(b[at:], stored)
	return err
}
