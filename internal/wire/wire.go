// Package wire reads numbers and byte runs from memory without ever reading
// beyond it: a cursor that records the place and cause of a failure. Packages
// hdf5 and internal/table use it.
package wire

import (
	"encoding/binary"
	"fmt"
)

// A Cursor reads from the front of a byte slice. The first error sticks: every
// later read returns zero values, so a group of reads is checked once.
type Cursor struct {
	b    []byte
	base int64 // offset of b's first byte in its file
	at   int   // of the next byte in b; its end after an error
	err  *Error
}

// An Error reports the place at which a Cursor failed.
type Error struct {
	Offset int64  // in the file
	What   string // the fault, in words that may change
}

// Error returns fault and offset.
func (e *Error) Error() string { return fmt.Sprintf("%s at offset %d", e.What, e.Offset) }

// NewCursor returns a Cursor over b, which is at offset base of its file.
func NewCursor(b []byte, base int64) Cursor { return Cursor{b: b, base: base} }

// Offset returns the offset of the next byte in the file.
func (c *Cursor) Offset() int64 { return c.base + int64(c.at) }

// Len returns the number of bytes left.
func (c *Cursor) Len() int { return len(c.b) - c.at }

// Err returns the first error, or nil.
func (c *Cursor) Err() *Error { return c.err }

// fail records the first error and leaves nothing to read.
func (c *Cursor) fail(what string) {
	if c.err == nil {
		c.err = &Error{Offset: c.Offset(), What: what}
		c.at = len(c.b)
	}
}

// Uvarint reads a varint of up to 64 bits.
func (c *Cursor) Uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	switch {
	case n == 0:
		c.fail("a varint is cut off")
		return 0
	case n < 0:
		c.fail("a varint is longer than 64 bits")
		return 0
	}
	c.at += n
	return v
}

// Uvarint32 reads a varint that must fit 32 bits.
func (c *Cursor) Uvarint32() uint32 {
	start := c.at
	v := c.Uvarint()
	if v>>32 != 0 {
		c.at = start
		c.fail("a varint is longer than 32 bits")
		return 0
	}
	return uint32(v)
}

// Fixed32 reads four bytes, little-endian.
func (c *Cursor) Fixed32() uint32 {
	b := c.Bytes(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// Bytes takes the next n bytes, without a copy; nil if there are fewer.
func (c *Cursor) Bytes(n uint64) []byte {
	if n > uint64(c.Len()) {
		c.fail(fmt.Sprintf("%d bytes are announced, %d are left", n, c.Len()))
		return nil
	}
	b := c.b[c.at : c.at+int(n) : c.at+int(n)]
	c.at += int(n)
	return b
}
