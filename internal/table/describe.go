package table

import (
	"encoding/binary"
	"io"

	"github.com/cairnml/cairn/internal/binfmt"
	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/wire"
)

// Describe prints a table with the meaning of its bytes: every block, entry and
// checksum, and the footer. The value function, if it isn't nil, prints the
// fields of a data entry's value; the rest is printed as bytes. Sound parts of a
// damaged table are printed before the error is returned. The limit is that of
// [Open]. The texts are for people and may change; goldens of bundle show them.
func Describe(w io.Writer, r io.ReaderAt, size, most int64, value func(p *binfmt.Printer, key []byte)) error {
	t, err := Open(r, size, most)
	if err != nil {
		return err
	}
	var end uint64
	for _, b := range t.blocks {
		if err := t.describeBlock(w, b.handle, "data block", value); err != nil {
			return err
		}
		end = b.offset + b.size + trailerLen
	}
	foot := make([]byte, footerLen)
	if err := readFull(r, foot, size-footerLen); err != nil {
		return err
	}
	c := wire.NewCursor(foot, 0)
	meta := handleAt(&c)
	n1 := int(c.Offset())
	index := handleAt(&c)
	n2 := int(c.Offset()) - n1
	if meta.offset == end { // the handle carries no checksum: it may point anywhere
		if err := t.describeBlock(w, meta, "metaindex block", nil); err != nil {
			return err
		}
	}
	handles := func(p *binfmt.Printer, _ []byte) {
		c := wire.NewCursor(p.Rest(), 0)
		h := handleAt(&c)
		p.Field(int(c.Offset()), "block at %d, %d bytes", h.offset, h.size)
	}
	if err := t.describeBlock(w, index, "index block", handles); err != nil {
		return err
	}
	p := binfmt.New(w, foot, size-footerLen)
	p.Line("footer")
	p.In()
	p.Field(n1, "metaindex block at %d, %d bytes", meta.offset, meta.size)
	p.Field(n2, "index block at %d, %d bytes", index.offset, index.size)
	p.Field(footerLen-8-n1-n2, "padding")
	p.Field(8, "magic number")
	return p.Err()
}

// describeBlock prints a block with its trailer. The first line calls the block what.
func (t *Reader) describeBlock(w io.Writer, h handle, what string, value func(*binfmt.Printer, []byte)) error {
	contents, err := t.read(h, nil)
	if err != nil {
		return err
	}
	raw := make([]byte, h.size+trailerLen)
	if err := readFull(t.r, raw, int64(h.offset)); err != nil {
		return err
	}
	p := binfmt.New(w, raw, int64(h.offset))
	if raw[h.size] == typeSnappy {
		p.Line("%s, %d bytes, decompressed %d", what, h.size, len(contents))
		p.In()
		p.Field(int(h.size), "snappy")
	} else {
		p.Line("%s, %d bytes", what, h.size)
		p.In()
		e := entries(contents, int64(h.offset))
		for e.Next() {
			c := wire.NewCursor(p.Rest(), 0)
			shared, unshared, length := c.Uvarint32(), c.Uvarint32(), c.Uvarint32()
			p.Field(int(c.Offset()), "entry: key shares %d bytes and has %d more, value has %d", shared, unshared, length)
			p.In()
			p.Field(int(unshared), "key %.100q", e.Key)
			vp := binfmt.New(w, e.Value, e.Offset+c.Offset()+int64(unshared))
			vp.In()
			vp.In()
			if value != nil {
				value(vp, e.Key)
			}
			if n := len(vp.Rest()); n > 0 {
				vp.Field(n, "value")
			}
			p.Skip(int(length))
			p.Out()
			if vp.Err() != nil {
				return vp.Err()
			}
		}
		if e.Err() != nil {
			return e.Err()
		}
		n := binary.LittleEndian.Uint32(contents[len(contents)-4:])
		p.Field(int(4*n), "%d restarts", n)
		p.Field(4, "number of restarts")
	}
	p.Field(1, "type %d", raw[h.size])
	p.Field(4, "masked checksum, of which crc32c is %08x", crc32c.Unmask(binary.LittleEndian.Uint32(raw[h.size+1:])))
	return p.Err()
}
