package hdf5

import "fmt"

// The kinds of B-trees of version 1, by their number in the file.
const (
	treeOfGroup  = 0
	treeOfChunks = 1
)

// A walk1 visits the entries of all leaves of a B-tree of version 1, from left to
// right. A node has n entries between n+1 keys.
type walk1 struct {
	f       *File
	m       *meter
	kind    uint8           // treeOfGroup or treeOfChunks
	keySize int             // bytes
	seen    map[uint64]bool // the nodes that it has visited
	// leaf gets the key before an entry of a leaf, the key after it, and the entry's address.
	leaf func(before, after *cursor, child uint64) error
}

// node visits the node at an address, whose level must be level, or any if level is negative.
// Leaves have level 0.
func (w *walk1) node(addr uint64, level int) error {
	f, what := w.f, "a B-tree's node"
	if w.seen[addr] {
		return &CorruptError{Offset: f.base + int64(addr), What: "a B-tree leads to a node twice"}
	}
	w.seen[addr] = true
	prefix := 8 + 2*f.offsetSize // bytes: signature, kind, level, number of entries, the siblings' addresses
	b, err := f.read(w.m, addr, uint64(prefix), what)
	if err != nil {
		return err
	}
	c := f.cursor(b, addr)
	ok := c.signature("TREE")
	kind, got, n := c.u8(), int(c.u8()), int(c.u16())
	switch {
	case !ok || kind != w.kind:
		return &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("no node of a B-tree of kind %d", w.kind)}
	case level >= 0 && got != level:
		return &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf("a B-tree's node is at the wrong level (got %d, want %d)", got, level)}
	}
	entry := w.keySize + f.offsetSize
	start := addr + uint64(prefix)
	if b, err = f.read(w.m, start, uint64(n*entry+w.keySize), what); err != nil {
		return err
	}
	for i := range n {
		key := func(i int) *cursor {
			return f.cursor(b[i*entry:i*entry+w.keySize], start+uint64(i*entry))
		}
		at := i*entry + w.keySize
		child := f.cursor(b[at:at+f.offsetSize], start+uint64(at)).addr()
		if got > 0 {
			err = w.node(child, got-1)
		} else {
			err = w.leaf(key(i), key(i+1), child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
