package image

import (
	"errors"
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/jpeg"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of DecodeJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeWebP,
// DecodeImage, DecodeAndCropJpeg and ExtractJpegShape. As in TensorFlow, the
// bytes decide the format: most of the ops decode other formats than that of
// their name.

// mostBytes bounds the size of an image in bytes, as in TensorFlow.
const mostBytes = 1 << 29

// picture is a decoded image, or the frames of an animation, with 8 or 16 bits
// an element. frames, h, w and c are the numbers of frames, rows, columns and
// channels.
type picture struct {
	frames, h, w, c int
	bytes           []byte
	words           []uint16 // set instead of bytes
	moves           bool     // the format has animations, so that DecodeImage may return frames
	listed          bool     // a list of frames for any op
}

// contents returns the string in input 0.
func contents(c *engine.Call) (string, error) {
	t := c.In(0)
	if t.DType() != tensor.String || len(t.Shape()) != 0 {
		return "", fmt.Errorf("`contents` must be scalar but got %v%v", t.DType(), t.Shape())
	}
	return t.Strings()[0], nil
}

// errFormat is the error for an image in a format without a decoder.
var errFormat = errors.New("unknown image file format; one of JPEG, PNG, GIF, BMP, WebP required")

// formatOf returns the name of a file's format by its first bytes.
func formatOf(s string) string {
	for _, f := range []struct{ magic, name string }{{"\xff\xd8\xff", "JPEG"}, {"\x89PNG\r\n\x1a\n", "PNG"}, {"GIF87a", "GIF"}, {"GIF89a", "GIF"}, {"BM", "BMP"}} {
		if len(s) >= len(f.magic) && s[:len(f.magic)] == f.magic {
			return f.name
		}
	}
	if len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP" {
		return "WebP"
	}
	return ""
}

// decoding has the attributes of an op.
type decoding struct {
	op       string
	channels int // 0: those of the file
	dtype    tensor.DType
	expand   bool // expand_animations: all frames are decoded, not only the first
	jpeg     jpeg.Options
}

// decodingOf reads and checks the attributes; the texts of its errors are
// TensorFlow's.
func decodingOf(n *engine.Node) (*decoding, error) {
	a := n.Attrs
	yes := func(name string) bool { return !a.Has(name) || a.Bool(name) }
	d := &decoding{op: n.Op, channels: int(a.Int("channels", 0)), dtype: a.Type("dtype", tensor.Uint8), expand: yes("expand_animations")}
	d.jpeg = jpeg.Options{Ratio: int(a.Int("ratio", 1)), Plain: !yes("fancy_upscaling"), Accurate: a.String("dct_method", "") == "INTEGER_ACCURATE",
		Recover: a.Bool("try_recover_truncated")}
	switch d.channels {
	case 0, 1, 3, 4:
	default:
		return nil, fmt.Errorf("`channels` must be 0, 1, 3 or 4 but got %d", d.channels)
	}
	switch d.jpeg.Ratio {
	case 1, 2, 4, 8:
	default:
		return nil, fmt.Errorf("`ratio` must be 1, 2, 4, or 8, but got %d", d.jpeg.Ratio)
	}
	switch m := a.String("dct_method", ""); m {
	case "", "INTEGER_FAST", "INTEGER_ACCURATE":
	default:
		return nil, fmt.Errorf("`dct_method` must be one of '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', is %q", m)
	}
	return d, nil
}

// prepareDecode returns the kernel of one of the ops that decode images.
func prepareDecode(n *engine.Node) (func(*engine.Call) error, error) {
	d, err := decodingOf(n)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		inputs := 1
		if d.op == "DecodeAndCropJpeg" {
			inputs = 2
		}
		if err := c.Need(inputs); err != nil {
			return err
		}
		s, err := contents(c)
		if err != nil {
			return err
		}
		p, err := d.decode(c, s)
		if err != nil {
			return err
		}
		return d.output(c, p)
	}, nil
}

// decode decodes an image in a format that the op accepts.
func (d *decoding) decode(c *engine.Call, s string) (*picture, error) {
	format := formatOf(s)
	switch {
	case format == "":
		return nil, errFormat
	case d.op == "DecodeBmp" && format != "BMP",
		d.op == "DecodeAndCropJpeg" && format != "JPEG",
		format == "BMP" && d.op != "DecodeBmp" && d.op != "DecodeImage":
		return nil, fmt.Errorf("trying to decode %s format using %s op; use the format's own op or DecodeImage instead", format, d.op)
	}
	switch format {
	case "JPEG":
		return d.decodeJPEG(c, s)
	case "PNG":
		return d.decodePNG(c, s)
	case "GIF":
		return d.decodeGIF(c, s)
	case "WebP":
		return d.decodeWebP(c, s)
	}
	return d.decodeBMP(c, s)
}

// affordable checks a size before memory for it is allocated.
func affordable(c *engine.Call, frames, h, w, channels int) error {
	if n := int64(h) * int64(w) * int64(channels); n >= mostBytes || n*int64(frames) >= mostBytes {
		return fmt.Errorf("the image is too large: %d×%d pixels", w, h)
	}
	return c.Afford(int64(frames) * int64(h) * int64(w) * int64(channels))
}

func (d *decoding) decodeJPEG(c *engine.Call, s string) (*picture, error) {
	if d.channels == 4 {
		return nil, errors.New("JPEG does not support 4 channels")
	}
	m, err := jpeg.Parse([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("invalid JPEG data: %w", err)
	}
	o := d.jpeg
	o.Interrupted, o.Reserve = c.Context().Err, c.Reserve
	if o.Channels = d.channels; o.Channels == 0 {
		if o.Channels = 3; m.Colours == jpeg.Gray {
			o.Channels = 1
		}
	}
	if d.op == "DecodeGif" {
		o.Channels = 3
	}
	if d.op == "DecodeAndCropJpeg" {
		if o.Crop, err = cropOf(c, 1); err != nil {
			return nil, err
		}
	}
	if err := affordable(c, 1, m.Height, m.Width, 3); err != nil {
		return nil, err
	}
	pix, err := m.Decode(o)
	if err != nil {
		return nil, fmt.Errorf("invalid JPEG data: %w", err)
	}
	h, w := m.Size(o.Ratio)
	if o.Crop.Height > 0 {
		h, w = o.Crop.Height, o.Crop.Width
	}
	return &picture{frames: 1, h: h, w: w, c: o.Channels, bytes: pix}, nil
}

// cropOf returns the part of a JPEG image in input i: row, column, height and
// width.
func cropOf(c *engine.Call, i int) (jpeg.Window, error) {
	t := c.In(i)
	if t.DType() != tensor.Int32 || len(t.Shape()) != 1 || t.Len() != 4 {
		return jpeg.Window{}, fmt.Errorf("crop_window must be a vector of four int32, got %v%v", t.DType(), t.Shape())
	}
	v := tensor.Values[int32](t)
	if v[2] <= 0 || v[3] <= 0 {
		return jpeg.Window{}, fmt.Errorf("invalid crop window %v", v)
	}
	return jpeg.Window{Y: int(v[0]), X: int(v[1]), Height: int(v[2]), Width: int(v[3])}, nil
}

// output writes the picture in the op's type and number of dimensions.
func (d *decoding) output(c *engine.Call, p *picture) error {
	dims := tensor.Shape{p.h, p.w, p.c}
	if d.op == "DecodeGif" || p.listed || p.moves && d.op == "DecodeImage" && d.expand {
		dims = tensor.Shape{p.frames, p.h, p.w, p.c}
	}
	out, err := c.Alloc(0, d.dtype, dims)
	if err != nil {
		return err
	}
	n := out.Len()
	switch d.dtype {
	case tensor.Uint8:
		copy(tensor.Values[uint8](out), p.bytes[:n])
	case tensor.Uint16:
		y := tensor.Values[uint16](out)
		if p.words != nil {
			copy(y, p.words)
			return nil
		}
		for i, v := range p.bytes[:n] {
			y[i] = uint16(v) << 8
		}
	case tensor.Float32:
		y := tensor.Values[float32](out)
		for i := range y {
			if p.words != nil {
				y[i] = float32(p.words[i]) * (1.0 / 65535)
			} else {
				y[i] = float32(p.bytes[i]) * (1.0 / 255)
			}
		}
	default:
		return &engine.UnsupportedTypeError{Attr: "dtype", Type: d.dtype, Known: []tensor.DType{tensor.Float32, tensor.Uint8, tensor.Uint16}}
	}
	return nil
}

// extractShape returns the height, the width and the channels of a JPEG image
// without decoding it.
func extractShape(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	s, err := contents(c)
	if err != nil {
		return err
	}
	m, err := jpeg.Parse([]byte(s))
	if err != nil {
		return fmt.Errorf("invalid JPEG data: %w", err)
	}
	channels := map[jpeg.Colours]int{jpeg.Gray: 1, jpeg.YCbCr: 3, jpeg.RGB: 3, jpeg.CMYK: 4, jpeg.YCCK: 4}[m.Colours]
	d := c.Attrs().Type("output_type", tensor.Int32)
	out, err := c.Alloc(0, d, tensor.Shape{3})
	if err != nil {
		return err
	}
	for i, v := range []int{m.Height, m.Width, channels} {
		switch d {
		case tensor.Int32:
			tensor.Values[int32](out)[i] = int32(v)
		case tensor.Int64:
			tensor.Values[int64](out)[i] = int64(v)
		default:
			return &engine.UnsupportedTypeError{Attr: "output_type", Type: d, Known: []tensor.DType{tensor.Int32, tensor.Int64}}
		}
	}
	return nil
}

// decodeBMP reads rows of whole bytes, without a palette: 8, 24 or 32 bits a
// pixel. The checks and the padding of rows are those of TensorFlow's DecodeBmp
// (decode_image_op.cc): the file may end before the padding of its last row.
func (d *decoding) decodeBMP(c *engine.Call, s string) (*picture, error) {
	if len(s) < 32 {
		return nil, fmt.Errorf("incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got %d bytes", len(s))
	}
	at := func(i int) int32 {
		return int32(uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24)
	}
	begin, w, h, bits := int64(at(10)), int64(at(18)), int64(at(22)), int(s[28])|int(s[29])<<8
	down := h < 0
	if down {
		h = -h
	}
	n := bits / 8
	if bits%8 != 0 || n != 1 && n != 3 && n != 4 {
		return nil, fmt.Errorf("number of channels inherent in the image must be 1, 3 or 4, was %d bits a pixel", bits)
	}
	if d.channels != 0 && d.channels < 3 {
		return nil, fmt.Errorf("`channels` must be 0, 3 or 4 for BMP, but got %d", d.channels)
	}
	row := (int64(n)*w + 3) / 4 * 4
	if begin < 0 || w <= 0 || h <= 0 || begin > int64(len(s)) || h > (int64(len(s))-begin)/row && h > (int64(len(s))-begin+row-int64(n)*w)/row {
		return nil, fmt.Errorf("incomplete bmp content: %d bytes for %d×%d pixels of %d bits", len(s), w, h, bits)
	}
	p := &picture{frames: 1, h: int(h), w: int(w), c: n}
	if d.channels != 0 {
		p.c = d.channels
	}
	if err := affordable(c, 1, p.h, p.w, p.c); err != nil {
		return nil, err
	}
	p.bytes = make([]byte, p.h*p.w*p.c)
	for y := range p.h {
		from := y
		if !down {
			from = p.h - 1 - y
		}
		src := s[begin+int64(from)*row:]
		to := p.bytes[y*p.w*p.c:][:p.w*p.c]
		if n == 1 && p.c == 1 {
			copy(to, src)
			continue
		}
		for ; len(to) > 0; src, to = src[n:], to[p.c:] {
			to[0], to[1], to[2] = src[min(2, n-1)], src[min(1, n-1)], src[0]
			if p.c == 4 && n == 4 {
				to[3] = src[3]
			} else if p.c == 4 {
				to[3] = 255
			}
		}
	}
	return p, nil
}
