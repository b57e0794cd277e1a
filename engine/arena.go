package engine

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Arena owns the buffers that ops of one step write their outputs to. At the
// step's end [Arena.Recycle] takes them all back, but for those that were kept,
// so that the next step finds warm memory instead of fresh zeroed pages. A nil
// *Arena makes fresh memory each time and recycles nothing.
//
// An Arena belongs to one goroutine at a time.
type Arena struct {
	chunk  []byte // of chunkSize; small buffers are cut off its front
	chunks [][]byte
	used   int // chunks in use
	big    []*Buffer
	free   [48][]*Buffer // by power of two
}

// Buffer is memory of an [Arena].
type Buffer struct {
	mem   []byte
	class int8
	kept  bool
}

// Keep takes the buffer away from its arena for good: the garbage collector
// owns it from now on. It is what happens to an output that leaves the step.
func (b *Buffer) Keep() {
	if b != nil {
		b.kept = true
	}
}

const (
	chunkSize = 64 << 10
	smallMax  = 2 << 10
	maxFree   = 8 // idle buffers kept of a size class
)

// Alloc makes a buffer of n bytes, aligned to 16 bytes (large ones to 64). Its
// contents are undefined when the arena has recycled it. A nil Buffer beside
// memory means that the memory is small: it must be copied when it leaves the
// step.
func (a *Arena) Alloc(n int) ([]byte, *Buffer) {
	if a == nil {
		return words(n), nil
	}
	if n <= smallMax {
		size := (n + 15) &^ 15
		if size > len(a.chunk) {
			if a.used == len(a.chunks) {
				a.chunks = append(a.chunks, words(chunkSize))
			}
			a.chunk = a.chunks[a.used]
			a.used++
		}
		mem := a.chunk[:n:n]
		a.chunk = a.chunk[size:]
		return mem, nil
	}
	class := int8(bits.Len(uint(n - 1)))
	if int(class) >= len(a.free) {
		return words(n), &Buffer{kept: true}
	}
	list := a.free[class]
	// Newest first: it is the one that the caches may still hold.
	for i := len(list) - 1; i >= 0; i-- {
		if b := list[i]; cap(b.mem) >= n {
			list[i] = list[len(list)-1]
			list[len(list)-1] = nil
			a.free[class] = list[:len(list)-1]
			a.big = append(a.big, b)
			return b.mem[:n:n], b
		}
	}
	b := &Buffer{mem: words(n), class: class}
	a.big = append(a.big, b)
	return b.mem[:n:n], b
}

// Recycle ends a step: all buffers but the kept ones may be handed out again.
func (a *Arena) Recycle() {
	if a == nil {
		return
	}
	a.chunk, a.used = nil, 0
	for i, b := range a.big {
		if !b.kept && len(a.free[b.class]) < maxFree {
			a.free[b.class] = append(a.free[b.class], b)
		}
		a.big[i] = nil
	}
	a.big = a.big[:0]
}

// words makes n zeroed bytes, aligned for every element type.
func words(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	w := make([][2]uint64, (n+15)/16)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), n)
}

// arenas keeps idle arenas; the garbage collector empties it.
var arenas = sync.Pool{New: func() any { return new(Arena) }}

// NewArena takes an idle arena or makes one; [Arena.Release] gives it back.
func NewArena() *Arena { return arenas.Get().(*Arena) }

// Release recycles the arena's buffers and lets another step use it. The arena
// must not be used afterwards.
func (a *Arena) Release() {
	if a != nil {
		a.Recycle()
		arenas.Put(a)
	}
}
