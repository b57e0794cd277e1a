package hdf5

import (
	"fmt"
	"math"
	"math/bits"
)

// The kinds of records of B-trees of version 2.
const (
	recordsOfHuge    = 1 // objects of a fractal heap that are outside of it
	recordsOfNames   = 5
	recordsOfAttrs   = 8
	recordsOfChunks  = 10
	recordsOfFilters = 11 // chunks that went through filters
)

// A tree2 is a B-tree of version 2.
type tree2 struct {
	f          *File
	m          *meter
	kind       uint8           // recordsOfHuge and so on
	nodeSize   uint64          // bytes
	recordSize int             // bytes
	counts     []nodeCount     // by how far a node is above the leaves
	countSize  int             // bytes of a number of records of a node
	seen       map[uint64]bool // the nodes that were visited, by address
	record     func(c *cursor) error
}

// nodeCount is the number of records that a node of one level can hold, alone and with all
// below it.
type nodeCount struct {
	most, all uint64
	allSize   int // bytes of the number all, 0 for leaves
}

// nodeOverhead is the size of a node besides records and pointers: 4 signature, 1
// version, 1 kind, 4 checksum.
const nodeOverhead = 10

// tree2 calls record for each record of the B-tree at an address, which is of the given kind.
func (f *File) tree2(m *meter, addr uint64, kind uint8, record func(c *cursor) error) error {
	what := "a B-tree's header"
	c, err := f.checksummed(m, addr, uint64(4+1+1+4+2+2+1+1+f.offsetSize+2+f.lengthSize+4), "BTHD", what)
	if err != nil {
		return err
	}
	version, got := c.u8(), c.u8()
	t := &tree2{f: f, m: m, kind: kind, nodeSize: uint64(c.u32()), recordSize: int(c.u16()), seen: map[uint64]bool{}, record: record}
	depth := int(c.u16())
	c.skip(2) // when nodes split and merge
	root, n := c.addr(), uint64(c.u16())
	corrupt := func(what string) error {
		return &CorruptError{Offset: f.base + int64(addr), What: what}
	}
	switch {
	case version != 0 || got != kind:
		return corrupt(fmt.Sprintf("a B-tree of version %d and kind %d (want 0 and %d)", version, got, kind))
	case t.recordSize == 0 || t.nodeSize < nodeOverhead+uint64(t.recordSize) || t.nodeSize > f.size:
		return corrupt(fmt.Sprintf("a B-tree with nodes of %d bytes and records of %d", t.nodeSize, t.recordSize))
	case depth > 64:
		return corrupt(fmt.Sprintf("a B-tree %d levels deep", depth))
	case root == undefined:
		return nil
	}
	if err := t.count(depth); err != nil {
		return corrupt(err.Error())
	}
	return t.node(root, n, depth)
}

// count works out how many records nodes can hold.
func (t *tree2) count(depth int) error {
	most := (t.nodeSize - nodeOverhead) / uint64(t.recordSize)
	t.countSize = encodedSize(most)
	t.counts = []nodeCount{{most: most, all: most}}
	for d := 1; d <= depth; d++ {
		below := t.counts[d-1]
		pointer := uint64(t.f.offsetSize + t.countSize + below.allSize)
		if t.nodeSize < nodeOverhead+pointer {
			return fmt.Errorf("a B-tree with nodes of %d bytes", t.nodeSize)
		}
		most := (t.nodeSize - nodeOverhead - pointer) / (uint64(t.recordSize) + pointer)
		over, all := bits.Mul64(most+1, below.all)
		if over != 0 || all > math.MaxInt64 {
			return fmt.Errorf("a B-tree %d levels deep", depth)
		}
		all += most
		t.counts = append(t.counts, nodeCount{most, all, encodedSize(all)})
	}
	return nil
}

// encodedSize returns how many bytes the library sets aside for a number up to n.
func encodedSize(n uint64) int { return (bits.Len64(max(n, 1))-1)/8 + 1 }

// node visits the node at an address, which has n records and is that far above the leaves.
func (t *tree2) node(addr, n uint64, above int) error {
	signature, what := "BTLF", "a B-tree's leaf"
	size := nodeOverhead + n*uint64(t.recordSize)
	if above > 0 {
		signature, what = "BTIN", "a B-tree's node"
		size += (n + 1) * uint64(t.f.offsetSize+t.countSize+t.counts[above-1].allSize)
	}
	corrupt := func(what string) error { return &CorruptError{Offset: t.f.base + int64(addr), What: what} }
	switch {
	case n > t.counts[above].most:
		return corrupt(fmt.Sprintf("%s has %d records (the most is %d)", what, n, t.counts[above].most))
	case t.seen[addr]:
		return corrupt("a B-tree leads to a node twice")
	}
	t.seen[addr] = true
	c, err := t.f.checksummed(t.m, addr, size, signature, what)
	if err != nil {
		return err
	}
	if version, kind := c.u8(), c.u8(); version != 0 || kind != t.kind {
		return corrupt(fmt.Sprintf("%s of version %d and kind %d", what, version, kind))
	}
	for range n {
		from := uint64(c.Offset() - t.f.base)
		if err := t.record(t.f.cursor(c.Bytes(uint64(t.recordSize)), from)); err != nil {
			return err
		}
	}
	if above == 0 {
		return nil
	}
	for range n + 1 {
		child, n := c.addr(), c.uint(t.countSize)
		c.skip(t.counts[above-1].allSize)
		if err := c.err(); err != nil {
			return err
		}
		if err := t.node(child, n, above-1); err != nil {
			return err
		}
	}
	return nil
}
