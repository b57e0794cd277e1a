package bundle

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"github.com/cairnml/cairn/internal/cores"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/scratch"
)

// A place is the location of a record's bytes.
type place struct {
	off, size int64  // bytes, in the data file shard
	crc       uint32 // CRC-32C of the bytes, not masked
	shard     int32  // noPlace for a tensor stored in slices
	kind      uint16 // the number of the record's kind; 0 if its entry must be decoded

	// Offset of the entry in the index file, in 48 bits, which fit into padding.
	atHigh uint16
	atLow  uint32
}

// at returns the offset of the entry in the index file.
func (p *place) at() int64 { return int64(p.atHigh)<<32 | int64(p.atLow) }

// standsAt sets the offset of the entry in the index file.
func (p *place) standsAt(offset int64) { p.atHigh, p.atLow = uint16(offset>>32), uint32(offset) }

// location returns the place as an entry's location.
func (p *place) location() location {
	return location{shard: int(p.shard), offset: p.off, size: p.size, crc: crc32c.Mask(p.crc)}
}

// noPlace is the data file of a tensor that isn't in one piece.
const noPlace = -1

// placeOf returns the location of an entry's bytes, or nil for a tensor stored
// in slices.
func (x *index) placeOf(i int) *place {
	if p := &x.at(i).place; p.shard != noPlace {
		return p
	}
	return nil
}

// piece returns the piece at a place whose entry is of that kind.
func (p *place) piece(k *kind) piece {
	return piece{off: p.off, size: p.size, elems: k.elems, dtype: k.dtype, shard: p.shard, crc: p.crc}
}

// placeBits describe all places of an index: byPlace sorts by the bits in which they differ.
type placeBits struct {
	ones, zeros uint64 // the bits of from that are one, and that are zero, in any place
	shards      uint64 // the bits that are one in the number of any data file
	apart       int    // how many entries have no place
}

// note adds the bits of a place.
func (b *placeBits) note(p *place) {
	if p.shard == noPlace {
		b.apart++
		return
	}
	from := p.from()
	b.ones, b.zeros, b.shards = b.ones|from, b.zeros|^from, b.shards|uint64(p.shard)
}

// add includes the bits of other places.
func (b *placeBits) add(more placeBits) {
	b.ones, b.zeros, b.shards, b.apart = b.ones|more.ones, b.zeros|more.zeros, b.shards|more.shards, b.apart+more.apart
}

// sortShare is the number of places for which eachPart uses one more worker. It may change.
const sortShare = 1 << 14

// eachPart calls f with ranges of n places, in parallel goroutines, and returns the
// error of the first faulty range.
func eachPart(n int, f func(from, to int) error) error {
	errs := make([]error, max(1, min(runtime.GOMAXPROCS(0), n/sortShare)))
	cores.Each(len(errs), func(i int) { errs[i] = f(i*n/len(errs), (i+1)*n/len(errs)) })
	return cmp.Or(errs...)
}

// sortPlaces finds the order of the places, and the position of each entry in it.
// It refuses entries whose bytes overlap: no writer produces them. It doesn't change
// the index. file is the name for errors.
func (x *index) sortPlaces(file string) (order, rank []int32, err error) {
	order, rank = x.byPlace(), make([]int32, x.n)
	for i := range x.sliced {
		rank[i] = -1
	}
	err = eachPart(len(order), func(from, to int) error {
		var a *indexEntry
		for at := from - 1; at >= 0 && a == nil; at-- { // the last one before that has bytes
			if e := x.at(int(order[at])); e.size > 0 {
				a = e
			}
		}
		for at := from; at < to; at++ {
			i := order[at]
			b := x.at(int(i))
			rank[i] = int32(at)
			if b.size == 0 {
				continue
			}
			if a != nil && a.shard == b.shard && b.off < a.off+a.size {
				return &CorruptError{File: file, Offset: b.at(), Name: b.name(), What: fmt.Sprintf("its bytes at offset %d of data file %d overlap those of %q at %d", b.off, b.shard, a.name(), a.off)}
			}
			a = b
		}
		return nil
	})
	return order, rank, err
}

// comparePlaces orders places by data file and offset, those of no bytes first.
func comparePlaces(a, b *place) int {
	return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.from(), b.from()))
}

// from returns a number that orders places in a data file.
func (p *place) from() uint64 { return uint64(p.off)<<1 | uint64(min(p.size, 1)) }

// numberLists are the working lists of byPlace.
var numberLists scratch.Pool[uint64]

// byPlace returns the entries in the order of their places, equal ones in the order of the index.
func (x *index) byPlace() []int32 {
	order := make([]int32, x.n-x.bits.apart)
	// An index has its entries in the order of their names, of which "10" comes
	// before "2". Numbers are sorted several times as fast as entries: the data file,
	// then the bits in which offsets differ, then the entry.
	differ := x.bits.ones & x.bits.zeros
	offset, entry := bits.Len64(differ), bits.Len(uint(x.n))
	shift := min(bits.TrailingZeros64(differ), offset)
	offset -= shift
	if bits.Len64(x.bits.shards)+offset+entry > 64 {
		at := 0
		for i := range x.n {
			if x.placeOf(i) != nil {
				order[at] = int32(i)
				at++
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int { return comparePlaces(&x.at(int(a)).place, &x.at(int(b)).place) })
		return order
	}
	list, spare := numberLists.Get(), numberLists.Get()
	defer numberLists.Put(list)
	defer numberLists.Put(spare)
	numbers := scratch.Of(list, len(order))
	fill := func(from, to, at int) {
		for i := from; i < to; i++ {
			if p := &x.at(i).place; p.shard != noPlace {
				numbers[at] = (uint64(p.shard)<<offset|p.from()>>shift&(1<<offset-1))<<entry | uint64(i)
				at++
			}
		}
	}
	if x.bits.apart > 0 {
		fill(0, x.n, 0)
	} else {
		_ = eachPart(x.n, func(from, to int) error { fill(from, to, from); return nil })
	}
	for at, number := range sortNumbers(numbers, entry, spare) {
		order[at] = int32(number & (1<<entry - 1))
	}
	return order
}

// sortNumbers sorts numbers. In the list, numbers that differ only in their lowest bits, as many as
// lowest says, must already be in order. It returns the numbers in their own memory, or in that of more.
func sortNumbers(list []uint64, lowest int, more *[]uint64) []uint64 {
	const few = 1 << 10
	if len(list) < few {
		slices.Sort(list)
		return list
	}
	if slices.IsSorted(list) {
		return list
	}
	// By digits, the last ones first: comparing takes several times as long.
	const digit = 11
	highest := slices.Max(list)
	spare := scratch.Of(more, len(list))
	for shift := lowest; shift < 64 && highest>>shift > 0; shift += digit {
		var starts [1<<digit + 1]int32
		for _, n := range list {
			starts[n>>shift&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			starts[d+1] += starts[d]
		}
		for _, n := range list {
			d := n >> shift & (1<<digit - 1)
			spare[starts[d]] = n
			starts[d]++
		}
		list, spare = spare, list
	}
	return list
}
