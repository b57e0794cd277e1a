package hdf5

import "fmt"

// fixedArray lists the chunks of a fixed array: a header, and one block with an element for each
// chunk that the dataset may have. A large block is divided into pages, of which those are there
// whose bits are set.
func (d *Dataset) fixedArray(m *meter, g *grid, add func(chunk, []uint64) error) error {
	f, addr, what := d.f, d.layout.addr, "a fixed array"
	corrupt := func(format string, args ...any) error {
		return &CorruptError{Offset: f.base + int64(addr), What: fmt.Sprintf(format, args...)}
	}
	c, err := f.checksummed(m, addr, uint64(4+1+1+1+1+f.lengthSize+f.offsetSize+4), "FAHD", what)
	if err != nil {
		return err
	}
	version, client, size, pageBits := c.u8(), c.u8(), c.u8(), c.u8()
	n, data := c.length(), c.addr()
	if version != 0 || pageBits > 62 {
		return corrupt("a fixed array of version %d", version)
	}
	e, err := d.element(g, client, size, -1, add)
	if err != nil {
		return err
	}
	for i, most := range e.counts {
		if most == undefined && i > 0 {
			return corrupt("a fixed array of chunks without limit")
		}
	}
	if data == undefined {
		return nil
	}
	if n > f.size/uint64(size) {
		return corrupt("a fixed array of %d chunks", n)
	}
	perPage := uint64(1) << pageBits
	prefix := uint64(4 + 1 + 1 + f.offsetSize)
	if n <= perPage {
		c, err := f.checksummed(m, data, prefix+n*uint64(size)+4, "FADB", what)
		if err != nil {
			return err
		}
		c.skip(int(prefix) - 4)
		return e.take(c, 0, n)
	}
	pages := (n + perPage - 1) / perPage
	bitmap := (pages + 7) / 8
	if c, err = f.checksummed(m, data, prefix+bitmap+4, "FADB", what); err != nil {
		return err
	}
	c.skip(int(prefix) - 4)
	return e.pages(m, data+prefix+bitmap+4, c.Bytes(bitmap), 0, 0, n, perPage)
}

// pages takes the n elements of pages that follow each other at an address, whose bits begin at
// bit first of the bitmap. Each page ends with a checksum; the last may be shorter.
func (e *arrayElement) pages(m *meter, addr uint64, bitmap []byte, first, index, n, perPage uint64) error {
	f, what := e.d.f, "a page of an array"
	for page := range (n + perPage - 1) / perPage {
		count := min(perPage, n-page*perPage)
		size := count*uint64(e.size) + 4
		if bit := first + page; bit/8 < uint64(len(bitmap)) && bitmap[bit/8]&(0x80>>(bit%8)) != 0 {
			b, err := f.read(m, addr, size, what)
			if err != nil {
				return err
			}
			body := b[:len(b)-4]
			if err := f.checkSum(body, b[len(body):], addr, what); err != nil {
				return err
			}
			if err := e.take(f.cursor(body, addr), index+page*perPage, count); err != nil {
				return err
			}
		}
		addr += size
	}
	return nil
}
