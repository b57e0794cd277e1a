// Package pointers numbers pointers. Programs have hundreds of thousands of
// variables. They were mostly created one after the other, so they are adjacent
// in memory, and a walk visits them in that order. In this table neighbours in
// memory are neighbours too; a Go map scatters them over all of its memory.
// Packages checkpoint and trackable use it.
package pointers

import (
	"math/bits"
	"unsafe"
)

// Numbers assigns pointers to T's numbers from 0 on, in the order in which they are
// added. The zero value is empty. It may be read by many goroutines.
//
// The memory is divided into pages of some T's. Because T's don't overlap, a slot
// of a page belongs to one T, and only pages are looked up.
type Numbers[T any] struct {
	list   []*T
	places []int32 // of each page: the number and one of the pointer at each place, 0 for none
	pages  []page  // a hash table
	used   int     // how many pages are in it
}

// page is a page of memory with pointers in it.
type page struct {
	number uintptr
	first  int32 // the index of its first slot, plus one; 0 if the entry of the table is free
}

// perPage is about the number of T's of a page. It may change.
const perPage = 64

// layout returns the logarithm of a page's length in bytes, the size of T, and the number of places of a
// page.
func (s *Numbers[T]) layout() (shift int, size uintptr, places int) {
	var t T
	size = max(unsafe.Sizeof(t), 1)
	shift = bits.Len(uint(size)*perPage) - 1
	return shift, size, int((uintptr(1)<<shift-1)/size) + 1
}

// Len returns how many pointers there are.
func (s *Numbers[T]) Len() int { return len(s.list) }

// All lists the pointers by their numbers. It must not be changed.
func (s *Numbers[T]) All() []*T { return s.list }

// Get returns a pointer's number; ok is false if it has none.
func (s *Numbers[T]) Get(p *T) (n int, ok bool) {
	if len(s.list) == 0 {
		return 0, false
	}
	shift, size, _ := s.layout()
	at := uintptr(unsafe.Pointer(p))
	slot := s.slot(at >> shift)
	if slot.first == 0 {
		return 0, false
	}
	n = int(s.places[uintptr(slot.first-1)+at&(1<<shift-1)/size]) - 1
	return max(n, 0), n >= 0 && s.list[n] == p
}

// Add returns a pointer's number, which it gets now unless it has one: then there
// is true.
func (s *Numbers[T]) Add(p *T) (n int, there bool) {
	shift, size, places := s.layout()
	if s.used >= len(s.pages)/2 {
		s.growPages(s.used + 1)
	}
	at := uintptr(unsafe.Pointer(p))
	slot := s.slot(at >> shift)
	if slot.first == 0 {
		*slot = page{at >> shift, int32(len(s.places) + 1)}
		s.used++
		if need := len(s.places) + places; need <= cap(s.places) {
			s.places = s.places[:need]
		} else {
			s.places = append(s.places, make([]int32, places)...)
		}
	}
	place := &s.places[uintptr(slot.first-1)+at&(1<<shift-1)/size]
	if *place != 0 {
		return int(*place - 1), true
	}
	s.list = append(s.list, p)
	*place = int32(len(s.list))
	return len(s.list) - 1, false
}

// Grow reserves space for so many more pointers, which are adjacent in memory.
func (s *Numbers[T]) Grow(more int) {
	shift, size, places := s.layout()
	if need := len(s.list) + more; need > cap(s.list) {
		s.list = append(make([]*T, 0, max(need, 2*cap(s.list))), s.list...)
	}
	pages := int(uintptr(more)*size>>shift)*17/16 + 2 // an allocator has gaps
	if need := len(s.places) + pages*places; need > cap(s.places) {
		s.places = append(make([]int32, 0, max(need, 2*cap(s.places))), s.places...)
	}
	s.growPages(s.used + pages)
}

// slot returns the entry of a page in the table, or the free entry for it.
func (s *Numbers[T]) slot(number uintptr) *page {
	const golden = 0x9E3779B1
	mask := uint32(len(s.pages) - 1)
	// The high bits of the product depend on all bits of the number.
	for at := uint32(uint64(uint32(number)*golden) * uint64(len(s.pages)) >> 32); ; at++ {
		if slot := &s.pages[at&mask]; slot.first == 0 || slot.number == number {
			return slot
		}
	}
}

// growPages reserves space for so many pages.
func (s *Numbers[T]) growPages(need int) {
	size := max(len(s.pages), 16)
	for size/2 < need {
		size *= 2
	}
	if size == len(s.pages) {
		return
	}
	old := s.pages
	s.pages = make([]page, size)
	for _, p := range old {
		if p.first != 0 {
			*s.slot(p.number) = p
		}
	}
}
