// Package pointers numbers pointers. Programs hold variables by the hundred
// thousand, which were mostly made one after the other and lie so in memory; a
// walk meets them in that order. Here neighbours in memory are neighbours in the
// table, which a Go map spreads over all of its memory.
package pointers

import "unsafe"

// Numbers gives pointers to T's numbers from 0 on, in the order in which they are
// added. The zero value is empty. It may be read by many goroutines.
type Numbers[T any] struct {
	list  []*T
	slots []int32 // a pointer's number and one, 0 where the slot is free
}

// Len returns how many pointers there are.
func (s *Numbers[T]) Len() int { return len(s.list) }

// All lists the pointers by their numbers. It must not be changed.
func (s *Numbers[T]) All() []*T { return s.list }

// Get returns a pointer's number; ok is false where it has none.
func (s *Numbers[T]) Get(p *T) (n int, ok bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	for at := s.home(p); s.slots[at] != 0; at = (at + 1) & (len(s.slots) - 1) {
		if i := int(s.slots[at] - 1); s.list[i] == p {
			return i, true
		}
	}
	return 0, false
}

// Add returns a pointer's number, which it gets now unless it has one: then there
// is true.
func (s *Numbers[T]) Add(p *T) (n int, there bool) {
	if len(s.list) >= len(s.slots)/2 {
		s.Grow(1)
	}
	at := s.home(p)
	for s.slots[at] != 0 {
		if i := int(s.slots[at] - 1); s.list[i] == p {
			return i, true
		}
		at = (at + 1) & (len(s.slots) - 1)
	}
	s.list = append(s.list, p)
	s.slots[at] = int32(len(s.list))
	return len(s.list) - 1, false
}

// Grow reserves space for so many more pointers.
func (s *Numbers[T]) Grow(more int) {
	need := len(s.list) + more
	if need > cap(s.list) {
		s.list = append(make([]*T, 0, max(need, 2*cap(s.list))), s.list...)
	}
	size := max(len(s.slots), 16)
	for size/2 < need {
		size *= 2
	}
	if size == len(s.slots) {
		return
	}
	s.slots = make([]int32, size)
	for i, p := range s.list {
		at := s.home(p)
		for s.slots[at] != 0 {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at] = int32(i + 1)
	}
}

// region is the logarithm of how much memory lies in the table as it does at its place. Regions
// are spread, so that a large stride between pointers doesn't lead all of them to
// few slots.
const region = 15

// home returns where the search for a pointer begins.
func (s *Numbers[T]) home(p *T) int {
	var t T
	at := uintptr(unsafe.Pointer(p))
	const golden = 0x9E3779B1
	return int((at/max(unsafe.Sizeof(t), 1) + at>>region*golden) & uintptr(len(s.slots)-1))
}
