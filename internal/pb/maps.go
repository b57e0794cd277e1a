package pb

import (
	"cmp"
	"slices"
)

// mapEntry is an entry of a map. Maps are lists of entries in the order of the
// file, so that a message that was read is written unchanged.
type mapEntry[K cmp.Ordered, V any] interface{ entry() (K, V) }

// Lookup finds a key's value. If a file has a key twice, the last entry counts,
// as in protobuf.
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
// saved_model.pb, that of Python's deterministic encoder: numbers descend,
// strings ascend but for one that begins with another, which comes before it
// ("seed2", "seed"). The deterministic encoder of C++ has a plain ascending
// order.
func SortEntries[E mapEntry[K, V], K cmp.Ordered, V any](entries []E) {
	slices.SortStableFunc(entries, func(a, b E) int {
		ka, _ := a.entry()
		kb, _ := b.entry()
		if s, ok := any(ka).(string); ok {
			return compareNames(s, any(kb).(string))
		}
		return cmp.Compare(kb, ka)
	})
}

// compareNames returns the order of strings in which the end of one is greater
// than any byte.
func compareNames(a, b string) int {
	n := min(len(a), len(b))
	if c := cmp.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return cmp.Compare(len(b), len(a))
}
