// Package jpeg decodes JPEG images to libjpeg's pixels and encodes pixels to
// libjpeg's bytes, bit for bit: with its transforms, its smooth upsampling of
// colour and its fixed-point colours. The standard library's decoder rounds
// otherwise. Package kernel/image uses it.
//
// It reads baseline, extended and progressive images of 8 bits in Huffman code.
// Its memory is in proportion to the length of the data: an image whose data
// can't hold as many blocks as its header promises is refused at once. The
// exception is [Options.Recover], for which the caller bounds the image's size.
package jpeg

import (
	"errors"
	"fmt"
)

// Colours is the colour space of the components.
type Colours uint8

// The kinds of components.
const (
	Gray Colours = iota
	YCbCr
	RGB
	CMYK
	YCCK
)

// Image is a parsed image: its header and the positions of the coded data.
type Image struct {
	Width, Height int
	Colours       Colours
	Inverted      bool // an Adobe image, whose inks are stored inverted

	components  []component
	maxH, maxV  int // the largest h and v of the components
	progressive bool
	data        []byte
	at          int // of the first marker after the frame's header
	quant       [4][64]int32
	huffman     [2][4]*huffman
	restart     int // steps of a scan between restart markers; 0: there are none
}

// component is a plane of the image. h and v are the samples for each of the
// coarsest component, tq the number of the quantization table.
type component struct {
	id, h, v, tq int
	quant        *[64]int32 // as it was when the component's first scan began
	coefs        []int16
	bw, bh       int // blocks in memory
	w, hgt       int // blocks that hold something
	dc, ac       int // tables of the scan
	pred         int32
}

var errShort = errors.New("the JPEG data end early")

// zigzag lists the positions of a block's coefficients.
var zigzag = [64]int{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// segment returns the marker at the current position and its contents, and
// moves past it.
func (m *Image) segment() (marker byte, body []byte, err error) {
	for {
		if m.at+1 >= len(m.data) {
			return 0, nil, errShort
		}
		if m.data[m.at] == 0xff && m.data[m.at+1] != 0xff && m.data[m.at+1] != 0 {
			break
		}
		m.at++
	}
	marker = m.data[m.at+1]
	m.at += 2
	if marker == 0xd8 || marker == 0xd9 || marker >= 0xd0 && marker <= 0xd7 || marker == 0x01 {
		return marker, nil, nil
	}
	if m.at+2 > len(m.data) {
		return 0, nil, errShort
	}
	n := int(m.data[m.at])<<8 | int(m.data[m.at+1])
	if n < 2 || m.at+n > len(m.data) {
		return 0, nil, errShort
	}
	body = m.data[m.at+2 : m.at+n]
	m.at += n
	return marker, body, nil
}

// Parse reads the header of an image. It reads up to the frame's header; Decode
// reads the scans.
func Parse(data []byte) (*Image, error) {
	if len(data) < 4 || data[0] != 0xff || data[1] != 0xd8 {
		return nil, errors.New("not a JPEG image")
	}
	m := &Image{data: data, at: 2}
	jfif, adobe := false, -1
	for {
		marker, body, err := m.segment()
		if err != nil {
			return nil, err
		}
		switch {
		case marker == 0xe0 && len(body) >= 5 && string(body[:5]) == "JFIF\x00":
			jfif = true
		case marker == 0xee && len(body) >= 12 && string(body[:5]) == "Adobe":
			adobe = int(body[11])
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			m.progressive = marker == 0xc2
			if err := m.frame(body); err != nil {
				return nil, err
			}
			m.colours(jfif, adobe)
			return m, nil
		case marker >= 0xc3 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return nil, fmt.Errorf("JPEG images of the process %#x are not supported", marker)
		case marker == 0xd9 || marker == 0xda:
			return nil, errors.New("the JPEG image has no frame")
		default:
			if err := m.table(marker, body); err != nil {
				return nil, err
			}
		}
	}
}

// frame reads the header of a frame.
func (m *Image) frame(b []byte) error {
	if len(b) < 6 {
		return errShort
	}
	n := int(b[5])
	m.Height, m.Width = int(b[1])<<8|int(b[2]), int(b[3])<<8|int(b[4])
	if b[0] != 8 || m.Height == 0 || m.Width == 0 || n != 1 && n != 3 && n != 4 || len(b) != 6+3*n {
		return fmt.Errorf("a JPEG image of %d×%d pixels, %d bits and %d components is not supported", m.Width, m.Height, b[0], n)
	}
	for i := range n {
		p := b[6+3*i:]
		c := component{id: int(p[0]), h: int(p[1] >> 4), v: int(p[1] & 15), tq: int(p[2])}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.tq > 3 {
			return errors.New("a component of the JPEG image is sampled in an unknown way")
		}
		m.maxH, m.maxV = max(m.maxH, c.h), max(m.maxV, c.v)
		m.components = append(m.components, c)
	}
	return nil
}

// colours determines the colour space of the components.
func (m *Image) colours(jfif bool, adobe int) {
	m.Inverted = adobe >= 0
	switch len(m.components) {
	case 1:
		m.Colours = Gray
	case 3:
		m.Colours = YCbCr
		c := m.components
		if !jfif && (adobe == 0 || adobe < 0 && c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B') {
			m.Colours = RGB
		}
	case 4:
		m.Colours = CMYK
		if adobe == 2 {
			m.Colours = YCCK
		}
	}
}

// table reads a segment with tables. It ignores other segments.
func (m *Image) table(marker byte, b []byte) error {
	switch marker {
	case 0xdb:
		for len(b) > 0 {
			wide, t, n := b[0]>>4, b[0]&15, 65
			if wide > 0 {
				n = 129
			}
			if t > 3 || wide > 1 || len(b) < n {
				return errors.New("a quantization table of the JPEG image is broken")
			}
			for i := range 64 {
				v := int32(b[1+i])
				if wide > 0 {
					v = int32(b[1+2*i])<<8 | int32(b[2+2*i])
				}
				m.quant[t][zigzag[i]] = v
			}
			b = b[n:]
		}
	case 0xc4:
		for len(b) > 0 {
			if len(b) < 17 || b[0]>>4 > 1 || b[0]&15 > 3 {
				return errors.New("a Huffman table of the JPEG image is broken")
			}
			n := 0
			for _, k := range b[1:17] {
				n += int(k)
			}
			if n > 256 || len(b) < 17+n {
				return errors.New("a Huffman table of the JPEG image is broken")
			}
			h, err := newHuffman(b[1:17], b[17:17+n])
			if err != nil {
				return err
			}
			m.huffman[b[0]>>4][b[0]&15] = h
			b = b[17+n:]
		}
	case 0xdd:
		if len(b) != 2 {
			return errShort
		}
		m.restart = int(b[0])<<8 | int(b[1])
	}
	return nil
}

// up returns a/b, rounded up.
func up(a, b int) int { return (a + b - 1) / b }
