package bundle

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// A span is a slice's range in one dimension, with full extents written out.
type span struct{ start, length int64 }

// spans writes s out for a tensor of shape full, which s must fit.
func spans(s Slice, full tensor.Shape) []span {
	out := make([]span, len(full))
	for i, n := range full {
		out[i] = span{0, int64(n)}
		if i < len(s.Extents) && !s.Extents[i].Full {
			out[i] = span{s.Extents[i].Start, s.Extents[i].Length}
		}
	}
	return out
}

func spanVolume(s []span) int64 {
	n := int64(1)
	for _, d := range s {
		n *= d.length
	}
	return n
}

// intersect returns the intersection of two boxes; ok reports whether they overlap.
func intersect(a, b []span) (out []span, ok bool) {
	out = make([]span, len(a))
	for i := range a {
		start := max(a[i].start, b[i].start)
		end := min(a[i].start+a[i].length, b[i].start+b[i].length)
		if end <= start {
			return nil, false
		}
		out[i] = span{start, end - start}
	}
	return out, true
}

// overlap reports whether two boxes have a common element.
func overlap(a, b []span) bool {
	for i := range a {
		if min(a[i].start+a[i].length, b[i].start+b[i].length) <= max(a[i].start, b[i].start) {
			return false
		}
	}
	return true
}

// maxCompare bounds the comparisons of two slices in one call of covering, since a hostile file can list slices that
// make it slow. The number is ours and may change.
const maxCompare = 20 << 20

// covering returns the numbers of the parts that are needed for want, sorted. The error is for
// parts that overlap within want or don't cover it together (ErrIncomplete), or the context's.
func covering(ctx context.Context, want []span, parts [][]span) ([]int, error) {
	type piece struct {
		part int
		box  []span
	}
	var pieces []piece
	var got int64
	for i, p := range parts {
		if box, ok := intersect(p, want); ok {
			pieces = append(pieces, piece{i, box})
			got += spanVolume(box)
		}
	}
	// Along the dimension in which most of them differ a sweep meets few at a
	// time.
	axis, distinct := 0, 0
	for d := range want {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		starts := make(map[int64]bool)
		for _, p := range pieces {
			starts[p.box[d].start] = true
		}
		if len(starts) > distinct {
			axis, distinct = d, len(starts)
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int {
		if x, y := a.box[axis].start, b.box[axis].start; x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return a.part - b.part
	})
	var active []piece
	compared := 0
	used := make([]int, 0, len(pieces))
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		keep := active[:0]
		for _, a := range active {
			if a.box[axis].start+a.box[axis].length > p.box[axis].start {
				keep = append(keep, a)
			}
		}
		active = keep
		for _, a := range active {
			if overlap(a.box, p.box) {
				return nil, fmt.Errorf("its slices %d and %d overlap", min(a.part, p.part), max(a.part, p.part))
			}
		}
		if compared += len(active); compared > maxCompare {
			return nil, fmt.Errorf("its %d slices are laid out too wildly", len(parts))
		}
		active = append(active, p)
		used = append(used, p.part)
	}
	if got != spanVolume(want) {
		return nil, fmt.Errorf("%w (got %d of %d elements)", ErrIncomplete, got, spanVolume(want))
	}
	slices.Sort(used)
	return used, nil
}

// A scatter maps the elements of a stored box to their positions in a wanted
// one.
type scatter struct {
	from, to []span // of the same rank, at least 1; trailing dimensions in which both are one run are merged
}

// newScatter makes the map from one box to the other.
func newScatter(from, to []span) scatter {
	from, to = slices.Clone(from), slices.Clone(to)
	if len(from) == 0 {
		from, to = []span{{0, 1}}, []span{{0, 1}}
	}
	for n := len(from); n > 1 && from[n-1] == to[n-1]; n = len(from) {
		k := from[n-1].length
		for _, s := range [][]span{from, to} {
			s[n-2] = span{s[n-2].start * k, s[n-2].length * k}
		}
		from, to = from[:n-1], to[:n-1]
	}
	return scatter{from, to}
}

// runs calls f for every run of the elements first … first+n-1 of the stored
// box that belongs to the wanted one. f gets the run's first element in the stored
// box, its place in the wanted one, and its number of elements.
func (s scatter) runs(first, n int64, f func(from, to, n int64)) {
	last := len(s.from) - 1
	row := s.from[last].length
	for n > 0 {
		r, i := first/row, first%row
		count := min(row-i, n)
		start := max(s.from[last].start+i, s.to[last].start)
		end := min(s.from[last].start+i+count, s.to[last].start+s.to[last].length)
		if end > start {
			// The other coordinates, innermost first.
			at, stride, inside := start-s.to[last].start, s.to[last].length, true
			for d := last - 1; d >= 0; d-- {
				x := s.from[d].start + r%s.from[d].length
				r /= s.from[d].length
				if x < s.to[d].start || x >= s.to[d].start+s.to[d].length {
					inside = false
					break
				}
				at += (x - s.to[d].start) * stride
				stride *= s.to[d].length
			}
			if inside {
				f(start-s.from[last].start-i+first, at, end-start)
			}
		}
		first += count
		n -= count
	}
}
