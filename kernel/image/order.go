package image

import (
	"cmp"
	"math/bits"
	"slices"
)

// The orders of boxes with equal scores in CombinedNonMaxSuppression: queue's
// within a class, sortByScore's among the classes. They are C++'s and decide which
// boxes are selected, so they must stay.

// queue is a heap with the order of C++'s priority_queue for equal scores,
// which decides among boxes.
type queue struct{ items []candidate }

// push adds x.
func (q *queue) push(x candidate) {
	q.items = append(q.items, x)
	q.up(len(q.items)-1, x)
}

// up puts x at the empty place i, or above it if x is larger than its parents.
func (q *queue) up(i int, x candidate) {
	for i > 0 && q.items[(i-1)/2].score < x.score {
		q.items[i] = q.items[(i-1)/2]
		i = (i - 1) / 2
	}
	q.items[i] = x
}

// pop removes and returns the candidate with the highest score.
func (q *queue) pop() candidate {
	top, n := q.items[0], len(q.items)-1
	x := q.items[n]
	q.items = q.items[:n]
	if n == 0 {
		return top
	}
	// The empty place moves to the bottom, and x up from there.
	hole, child := 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if q.items[child].score < q.items[child-1].score {
			child--
		}
		q.items[hole] = q.items[child]
		hole = child
	}
	if n%2 == 0 && child == (n-2)/2 {
		child = 2 * (child + 1)
		q.items[hole] = q.items[child-1]
		hole = child - 1
	}
	q.up(hole, x)
	return top
}

// sortByScore puts the highest scores first. Equal ones have the order of
// libstdc++'s std::sort: unchanged if there are at most 16, otherwise that of
// quicksort's swaps. There is one exception: where quicksort is slow, std::sort
// changes to a heap sort. Here equal scores then keep their order instead.
func sortByScore(v []detection) {
	quickParts(v, 2*(bits.Len(uint(len(v)))-1))
	for i := range v {
		x := v[i]
		j := i
		// The first 16 go to the front by one comparison, as in std::sort.
		if i < 16 && i > 0 && x.score > v[0].score {
			copy(v[1:i+1], v[:i])
			v[0] = x
			continue
		}
		for ; j > 0 && x.score > v[j-1].score; j-- {
			v[j] = v[j-1]
		}
		v[j] = x
	}
}

// quickParts divides v until no part has more than 16 elements.
func quickParts(v []detection, depth int) {
	above := func(i, j int) bool { return v[i].score > v[j].score }
	for ; len(v) > 16; depth-- {
		if depth <= 0 { // an input for which quicksort is slow
			slices.SortStableFunc(v, func(a, b detection) int { return cmp.Compare(b.score, a.score) })
			return
		}
		a, b, c := 1, len(v)/2, len(v)-1
		median := b
		switch {
		case above(a, b):
			if !above(b, c) {
				median = a
				if above(a, c) {
					median = c
				}
			}
		case above(a, c):
			median = a
		case above(b, c):
			median = c
		}
		v[0], v[median] = v[median], v[0]
		i, j := 1, len(v)
		for {
			for above(i, 0) {
				i++
			}
			for j--; above(0, j); j-- {
			}
			if i >= j {
				break
			}
			v[i], v[j] = v[j], v[i]
			i++
		}
		quickParts(v[i:], depth-1)
		v = v[:i]
	}
}
