// Package arena stores very many short strings together in memory, because each would need
// an allocation of its own otherwise. Packages checkpoint and trackable make their keys and
// paths with it. The sizes below are choices: they may change, and the strings must not.
package arena

import (
	"strconv"
	"unsafe"
)

// A string that remains in use keeps its whole block in memory.
const (
	block   = 16 << 10 // bytes that are allocated at a time
	longest = 256      // bytes of a string; a longer one doesn't begin a block, but may fit into a begun one
	few     = 32       // strings that are allocated one by one before the first block
)

// Strings makes strings. The zero value is ready. One goroutine at a time may use it.
type Strings struct {
	free []byte // the unused rest of the block
	n    int    // strings that didn't fit into free
}

// Join returns its parts, joined.
func (a *Strings) Join(parts ...string) string {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b := a.reserve(size)
	for _, p := range parts {
		b = append(b, p...)
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Copy returns the bytes as a string.
func (a *Strings) Copy(p []byte) string {
	b := append(a.reserve(len(p)), p...)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Itoa returns n in decimal.
func (a *Strings) Itoa(n int) string {
	var digits [20]byte
	return a.Copy(strconv.AppendInt(digits[:0], int64(n), 10))
}

// reserve returns an empty slice with a capacity of size bytes, in the block or separately.
func (a *Strings) reserve(size int) []byte {
	if size > len(a.free) {
		if a.n++; size > longest || a.n <= few {
			return make([]byte, 0, size)
		}
		a.free = make([]byte, block)
	}
	b := a.free[:0:size]
	a.free = a.free[size:]
	return b
}
