package jpeg

import (
	"errors"
	"fmt"
)

// Encoding contains the parameters of the encoder. kernel/image fills it from
// the attributes of EncodeJpeg.
type Encoding struct {
	Quality     int  // from 0 to 100
	Progressive bool // in ten scans of growing detail; six for a gray image
	Optimize    bool // Huffman codes made for the image; progressive images always have their own
	// Whole keeps a sample of colour for each pixel; otherwise four pixels share
	// one.
	Whole            bool
	DensityUnit      byte // 1 for inches, 2 for centimetres
	DensityX         uint16
	DensityY         uint16
	XMP              string       // metadata; left out if empty
	Interrupted      func() error // called now and then; its error ends the encoding; not nil
	width, height, n int          // the image's size and number of channels, which Encode sets
}

// maxSide is the largest width and height that libjpeg takes.
const maxSide = 65500

// Encode returns a JPEG image with the bytes that libjpeg writes. The pixels
// have 1 channel (gray) or 3 (red, green and blue), row by row.
func Encode(pix []byte, height, width, channels int, e Encoding) ([]byte, error) {
	switch {
	case channels != 1 && channels != 3:
		return nil, fmt.Errorf("an image of %d channels; 1 or 3 are possible", channels)
	case width < 1 || height < 1 || width > maxSide || height > maxSide:
		return nil, fmt.Errorf("an image of %d×%d pixels; from 1 to %d a side are possible", width, height, maxSide)
	case len(pix) != width*height*channels:
		return nil, fmt.Errorf("%d bytes for %d×%d pixels of %d channels", len(pix), width, height, channels)
	case len(e.XMP) > 65533-len(xmpSpace):
		return nil, errors.New("the XMP metadata don't fit a segment of 65533 bytes")
	}
	e.width, e.height, e.n = width, height, channels
	w := &writer{out: make([]byte, 0, 1024+len(pix)/8)}
	w.header(&e)
	tables := quantTables(e.Quality)
	planes := make([]blocks, channels)
	for i := range planes {
		planes[i] = newBlocks(&e, i)
		q := &tables[min(i, 1)]
		if err := planes[i].transform(&e, pix, i, q); err != nil {
			return nil, err
		}
		if i < 2 {
			w.quantization(i, q)
		}
	}
	w.frame(&e, planes)
	for _, s := range scansOf(&e) {
		if err := e.Interrupted(); err != nil {
			return nil, err
		}
		w.scan(&e, planes, s)
	}
	w.out = append(w.out, 0xff, 0xd9)
	return w.out, nil
}

// xmpSpace is the name before XMP metadata.
const xmpSpace = "http://ns.adobe.com/xap/1.0/\x00"

// writer collects the image.
type writer struct {
	out   []byte
	bits  uint64 // those that fill no byte yet
	count uint
}

// segment writes a marker with its contents.
func (w *writer) segment(marker byte, body ...byte) {
	n := len(body) + 2
	w.out = append(append(w.out, 0xff, marker, byte(n>>8), byte(n)), body...)
}

// header writes the segments before the tables.
func (w *writer) header(e *Encoding) {
	w.out = append(w.out, 0xff, 0xd8)
	w.segment(0xe0, 'J', 'F', 'I', 'F', 0, 1, 1, e.DensityUnit, byte(e.DensityX>>8), byte(e.DensityX), byte(e.DensityY>>8), byte(e.DensityY), 0, 0)
	if e.XMP != "" {
		w.segment(0xe1, []byte(xmpSpace+e.XMP)...)
	}
}

// quantization writes table i.
func (w *writer) quantization(i int, q *[64]int32) {
	body := []byte{byte(i)}
	for _, at := range zigzag {
		body = append(body, byte(q[at]))
	}
	w.segment(0xdb, body...)
}

// frame writes the header of the frame: sizes and components.
func (w *writer) frame(e *Encoding, planes []blocks) {
	marker := byte(0xc0)
	if e.Progressive {
		marker = 0xc2
	}
	body := []byte{8, byte(e.height >> 8), byte(e.height), byte(e.width >> 8), byte(e.width), byte(len(planes))}
	for i, p := range planes {
		body = append(body, byte(i+1), byte(p.h<<4|p.v), byte(min(i, 1)))
	}
	w.segment(marker, body...)
}

// put writes the n low bits of v.
func (w *writer) put(v uint32, n uint) {
	w.bits = w.bits<<n | uint64(v)&(1<<n-1)
	for w.count += n; w.count >= 8; {
		w.count -= 8
		b := byte(w.bits >> w.count)
		if w.out = append(w.out, b); b == 0xff {
			w.out = append(w.out, 0)
		}
	}
}

// flush fills the last byte with ones.
func (w *writer) flush() {
	if w.count > 0 {
		w.put(0x7f, 8-w.count)
	}
	w.bits, w.count = 0, 0
}
