package hdf5

import (
	"fmt"
	"math/bits"
)

// An extensibleArray is the index of a dataset that can grow along one dimension: elements in
// blocks that become larger with the index. The first elements are in the index block itself,
// the next in data blocks that it points to, all others in data blocks of super blocks.
type extensibleArray struct {
	d    *Dataset
	m    *meter
	e    *arrayElement
	addr uint64

	firstElements uint64 // in the index block
	leastElements uint64 // in a data block
	leastPointers uint64 // of the first super block to data blocks
	pageElements  uint64 // in a page of a data block
	offsetSize    int    // bytes of an index
	maxIndex      uint64
	seen          map[uint64]bool // the blocks that were read, by address
}

// extensibleArray lists the chunks of an extensible array.
func (d *Dataset) extensibleArray(m *meter, g *grid, add func(chunk, []uint64) error) error {
	f, addr, what := d.f, d.layout.addr, "an extensible array"
	corrupt := func(format string, args ...any) error {
		return &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf(format, args...)}
	}
	c, err := f.checksummed(m, addr, uint64(4+1+1+1+5+6*f.lengthSize+f.offsetSize+4), "EAHD", what)
	if err != nil {
		return err
	}
	version, client, size, maxBits := c.u8(), c.u8(), c.u8(), c.u8()
	a := &extensibleArray{d: d, m: m, addr: addr, seen: map[uint64]bool{}}
	a.firstElements, a.leastElements, a.leastPointers = uint64(c.u8()), uint64(c.u8()), uint64(c.u8())
	pageBits := c.u8()
	c.skip(4 * f.lengthSize)
	a.maxIndex = c.length()
	c.skip(f.lengthSize)
	index := c.addr()
	powerOf2 := func(n uint64) bool { return n > 0 && n&(n-1) == 0 }
	if version != 0 || maxBits > 64 || !powerOf2(a.leastElements) || !powerOf2(a.leastPointers) || a.leastPointers < 2 || pageBits > 62 {
		return corrupt("an extensible array with impossible sizes")
	}
	a.pageElements, a.offsetSize = 1<<pageBits, (int(maxBits)+7)/8
	unlimited := -1
	for i, n := range g.most {
		if n == undefined {
			if unlimited >= 0 {
				return corrupt("an extensible array of two dimensions without limit")
			}
			unlimited = i
		}
	}
	if a.e, err = d.element(g, client, size, unlimited, add); err != nil {
		return err
	}
	if index == undefined {
		return nil
	}
	return a.indexBlock(index, int(maxBits))
}

// block opens a block of the array, and skips the common beginning of all
// kinds.
func (a *extensibleArray) block(addr, size uint64, signature string) (*cursor, error) {
	f, what := a.d.f, "an extensible array's block"
	if a.seen[addr] {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: "an extensible array leads to a block twice"}
	}
	a.seen[addr] = true
	c, err := f.checksummed(a.m, addr, size, signature, what)
	if err != nil {
		return nil, err
	}
	c.skip(1 + 1)
	if c.addr() != a.addr {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: what + " belongs to another"}
	}
	return c, nil
}

// superBlock returns how many data blocks a super block has, and how many elements each.
func (a *extensibleArray) superBlock(i int) (blocks, elements uint64) {
	return 1 << (i / 2), a.leastElements << ((i + 1) / 2)
}

func (a *extensibleArray) indexBlock(addr uint64, maxBits int) error {
	f := a.d.f
	supers := 1 + maxBits - (bits.Len64(a.leastElements) - 1)
	here := 2 * (bits.Len64(a.leastPointers) - 1) // super blocks whose data blocks the index block points to
	blocks := 2 * (a.leastPointers - 1)
	size := uint64(4+1+1+f.offsetSize) + a.firstElements*uint64(a.e.size) + (blocks+uint64(max(0, supers-here)))*uint64(f.offsetSize) + 4
	c, err := a.block(addr, size, "EAIB")
	if err != nil {
		return err
	}
	elements := c.Bytes(a.firstElements * uint64(a.e.size))
	if err := a.e.take(f.cursor(elements, addr), 0, a.firstElements); err != nil {
		return err
	}
	index := a.firstElements
	for i := range max(supers, 0) {
		n, each := a.superBlock(i)
		if i < here {
			for range n {
				if child := c.addr(); child != undefined {
					if err := a.dataBlock(child, index, each, nil, 0); err != nil {
						return err
					}
				}
				index += each
			}
			continue
		}
		if child := c.addr(); child != undefined {
			if err := a.super(child, index, i); err != nil {
				return err
			}
		}
		if over, all := bits.Mul64(n, each); over == 0 {
			index += all
		}
	}
	return c.err()
}

// super reads a super block: the bits of its data blocks' pages, and their addresses.
func (a *extensibleArray) super(addr, index uint64, i int) error {
	f := a.d.f
	n, each := a.superBlock(i)
	bitmap := uint64(0)
	if each > a.pageElements {
		bitmap = (each/a.pageElements + 7) / 8
	}
	over, size := bits.Mul64(n, bitmap+uint64(f.offsetSize))
	if over != 0 || size > f.size {
		return &CorruptError{Offset: f.base + int64(addr), What: "an extensible array's block is too large"}
	}
	c, err := a.block(addr, uint64(4+1+1+f.offsetSize+a.offsetSize)+size+4, "EASB")
	if err != nil {
		return err
	}
	c.skip(a.offsetSize)
	bitmaps := c.Bytes(n * bitmap)
	for k := range n {
		if child := c.addr(); child != undefined {
			// The bits of a data block follow those of the one before, with no padding.
			if err := a.dataBlock(child, index, each, bitmaps, k*(each/a.pageElements)); err != nil {
				return err
			}
		}
		index += each
	}
	return c.err()
}

// dataBlock takes the n elements of a data block. If it has pages, their bits begin at bit
// first of pages.
func (a *extensibleArray) dataBlock(addr, index, n uint64, pages []byte, first uint64) error {
	f := a.d.f
	prefix := uint64(4 + 1 + 1 + f.offsetSize + a.offsetSize)
	if n > f.size {
		return &CorruptError{Offset: f.base + int64(addr), What: "an extensible array's block is too large"}
	}
	if len(pages) > 0 {
		if _, err := a.block(addr, prefix+4, "EADB"); err != nil {
			return err
		}
		return a.e.pages(a.m, addr+prefix+4, pages, first, index, n, a.pageElements)
	}
	c, err := a.block(addr, prefix+n*uint64(a.e.size)+4, "EADB")
	if err != nil {
		return err
	}
	c.skip(a.offsetSize)
	return a.e.take(c, index, n)
}
