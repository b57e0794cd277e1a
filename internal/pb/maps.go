package pb

import (
	"cmp"
	"slices"
)

// mapEntry is an entry of a map. Maps are lists of entries in the order of the
// file, so that what was read is written as it was.
type mapEntry[K cmp.Ordered, V any] interface{ entry() (K, V) }

// Lookup finds a key's value. Where a file has a key twice, the last entry
// counts, as protobuf has it.
func Lookup[E mapEntry[K, V], K cmp.Ordered, V any](entries []E, key K) (V, bool) {
	for _, e := range slices.Backward(entries) {
		if k, v := e.entry(); k == key {
			return v, true
		}
	}
	var zero V
	return zero, false
}

// SortEntries sorts a map by key in the order in which TensorFlow writes
// saved_model.pb: Python's deterministic encoder puts strings in ascending
// order, numbers in descending order.
func SortEntries[E mapEntry[K, V], K cmp.Ordered, V any](entries []E) {
	var zero K
	_, ascending := any(zero).(string)
	slices.SortStableFunc(entries, func(a, b E) int {
		ka, _ := a.entry()
		kb, _ := b.entry()
		if ascending {
			return cmp.Compare(ka, kb)
		}
		return cmp.Compare(kb, ka)
	})
}
