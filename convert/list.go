package convert

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensorfile"
)

// A list has the items to write, in their order. If nothing changes it is the numbers
// of a store's entries, four bytes each, because a checkpoint can have millions. An
// item is made when its turn comes.
type list struct {
	s     *tensorfile.File
	order []int32 // nil: items
	items []item

	bySource, byName map[string]int32 // of items, once asked for
}

// listOf returns all that s holds, in the order in which a rewritten checkpoint
// should hold it: that of the source's data files, or by name.
func listOf(s *tensorfile.File) (*list, error) {
	l := &list{s: s, order: make([]int32, s.Entries().Len())}
	for i := range l.order {
		l.order[i] = int32(i)
	}
	r := s.Bundle()
	if r == nil || r.Version() != 2 {
		return l, nil
	}
	type place struct {
		offset, bytes int64
		shard, n      int32
	}
	places := make([]place, 0, len(l.order))
	for i := range l.order {
		e, err := placed(s, i)
		if err != nil {
			return nil, err
		}
		places = append(places, place{e.Offset, e.Bytes, int32(e.Shard), int32(i)})
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.offset, b.offset), cmp.Compare(a.bytes, b.bytes))
	})
	for i, p := range places {
		l.order[i] = p.n
	}
	return l, nil
}

// placed returns entry number n of s. A tensor in slices gets the place of its first slice.
func placed(s *tensorfile.File, n int) (tensorfile.Entry, error) {
	e := s.Entries().At(n)
	if r := s.Bundle(); r != nil && len(e.Slices) > 0 {
		parts, err := r.Parts(e.Name)
		if err != nil {
			return e, err
		}
		if len(parts) > 0 {
			e.Shard, e.Offset = parts[0].Shard, parts[0].Offset
		}
	}
	return e, nil
}

// items returns all that [listOf] lists, to be changed.
func items(s *tensorfile.File) ([]item, error) {
	l, err := listOf(s)
	if err != nil {
		return nil, err
	}
	return slices.AppendSeq(make([]item, 0, l.len()), l.all()), nil
}

func (l *list) len() int {
	if l.order != nil {
		return len(l.order)
	}
	return len(l.items)
}

func (l *list) at(i int) item {
	if l.order == nil {
		return l.items[i]
	}
	return l.unchanged(int(l.order[i]))
}

// unchanged returns entry number n of the store, to be written as it is.
func (l *list) unchanged(n int) item {
	e, _ := placed(l.s, n) // an entry whose parts can't be listed was refused by listOf
	return item{entry: &e, name: e.Name, dtype: e.DType, bytes: e.Bytes}
}

// all yields the items.
func (l *list) all() iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := range l.len() {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}

// sorted puts the items into the order of their names in the destination.
func (l *list) sorted() {
	if l.order != nil {
		slices.Sort(l.order)
		return
	}
	slices.SortFunc(l.items, func(a, b item) int { return strings.Compare(a.name, b.name) })
}

// from returns the item of a tensor of the source.
func (l *list) from(name string) (item, bool) {
	return l.find(&l.bySource, name, func(i item) string { return i.from() })
}

// named returns the item that has a name in the destination.
func (l *list) named(name string) (item, bool) {
	return l.find(&l.byName, name, func(i item) string { return i.name })
}

// find looks an item up by its key, in a table that the first call makes. If nothing changes, both names are equal and
// the store looks it up.
func (l *list) find(table *map[string]int32, name string, key func(item) string) (item, bool) {
	if l.order != nil {
		e, err := l.s.Entry(name)
		return item{entry: &e, name: e.Name, dtype: e.DType, bytes: e.Bytes}, err == nil
	}
	if *table == nil {
		*table = make(map[string]int32, len(l.items))
		for n, i := range l.items {
			(*table)[key(i)] = int32(n)
		}
	}
	n, ok := (*table)[name]
	if !ok {
		return item{}, false
	}
	return l.items[n], true
}
