package hdf5

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// The sizes of nodes of a file with superblock version 0, called K in the format. A node of a
// group's B-tree has up to 2·groupK children, one of a chunks' B-tree 2·chunkK. A node of a symbol
// table has up to 2·leafK links. They are the library's defaults; other numbers would change the
// bytes of written files, and readers expect this chunkK.
const (
	leafK  = 4
	groupK = 16
	chunkK = 32
)

// superblock0Size is the size of the superblock of version 0: 24 of signature, versions, sizes
// and flags, four addresses, the root's entry.
const superblock0Size = 24 + 4*8 + symbolEntrySize

// symbolEntrySize is the size of an entry of a symbol table with addresses of 8 bytes.
const symbolEntrySize = 2*8 + symbolSize

// A builder lays out a file: all structures first, which it keeps in memory, then the elements.
// Addresses of elements count from the end of the structures until that is known.
type builder struct {
	ctx   context.Context
	meta  []byte // the structures
	later []int  // places of addresses that the size of the structures is added to
	data  []dataPart
	size  uint64 // of all elements

	heapAt   int // the collection of the global heap that has space, 0 if there is none
	heapUsed int // bytes of the collection
	heapSize int
	heapNext uint16 // the number of the last object in the collection
}

// A dataPart is a run of bytes in the data: a dataset or one of its chunks.
type dataPart struct {
	d     *DatasetWriter
	ready []byte // the bytes, if they are known
	whole uint64 // how many there are
}

// build lays out the file.
func (w *Writer) build(ctx context.Context) (*builder, error) {
	b := &builder{ctx: ctx, meta: make([]byte, superblock0Size)}
	root, err := b.group(w.Root())
	if err != nil {
		return nil, err
	}
	start := uint64(len(b.meta))
	for _, at := range b.later {
		le.PutUint64(b.meta[at:], le.Uint64(b.meta[at:])+start)
	}
	s := append([]byte(nil), signature...)
	s = append(s, 0, 0, 0, 0, 0, 8, 8, 0)
	s = le.AppendUint16(s, leafK)
	s = le.AppendUint16(s, groupK)
	s = le.AppendUint32(s, 0)
	s = le.AppendUint64(s, 0)
	s = le.AppendUint64(s, undefined)
	s = le.AppendUint64(s, start+b.size)
	s = le.AppendUint64(s, undefined)
	s = root.symbol(s, 0)
	copy(b.meta, s)
	return b, nil
}

// place appends a structure and returns its address.
func (b *builder) place(s []byte) uint64 {
	addr := uint64(len(b.meta))
	b.meta = pad(append(b.meta, s...))
	return addr
}

// An entry is an object as its group has it.
type entry struct {
	header     uint64
	group      bool
	tree, heap uint64 // of a group
}

// symbol appends the entry of a symbol table, with the name at a place of the group's heap.
func (e *entry) symbol(b []byte, name uint64) []byte {
	b = le.AppendUint64(b, name)
	b = le.AppendUint64(b, e.header)
	if !e.group {
		return append(b, make([]byte, symbolSize)...)
	}
	b = le.AppendUint32(b, 1) // tree and heap are in the entry too
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, e.tree)
	return le.AppendUint64(b, e.heap)
}

// group lays out a group, after all that is in it.
func (b *builder) group(g *GroupWriter) (*entry, error) {
	type child struct {
		name string
		*entry
	}
	var children []child
	for _, name := range slices.Sorted(maps.Keys(g.groups)) {
		e, err := b.group(g.groups[name])
		if err != nil {
			return nil, err
		}
		children = append(children, child{name, e})
	}
	for _, name := range slices.Sorted(maps.Keys(g.datasets)) {
		e, err := b.dataset(g.datasets[name])
		if err != nil {
			return nil, err
		}
		children = append(children, child{name, e})
	}
	slices.SortFunc(children, func(x, y child) int { return cmp.Compare(x.name, y.name) })

	e := &entry{group: true}
	names := make([]byte, 8) // the empty name is at 0
	var nodes []treeEntry
	last := uint64(0) // offset of the previous link's name
	for len(children) > 0 {
		n := min(len(children), 2*leafK)
		node := append([]byte("SNOD"), 1, 0, byte(n), 0)
		left := last
		for _, c := range children[:n] {
			last = uint64(len(names))
			names = pad(append(append(names, c.name...), 0))
			node = c.symbol(node, last)
		}
		node = append(node, make([]byte, (2*leafK-n)*symbolEntrySize)...)
		nodes = append(nodes, treeEntry{le.AppendUint64(nil, left), le.AppendUint64(nil, last), b.place(node), false})
		children = children[n:]
	}
	e.tree = b.tree(treeOfGroup, groupK, 8, nodes)
	heap := append([]byte("HEAP"), 0, 0, 0, 0)
	heap = le.AppendUint64(heap, uint64(len(names)))
	heap = le.AppendUint64(heap, 1) // no free space
	heap = le.AppendUint64(heap, uint64(len(b.meta)+len(heap)+8))
	e.heap = b.place(append(heap, names...))

	h := &newHeader{}
	h.add(msgSymbolTable, 0, le.AppendUint64(le.AppendUint64(nil, e.tree), e.heap))
	var err error
	e.header, err = b.header(h, &g.objectWriter)
	return e, err
}

// A treeEntry is a child of a B-tree's node, between two keys.
type treeEntry struct {
	left, right []byte
	child       uint64
	later       bool // child counts from the end of the structures
}

// tree lays out a B-tree of version 1 over entries, and returns the address of its root. All
// nodes but the last of a level are full.
func (b *builder) tree(kind byte, k, keySize int, entries []treeEntry) uint64 {
	size := 8 + 2*8 + (2*k+1)*keySize + 2*k*8
	for level := 0; ; level++ {
		var parents []treeEntry
		first := uint64(len(b.meta))
		count := max(1, (len(entries)+2*k-1)/(2*k))
		for i := range count {
			in := entries[min(len(entries), i*2*k):min(len(entries), (i+1)*2*k)]
			node := append([]byte("TREE"), kind, byte(level))
			node = le.AppendUint16(node, uint16(len(in)))
			left, right := undefined, undefined
			if i > 0 {
				left = first + uint64((i-1)*size)
			}
			if i+1 < count {
				right = first + uint64((i+1)*size)
			}
			node = le.AppendUint64(le.AppendUint64(node, left), right)
			for _, e := range in {
				node = append(node, e.left...)
				if e.later {
					b.later = append(b.later, len(b.meta)+len(node))
				}
				node = le.AppendUint64(node, e.child)
			}
			if len(in) > 0 {
				node = append(node, in[len(in)-1].right...)
			}
			addr := b.place(append(node, make([]byte, size-len(node))...))
			if len(in) > 0 {
				parents = append(parents, treeEntry{in[0].left, in[len(in)-1].right, addr, false})
			}
		}
		if count == 1 {
			return first
		}
		entries = parents
	}
}

// A newHeader is an object header of version 1 that is being made.
type newHeader struct {
	count int // messages
	body  []byte
}

// maxMessage is the most bytes of a message: its size has 16 bits and is a multiple of 8.
const maxMessage = math.MaxUint16 &^ 7

// add appends a message.
func (h *newHeader) add(kind uint16, flags byte, body []byte) {
	body = pad(body)
	h.count++
	h.body = le.AppendUint16(h.body, kind)
	h.body = le.AppendUint16(h.body, uint16(len(body)))
	h.body = append(h.body, flags, 0, 0, 0)
	h.body = append(h.body, body...)
}

// header lays out a header, with the attributes of its object.
func (b *builder) header(h *newHeader, o *objectWriter) (uint64, error) {
	for _, a := range o.attributes {
		body, err := b.attribute(a)
		if err != nil {
			return 0, fmt.Errorf("hdf5: attribute %.300q: %w", a.name, at(o.path, err))
		}
		h.add(msgAttribute, 0, body)
	}
	if h.count > math.MaxUint16 {
		return 0, &UnsupportedError{o.path, "more than 65,535 attributes"}
	}
	s := []byte{1, 0}
	s = le.AppendUint16(s, uint16(h.count))
	s = le.AppendUint32(s, 1) // links to the object
	s = le.AppendUint32(s, uint32(len(h.body)))
	s = le.AppendUint32(s, 0)
	return b.place(append(s, h.body...)), nil
}

// attribute returns an attribute message: of version 1, or of version 3 if the name has letters
// beyond ASCII.
func (b *builder) attribute(a *newAttribute) ([]byte, error) {
	dtype, shape := tensor.Float32, tensor.Shape(nil)
	var data []byte
	size := 4
	if a.value != nil {
		dtype, shape = a.value.DType(), a.value.Shape()
		var err error
		if size, err = elementSize(dtype, &a.opts, a.value); err != nil {
			return nil, err
		}
		if n := uint64(a.value.Len()) * uint64(size); n > maxMessage {
			return nil, &UnsupportedError{Feature: fmt.Sprintf("attributes of more than %d bytes (got %d); divide it among several, as Keras does", maxMessage, n)}
		}
		data = b.elements(a.value, &a.opts, size)
	}
	typ, err := encodeType(nil, dtype, &a.opts, size)
	if err != nil {
		return nil, err
	}
	spc := encodeSpace(nil, shape, a.value == nil)
	name := append([]byte(a.name), 0)
	version, step := byte(1), pad
	if slices.ContainsFunc(name, func(c byte) bool { return c > 127 }) {
		version, step = 3, func(b []byte) []byte { return b }
	}
	m := []byte{version, 0}
	m = le.AppendUint16(m, uint16(len(name)))
	m = le.AppendUint16(m, uint16(len(typ)))
	m = le.AppendUint16(m, uint16(len(spc)))
	if version == 3 {
		m = append(m, 1) // the name is UTF-8
	}
	for _, part := range [][]byte{name, typ, spc} {
		m = append(m, step(part)...)
	}
	m = append(m, data...)
	if len(m) > maxMessage || len(name) > math.MaxUint16 {
		return nil, &UnsupportedError{Feature: fmt.Sprintf("attributes of more than %d bytes (got %d); divide it among several, as Keras does", maxMessage, len(m))}
	}
	return m, nil
}

// elements returns the bytes of elements as they are in the file, and puts strings in the heap.
func (b *builder) elements(t *tensor.Tensor, o *ValueOptions, size int) []byte {
	switch {
	case t.DType() != tensor.String:
		return toFile(t)
	case o.Text <= VariableASCII:
		out := make([]byte, 0, t.Len()*size)
		for _, s := range t.Strings() {
			addr, number := b.heapObject(s)
			out = le.AppendUint32(out, uint32(len(s)))
			out = le.AppendUint64(out, addr)
			out = le.AppendUint32(out, number)
		}
		return out
	}
	out := make([]byte, t.Len()*size)
	for i, s := range t.Strings() {
		copy(out[i*size:], s)
	}
	return out
}

// toFile returns the elements of a tensor in little-endian order; on most machines its own
// storage.
func toFile(t *tensor.Tensor) []byte {
	b := t.Bytes()
	if bigEndianHost {
		b = slices.Clone(b)
		swapBytes(b, t.DType().Swap())
	}
	return b
}

// Sizes of the global heap.
const (
	heapCollection = 4096  // of a collection, at least
	heapPrefix     = 8 + 8 // of a collection: 4 signature, 1 version, 3 reserved, 8 size
	heapObject     = 8 + 8 // before an object: 2 number, 2 links to it, 4 reserved, 8 size
)

// heapObject puts a string in the global heap. The empty string has no object.
func (b *builder) heapObject(s string) (addr uint64, number uint32) {
	if s == "" {
		return 0, 0
	}
	need := heapObject + (len(s)+7)&^7
	if b.heapAt == 0 || need > b.heapSize-b.heapUsed || b.heapNext == math.MaxUint16 {
		b.heapSize, b.heapUsed, b.heapNext = max(heapCollection, heapPrefix+need), heapPrefix, 0
		b.heapAt = len(b.meta)
		head := append([]byte("GCOL"), 1, 0, 0, 0)
		head = le.AppendUint64(head, uint64(b.heapSize))
		b.place(append(head, make([]byte, b.heapSize-len(head))...))
		b.freeHeap()
	}
	b.heapNext++
	at := b.meta[b.heapAt+b.heapUsed:]
	le.PutUint16(at, b.heapNext)
	le.PutUint16(at[2:], 0)
	le.PutUint64(at[8:], uint64(len(s)))
	copy(at[heapObject:], s)
	b.heapUsed += need
	b.freeHeap()
	return uint64(b.heapAt), uint32(b.heapNext)
}

// freeHeap describes the free space of the collection, if there is enough for a description.
func (b *builder) freeHeap() {
	if left := b.heapSize - b.heapUsed; left >= heapObject {
		le.PutUint64(b.meta[b.heapAt+b.heapUsed+8:], uint64(left))
	}
}

// dataset lays out a dataset: its header, and the place of its elements.
func (b *builder) dataset(d *DatasetWriter) (*entry, error) {
	size, err := elementSize(d.dtype, &d.opts.ValueOptions, d.value)
	if err != nil {
		return nil, at(d.path, err)
	}
	typ, err := encodeType(nil, d.dtype, &d.opts.ValueOptions, size)
	if err != nil {
		return nil, at(d.path, err)
	}
	s := space{shape: d.shape}
	bytes, err := s.bytes(size)
	if err != nil {
		return nil, at(d.path, err)
	}
	var ready []byte
	if d.dtype == tensor.String {
		ready = b.elements(d.value, &d.opts.ValueOptions, size)
	}
	h := &newHeader{}
	h.add(msgDataspace, 0, encodeSpace(nil, d.shape, false))
	h.add(msgDatatype, flagConstant, typ)
	// Version 2; when space is allocated, when the fill value is written, that it is the default.
	fill := []byte{2, 2, 2, 1, 0, 0, 0, 0}
	var lay []byte
	at := -1 // the place of an address in the layout
	if d.opts.Chunks == nil {
		lay, at = []byte{3, byte(contiguous)}, 2
		addr := b.size
		if bytes == 0 {
			addr, at = undefined, -1
		}
		lay = le.AppendUint64(le.AppendUint64(lay, addr), bytes)
		b.add(dataPart{d, ready, bytes})
	} else {
		fill[1] = 3
		tree, err := b.chunks(d, ready, size)
		if err != nil {
			return nil, err
		}
		lay = []byte{3, byte(chunked), byte(len(d.shape) + 1)}
		lay = le.AppendUint64(lay, tree)
		for _, n := range d.opts.Chunks {
			lay = le.AppendUint32(lay, uint32(n))
		}
		lay = le.AppendUint32(lay, uint32(size))
	}
	h.add(msgFill, flagConstant, fill)
	inHeader := len(h.body) + 8 // offset of the layout's body
	h.add(msgLayout, 0, lay)
	if d.opts.filtered() {
		h.add(msgFilters, flagConstant, encodeFilters(&d.opts, size))
	}
	header, err := b.header(h, &d.objectWriter)
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		b.later = append(b.later, int(header)+16+inHeader+at)
	}
	return &entry{header: header}, nil
}

// add appends a part to the data.
func (b *builder) add(p dataPart) {
	if p.whole > 0 {
		b.data = append(b.data, p)
		b.size += (p.whole + 7) &^ 7
	}
}

// encodeFilters returns a filter message of version 1.
func encodeFilters(o *DatasetOptions, size int) []byte {
	m := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	add := func(id uint16, name string, flags uint16, values ...uint32) {
		m[1]++
		text := pad(append([]byte(name), 0))
		m = le.AppendUint16(m, id)
		m = le.AppendUint16(m, uint16(len(text)))
		m = le.AppendUint16(m, flags)
		m = le.AppendUint16(m, uint16(len(values)))
		m = append(m, text...)
		for _, v := range values {
			m = le.AppendUint32(m, v)
		}
		m = pad(m)
	}
	if o.Shuffle {
		add(filterShuffle, "shuffle", 1, uint32(size))
	}
	if o.Gzip > 0 {
		add(filterGzip, "deflate", 1, uint32(o.Gzip))
	}
	if o.Fletcher32 {
		add(filterFletcher32, "fletcher32", 0)
	}
	return m
}
