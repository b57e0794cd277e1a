package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// StateAttribute is the name under which an [Iterator] writes its place; the
// checkpoint's key is <path>/.ATTRIBUTES/CAIRN_ITERATOR_STATE.
const StateAttribute = "CAIRN_ITERATOR_STATE"

// ErrState is the error (to errors.Is) of a saved place that can't be restored:
// it is damaged, or of another pipeline.
var ErrState = errors.New("the iterator's saved place doesn't fit")

// magic opens every saved place; the digit is the version of the encoding.
const magic = "CDI1"

// encoder appends the numbers of a saved place to buf: integers as uvarints, a bool as one
// byte, bytes and strings after their length.
type encoder struct{ buf []byte }

func (e *encoder) int(n int64)     { e.buf = binary.AppendUvarint(e.buf, uint64(n)) }
func (e *encoder) uint(n uint64)   { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) bytes(b []byte)  { e.buf = append(binary.AppendUvarint(e.buf, uint64(len(b))), b...) }
func (e *encoder) string(s string) { e.buf = append(binary.AppendUvarint(e.buf, uint64(len(s))), s...) }

func (e *encoder) bool(b bool) {
	if b {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

// decoder reads the output of an encoder. It keeps the first fault.
type decoder struct {
	buf []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("dataset: %s: %w", what, ErrState)
	}
}

func (d *decoder) uint() uint64 {
	n, w := binary.Uvarint(d.buf)
	if d.err != nil || w <= 0 {
		d.fail("a number is cut off")
		return 0
	}
	d.buf = d.buf[w:]
	return n
}

// int returns a count, which is never negative.
func (d *decoder) int() int64 {
	n := d.uint()
	if n > 1<<62 {
		d.fail("a count is out of range")
		return 0
	}
	return int64(n)
}

func (d *decoder) bytes() []byte {
	n := d.uint()
	if d.err != nil || n > uint64(len(d.buf)) {
		d.fail("a text is cut off")
		return nil
	}
	b := d.buf[:n:n]
	d.buf = d.buf[n:]
	return b
}

func (d *decoder) bool() bool {
	if d.err != nil || len(d.buf) == 0 || d.buf[0] > 1 {
		d.fail("a flag is missing")
		return false
	}
	b := d.buf[0] == 1
	d.buf = d.buf[1:]
	return b
}

// end checks that nothing is left.
func (d *decoder) end() error {
	if d.err == nil && len(d.buf) > 0 {
		d.fail(fmt.Sprintf("%d bytes too many", len(d.buf)))
	}
	return d.err
}
