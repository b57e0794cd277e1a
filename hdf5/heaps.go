package hdf5

import (
	"bytes"
	"fmt"
)

// localHeap returns the data of the local heap at an address: the names of a group.
func (f *File) localHeap(m *meter, addr uint64) ([]byte, error) {
	what := "a local heap"
	b, err := f.read(m, addr, uint64(8+2*f.lengthSize+f.offsetSize), what)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b, addr)
	ok := c.signature("HEAP")
	version := c.u8()
	c.skip(3)
	size := c.length()
	c.length() // the list of free space
	data := c.addr()
	if !ok || version != 0 {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: "a local heap without its signature, or of a version other than 0"}
	}
	return f.read(m, data, size, what)
}

// heapText returns the text at an offset of a local heap.
func (f *File) heapText(m *meter, heap []byte, offset uint64) (string, error) {
	if offset < uint64(len(heap)) {
		if n := bytes.IndexByte(heap[offset:], 0); n >= 0 {
			if err := m.take(uint64(n), "the names of a group"); err != nil {
				return "", err
			}
			return string(heap[offset : offset+uint64(n)]), nil
		}
	}
	return "", &CorruptError{Offset: f.base, What: fmt.Sprintf("a name that begins at byte %d of a local heap of %d bytes has no end there", offset, len(heap))}
}

// A globalHeap reads objects of the file's global heap, and stores the collections that it has
// read. Each read of values makes its own, with its meter.
type globalHeap struct {
	f           *File
	m           *meter
	collections map[uint64]map[uint32][]byte
}

func (f *File) globalHeap(m *meter) *globalHeap {
	return &globalHeap{f, m, map[uint64]map[uint32][]byte{}}
}

// object returns the object with that number of the collection at an address.
func (g *globalHeap) object(addr uint64, number uint32) ([]byte, error) {
	objects, ok := g.collections[addr]
	if !ok {
		var err error
		if objects, err = g.read(addr); err != nil {
			return nil, err
		}
		g.collections[addr] = objects
	}
	b, ok := objects[number]
	if !ok {
		return nil, &CorruptError{Offset: g.f.base + int64(addr), What: fmt.Sprintf("a global heap has no object %d", number)}
	}
	return b, nil
}

// read returns the objects of a collection.
func (g *globalHeap) read(addr uint64) (map[uint32][]byte, error) {
	f, what := g.f, "a global heap"
	prefix := uint64(8 + f.lengthSize)
	b, err := f.read(g.m, addr, prefix, what)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b, addr)
	ok := c.signature("GCOL")
	version := c.u8()
	c.skip(3)
	size := c.length()
	if !ok || version != 1 || size < prefix {
		return nil, &CorruptError{Offset: f.base + int64(addr), What: "a global heap without its signature, of a version other than 1, or of an impossible size"}
	}
	if b, err = f.read(g.m, addr, size, what); err != nil {
		return nil, err
	}
	c = f.cursor(b, addr)
	c.skip(int(prefix))
	objects := map[uint32][]byte{}
	for c.Len() >= 8+f.lengthSize {
		number := uint32(c.u16())
		c.skip(2 + 4) // links to the object; reserved
		n := c.length()
		if number == 0 { // free space, to the end
			break
		}
		if err := g.m.take(messageSize, what); err != nil {
			return nil, err
		}
		objects[number] = c.Bytes(n)
		c.skip(int(min(-n&7, uint64(c.Len())))) // to a multiple of 8 bytes, which the last object may lack
		if err := c.err(); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// text reads a string's place in the heap from c, and returns the string. The place is a length,
// the address of a collection and the number of an object.
func (g *globalHeap) text(c *cursor) (string, error) {
	n, addr, number := c.u32(), c.addr(), c.u32()
	if err := c.err(); err != nil || n == 0 {
		return "", err
	}
	b, err := g.object(addr, number)
	if err != nil {
		return "", err
	}
	if uint64(n) > uint64(len(b)) {
		return "", &CorruptError{Offset: c.Offset(), What: fmt.Sprintf("a string of %d bytes in %d bytes of the heap", n, len(b))}
	}
	if err := g.m.take(uint64(n), "the strings"); err != nil {
		return "", err
	}
	b = b[:n]
	if i := bytes.IndexByte(b, 0); i >= 0 { // as the C library, whose strings end at a NUL
		b = b[:i]
	}
	return string(b), nil
}
