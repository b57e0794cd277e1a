package hdf5

import (
	"encoding/binary"

	"github.com/cairnml/cairn/internal/wire"
)

// undefined is the address of a structure that was never allocated: all bits set, whatever
// the width of addresses in the file.
const undefined = ^uint64(0)

// A cursor reads the fields of one structure. The first read beyond its end fails all
// later ones; err reports it.
type cursor struct {
	wire.Cursor
	offsetSize, lengthSize int // of the superblock
}

// cursor returns a cursor over b, which is at address addr of the file.
func (f *File) cursor(b []byte, addr uint64) *cursor {
	return &cursor{wire.NewCursor(b, f.base+int64(addr)), f.offsetSize, f.lengthSize}
}

// err returns the first read beyond the end as a [CorruptError], or nil.
func (c *cursor) err() error {
	if e := c.Err(); e != nil {
		return &CorruptError{Offset: e.Offset, What: e.What}
	}
	return nil
}

// uint reads a little-endian number of n bytes, at most 8.
func (c *cursor) uint(n int) uint64 {
	var b [8]byte
	copy(b[:], c.Bytes(uint64(n)))
	return binary.LittleEndian.Uint64(b[:])
}

func (c *cursor) u8() uint8   { return uint8(c.uint(1)) }
func (c *cursor) u16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) u64() uint64 { return c.uint(8) }

// length reads a field of the superblock's size of lengths.
func (c *cursor) length() uint64 { return c.uint(c.lengthSize) }

// addr reads an address; one with all bits set is undefined.
func (c *cursor) addr() uint64 {
	v := c.uint(c.offsetSize)
	if c.offsetSize < 8 && v == 1<<(8*c.offsetSize)-1 {
		return undefined
	}
	return v
}

func (c *cursor) skip(n int) { c.Bytes(uint64(n)) }

// signature reads four bytes and reports whether they are s.
func (c *cursor) signature(s string) bool { return string(c.Bytes(4)) == s }

// text reads bytes up to a NUL, which it takes too.
func (c *cursor) text() string {
	rest := c.rest()
	for i, b := range rest {
		if b == 0 {
			c.skip(i + 1)
			return string(rest[:i])
		}
	}
	c.skip(len(rest) + 1) // fails
	return ""
}

// rest returns all bytes that are left, and leaves them there.
func (c *cursor) rest() []byte {
	ahead := c.Cursor
	return ahead.Bytes(uint64(ahead.Len()))
}
