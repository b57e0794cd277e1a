package image

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/deflate"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of EncodePng. The bytes must be libpng's with zlib: its choice of
// filters, window and chunks.

// prepareEncodePNG returns the kernel that writes the same PNG images as
// libpng.
func prepareEncodePNG(n *engine.Node) (func(*engine.Call) error, error) {
	level := n.Attrs.Int("compression", -1)
	if level < -1 || level > 9 {
		return nil, fmt.Errorf("compression should be in [-1,9], got %d", level)
	}
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if x.DType() != tensor.Uint8 && x.DType() != tensor.Uint16 {
			return &engine.UnsupportedTypeError{Attr: "T", Type: x.DType(), Known: pngTypes}
		}
		if len(s) < 3 {
			return fmt.Errorf("images must have at least rank 3, got shape %v", s)
		}
		h, w, channels := s[len(s)-3], s[len(s)-2], s[len(s)-1]
		switch {
		case channels < 1 || channels > 4:
			return fmt.Errorf("image must have 1, 2, 3, or 4 channels, got shape %v", s)
		case h == 0 || w == 0:
			return fmt.Errorf("an image without pixels, of shape %v, can't be encoded", s)
		case x.Len() >= math.MaxInt32 || h > math.MaxInt32/w:
			return fmt.Errorf("an image of shape %v is too large to be encoded", s)
		}
		out, err := c.Alloc(0, tensor.String, s[:len(s)-3])
		if err != nil {
			return err
		}
		size := h * w * channels
		total := 0
		for i := range out.Strings() {
			if err := c.Context().Err(); err != nil {
				return err
			}
			p := &pngImage{h: h, w: w, channels: channels, bits: 8 * x.DType().Size(), level: int(level)}
			if p.bits == 8 {
				p.rows = tensor.Values[uint8](x)[i*size:][:size]
			} else {
				p.rows = make([]byte, 0, 2*size)
				for _, v := range tensor.Values[uint16](x)[i*size:][:size] {
					p.rows = binary.BigEndian.AppendUint16(p.rows, v)
				}
			}
			b := p.encode(c.Check)
			if total += len(b); c.Afford(int64(total)) != nil {
				return c.Afford(int64(total))
			}
			out.Strings()[i] = string(b)
		}
		return nil
	}, nil
}

var pngTypes = []tensor.DType{tensor.Uint8, tensor.Uint16}

// pngImage is an image to encode; rows are its elements, those of 16 bits with
// the high byte first.
type pngImage struct {
	h, w, channels, bits, level int
	rows                        []byte
}

// encode returns the file; it calls check now and then.
func (p *pngImage) encode(check func()) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(p.w)), uint32(p.h))
	colour := [5]byte{1: 0, 2: 4, 3: 2, 4: 6}[p.channels]
	out = pngChunk(out, "IHDR", append(header, byte(p.bits), colour, 0, 0, 0))
	row := len(p.rows) / p.h
	lines, filtered := p.filter(row, check)
	o := deflate.Options{Level: p.level, Filtered: filtered, Window: 15, Piece: row + 1, Check: check}
	// Small images need no large window.
	if n := len(lines); n <= 16384 {
		for n+262 <= 1<<(o.Window-1) {
			o.Window--
		}
		o.Window = max(o.Window, 9)
	}
	z := deflate.Zlib(lines, o)
	p.declare(z, len(lines))
	const chunk = 8192
	for ; len(z) >= chunk; z = z[chunk:] {
		out = pngChunk(out, "IDAT", z[:chunk])
	}
	return pngChunk(pngChunk(out, "IDAT", z), "IEND", nil)
}

// declare writes the smallest window for n bytes to the stream's header.
func (p *pngImage) declare(z []byte, n int) {
	window := uint(z[0]>>4) + 8
	for n <= 16384 && window > 8 && n <= 1<<(window-1) {
		window--
	}
	z[0] = z[0]&15 | byte(window-8)<<4
	flags := uint(z[1] & 0xe0)
	z[1] = byte(flags + 31 - (uint(z[0])<<8+flags)%31)
}

func pngChunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	from := len(out)
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}

// filter returns the rows after filtering, each after the number of its filter.
// It selects the filter whose bytes, as absolute values of signed numbers, have
// the least sum. It reports whether there was a choice. row is the number of
// bytes of a row.
func (p *pngImage) filter(row int, check func()) (lines []byte, choice bool) {
	step := p.channels * p.bits / 8
	filters := []byte{0, 1, 2, 3, 4}
	switch {
	case p.h == 1 && p.w == 1:
		filters = filters[:1]
	case p.h == 1:
		filters = filters[:2]
	case p.w == 1:
		filters = []byte{0, 2}
	}
	lines = make([]byte, 0, p.h*(row+1))
	above, best, try := make([]byte, row), make([]byte, row), make([]byte, row)
	for y := range p.h {
		if y%64 == 63 || row > 1<<16 {
			check()
		}
		x := p.rows[y*row:][:row]
		least, chosen := math.MaxInt, byte(0)
		for _, f := range filters {
			sum := 0
			for i, v := range x {
				var left, corner byte
				if i >= step {
					left, corner = x[i-step], above[i-step]
				}
				switch f {
				case 1:
					v -= left
				case 2:
					v -= above[i]
				case 3:
					v -= byte((int(left) + int(above[i])) / 2)
				case 4:
					v -= nearestOf(left, above[i], corner)
				}
				try[i] = v
				if sum += min(int(v), 256-int(v)); sum >= least {
					break
				}
			}
			if sum < least {
				least, chosen = sum, f
				best, try = try, best
			}
		}
		lines = append(append(lines, chosen), best...)
		above = x
	}
	return lines, len(filters) > 1
}

// nearestOf returns the neighbour that is nearest to a+b-c (Paeth).
func nearestOf(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	away := func(v byte) int { return max(p-int(v), int(v)-p) }
	switch {
	case away(a) <= away(b) && away(a) <= away(c):
		return a
	case away(b) <= away(c):
		return b
	}
	return c
}
