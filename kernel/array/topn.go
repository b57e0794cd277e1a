package array

import (
	"math"
	"slices"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// topN finds the indices of the k largest elements of rows. For a row longer
// than k it uses a heap whose first index is that of the least element.
// TensorFlow's gtl::TopN does the same over libstdc++'s heap. So if the result
// isn't sorted, its order is TensorFlow's, too.
type topN[K vec.Real] struct {
	row         []K
	heap        []int    // capacity is k + 1
	keys, moved []uint64 // a row's keys, and memory for sorting them
	step        func(i int)
}

// newTopN returns a topN for rows of n elements, with memory of the call.
func newTopN[K vec.Real](c *engine.Call, n, k int) *topN[K] {
	heap := engine.Zeroed[int](c, k+1)
	t := &topN[K]{heap: heap[: 0 : k+1], step: c.Step}
	if k == n && unsafe.Sizeof(K(0)) <= 4 {
		t.keys, t.moved = engine.Zeroed[uint64](c, n), engine.Zeroed[uint64](c, n)
	}
	return t
}

// before orders indices: those of larger elements first, of equal ones the
// lower first.
func (t *topN[K]) before(i, j int) bool {
	if a, b := t.row[i], t.row[j]; b < a {
		return true
	} else if b > a {
		return false
	}
	return i < j
}

// find returns the indices of row's k largest elements; they are valid until the
// next call.
func (t *topN[K]) find(row []K, k int, sorted bool) []int {
	t.row, t.heap = row, t.heap[:0]
	if k == len(row) {
		if hasNaN(row) {
			for i := range row {
				t.heap = append(t.heap, i)
			}
			s := introsort[K]{row: row, at: t.heap, step: t.step}
			s.sort()
			return t.heap
		}
		if t.sortKeys(row) {
			return t.heap
		}
		for i := range row {
			t.heap = append(t.heap, i)
		}
		compared := 0
		slices.SortStableFunc(t.heap, func(i, j int) int {
			t.step(compared)
			compared++
			return falling(row[i], row[j])
		})
		return t.heap
	}
	if k == 0 {
		return nil
	}
	if k == 1 {
		return append(t.heap, t.largest(row))
	}
	for i := range row {
		t.step(i)
		if len(t.heap) <= k {
			if t.heap = append(t.heap, i); len(t.heap) == k+1 {
				for at := (k - 1) / 2; at >= 0; at-- {
					t.sift(at, k+1, t.heap[at])
				}
				t.pop(k + 1)
			}
			continue
		}
		if t.before(i, t.heap[0]) {
			t.pop(k)
			t.rise(k-1, 0, i)
		}
	}
	found := t.heap[:k]
	if sorted {
		for n := k; n > 1; n-- {
			t.step(n)
			t.pop(n)
		}
	}
	return found
}

func hasNaN[K vec.Real](row []K) bool {
	for _, v := range row {
		if v != v {
			return true
		}
	}
	return false
}

// largest returns the index of the first largest element of a row, as TensorFlow's maximum of a
// row has it. TensorFlow compares vectors of numbers, which leave NaN out. For the elements after
// the last whole vector, a NaN is larger than those before it and less than the next. The index
// of a NaN is 0.
func (t *topN[K]) largest(row []K) int {
	vector := 8 // elements of TensorFlow's vectors, also of half precision
	if unsafe.Sizeof(K(0)) == 8 {
		vector = 4
	}
	whole, first := len(row)/vector*vector, 0
	for i, v := range row {
		t.step(i)
		if best := row[first]; v > best || best != best && v == v {
			first = i
		}
	}
	if !hasNaN(row[whole:]) {
		return first
	}
	first = 0
	for i, v := range row[:whole] {
		if best := row[first]; v > best || best != best && v == v {
			first = i
		}
	}
	found := whole > 0 && row[first] == row[first]
	last := row[whole]
	for i, v := range row[whole:] {
		if i == 0 || !(v < last) {
			last = v
		}
	}
	switch {
	case last != last:
		return 0
	case found && !(row[first] < last):
		return first
	}
	return slices.Index(row, last)
}

// sortKeys sorts the indices of a whole row as 64-bit keys. The upper half of a
// key orders the elements, the largest first; the lower half is
// the index. It returns false if the elements have too many bits or the row too
// many elements.
func (t *topN[K]) sortKeys(row []K) bool {
	if uint64(len(row)) > 1<<32 {
		return false
	}
	t.keys = t.keys[:0]
	switch row := any(row).(type) {
	case []float32:
		for i, v := range row {
			b := math.Float32bits(v + 0) // 0 for -0
			if b>>31 == 0 {
				b ^= 1<<31 - 1 // larger ones are less
			}
			t.keys = append(t.keys, uint64(b)<<32|uint64(uint32(i)))
		}
	case []int8:
		t.keys = intKeys(t.keys, row)
	case []int16:
		t.keys = intKeys(t.keys, row)
	case []int32:
		t.keys = intKeys(t.keys, row)
	case []uint8:
		t.keys = intKeys(t.keys, row)
	case []uint16:
		t.keys = intKeys(t.keys, row)
	case []uint32:
		t.keys = intKeys(t.keys, row)
	default:
		return false
	}
	t.sort()
	for _, key := range t.keys {
		t.heap = append(t.heap, int(uint32(key)))
	}
	return true
}

// sort sorts the keys: those of a long row by radix. The lower halves are in order already, so
// it starts with the upper ones.
func (t *topN[K]) sort() {
	const digit = 11
	if len(t.keys) < 1<<digit {
		slices.Sort(t.keys)
		return
	}
	if len(t.moved) < len(t.keys) {
		t.moved = make([]uint64, len(t.keys))
	}
	from, to := t.keys, t.moved[:len(t.keys)]
	for shift := 32; shift < 64; shift += digit {
		var next [1 << digit]int
		for i, key := range from {
			t.step(i)
			next[key>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range next {
			next[d] = sum
			sum += n
		}
		for i, key := range from {
			t.step(i)
			d := key >> shift & (1<<digit - 1)
			to[next[d]] = key
			next[d]++
		}
		from, to = to, from
	}
	t.keys, t.moved = from, to
}

func intKeys[T int8 | int16 | int32 | uint8 | uint16 | uint32](keys []uint64, row []T) []uint64 {
	largest := int64(math.MaxUint32)
	if minusOne := T(0) - 1; minusOne < 0 {
		largest = math.MaxInt32
	}
	for i, v := range row {
		keys = append(keys, uint64(largest-int64(v))<<32|uint64(uint32(i)))
	}
	return keys
}

// pop moves the first of n indices after the others.
func (t *topN[K]) pop(n int) {
	last := t.heap[n-1]
	t.heap[n-1] = t.heap[0]
	t.sift(0, n-1, last)
}

// sift fills the empty place of n indices: children move up until there are
// none, then index i moves up from there.
func (t *topN[K]) sift(hole, n, i int) {
	top, child := hole, hole
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if t.before(t.heap[child], t.heap[child-1]) {
			child--
		}
		t.heap[hole], hole = t.heap[child], child
	}
	if n%2 == 0 && child == (n-2)/2 {
		child = 2*child + 1
		t.heap[hole], hole = t.heap[child], child
	}
	t.rise(hole, top, i)
}

// rise puts index i into the empty place, or above it, at most at top.
func (t *topN[K]) rise(hole, top, i int) {
	for hole > top && t.before(t.heap[(hole-1)/2], i) {
		t.heap[hole] = t.heap[(hole-1)/2]
		hole = (hole - 1) / 2
	}
	t.heap[hole] = i
}
