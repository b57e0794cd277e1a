package pb

import (
	"cmp"
	"slices"
)

// Packages savedmodel and internal/fingerprint hash the result of Canonical. Its bytes
// must stay: TensorFlow computes the same fingerprints of a SavedModel.

// Canonical brings a message into the form in which TensorFlow's C++ writes it
// deterministically, so that it can be hashed. The entries of every map are sorted by
// ascending keys; of entries with equal keys only the last stays. C++ drops the unknown
// fields of map entries, so they are dropped here too. Fields are written by their numbers
// in any case, unknown ones last.
//
// Messages inside that are encoded, to be decoded lazily, are decoded one at a time and
// encoded again. The memory in use is thus that of m and of the largest of them.
func Canonical(m Message) error { return m.canonical() }

// canonicalEntry is an entry of a map, which may have unknown fields.
type canonicalEntry[K cmp.Ordered, V any] interface {
	mapEntry[K, V]
	unknown() *[]byte
}

// canonicalEntries sorts the entries of a map, drops those that later ones replace, and
// drops their unknown fields. The list that it is called with may stay in use.
func canonicalEntries[E canonicalEntry[K, V], K cmp.Ordered, V any](list []E) []E {
	compare := func(a, b E) int {
		x, _ := a.entry()
		y, _ := b.entry()
		return cmp.Compare(x, y)
	}
	ascending := true
	for i, e := range list {
		*e.unknown() = nil
		ascending = ascending && (i == 0 || compare(list[i-1], e) < 0)
	}
	if ascending {
		return list
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, compare)
	out := sorted[:0]
	for i, e := range sorted {
		if i+1 == len(sorted) || compare(e, sorted[i+1]) != 0 {
			out = append(out, e)
		}
	}
	return out
}

// canonical brings the message into its canonical form and encodes it.
func (l *Lazy[M]) canonical() error {
	switch {
	case l == nil || l.sorted:
		return nil
	case l.message != nil:
		return any(l.message).(Message).canonical()
	}
	m, err := l.Get()
	if err != nil {
		return err
	}
	c, err := CanonicalOf(m)
	if err == nil {
		*l = c
	}
	return err
}

// CanonicalOf returns the canonical form of m as a lazy message, which is encoded.
func CanonicalOf[M any](m *M) (Lazy[M], error) {
	message := any(m).(Message)
	if err := message.canonical(); err != nil {
		return Lazy[M]{}, err
	}
	return Lazy[M]{encoded: message.Marshal(), sorted: true}, nil
}
