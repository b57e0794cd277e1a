package hdf5

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// A Dataset is an array of elements of one type.
type Dataset struct {
	object
	typ     Type
	space   space
	layout  layout
	filters []filter
	fill    []byte // of elements that were never written; nil means zeros
	bytes   uint64 // of all elements, before filters
}

// dataset returns the dataset with a header.
func (f *File) dataset(m *meter, path string, h *header) (*Dataset, error) {
	d := &Dataset{object: object{f, path, h}}
	t, s, l := h.find(msgDatatype), h.find(msgDataspace), h.find(msgLayout)
	if t == nil || s == nil || l == nil {
		return nil, &CorruptError{Offset: f.base + int64(h.addr), What: "a dataset without a type, a shape or a layout"}
	}
	if h.find(msgExternal) != nil {
		return nil, &UnsupportedError{Feature: "datasets in other files"}
	}
	var err error
	if d.typ, err = f.datatype(m, *t); err != nil {
		return nil, err
	}
	spc, err := f.resolve(m, *s)
	if err != nil {
		return nil, err
	}
	if d.space, err = f.decodeSpace(spc); err != nil {
		return nil, err
	}
	if d.bytes, err = d.space.bytes(d.typ.Size); err != nil {
		return nil, err
	}
	lay, err := f.layout(*l, len(d.space.shape), d.typ.Size)
	if err != nil {
		return nil, err
	}
	d.layout = *lay
	if msg := h.find(msgFilters); msg != nil {
		if d.filters, err = f.filters(*msg); err != nil {
			return nil, err
		}
	}
	return d, f.fillValue(d, h)
}

// fillValue sets the value of elements that were never written.
func (f *File) fillValue(d *Dataset, h *header) error {
	var b []byte
	if msg := h.find(msgFill); msg != nil {
		c := f.cursor(msg.body, msg.addr)
		version := c.u8()
		switch version {
		case 1, 2:
			c.skip(2)
			if defined := c.u8(); version == 1 || defined != 0 {
				b = c.Bytes(uint64(c.u32()))
			}
		case 3:
			if c.u8()&(1<<5) != 0 {
				b = c.Bytes(uint64(c.u32()))
			}
		default:
			return &UnsupportedError{Feature: fmt.Sprintf("a fill value of version %d", version)}
		}
		if err := c.err(); err != nil {
			return err
		}
	} else if msg := h.find(msgFillOld); msg != nil {
		c := f.cursor(msg.body, msg.addr)
		b = c.Bytes(uint64(c.u32()))
		if err := c.err(); err != nil {
			return err
		}
	}
	if len(b) == 0 || !slices.ContainsFunc(b, func(v byte) bool { return v != 0 }) {
		return nil
	}
	if len(b) != d.typ.Size {
		return &CorruptError{Offset: f.base + int64(h.addr), What: fmt.Sprintf("a fill value of %d bytes for elements of %d", len(b), d.typ.Size)}
	}
	d.fill = b
	return nil
}

// Type returns the stored type of the elements, and their type in Go.
func (d *Dataset) Type() Type { return d.typ }

// Shape returns the dataset's shape, empty for a scalar. It must not be changed.
func (d *Dataset) Shape() tensor.Shape { return d.space.shape }

// Null reports whether the dataset has neither elements nor a shape, as h5py's Empty.
func (d *Dataset) Null() bool { return d.space.null }

// Size returns how many bytes the elements take, before filters and without strings in the
// heap.
func (d *Dataset) Size() int64 { return int64(d.bytes) }

// Chunks returns the shape of the dataset's chunks, nil if its elements are stored in one run.
func (d *Dataset) Chunks() tensor.Shape {
	if d.layout.kind != chunked {
		return nil
	}
	var s tensor.Shape
	for _, n := range d.layout.chunk {
		s = append(s, int(n))
	}
	return s
}

// Filters returns the names of the filters that the dataset's chunks went through, in their
// order: "shuffle", "gzip", "fletcher32".
func (d *Dataset) Filters() []string {
	var names []string
	for _, k := range d.filters {
		names = append(names, k.String())
	}
	return names
}

// Read reads the dataset. Checksums of chunks are verified.
func (d *Dataset) Read(ctx context.Context) (*tensor.Tensor, error) {
	if err := d.readable(); err != nil {
		return nil, err
	}
	m := d.f.meter()
	if d.typ.DType == tensor.String {
		b, err := d.raw(ctx, m)
		if err != nil {
			return nil, at(d.path, err)
		}
		t, err := d.f.decode(m, b, d.h.addr, &d.typ, &d.space)
		return t, at(d.path, err)
	}
	if err := m.take(d.bytes, "the dataset"); err != nil {
		return nil, at(d.path, err)
	}
	t, err := tensor.Zeros(d.typ.DType, d.space.shape...)
	if err != nil {
		return nil, err
	}
	return t, at(d.path, d.into(ctx, m, t.Bytes()))
}

// readable returns an error if no tensor can hold the dataset.
func (d *Dataset) readable() error {
	switch {
	case d.space.null:
		return &UnsupportedError{d.path, "a dataset without elements and shape as a tensor"}
	case d.typ.DType == tensor.Invalid:
		return &UnsupportedError{d.path, d.typ.String() + " as a tensor"}
	}
	return nil
}

// ReadInto reads the dataset into t, which must have its type and shape; strings can't be read
// so. After an error t may hold anything.
func (d *Dataset) ReadInto(ctx context.Context, t *tensor.Tensor) error {
	if err := d.readable(); err != nil {
		return err
	}
	if t.DType() != d.typ.DType || !t.Shape().Equal(d.space.shape) || t.DType() == tensor.String {
		return &MismatchError{d.path, d.typ.DType, d.space.shape, t.DType(), t.Shape()}
	}
	return at(d.path, d.into(ctx, d.f.meter(), t.Bytes()))
}

// into reads the elements into b, as a tensor has them.
func (d *Dataset) into(ctx context.Context, m *meter, b []byte) error {
	if err := d.rawInto(ctx, m, b); err != nil {
		return err
	}
	return toHost(b, &d.typ)
}

// ReadRaw returns the bytes of the elements as they are in the file, after filters: of types too
// that no tensor holds. For strings in the heap they are the strings' places.
func (d *Dataset) ReadRaw(ctx context.Context) ([]byte, error) {
	b, err := d.raw(ctx, d.f.meter())
	return b, at(d.path, err)
}

func (d *Dataset) raw(ctx context.Context, m *meter) ([]byte, error) {
	if err := m.take(d.bytes, "the dataset"); err != nil {
		return nil, err
	}
	b := make([]byte, d.bytes)
	return b, d.rawInto(ctx, m, b)
}

// readStep is how many bytes are read between two looks at the context.
const readStep = 16 << 20

// rawInto reads the bytes of the elements into b, which has their size.
func (d *Dataset) rawInto(ctx context.Context, m *meter, b []byte) error {
	l := &d.layout
	if len(b) == 0 {
		return nil
	}
	switch l.kind {
	case compact:
		if len(l.data) != len(b) {
			return &CorruptError{Offset: d.f.base + int64(l.addr), What: fmt.Sprintf("a dataset of %d bytes (want %d)", len(l.data), len(b))}
		}
		copy(b, l.data)
		return nil
	case contiguous:
		if l.addr == undefined {
			d.fillIn(b)
			return nil
		}
		if l.size < d.bytes {
			return &CorruptError{Offset: d.f.base + int64(l.addr), What: fmt.Sprintf("a dataset of %d bytes (want %d)", l.size, d.bytes)}
		}
		if err := d.f.inside(l.addr, d.bytes, "a dataset"); err != nil {
			return err
		}
		for from := 0; from < len(b); from += readStep {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := b[from:min(from+readStep, len(b))]
			if err := d.f.readAt(part, l.addr+uint64(from), "a dataset"); err != nil {
				return err
			}
		}
		return nil
	}
	return d.readChunks(ctx, m, b)
}

// fillIn sets all elements to the fill value.
func (d *Dataset) fillIn(b []byte) {
	if d.fill == nil {
		clear(b)
		return
	}
	n := copy(b, d.fill)
	for n < len(b) {
		n += copy(b[n:], b[:n])
	}
}
