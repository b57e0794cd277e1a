package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"

	"golang.org/x/image/webp"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/await"
	"github.com/cairnml/cairn/tensor"
)

// WebP images for the ops in decode.go. The library decodes single frames; this
// file reads the containers, and converts and blends colours with libwebp's
// rounding.

// webpFrame is an image of a WebP file: its chunks in the form of the decoder,
// and its position on the canvas.
type webpFrame struct {
	x, y, w, h    int
	alpha         bool
	chunks        []byte
	blend, remove bool // blended with the canvas; cleared before the next frame
}

// webpFile is a parsed file. w and h are the size of the canvas in pixels.
type webpFile struct {
	w, h   int
	alpha  bool
	moves  bool
	frames []webpFrame
}

// mostWebP is the largest side of an image in the format. For the canvas of an
// animation the limit is Cairn's.
const mostWebP = 1 << 14

// webpChunks calls visit for each chunk of a RIFF list. Chunks must be whole;
// they are padded to an even length.
func webpChunks(b []byte, visit func(name string, chunk, body []byte) error) error {
	for len(b) >= 8 {
		n := int64(binary.LittleEndian.Uint32(b[4:]))
		end := 8 + n + n&1
		if 8+n > int64(len(b)) {
			return errors.New("a chunk ends early")
		}
		chunk := b[:min(end, int64(len(b)))]
		if err := visit(string(b[:4]), chunk, b[8:8+n]); err != nil {
			return err
		}
		b = b[len(chunk):]
	}
	return nil
}

// add adds a chunk to an image.
func (f *webpFrame) add(name string, chunk, body []byte) error {
	switch name {
	case "ALPH":
		f.alpha = true
	case "VP8 ":
		if len(body) < 10 || f.h > 0 {
			return errors.New("the image is too short, or there are two")
		}
		f.w, f.h = int(binary.LittleEndian.Uint16(body[6:])&0x3fff), int(binary.LittleEndian.Uint16(body[8:])&0x3fff)
		// A block of 16×16 pixels takes at least two bits, because the kinds of
		// its predictions have fixed probabilities.
		if (f.w+15)/16*((f.h+15)/16) > 4*len(body) {
			return fmt.Errorf("it is too short for %d×%d pixels", f.w, f.h)
		}
	case "VP8L":
		if len(body) < 5 || f.h > 0 {
			return errors.New("the image is too short, or there are two")
		}
		v := binary.LittleEndian.Uint32(body[1:])
		f.w, f.h, f.alpha = int(v&0x3fff)+1, int(v>>14&0x3fff)+1, v>>28&1 != 0
	default:
		return nil
	}
	f.chunks = append(f.chunks, chunk...)
	return nil
}

func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// parseWebP reads the structure of a file, without pixels.
func parseWebP(s string) (*webpFile, error) {
	if len(s) < 20 || s[:4] != "RIFF" || s[8:12] != "WEBP" {
		return nil, errors.New("it is no RIFF file of WebP")
	}
	f := &webpFile{}
	var single webpFrame
	wide := false // the file has a canvas
	err := webpChunks([]byte(s)[12:min(int64(len(s)), 8+int64(binary.LittleEndian.Uint32([]byte(s)[4:])))], func(name string, chunk, body []byte) error {
		switch {
		case name == "VP8X" && len(body) >= 10 && !wide:
			wide = true
			f.alpha, f.moves = body[0]&0x10 != 0, body[0]&2 != 0
			f.w, f.h = int24(body[4:])+1, int24(body[7:])+1
		case name == "ANMF" && len(body) >= 16 && f.moves:
			m := webpFrame{x: 2 * int24(body), y: 2 * int24(body[3:]), blend: body[15]&2 == 0, remove: body[15]&1 != 0}
			if err := webpChunks(body[16:], m.add); err != nil {
				return err
			}
			if m.w != int24(body[6:])+1 || m.h != int24(body[9:])+1 {
				return errors.New("a frame's size isn't that of its image")
			}
			f.frames = append(f.frames, m)
		case !f.moves:
			return single.add(name, chunk, body)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case f.moves:
	case single.h == 0 || wide && (f.w != single.w || f.h != single.h):
		return nil, errors.New("it has no image, or one of another size than its canvas")
	default:
		f.w, f.h, f.alpha, f.frames = single.w, single.h, f.alpha || single.alpha, []webpFrame{single}
	}
	if f.w > mostWebP || f.h > mostWebP || f.w == 0 || f.h == 0 || len(f.frames) == 0 {
		return nil, fmt.Errorf("%d frames of %d×%d pixels", len(f.frames), f.w, f.h)
	}
	for _, m := range f.frames {
		if m.w == 0 || m.h == 0 || m.x+m.w > f.w || m.y+m.h > f.h {
			return nil, errors.New("a frame is outside of the canvas")
		}
	}
	return f, nil
}

// decodeWebP decodes an image, or the frames of an animation, to the same
// pixels as libwebp.
func (d *decoding) decodeWebP(c *engine.Call, s string) (*picture, error) {
	bad := func(err error) error { return fmt.Errorf("invalid WebP data (size %d): %w", len(s), err) }
	if d.channels == 1 || d.dtype != tensor.Uint8 {
		return nil, fmt.Errorf("WebP only supports 3 or 4 channels of uint8, got %d of %v", d.channels, d.dtype)
	}
	f, err := parseWebP(s)
	if err != nil {
		return nil, bad(err)
	}
	channels := 3
	if f.alpha || f.moves {
		channels = 4
	}
	if d.channels != 0 && d.channels != channels {
		return nil, fmt.Errorf("%d channels are requested, the WebP image has %d", d.channels, channels)
	}
	frames := f.frames
	if !d.expand {
		frames = frames[:1]
	}
	if err := affordable(c, len(frames), f.h, f.w, 4); err != nil {
		return nil, err
	}
	size := f.h * f.w * channels
	p := &picture{frames: len(frames), h: f.h, w: f.w, c: channels, bytes: make([]byte, len(frames)*size), listed: d.expand}
	canvas := &webpCanvas{f: f, pix: make([]byte, f.h*f.w*4)}
	for i := range frames {
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		pix, err := frames[i].decode(c)
		if err != nil {
			return nil, bad(err)
		}
		canvas.draw(&frames[i], i, pix)
		to := p.bytes[i*size:][:size]
		if channels == 4 {
			copy(to, canvas.pix)
			continue
		}
		for k := range f.h * f.w {
			copy(to[3*k:3*k+3], canvas.pix[4*k:])
		}
	}
	return p, nil
}

// longFrame is the number of pixels from which a frame takes long to decode.
const longFrame = 1 << 20

// decode returns the pixels of a frame: red, green, blue and opacity.
func (m *webpFrame) decode(c *engine.Call) ([]byte, error) {
	b := []byte("RIFF\x00\x00\x00\x00WEBP")
	if bytes.HasPrefix(m.chunks, []byte("ALPH")) {
		b = append(b, "VP8X\x0a\x00\x00\x00\x10\x00\x00\x00"...)
		b = append(b, byte(m.w-1), byte((m.w-1)>>8), byte((m.w-1)>>16), byte(m.h-1), byte((m.h-1)>>8), byte((m.h-1)>>16))
	}
	b = append(b, m.chunks...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	var img image.Image
	var err error
	read := func() { img, err = webp.Decode(bytes.NewReader(b)) }
	if m.w*m.h < longFrame {
		read()
	} else if stop := await.Do(c.Context(), read); stop != nil { // the library reads a whole frame before it decodes
		return nil, stop
	}
	if err != nil {
		return nil, err
	}
	if img.Bounds() != image.Rect(0, 0, m.w, m.h) {
		return nil, fmt.Errorf("an image of %v pixels", img.Bounds())
	}
	out := make([]byte, 4*m.w*m.h)
	switch v := img.(type) {
	case *image.NRGBA:
		for y := range m.h {
			copy(out[4*y*m.w:][:4*m.w], v.Pix[y*v.Stride:])
		}
	case *image.YCbCr:
		webpColours(c, out, v)
	case *image.NYCbCrA:
		webpColours(c, out, &v.YCbCr)
		for i := range m.w * m.h {
			out[4*i+3] = v.A[i/m.w*v.AStride+i%m.w]
		}
	default:
		return nil, fmt.Errorf("an image of %T", img)
	}
	return out, nil
}

// webpColours writes red, green and blue, opaque, of a picture whose colours
// have half its size. In both directions the nearest sample has the weight 3,
// the next one 1.
func webpColours(c *engine.Call, out []byte, v *image.YCbCr) {
	w, h := v.Rect.Dx(), v.Rect.Dy()
	cw, ch := (w+1)/2, (h+1)/2
	near := func(i, n int) (a, b int) { return i / 2, max(0, min(i/2-1+i%2*2, n-1)) }
	for y := range h {
		c.Check()
		y0, y1 := near(y, ch)
		for x := range w {
			x0, x1 := near(x, cw)
			at := func(plane []byte) int {
				a, b := int(plane[y0*v.CStride+x0]), int(plane[y0*v.CStride+x1])
				c, d := int(plane[y1*v.CStride+x0]), int(plane[y1*v.CStride+x1])
				if x0 == x1 || x == w-1 && w%2 == 0 {
					return (3*a + c + 2) >> 2
				}
				return ((a+3*b+3*c+d+8)>>3 + a) >> 1
			}
			l := int(v.Y[y*v.YStride+x]) * 19077 >> 8
			cb, cr := at(v.Cb), at(v.Cr)
			to := out[4*(y*w+x):][:4]
			to[0] = webpClip(l + cr*26149>>8 - 14234)
			to[1] = webpClip(l - cb*6419>>8 - cr*13320>>8 + 8708)
			to[2] = webpClip(l + cb*33050>>8 - 17685)
			to[3] = 255
		}
	}
}

// webpClip returns a colour from a number with 6 fraction bits.
func webpClip(v int) byte { return byte(max(0, min(v>>6, 255))) }

// webpCanvas is the canvas of an animation.
type webpCanvas struct {
	f      *webpFile
	pix    []byte
	before *webpFrame
	key    bool // the last frame didn't depend on earlier ones
}

// whole reports whether a frame covers the canvas.
func (v *webpCanvas) whole(m *webpFrame) bool { return m.w == v.f.w && m.h == v.f.h }

// draw draws a frame on the canvas.
func (v *webpCanvas) draw(m *webpFrame, i int, pix []byte) {
	b := v.before
	key := i == 0 || (!m.alpha || !m.blend) && v.whole(m) || b.remove && (v.whole(b) || v.key)
	if key {
		clear(v.pix)
	} else if b.remove {
		for y := range b.h {
			clear(v.pix[4*((b.y+y)*v.f.w+b.x):][:4*b.w])
		}
	}
	for y := range m.h {
		to, from := v.pix[4*((m.y+y)*v.f.w+m.x):][:4*m.w], pix[4*y*m.w:][:4*m.w]
		if key || !m.blend {
			copy(to, from)
			continue
		}
		for x := range m.w {
			cy, cx := m.y+y, m.x+x
			if b.remove && cy >= b.y && cy < b.y+b.h && cx >= b.x && cx < b.x+b.w {
				copy(to[4*x:4*x+4], from[4*x:])
			} else {
				webpBlend(to[4*x:][:4], from[4*x:][:4])
			}
		}
	}
	v.before, v.key = m, key
}

// webpBlend draws a pixel over another one.
func webpBlend(to, from []byte) {
	a := uint32(from[3])
	if a == 0 {
		return
	}
	under := uint32(to[3]) * (256 - a) >> 8
	sum := a + under
	by := uint32(1<<24) / sum
	for k := range 3 {
		to[k] = byte((uint32(from[k])*a + uint32(to[k])*under) * by >> 24)
	}
	to[3] = byte(sum)
}
