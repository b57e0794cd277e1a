package bundle

import (
	"cmp"
	"fmt"
	"slices"
)

// A place is where a record's bytes lie.
type place struct {
	off, size    int64
	shard, entry int32
	crc          uint32
	kind         uint16 // the number of the record's kind; 0 where its entry must be decoded
}

// placeOf returns where the bytes of an entry lie, nil for a tensor stored in
// slices.
func (x *index) placeOf(i int) *place {
	if at := x.rank[i]; at >= 0 {
		return &x.places[at]
	}
	return nil
}

// piece returns what lies at a place whose entry is of that kind.
func (p *place) piece(k *kind) piece {
	return piece{off: p.off, size: p.size, elems: k.elems, dtype: k.dtype, shard: p.shard, crc: p.crc}
}

// sortPlaces finds the order of the places, of which list has those of all tensors
// and slices that lie in one piece. It refuses entries whose bytes overlap: no
// writer makes them.
func (x *index) sortPlaces(file string, list []place) error {
	list = byPlace(list)
	x.places, x.rank = list, make([]int32, x.n)
	for i := range x.sliced {
		x.rank[i] = -1
	}
	var a *place
	for i := range list {
		b := &list[i]
		x.rank[b.entry] = int32(i)
		if b.size == 0 {
			continue
		}
		if a != nil && a.shard == b.shard && b.off < a.off+a.size {
			p, q := x.at(int(a.entry)), x.at(int(b.entry))
			return &CorruptError{File: file, Offset: q.at, Name: q.key, What: fmt.Sprintf("its bytes at offset %d of data file %d overlap those of %q at %d", b.off, b.shard, p.key, a.off)}
		}
		a = b
	}
	return nil
}

// comparePlaces orders places by data file, offset and number of entry, those of
// no bytes first.
func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.off, b.off), cmp.Compare(min(a.size, 1), min(b.size, 1)), cmp.Compare(a.entry, b.entry))
}

// byPlace sorts places, which come in the order of their entries.
func byPlace(list []place) []place {
	const few = 1 << 10
	if len(list) < few {
		slices.SortFunc(list, comparePlaces)
		return list
	}
	// An index has its entries in the order of their names, of which "10" comes
	// before "2". Comparing takes several times as long as this does: sorting by
	// digits, the last ones first.
	list, spare := sortDigits(list, nil, func(p *place) uint64 { return uint64(min(p.size, 1)) })
	list, spare = sortDigits(list, spare, func(p *place) uint64 { return uint64(p.off) })
	list, _ = sortDigits(list, spare, func(p *place) uint64 { return uint64(p.shard) })
	return list
}

// sortDigits sorts places by a number; equal ones keep their order. It returns
// the list, and the memory that is to spare then, nil as long as none was needed.
func sortDigits(list, spare []place, number func(*place) uint64) (sorted, rest []place) {
	const bits = 11
	highest, ordered := uint64(0), true
	for i := range list {
		n := number(&list[i])
		ordered = ordered && n >= highest
		highest = max(highest, n)
	}
	if ordered {
		return list, spare
	}
	if spare == nil {
		spare = make([]place, len(list))
	}
	for shift := 0; shift < 64 && highest>>shift > 0; shift += bits {
		var starts [1<<bits + 1]int32
		for i := range list {
			starts[number(&list[i])>>shift&(1<<bits-1)+1]++
		}
		for d := range 1 << bits {
			starts[d+1] += starts[d]
		}
		for i := range list {
			d := number(&list[i]) >> shift & (1<<bits - 1)
			spare[starts[d]] = list[i]
			starts[d]++
		}
		list, spare = spare, list
	}
	return list, spare
}
