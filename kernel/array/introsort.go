package array

import (
	"math/bits"
	"slices"

	"github.com/cairnml/cairn/kernel/internal/vec"
)

// introsort sorts the indices of a row as libstdc++'s std::sort does: those of larger elements
// first. A NaN is neither larger nor less than another element, so the order of a row with NaN
// depends on the steps of the algorithm. TopK of whole rows uses it, as TensorFlow does.
type introsort[K vec.Real] struct {
	row  []K
	at   []int
	step func(i int)
	n    int // comparisons
}

// short is the number of indices up to which a range isn't divided: an insertion
// sorts them. It must stay that of libstdc++.
const short = 16

// sort sorts all indices, and then the indices of equal elements that follow each other.
func (s *introsort[K]) sort() {
	n := len(s.at)
	s.split(0, n, 2*(bits.Len(uint(n))-1))
	for i := 1; i < n; i++ {
		if i < short && s.before(s.at[i], s.at[0]) {
			v := s.at[i]
			copy(s.at[1:i+1], s.at[:i])
			s.at[0] = v
			continue
		}
		s.insert(i)
	}
	for lo, hi := 0, 0; lo < n; lo = hi {
		for hi = lo + 1; hi < n && s.row[s.at[hi]] == s.row[s.at[lo]]; hi++ {
		}
		slices.Sort(s.at[lo:hi])
	}
}

// before reports whether index i comes before j.
func (s *introsort[K]) before(i, j int) bool {
	s.step(s.n)
	s.n++
	return s.row[j] < s.row[i]
}

// split divides a range until its parts are short. After depth divisions it sorts a part by a heap.
func (s *introsort[K]) split(lo, hi, depth int) {
	for ; hi-lo > short; depth-- {
		if depth == 0 {
			s.heap(s.at[lo:hi])
			return
		}
		s.pivot(lo, lo+1, lo+(hi-lo)/2, hi-1)
		cut := s.divide(lo+1, hi, lo)
		s.split(cut, hi, depth-1)
		hi = cut
	}
}

// pivot swaps the median of three places with place to.
func (s *introsort[K]) pivot(to, a, b, c int) {
	x, y, z := s.at[a], s.at[b], s.at[c]
	median := b
	switch {
	case s.before(x, y):
		switch {
		case s.before(y, z):
		case s.before(x, z):
			median = c
		default:
			median = a
		}
	case s.before(x, z):
		median = a
	case s.before(y, z):
		median = c
	}
	s.at[to], s.at[median] = s.at[median], s.at[to]
}

// divide moves the indices before the pivot's to the front of a range, and returns its end.
func (s *introsort[K]) divide(lo, hi, pivot int) int {
	for {
		for s.before(s.at[lo], s.at[pivot]) {
			lo++
		}
		for hi--; s.before(s.at[pivot], s.at[hi]); hi-- {
		}
		if lo >= hi {
			return lo
		}
		s.at[lo], s.at[hi] = s.at[hi], s.at[lo]
		lo++
	}
}

// insert moves place i down to its place among those before it.
func (s *introsort[K]) insert(i int) {
	v := s.at[i]
	for ; i > 0 && s.before(v, s.at[i-1]); i-- {
		s.at[i] = s.at[i-1]
	}
	s.at[i] = v
}

// heap sorts a part by a heap.
func (s *introsort[K]) heap(part []int) {
	n := len(part)
	for i := (n - 2) / 2; i >= 0; i-- {
		s.sift(part, i, part[i])
	}
	for ; n > 1; n-- {
		v := part[n-1]
		part[n-1] = part[0]
		s.sift(part[:n-1], 0, v)
	}
}

// sift fills a hole of a heap with v: children move up until there are none, then v moves up
// from there.
func (s *introsort[K]) sift(part []int, hole, v int) {
	top, n := hole, len(part)
	child := hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if s.before(part[child], part[child-1]) {
			child--
		}
		part[hole], hole = part[child], child
	}
	if n%2 == 0 && child == (n-2)/2 {
		child = 2*child + 1
		part[hole], hole = part[child], child
	}
	for hole > top && s.before(part[(hole-1)/2], v) {
		part[hole], hole = part[(hole-1)/2], (hole-1)/2
	}
	part[hole] = v
}
