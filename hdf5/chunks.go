package hdf5

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// A chunk is a tile of a dataset in the file.
type chunk struct {
	number uint64 // among the chunks that the shape has, in row-major order
	addr   uint64
	size   uint64 // bytes in the file
	mask   uint32 // the filters that it skipped, a bit each
}

// chunkMemory is the memory of a chunk besides its bytes.
const chunkMemory = 32

// A grid numbers the chunks of a dataset.
type grid struct {
	counts []uint64 // how many chunks the shape has along each dimension
	most   []uint64 // how many it may have; undefined if that has no limit
	total  uint64
}

func (d *Dataset) grid() (*grid, error) {
	g := &grid{total: 1}
	for i, n := range d.space.shape {
		size := d.layout.chunk[i]
		count := uint64(n) / size
		if uint64(n)%size != 0 {
			count++
		}
		most := d.space.most[i]
		if most != undefined {
			rest := most % size
			if most /= size; rest != 0 {
				most++
			}
		}
		g.counts, g.most = append(g.counts, count), append(g.most, most)
		over, total := bits.Mul64(g.total, count)
		if over != 0 {
			return nil, &CorruptError{What: "the dataset has too many chunks"}
		}
		g.total = total
	}
	return g, nil
}

// number returns the number of the chunk with those coordinates, and whether it is in the shape.
func (g *grid) number(at []uint64) (uint64, bool) {
	n := uint64(0)
	for i, x := range at {
		if x >= g.counts[i] {
			return 0, false
		}
		n = n*g.counts[i] + x
	}
	return n, true
}

// at sets the coordinates of a chunk by its number.
func (g *grid) at(number uint64, coords []uint64) {
	for i := len(coords) - 1; i >= 0; i-- {
		coords[i] = number % g.counts[i]
		number /= g.counts[i]
	}
}

// chunks lists the chunks of the dataset that are in the file and in its shape, by number.
func (d *Dataset) chunks(m *meter, g *grid) ([]chunk, error) {
	var list []chunk
	add := func(k chunk, coords []uint64) error {
		n, ok := g.number(coords)
		if !ok || k.addr == undefined {
			return nil // the dataset was larger once, or the chunk is not there
		}
		k.number = n
		list = append(list, k)
		return m.take(chunkMemory, "the list of chunks")
	}
	if err := d.index(m, g, add); err != nil {
		return nil, err
	}
	byNumber := func(a, b chunk) int { return cmp.Compare(a.number, b.number) }
	if !slices.IsSortedFunc(list, byNumber) {
		slices.SortFunc(list, byNumber)
	}
	stored := uint64(0)
	for i, k := range list {
		if i > 0 && list[i-1].number == k.number {
			return nil, &CorruptError{Offset: d.f.base + int64(k.addr), What: "the dataset has a chunk twice"}
		}
		if err := d.f.inside(k.addr, k.size, "a chunk"); err != nil {
			return nil, err
		}
		if stored += k.size; stored > d.f.size {
			return nil, &CorruptError{Offset: d.f.base + int64(k.addr), What: "the dataset's chunks together are larger than the file"}
		}
	}
	return list, nil
}

// index calls add for each chunk of the dataset's index, which may be outside of the shape or
// have no address.
func (d *Dataset) index(m *meter, g *grid, add func(k chunk, coords []uint64) error) error {
	l := &d.layout
	if l.addr == undefined || g.total == 0 {
		return nil
	}
	rank := len(l.chunk)
	coords := make([]uint64, rank)
	plain := chunk{size: l.chunkSize}
	switch l.index {
	case indexTree1:
		return d.indexTree1(m, add, coords)
	case indexSingle:
		k := plain
		k.addr = l.addr
		if l.single {
			k.size, k.mask = l.storedSize, l.mask
		}
		return add(k, coords)
	case indexImplicit:
		return d.indexImplicit(g, add, coords)
	case indexFixed:
		return d.fixedArray(m, g, add)
	case indexExtensible:
		return d.extensibleArray(m, g, add)
	}
	kind := uint8(recordsOfChunks)
	if len(d.filters) > 0 {
		kind = recordsOfFilters
	}
	return d.f.tree2(m, l.addr, kind, func(c *cursor) error {
		k := plain
		n := c.Len() - 8*rank
		k.addr = c.addr()
		if kind == recordsOfFilters {
			n -= d.f.offsetSize + 4
			if n < 1 || n > 8 {
				return &CorruptError{Offset: c.Offset(), What: "a record of a chunk has an impossible size"}
			}
			k.size, k.mask = c.uint(n), c.u32()
		}
		for i := range coords {
			coords[i] = c.u64()
		}
		if err := c.err(); err != nil {
			return err
		}
		return add(k, coords)
	})
}

func (d *Dataset) indexTree1(m *meter, add func(k chunk, coords []uint64) error, coords []uint64) error {
	w := &walk1{f: d.f, m: m, kind: treeOfChunks, keySize: 4 + 4 + 8*(len(coords)+1), seen: map[uint64]bool{}}
	w.leaf = func(key, _ *cursor, addr uint64) error {
		k := chunk{addr: addr, size: uint64(key.u32()), mask: key.u32()}
		for i := range coords {
			at := key.u64()
			if at%d.layout.chunk[i] != 0 {
				return &CorruptError{Offset: key.Offset(), What: fmt.Sprintf("a chunk begins at %d, and its size is %d", at, d.layout.chunk[i])}
			}
			coords[i] = at / d.layout.chunk[i]
		}
		if len(d.filters) == 0 && k.size != d.layout.chunkSize {
			return &CorruptError{Offset: key.Offset(), What: fmt.Sprintf("a chunk of %d bytes (want %d)", k.size, d.layout.chunkSize)}
		}
		return add(k, coords)
	}
	return w.node(d.layout.addr, -1)
}

// indexImplicit lists chunks that follow each other in the order of their numbers.
func (d *Dataset) indexImplicit(g *grid, add func(k chunk, coords []uint64) error, coords []uint64) error {
	size := d.layout.chunkSize
	for n := range g.total {
		g.at(n, coords)
		// The numbers in the file are those of the largest shape.
		number := uint64(0)
		for i, x := range coords {
			number = number*g.most[i] + x
		}
		over, offset := bits.Mul64(number, size)
		if over != 0 || offset > d.f.size {
			return &CorruptError{Offset: d.f.base + int64(d.layout.addr), What: "the dataset's chunks are beyond the file's end"}
		}
		if err := add(chunk{addr: d.layout.addr + offset, size: size}, coords); err != nil {
			return err
		}
	}
	return nil
}

// An arrayElement decodes the elements of fixed and extensible arrays: chunks.
type arrayElement struct {
	d        *Dataset
	filtered bool // chunks went through filters
	size     int  // bytes of an element
	g        *grid
	order    []int    // the dimensions in the order in which the array counts
	counts   []uint64 // how many chunks there may be along them
	coords   []uint64 // of the current chunk
	add      func(k chunk, coords []uint64) error
}

// element returns a decoder of the elements of an array. Their description in the array's
// header must fit the dataset.
func (d *Dataset) element(g *grid, client, size uint8, unlimited int, add func(chunk, []uint64) error) (*arrayElement, error) {
	e := &arrayElement{d: d, filtered: len(d.filters) > 0, size: int(size), g: g, add: add, coords: make([]uint64, len(g.counts))}
	least := d.f.offsetSize
	if e.filtered {
		least += 4 + 1
	}
	if (client == 1) != e.filtered || client > 1 || e.size < least || e.size > least+7 || !e.filtered && e.size != least {
		return nil, &CorruptError{Offset: d.f.base + int64(d.layout.addr), What: "an array of chunks doesn't fit the dataset"}
	}
	if unlimited >= 0 { // it counts slowest
		e.order = append(e.order, unlimited)
	}
	for i := range g.counts {
		if i != unlimited {
			e.order = append(e.order, i)
		}
	}
	for _, i := range e.order {
		e.counts = append(e.counts, g.most[i])
	}
	return e, nil
}

// take decodes n elements, of which the first has the given index.
func (e *arrayElement) take(c *cursor, index, n uint64) error {
	for i := range n {
		k := chunk{addr: c.addr(), size: e.d.layout.chunkSize}
		if e.filtered {
			k.size = c.uint(e.size - e.d.f.offsetSize - 4)
			k.mask = c.u32()
		}
		if err := c.err(); err != nil {
			return err
		}
		if k.addr == undefined {
			continue
		}
		rest := index + i
		for j := len(e.order) - 1; j > 0; j-- {
			e.coords[e.order[j]] = rest % e.counts[j]
			rest /= e.counts[j]
		}
		e.coords[e.order[0]] = rest
		if err := e.add(k, e.coords); err != nil {
			return err
		}
	}
	return nil
}
