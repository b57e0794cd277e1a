package image

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// PNG and GIF images for the ops in decode.go. The pixels must equal those of
// TensorFlow's libpng and giflib.

// decodePNG decodes a PNG image with the standard library. It converts the
// pixels to those of libpng, with the requested channels or those of the file.
func (d *decoding) decodePNG(c *engine.Call, s string) (*picture, error) {
	bad := func(err error) error { return fmt.Errorf("invalid PNG data, size %d: %w", len(s), err) }
	if len(s) < 29 {
		return nil, bad(errors.New("it ends early"))
	}
	o, err := png.DecodeConfig(strings.NewReader(s))
	if err != nil {
		return nil, bad(err)
	}
	channels := d.channels
	if channels == 0 {
		channels = map[byte]int{0: 1, 2: 3, 3: 3, 4: 2, 6: 4}[s[25]]
	}
	if d.op == "DecodeGif" {
		channels = 3
	}
	var gray func(v [4]uint16) uint16
	if channels < 3 && s[25]&2 != 0 {
		gray = grayOf(gammaOf(s), s[24] == 16, d.dtype == tensor.Uint8)
	}
	wide := d.dtype != tensor.Uint8
	each := 4
	if wide {
		each = 8
	}
	if err := affordable(c, 1, o.Height, o.Width, each); err != nil {
		return nil, err
	}
	// Deflate expands a byte to at most 1032, and a row has at least one byte.
	if rows, bits := int64(o.Height), int64(o.Width)*int64(s[24])*map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[s[25]]; rows*(1+bits/8) > 1032*int64(len(s)) {
		return nil, bad(fmt.Errorf("it is too short for %d×%d pixels", o.Width, o.Height))
	}
	img, err := png.Decode(reading(c, s))
	if err != nil {
		return nil, bad(err)
	}
	if d.channels == 0 && s[25] == 3 && hasOpacities(s) {
		channels = 4
	}
	p := &picture{frames: 1, h: o.Height, w: o.Width, c: channels}
	if wide {
		p.words = make([]uint16, p.h*p.w*channels)
	} else {
		p.bytes = make([]byte, p.h*p.w*channels)
	}
	// Byte 24 of a file is the bit depth, byte 25 the kind of colours
	deep := s[24] == 16
	opaque, fills := fillOf(s)
	at := pixelsOf(img)
	for i := range p.h * p.w {
		c.Step(i)
		v := at(i%p.w, i/p.w)
		if gray != nil {
			v[0] = gray(v)
		}
		if !deep || !wide {
			for k := range v {
				v[k] >>= 8 // libpng takes the upper byte
			}
		}
		if fills {
			v[3] = opaque
		}
		if channels < 3 {
			v = [4]uint16{v[0], v[3]}
		}
		for k, x := range v[:channels] {
			switch {
			case !wide:
				p.bytes[i*channels+k] = byte(x)
			case deep:
				p.words[i*channels+k] = x
			default:
				p.words[i*channels+k] = x<<8 | x
			}
		}
	}
	return p, nil
}

// checkedReader reads a text in short pieces and calls [engine.Call.Check] before
// each, so that a decoder is left when the context ends. A piece of a compressed
// image takes some milliseconds.
type checkedReader struct {
	call *engine.Call
	text *strings.Reader
}

func reading(c *engine.Call, s string) io.Reader { return checkedReader{c, strings.NewReader(s)} }

func (r checkedReader) Read(p []byte) (int, error) {
	r.call.Check()
	return r.text.Read(p[:min(len(p), 4096)])
}

// fillOf returns the opacity of the pixels of a PNG file without opacities, if
// TensorFlow doesn't use the largest one. It is the largest number of the
// file's sample bits, although the samples become bytes.
func fillOf(s string) (opaque uint16, ok bool) {
	depth, kind := s[24], s[25]
	if depth >= 8 || kind&4 != 0 || hasOpacities(s) {
		return 0, false
	}
	return 1<<depth - 1, true
}

// hasOpacities reports whether a PNG file has a chunk of opacities, even if all
// of them are opaque.
func hasOpacities(s string) bool {
	for kind := range pngChunks(s) {
		if kind == "tRNS" {
			return true
		}
	}
	return false
}

// pixelsOf returns a function for red, green, blue and opacity, 16 bits each;
// the colours aren't multiplied by the opacity.
func pixelsOf(img image.Image) func(x, y int) [4]uint16 {
	at := func(x, y int) color.Color { return img.At(x, y) }
	return func(x, y int) [4]uint16 {
		switch v := at(x, y).(type) {
		case color.NRGBA:
			return [4]uint16{uint16(v.R) * 257, uint16(v.G) * 257, uint16(v.B) * 257, uint16(v.A) * 257}
		case color.NRGBA64:
			return [4]uint16{v.R, v.G, v.B, v.A}
		default:
			r, g, b, a := v.RGBA()
			return [4]uint16{uint16(r), uint16(g), uint16(b), uint16(a)}
		}
	}
}

// decodeGIF decodes the frames of a GIF image, each drawn over the one before.
func (d *decoding) decodeGIF(c *engine.Call, s string) (*picture, error) {
	if d.channels != 0 && d.channels != 3 {
		return nil, fmt.Errorf("channels must be 0 or 3 for GIF, but got %d", d.channels)
	}
	bad := func(err error) error { return fmt.Errorf("invalid GIF data (size %d): %w", len(s), err) }
	o, err := gif.DecodeConfig(strings.NewReader(s))
	if err != nil {
		return nil, bad(err)
	}
	if err := affordable(c, 1, o.Height, o.Width, 3); err != nil {
		return nil, err
	}
	if o.Width == 0 || o.Height == 0 {
		return nil, bad(errors.New("it has no pixels"))
	}
	frames, pixels := gifFrames(s)
	c.Reserve(int(pixels) + frames*gifPalette)
	all, err := gif.DecodeAll(reading(c, s))
	if err != nil {
		return nil, bad(err)
	}
	n := len(all.Image)
	if d.op == "DecodeImage" && !d.expand {
		n = 1
	} else if n > 1 && d.op != "DecodeGif" && d.op != "DecodeImage" {
		return nil, fmt.Errorf("got %d frames, but animated gifs can only be decoded by DecodeGif or DecodeImage", n)
	}
	if err := affordable(c, n, o.Height, o.Width, 3); err != nil {
		return nil, err
	}
	size := o.Height * o.Width * 3
	p := &picture{frames: n, h: o.Height, w: o.Width, c: 3, bytes: make([]byte, n*size), moves: true}
	for k, f := range all.Image[:n] {
		to := p.bytes[k*size:][:size]
		if k > 0 {
			copy(to, p.bytes[(k-1)*size:])
		}
		b := f.Bounds().Intersect(image.Rect(0, 0, o.Width, o.Height))
		for y := b.Min.Y; y < b.Max.Y; y++ {
			c.Check()
			for x := b.Min.X; x < b.Max.X; x++ {
				if v, ok := f.At(x, y).(color.RGBA); ok && v.A != 0 {
					copy(to[(y*o.Width+x)*3:], []byte{v.R, v.G, v.B})
				}
			}
		}
	}
	return p, nil
}

// gifPalette is the size of a frame's palette in bytes: 256 interfaces.
const gifPalette = 256 * 16

// gifFrames returns the number of frames that gif.DecodeAll may find in a file, and
// the number of their pixels, without decoding them. It reads the file's blocks in
// the same way.
func gifFrames(s string) (frames int, pixels int64) {
	at := 13 // the next byte
	has := func(n int) bool { return n <= len(s)-at }
	colours := func(fields byte) {
		if fields&0x80 != 0 {
			at += 3 << (1 + fields&7)
		}
	}
	colours(s[10])
	for has(2) {
		kind := s[at]
		at++
		switch {
		case kind == 0x2c && has(9): // a frame
			frames++
			pixels += (int64(s[at+4]) | int64(s[at+5])<<8) * (int64(s[at+6]) | int64(s[at+7])<<8)
			at += 9
			colours(s[at-1])
			at++ // the size of codes
		case kind == 0x21: // an extension
			at++
			switch s[at-1] {
			case 0xf9: // of a fixed size, without blocks
				at += 6
				continue
			case 0x01:
				at += 13
			case 0xff:
				if has(1) {
					at += 1 + int(s[at])
				}
			}
		default:
			return frames, pixels
		}
		for has(1) && s[at] != 0 {
			at += 1 + int(s[at])
		}
		at++
	}
	return frames, pixels
}
