package bundle

import (
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// keyOrder has a key's number in the caller's list, and the 8 bytes of the key that decide
// most comparisons. The order must be that of the keys' bytes, since an index is sorted so.
type keyOrder struct {
	head uint64 // the 8 bytes after the common beginning, big-endian, with zeros after a key's end; 0 for a key with another beginning
	n    int32
	side int8 // -1 or 1 if the key's beginning is less or more than the common one, 0 if it is that one
}

// sortBatch is how many keys each of two workers sorts at least.
const sortBatch = 4096

// sortedKeys returns the numbers of n keys in the order of the keys, for entryTable.write. Keys of a
// large checkpoint are scattered in memory and mostly begin alike, so comparing
// them is slow. Therefore it compares the bytes after the common beginning first.
func sortedKeys(n int, key func(i int) string) []keyOrder {
	order := make([]keyOrder, n)
	shared := ""
	if n > 0 {
		shared = sharedStart(sharedStart(key(n/4), key(n/2)), key(3*n/4))
	}
	for i := range order {
		order[i].n = int32(i)
		if rest, ok := strings.CutPrefix(key(i), shared); ok {
			var head [8]byte
			copy(head[:], rest)
			order[i].head = binary.BigEndian.Uint64(head[:])
		} else {
			order[i].side = int8(strings.Compare(key(i), shared))
		}
	}
	compare := func(a, b keyOrder) int {
		switch {
		case a.side != b.side:
			return cmp.Compare(a.side, b.side)
		case a.head != b.head:
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(key(int(a.n)), key(int(b.n)))
	}
	if n < 2*sortBatch || runtime.GOMAXPROCS(0) == 1 {
		slices.SortFunc(order, compare)
		return order
	}
	a, b := order[:n/2], order[n/2:]
	var wg sync.WaitGroup
	wg.Go(func() { slices.SortFunc(a, compare) })
	slices.SortFunc(b, compare)
	wg.Wait()
	merged := make([]keyOrder, 0, n)
	for len(a) > 0 && len(b) > 0 {
		from := &a
		if compare(b[0], a[0]) < 0 {
			from = &b
		}
		merged = append(merged, (*from)[0])
		*from = (*from)[1:]
	}
	return append(append(merged, a...), b...)
}

// sharedStart returns the common prefix of two keys.
func sharedStart(a, b string) string {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return a[:i]
		}
	}
	return a[:n]
}
