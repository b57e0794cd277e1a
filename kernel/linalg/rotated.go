package linalg

import (
	"github.com/cairnml/cairn/kernel/internal/simd"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// rotated is a matrix in row-major order whose rows are rotated. Sweeps wait until there are
// some. All of them then run over a few columns, which stay in the cache, before the next few.
// Bits don't depend on that. [rotated.finish] must be called before m is read. bidiagonals and
// diagonalize use it. A width of 0 means that no matrix is wanted.
type rotated struct {
	m       []float64
	width   int
	waiting []rotations
	work    int       // of the sweeps that wait: elements
	unused  []float64 // the memory of turns if no matrix is wanted
}

// rotations are a sweep: each row is rotated with the next one, from row begin on; see [simd.Rows].
type rotations struct {
	begin, step int // step is 1, or -1 if the next row is the one above
	turns       []float64
}

// len returns the number of rotations.
func (s rotations) len() int { return len(s.turns) / 2 }

const (
	// mostSweeps and mostWork bound what waits. mostWork elements take a few milliseconds, so
	// that the context is looked at in time.
	mostSweeps = 16
	mostWork   = 1 << 22
	// columns is a multiple of the columns that vec.Rotations rotates at a time. A few hundred
	// rows of so many elements fit in the L2 cache.
	columns = 16
)

// memory returns memory for the turns of the next sweep.
func (r *rotated) memory() []float64 {
	if r.width == 0 {
		return r.unused[:0]
	}
	if n := len(r.waiting); n < cap(r.waiting) {
		return r.waiting[:n+1][n].turns[:0]
	}
	return nil
}

// sweep rotates the rows from begin on, downwards if step is 1 and upwards if it is -1. It keeps
// turns.
func (r *rotated) sweep(begin, step int, turns []float64) {
	if r.width == 0 {
		r.unused = turns
		return
	}
	r.waiting = append(r.waiting, rotations{begin, step, turns})
	if r.work += len(turns) / 2 * r.width; len(r.waiting) >= mostSweeps || r.work >= mostWork {
		r.finish()
	}
}

// turn rotates two rows.
func (r *rotated) turn(i, j int, c, s float64) {
	if r.width == 0 {
		return
	}
	r.finish()
	vec.Rotations(r.m, simd.Rows{At: i * r.width, Step: (j - i) * r.width, Width: r.width}, []float64{c, s})
}

// finish runs the sweeps that wait.
func (r *rotated) finish() {
	for at := 0; at < r.width && len(r.waiting) > 0; at += columns {
		for i := 0; i < len(r.waiting); i += 2 {
			if i+1 < len(r.waiting) {
				r.runTwo(at, r.waiting[i], r.waiting[i+1])
			} else {
				r.run(at, r.waiting[i], 0, r.waiting[i].len())
			}
		}
	}
	r.waiting, r.work = r.waiting[:0], 0
}

// rows returns the rows of a sweep from rotation i on, in some columns from at on.
func (r *rotated) rows(at int, s rotations, i int) simd.Rows {
	return simd.Rows{At: (s.begin+i*s.step)*r.width + at, Step: s.step * r.width, Width: min(columns, r.width-at)}
}

// run makes the rotations of a sweep from begin to end.
func (r *rotated) run(at int, s rotations, begin, end int) {
	if begin < end {
		vec.Rotations(r.m, r.rows(at, s, begin), s.turns[2*begin:2*end])
	}
}

// runTwo makes the rotations of a sweep and of the next one. Where they overlap, the next one follows
// one row behind, so that both visit a row at once. A rotation of rows k and k+1 may be made as soon as
// the sweep before has rotated rows k+1 and k+2.
func (r *rotated) runTwo(at int, s, next rotations) {
	lag := (next.begin - s.begin) * s.step
	begin, end := max(0, lag+1), min(s.len(), next.len()+lag+1)
	if s.step != next.step || begin >= end {
		r.run(at, s, 0, s.len())
		r.run(at, next, 0, next.len())
		return
	}
	of := func(i int) int { return i - 1 - lag } // the rotation of next that follows rotation i of s
	r.run(at, s, 0, begin)
	r.run(at, next, 0, of(begin))
	vec.RotationsTwice(r.m, r.rows(at, next, of(begin)), s.turns[2*begin:2*end], next.turns[2*of(begin):2*of(end)])
	r.run(at, s, end, s.len())
	r.run(at, next, of(end), next.len())
}
