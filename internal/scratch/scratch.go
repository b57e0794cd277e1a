// Package scratch keeps memory that large works need for a while and give back, for the
// next ones. Memory that the collector gets and is asked for again costs a part of a
// collection and, where the system took it back meanwhile, a page fault for each 4 KiB.
package scratch

import (
	"sync"
	"unsafe"
)

// most is how many bytes a list has at most that is kept: what one extraordinary work needed
// isn't held for ordinary ones.
const most = 4 << 20

// Pool keeps lists between uses. What isn't used for some time is left to the collector, as
// lists of several MiB are at once. The zero Pool is empty. It is safe for use by many
// goroutines.
type Pool[T any] struct{ pool sync.Pool }

// Get returns a list of any length, whose elements may be anything.
func (p *Pool[T]) Get() *[]T {
	if list, ok := p.pool.Get().(*[]T); ok {
		return list
	}
	return new([]T)
}

// Put takes a list that isn't used any more. What its elements point to stays in memory
// unless they were cleared.
func (p *Pool[T]) Put(list *[]T) {
	var element T
	if uintptr(cap(*list)) <= most/max(1, unsafe.Sizeof(element)) {
		p.pool.Put(list)
	}
}

// Of returns the first n elements of a list, which may be anything, and makes it longer
// where it hasn't as many.
func Of[T any](list *[]T, n int) []T {
	if cap(*list) < n {
		*list = make([]T, n)
	}
	return (*list)[:n]
}
