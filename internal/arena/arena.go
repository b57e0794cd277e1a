// Package arena stores very many short strings together in memory. Separately,
// each would need an allocation. Packages checkpoint and trackable use it.
package arena

import (
	"strconv"
	"unsafe"
)

// block is the number of bytes allocated at a time, longest the maximum length
// of a string in a block: a string keeps its whole block in memory.
const (
	block   = 16 << 10
	longest = 256
	few     = 32 // strings that are allocated one by one at first
)

// Strings makes strings. The zero value is ready.
type Strings struct {
	free []byte
	n    int
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

// reserve returns an empty slice with a capacity of size.
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
