package hdf5

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// LinkKind is the kind of a link's target.
type LinkKind uint8

// The kinds of links.
const (
	HardLink     LinkKind = iota // an object of the file
	SoftLink                     // a path in the file
	ExternalLink                 // a path in another file
)

// A Link is a name in a group.
type Link struct {
	Name string
	Kind LinkKind
	// Target is the path that a soft or an external link leads to. This package follows
	// neither.
	Target string

	addr uint64 // of a hard link's object
}

// links are the links of a group, sorted by name.
type links struct{ list []Link }

// linkSize is the approximate memory of a link besides its name.
const linkSize = 64

// linksOf returns the links of the group with a header.
func (f *File) linksOf(m *meter, h *header) (*links, error) {
	f.mu.Lock()
	l := f.groups[h.addr]
	f.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l = &links{}
	size := uint64(0)
	add := func(k Link) error {
		if k.Name == "" || k.Name == "." || strings.ContainsAny(k.Name, "/\x00") {
			return &CorruptError{Offset: f.base + int64(h.addr), What: fmt.Sprintf("a link with the name %.300q", k.Name)}
		}
		l.list = append(l.list, k)
		size += uint64(linkSize + len(k.Name) + len(k.Target))
		return m.take(linkSize, "the links of a group")
	}
	if err := f.readLinks(m, h, add); err != nil {
		return nil, err
	}
	slices.SortFunc(l.list, func(a, b Link) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(l.list); i++ {
		if l.list[i-1].Name == l.list[i].Name {
			return nil, &CorruptError{Offset: f.base + int64(h.addr), What: fmt.Sprintf("two links have the name %.300q", l.list[i].Name)}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.groups[h.addr] == nil {
		if err := f.kept.take(size, "the links of all groups"); err != nil {
			return nil, err
		}
		f.groups[h.addr] = l
	}
	return l, nil
}

// readLinks calls add for each link of the group with a header.
func (f *File) readLinks(m *meter, h *header, add func(Link) error) error {
	if msg := h.find(msgSymbolTable); msg != nil {
		return f.symbols(m, *msg, add)
	}
	for i := range h.messages {
		if h.messages[i].kind != msgLink {
			continue
		}
		k, err := f.link(h.messages[i])
		if err != nil {
			return err
		}
		if err := add(k); err != nil {
			return err
		}
	}
	msg := h.find(msgLinkInfo)
	if msg == nil {
		return nil
	}
	c := f.cursor(msg.body, msg.addr)
	version, flags := c.u8(), c.u8()
	if flags&1 != 0 {
		c.skip(8) // the largest number of creation
	}
	heap, names := c.addr(), c.addr()
	if err := c.err(); err != nil {
		return err
	}
	if version != 0 {
		return &UnsupportedError{Feature: fmt.Sprintf("links of version %d", version)}
	}
	if heap == undefined {
		return nil
	}
	return f.dense(m, heap, names, recordsOfNames, func(b []byte, addr uint64) error {
		k, err := f.link(message{kind: msgLink, body: b, addr: addr})
		if err != nil {
			return err
		}
		return add(k)
	})
}

// dense calls each for every object of a fractal heap that a B-tree of names lists.
func (f *File) dense(m *meter, heap, names uint64, kind uint8, each func(b []byte, addr uint64) error) error {
	h, err := f.fractalHeap(m, heap)
	if err != nil {
		return err
	}
	return f.tree2(m, names, kind, func(c *cursor) error {
		if kind == recordsOfNames {
			c.skip(4) // the hash of the name
		}
		from := uint64(c.Offset() - f.base)
		n := h.idSize
		if kind == recordsOfAttrs {
			n = 8
		}
		id := c.Bytes(uint64(n))
		if kind == recordsOfAttrs && c.u8()&flagShared != 0 {
			return &UnsupportedError{Feature: "attributes in the file's heap of shared messages"}
		}
		if err := c.err(); err != nil {
			return err
		}
		b, addr, err := h.object(id, from)
		if err != nil {
			return err
		}
		return each(b, addr)
	})
}

// link decodes a link message.
func (f *File) link(msg message) (Link, error) {
	c := f.cursor(msg.body, msg.addr)
	version, flags := c.u8(), c.u8()
	kind := uint8(0)
	if flags&(1<<3) != 0 {
		kind = c.u8()
	}
	if flags&(1<<2) != 0 {
		c.skip(8) // the number of creation
	}
	if flags&(1<<4) != 0 {
		c.skip(1) // the character set
	}
	k := Link{Name: string(c.Bytes(c.uint(1 << (flags & 3))))}
	switch kind {
	case 0:
		k.addr = c.addr()
	case 1:
		k.Kind, k.Target = SoftLink, string(c.Bytes(uint64(c.u16())))
	case 64:
		k.Kind = ExternalLink
		b := c.Bytes(uint64(c.u16()))
		if len(b) > 0 {
			k.Target = strings.TrimRight(string(b[1:]), "\x00")
		}
	default:
		return k, &UnsupportedError{Feature: fmt.Sprintf("links of kind %d", kind)}
	}
	if err := c.err(); err != nil {
		return k, err
	}
	if version != 1 {
		return k, &UnsupportedError{Feature: fmt.Sprintf("a link of version %d", version)}
	}
	return k, nil
}

// symbolSize is the size of an entry of a symbol table besides its two addresses: 4 kind,
// 4 reserved, 16 that depend on the kind.
const symbolSize = 4 + 4 + 16

// symbols calls add for each link of a symbol table.
func (f *File) symbols(m *meter, msg message, add func(Link) error) error {
	c := f.cursor(msg.body, msg.addr)
	tree, heapAddr := c.addr(), c.addr()
	if err := c.err(); err != nil {
		return err
	}
	heap, err := f.localHeap(m, heapAddr)
	if err != nil {
		return err
	}
	w := &walk1{f: f, m: m, kind: treeOfGroup, keySize: f.lengthSize, seen: map[uint64]bool{}}
	w.leaf = func(_, _ *cursor, addr uint64) error {
		if w.seen[addr] {
			return &CorruptError{Offset: f.base + int64(addr), What: "a B-tree leads to a node twice"}
		}
		w.seen[addr] = true
		return f.symbolNode(m, heap, addr, add)
	}
	return w.node(tree, -1)
}

// symbolNode calls add for each link of a symbol table's node.
func (f *File) symbolNode(m *meter, heap []byte, addr uint64, add func(Link) error) error {
	what := "a symbol table's node"
	b, err := f.read(m, addr, 8, what)
	if err != nil {
		return err
	}
	c := f.cursor(b, addr)
	ok := c.signature("SNOD")
	version := c.u8()
	c.skip(1)
	n := uint64(c.u16())
	if !ok || version != 1 {
		return &CorruptError{Offset: f.base + int64(addr), What: "a node of a symbol table without its signature, or of a version other than 1"}
	}
	if b, err = f.read(m, addr+8, n*uint64(2*f.offsetSize+symbolSize), what); err != nil {
		return err
	}
	c = f.cursor(b, addr+8)
	for range n {
		// The name's offset has the size of an address.
		k := Link{}
		if k.Name, err = f.heapText(m, heap, c.addr()); err != nil {
			return err
		}
		k.addr = c.addr()
		kind := c.u32()
		c.skip(4)
		value := c.u32()
		c.skip(12)
		if kind == 2 {
			k.Kind = SoftLink
			if k.Target, err = f.heapText(m, heap, uint64(value)); err != nil {
				return err
			}
		}
		if err := add(k); err != nil {
			return err
		}
	}
	return c.err()
}
