// Package scratch keeps temporary memory of large operations for the next ones. Memory
// that the collector frees and that is allocated again costs a part of a collection
// and, if the system took it back meanwhile, a page fault for each 4 KiB. Packages
// bundle, checkpoint and trackable use it.
package scratch

import (
	"sync"
	"unsafe"
)

// most is the maximum size in bytes of a list that is kept, because ordinary operations don't need the
// memory of one extraordinary operation. The number may change.
const most = 4 << 20

// Pool keeps lists between uses. Lists unused for some time are left to the collector, and
// lists of several MiB at once. The zero Pool is empty. It is safe for use by many
// goroutines.
type Pool[T any] struct{ pool sync.Pool }

// Get returns a list of any length, whose elements may be anything.
func (p *Pool[T]) Get() *[]T {
	if list, ok := p.pool.Get().(*[]T); ok {
		return list
	}
	return new([]T)
}

// Put adds a list that isn't used any more. Objects referenced by its elements stay in
// memory unless these were cleared.
func (p *Pool[T]) Put(list *[]T) {
	var element T
	if uintptr(cap(*list)) <= most/max(1, unsafe.Sizeof(element)) {
		p.pool.Put(list)
	}
}

// Of returns the first n elements of a list, with any contents, and extends the list if
// it hasn't as many.
func Of[T any](list *[]T, n int) []T {
	if cap(*list) < n {
		*list = make([]T, n)
	}
	return (*list)[:n]
}
