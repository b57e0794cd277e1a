package hdf5

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/nearest"
	"github.com/cairnml/cairn/tensor"
)

// An Attribute is a small named value of an object.
type Attribute struct {
	f     *File
	owner string // path of the object
	name  string
	typ   Type
	space space
	data  []byte // elements as they are in the file
	addr  uint64 // of data
}

// Name returns the attribute's name.
func (a *Attribute) Name() string { return a.name }

// Type returns how the attribute's elements are stored.
func (a *Attribute) Type() Type { return a.typ }

// Shape returns the attribute's shape, empty for a scalar. It must not be changed.
func (a *Attribute) Shape() tensor.Shape { return a.space.shape }

// Null reports whether the attribute has neither elements nor a shape, as h5py's Empty.
func (a *Attribute) Null() bool { return a.space.null }

// Value returns the attribute's value; an [UnsupportedError] if no tensor holds it.
func (a *Attribute) Value() (*tensor.Tensor, error) {
	m := a.f.meter()
	t, err := a.f.decode(m, a.data, a.addr, &a.typ, &a.space)
	if err != nil {
		return nil, a.in(err)
	}
	return t, nil
}

// Raw returns the bytes of the attribute's elements as they are in the file. Strings of variable
// length are references into a heap there, not characters. The caller must not change the bytes.
func (a *Attribute) Raw() []byte { return a.data }

// Text returns the value of an attribute that is a single string.
func (a *Attribute) Text() (string, error) {
	t, err := a.Value()
	if err != nil {
		return "", err
	}
	if t.DType() != tensor.String || t.Len() != 1 {
		return "", fmt.Errorf("hdf5: attribute %q of %.300q: no single string (got %v%v)", a.name, a.owner, t.DType(), t.Shape())
	}
	return t.Strings()[0], nil
}

// Texts returns the strings of an attribute. For an array without elements it returns nil,
// whatever the type, because h5py stores an empty list as numbers.
func (a *Attribute) Texts() ([]string, error) {
	t, err := a.Value()
	if err != nil {
		return nil, err
	}
	if t.Len() == 0 {
		return nil, nil
	}
	if t.DType() != tensor.String {
		return nil, fmt.Errorf("hdf5: attribute %q of %.300q: no strings (got %v%v)", a.name, a.owner, t.DType(), t.Shape())
	}
	return t.Strings(), nil
}

// in adds the attribute's name to an error.
func (a *Attribute) in(err error) error {
	return fmt.Errorf("hdf5: attribute %.300q: %w", a.name, at(a.owner, err))
}

// Attributes returns the object's attributes, sorted by name.
func (o *object) Attributes() ([]*Attribute, error) {
	list, err := o.f.attributes(o.f.meter(), o.path, o.h)
	if err != nil {
		return nil, at(o.path, err)
	}
	return list, nil
}

// Attribute returns the attribute of that name.
func (o *object) Attribute(name string) (*Attribute, error) {
	list, err := o.Attributes()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range list {
		if a.name == name {
			return a, nil
		}
		names = append(names, a.name)
	}
	return nil, &NotFoundError{Path: o.path + "@" + name, What: "attribute", Nearest: nearest.Names(name, names, 5)}
}

// attributeSize is the approximate memory of an attribute besides its bytes.
const attributeSize = 256

// attributes reads the attributes of the object whose header is h, sorted by name. owner is the
// object's path.
func (f *File) attributes(m *meter, owner string, h *header) ([]*Attribute, error) {
	var list []*Attribute
	add := func(msg message) error {
		a, err := f.attribute(m, msg)
		if err != nil {
			return err
		}
		a.owner = owner
		list = append(list, a)
		return m.take(attributeSize, "attributes")
	}
	for _, msg := range h.messages {
		if msg.kind == msgAttribute {
			if err := add(msg); err != nil {
				return nil, err
			}
		}
	}
	if msg := h.find(msgAttrInfo); msg != nil {
		c := f.cursor(msg.body, msg.addr)
		version, flags := c.u8(), c.u8()
		if flags&1 != 0 {
			c.skip(2) // the largest creation index
		}
		heap, names := c.addr(), c.addr()
		if err := c.err(); err != nil {
			return nil, err
		}
		if version != 0 {
			return nil, &UnsupportedError{Feature: fmt.Sprintf("attributes of version %d", version)}
		}
		if heap != undefined {
			err := f.dense(m, heap, names, recordsOfAttrs, func(b []byte, addr uint64) error {
				return add(message{kind: msgAttribute, body: b, addr: addr})
			})
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(list, func(a, b *Attribute) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(list); i++ {
		if list[i-1].name == list[i].name {
			return nil, &CorruptError{Offset: f.base + int64(h.addr), What: fmt.Sprintf("two attributes have the name %.300q", list[i].name)}
		}
	}
	return list, nil
}

// attribute decodes an attribute message.
func (f *File) attribute(m *meter, msg message) (*Attribute, error) {
	msg, err := f.resolve(m, msg)
	if err != nil {
		return nil, err
	}
	c := f.cursor(msg.body, msg.addr)
	version, flags := c.u8(), c.u8()
	nameSize, typeSize, spaceSize := uint64(c.u16()), uint64(c.u16()), uint64(c.u16())
	if version < 1 || version > 3 {
		return nil, &UnsupportedError{Feature: fmt.Sprintf("an attribute of version %d (1 to 3 are)", version)}
	}
	pad := uint64(0)
	switch version {
	case 1:
		flags, pad = 0, 7
	case 3:
		c.skip(1) // the character set
	}
	// part reads n bytes. In version 1 each part is padded to a multiple of 8 bytes. The padding
	// may be missing at the end of the message.
	part := func(kind uint16, n uint64, shared uint8) message {
		addr := uint64(c.Offset() - f.base)
		b := c.Bytes(n)
		c.skip(int(min(-n&pad, uint64(c.Len()))))
		p := message{kind: kind, body: b, addr: addr}
		if shared != 0 {
			p.flags = flagShared
		}
		return p
	}
	name := part(0, nameSize, 0)
	typ := part(msgDatatype, typeSize, flags&1)
	spc := part(msgDataspace, spaceSize, flags&2)
	if err := c.err(); err != nil {
		return nil, err
	}
	a := &Attribute{f: f}
	a.name, _, _ = strings.Cut(string(name.body), "\x00")
	if a.typ, err = f.datatype(m, typ); err != nil {
		return nil, err
	}
	if spc, err = f.resolve(m, spc); err != nil {
		return nil, err
	}
	if a.space, err = f.decodeSpace(spc); err != nil {
		return nil, err
	}
	n, err := a.space.bytes(a.typ.Size)
	if err != nil {
		return nil, err
	}
	a.addr = uint64(c.Offset() - f.base)
	a.data = c.Bytes(n)
	return a, c.err()
}
