package wire

import (
	"testing"
)

func TestCursorReadsAndStops(t *testing.T) {
	c := NewCursor([]byte{0xac, 0x02, 0x01, 0, 0, 0, 'a', 'b', 'c'}, 100)
	if v := c.Uvarint(); v != 300 {
		t.Errorf("Uvarint %d, want 300", v)
	}
	if v := c.Fixed32(); v != 1 {
		t.Errorf("Fixed32 %d, want 1", v)
	}
	if b := c.Bytes(2); string(b) != "ab" {
		t.Errorf("Bytes %q, want ab", b)
	}
	if c.Offset() != 108 || c.Len() != 1 || c.Err() != nil {
		t.Errorf("offset %d, %d left, error %v", c.Offset(), c.Len(), c.Err())
	}
	if b := c.Bytes(2); b != nil || c.Err() == nil || c.Err().Offset != 108 {
		t.Errorf("Bytes beyond the end: %q, %v", b, c.Err())
	}
	first := c.Err()
	c.Uvarint()
	if c.Err() != first {
		t.Errorf("the first error doesn't stick: %v", c.Err())
	}
}

// TestNothingIsReadAfterAFault: whatever is asked for, it is zero, and no byte
// is left.
func TestNothingIsReadAfterAFault(t *testing.T) {
	c := NewCursor([]byte{0xff, 0xff, 0xff, 0xff, 0x7f, 7, 7, 7, 7, 7}, 10)
	if v := c.Uvarint32(); v != 0 || c.Err() == nil || c.Err().Offset != 10 {
		t.Errorf("%d, %v", v, c.Err())
	}
	if c.Len() != 0 || c.Offset() != 20 {
		t.Errorf("%d bytes are left, from %d on", c.Len(), c.Offset())
	}
	if a, b, d := c.Uvarint(), c.Fixed32(), c.Bytes(1); a != 0 || b != 0 || d != nil {
		t.Errorf("read %d, %d, %v", a, b, d)
	}
}

// TestNoNumberComesWithAFault checks that a truncated or overlong number is
// zero.
func TestNoNumberComesWithAFault(t *testing.T) {
	for _, b := range [][]byte{{}, {0x80}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		if c := NewCursor(b, 0); c.Uvarint() != 0 || c.Err() == nil || c.Err().Offset != 0 {
			t.Errorf("%v: error %v", b, c.Err())
		}
		if c := NewCursor(b, 0); c.Uvarint32() != 0 || c.Err() == nil || c.Err().Offset != 0 {
			t.Errorf("%v: error %v", b, c.Err())
		}
	}
}

// TestCursorReadsUpToTheEnd: the last byte counts, in every form.
func TestCursorReadsUpToTheEnd(t *testing.T) {
	c := NewCursor([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3, 4, 'x', 'y'}, 0)
	if v := c.Uvarint32(); v != 1<<32-1 {
		t.Errorf("Uvarint32 %d", v)
	}
	if v := c.Fixed32(); v != 0x04030201 {
		t.Errorf("Fixed32 %#x", v)
	}
	if b := c.Bytes(2); string(b) != "xy" || cap(b) != 2 {
		t.Errorf("Bytes %q of capacity %d", b, cap(b))
	}
	if b := c.Bytes(0); b == nil || c.Err() != nil || c.Len() != 0 {
		t.Errorf("no bytes: %v, %v", b, c.Err())
	}
}

func TestCursorRefusesBadVarints(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		read func(*Cursor)
	}{
		{"cut off", []byte{0x80, 0x80}, func(c *Cursor) { c.Uvarint() }},
		{"nothing", nil, func(c *Cursor) { c.Uvarint() }},
		{"eleven bytes", []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, func(c *Cursor) { c.Uvarint() }},
		{"33 bits", []byte{0x80, 0x80, 0x80, 0x80, 0x10}, func(c *Cursor) { c.Uvarint32() }},
		{"huge run", []byte{1, 2}, func(c *Cursor) { c.Bytes(1 << 63) }},
	} {
		cur := NewCursor(c.in, 0)
		c.read(&cur)
		if cur.Err() == nil || cur.Err().Offset != 0 {
			t.Errorf("%s: error %v, want one at offset 0", c.name, cur.Err())
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewCursor(b, 0)
		for c.Len() > 0 && c.Err() == nil {
			before := c.Len()
			c.Bytes(uint64(c.Uvarint32()) % 7)
			if c.Len() >= before {
				t.Fatal("no progress")
			}
		}
	})
}
