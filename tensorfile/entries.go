package tensorfile

import (
	"iter"
	"slices"
	"strings"

	"github.com/maruel/natural"
)

// Entries are a store's entries, or some of them, sorted by name. Those of a bundle
// are decoded when they are asked for: an index can have millions, and decoded
// they take several times its memory.
type Entries struct {
	b       backend // nil: no entries
	numbers []int32 // the numbers of the entries in b, if partial
	partial bool    // the entries are those of numbers, not all
}

// Len returns the number of entries.
func (l Entries) Len() int {
	if l.partial {
		return len(l.numbers)
	}
	if l.b == nil {
		return 0
	}
	return l.b.len()
}

// At returns entry number i.
func (l Entries) At(i int) Entry {
	if l.partial {
		i = int(l.numbers[i])
	}
	return l.b.entry(i)
}

// All yields the entries in their order.
func (l Entries) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		if !l.partial && l.b != nil {
			l.b.all()(yield)
			return
		}
		for i := range l.Len() {
			if !yield(l.At(i)) {
				return
			}
		}
	}
}

// Keep returns the entries that keep reports true of.
func (l Entries) Keep(keep func(e Entry) bool) Entries {
	out := Entries{b: l.b, partial: true}
	i := 0
	for e := range l.All() {
		if keep(e) {
			n := int32(i)
			if l.partial {
				n = l.numbers[i]
			}
			out.numbers = append(out.numbers, n)
		}
		i++
	}
	return out
}

// listed are the entries of a format that has them all in memory.
type listed []Entry

func (l listed) len() int             { return len(l) }
func (l listed) entry(i int) Entry    { return l[i] }
func (l listed) all() iter.Seq[Entry] { return slices.Values(l) }

func (l listed) find(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(l, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return Entry{}, false
	}
	return l[i], true
}

// maxNatural is the number of entries up to which [Entries.Natural] sorts: sorting
// needs all names in memory. It may change.
const maxNatural = 100_000

// Natural returns the same entries in natural order: numbers in names are compared by
// their values, so layer_2 precedes layer_10. More than 100,000 entries keep the order
// of their bytes.
func (l Entries) Natural() Entries {
	n := l.Len()
	if n > maxNatural {
		return l
	}
	type named struct {
		name string
		at   int32
	}
	list := make([]named, 0, n)
	for e := range l.All() {
		at := int32(len(list))
		if l.partial {
			at = l.numbers[at]
		}
		list = append(list, named{Short(e.Name), at})
	}
	slices.SortStableFunc(list, func(a, b named) int { return natural.Compare(a.name, b.name) })
	out := Entries{b: l.b, partial: true, numbers: make([]int32, n)}
	for i, x := range list {
		out.numbers[i] = x.at
	}
	return out
}
