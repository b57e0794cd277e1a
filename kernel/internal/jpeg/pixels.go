package jpeg

import "fmt"

// From coefficients to pixels: upsampling as in libjpeg-turbo's jdsample.c and
// colours as in jdcolor.c. CMYK images are converted as in TensorFlow's
// jpeg_mem.cc.

// Options are the parameters of the decoder.
type Options struct {
	Channels int // 1 for gray, 3 for red, green and blue
	Ratio    int // 1, 2, 4 or 8: how much smaller the image becomes
	// Plain repeats the samples of components that have fewer; otherwise they
	// are interpolated.
	Plain bool
	// Accurate takes the slower of libjpeg's two transforms of whole blocks.
	Accurate bool
	// Recover decodes data that end early as far as they go; the rest is gray.
	Recover bool
	// Crop is the part of the image that is wanted; a Height of 0 means all.
	// The part's sides are decoded as the sides of an image that ends there, as
	// libjpeg-turbo does. This affects colours and the first blocks at the
	// left.
	Crop Window
	// Interrupted is called now and then; its error ends the decoding. It isn't nil.
	Interrupted func() error
	// Reserve is called with the number of bytes that decoding takes, before they are
	// allocated. It isn't nil.
	Reserve func(bytes int)
}

// Window is a part of an image, in pixels.
type Window struct{ Y, X, Height, Width int }

// plane is a component's samples.
type plane struct {
	pix    []byte
	stride int // from a row to the next
	w, h   int // columns and rows
}

// Size returns the size of the image decoded with a ratio.
func (m *Image) Size(ratio int) (h, w int) { return up(m.Height, ratio), up(m.Width, ratio) }

// Decode returns the image's pixels, row by row.
func (m *Image) Decode(o Options) ([]byte, error) {
	if o.Ratio != 1 && o.Ratio != 2 && o.Ratio != 4 && o.Ratio != 8 || o.Channels != 1 && o.Channels != 3 {
		return nil, fmt.Errorf("a ratio of %d and %d channels", o.Ratio, o.Channels)
	}
	if err := m.coefficients(&o); err != nil {
		return nil, err
	}
	h, w := m.Size(o.Ratio)
	crop := o.Crop
	if crop.Height == 0 {
		crop = Window{0, 0, h, w}
	}
	if crop.Y < 0 || crop.X < 0 || crop.Height < 1 || crop.Width < 1 || crop.Height > h-crop.Y || crop.Width > w-crop.X {
		return nil, fmt.Errorf("the part %+v is outside of %d×%d pixels", crop, h, w)
	}
	align := 8 / o.Ratio
	if len(m.components) > 1 {
		align *= m.maxH
	}
	first := crop.X / align * align
	planes := make([]plane, len(m.components))
	for i := range m.components {
		if o.Channels == 1 && i > 0 && m.Colours == YCbCr {
			break // the first component is gray already
		}
		planes[i] = m.plane(&m.components[i], &o, h, first, crop.X+crop.Width-first)
		planes[i].pix = planes[i].pix[crop.X-first:]
		m.components[i].coefs = nil
		if err := o.Interrupted(); err != nil {
			return nil, err
		}
	}
	line := crop.Width * o.Channels
	out := make([]byte, crop.Height*line)
	for y := range crop.Height {
		m.row(out[y*line:][:line], planes, crop.Y+y, crop.Width, o.Channels)
	}
	return out, nil
}

// plane returns a component's samples in the image's size, w columns beginning
// at column first. If a component has fewer samples than others, it enlarges
// the blocks as far as possible, rather than repeating samples.
func (m *Image) plane(c *component, o *Options, h, first, w int) plane {
	least := 8 / o.Ratio
	n := least
	for n < 8 && m.maxH*least%(c.h*n*2) == 0 && m.maxV*least%(c.v*n*2) == 0 {
		n *= 2
	}
	p := plane{stride: c.bw * n, w: up(m.Width*c.h*n, m.maxH*8), h: up(m.Height*c.v*n, m.maxV*8)}
	p.pix = make([]byte, c.bw*c.bh*n*n)
	quick := prescaled(c.quant)
	for i := range c.bw * c.bh {
		to, b := p.pix[i/c.bw*n*p.stride+i%c.bw*n:], c.coefs[64*i:][:64]
		if n == 8 && !o.Accurate {
			fast(to, p.stride, b, quick)
		} else {
			block(to, p.stride, b, c.quant, n)
		}
	}
	whole := p.w
	p.pix, p.w = p.pix[first*c.h*n/(m.maxH*least):], up(w*c.h*n, m.maxH*least)
	across, down := m.maxH*least/(c.h*n), m.maxV*least/(c.v*n)
	exact := across*c.h*n == m.maxH*least && down*c.v*n == m.maxV*least
	smooth := !o.Plain && least > 1
	switch {
	case exact && across == 1 && down == 1:
		return p
	case exact && smooth && across == 2 && down == 1 && whole > 2 && p.w > 1:
		return p.wider(h, w)
	case exact && smooth && across == 1 && down == 2:
		return p.taller(h, w)
	case exact && smooth && across == 2 && down == 2 && whole > 2 && p.w > 1:
		return p.larger(h, w)
	}
	out := plane{make([]byte, h*w), w, w, h}
	for y := range h {
		for x := range w {
			out.pix[y*w+x] = p.at(y*c.v*n/(m.maxV*least), x*c.h*n/(m.maxH*least))
		}
	}
	return out
}

func (p *plane) at(y, x int) byte { return p.pix[y*p.stride+x] }

// line returns row y; rows beyond the edges are those at them.
func (p *plane) line(y int) []byte { return p.pix[max(0, min(y, p.h-1))*p.stride:][:p.w] }

// wider returns the plane with twice as many columns: three parts of the nearer
// sample, one of the other.
func (p *plane) wider(h, w int) plane {
	out := plane{make([]byte, h*w), w, w, h}
	for y := range h {
		in, to := p.line(y), out.pix[y*w:][:w]
		for x := range to {
			i := x / 2
			v := int(in[i])
			switch {
			case x%2 == 0 && i > 0:
				v = (3*v + int(in[i-1]) + 1) >> 2
			case x%2 == 1 && i+1 < p.w:
				v = (3*v + int(in[i+1]) + 2) >> 2
			}
			to[x] = byte(v)
		}
	}
	return out
}

// taller returns the plane with twice as many rows.
func (p *plane) taller(h, w int) plane {
	out := plane{make([]byte, h*w), w, w, h}
	for y := range h {
		near, far, bias := p.line(y/2), p.line(y/2-1), 1
		if y%2 == 1 {
			far, bias = p.line(y/2+1), 2
		}
		for x := range w {
			out.pix[y*w+x] = byte((3*int(near[x]) + int(far[x]) + bias) >> 2)
		}
	}
	return out
}

// larger returns the plane with twice as many rows and columns.
func (p *plane) larger(h, w int) plane {
	out := plane{make([]byte, h*w), w, w, h}
	sums := make([]int, p.w)
	for y := range h {
		near, far := p.line(y/2), p.line(y/2-1+y%2*2)
		for x := range sums {
			sums[x] = 3*int(near[x]) + int(far[x])
		}
		to := out.pix[y*w:][:w]
		for x := range to {
			i := x / 2
			v := 4 * sums[i]
			switch {
			case x%2 == 0 && i > 0:
				v = 3*sums[i] + sums[i-1]
			case x%2 == 1 && i+1 < p.w:
				v = 3*sums[i] + sums[i+1]
			}
			to[x] = byte((v + 8 - x%2) >> 4)
		}
	}
	return out
}

// within returns v, brought between 0 and 255.
func within(v int) byte { return byte(max(0, min(v, 255))) }

// colour returns red, green and blue in fixed-point numbers of 16 binary places.
func colour(y, cb, cr byte) (r, g, b byte) {
	const half = 1 << 15
	l, u, v := int(y), int(cb)-128, int(cr)-128
	return within(l + (91881*v+half)>>16), within(l + (-22554*u-46802*v+half)>>16), within(l + (116130*u+half)>>16)
}

// row writes a row of pixels.
func (m *Image) row(to []byte, p []plane, y, w, channels int) {
	for x := range w {
		var r, g, b byte
		switch m.Colours {
		case Gray:
			r = p[0].at(y, x)
			g, b = r, r
		case YCbCr:
			if r = p[0].at(y, x); channels == 3 {
				r, g, b = colour(r, p[1].at(y, x), p[2].at(y, x))
			}
		case RGB:
			r, g, b = p[0].at(y, x), p[1].at(y, x), p[2].at(y, x)
			if channels == 1 {
				r = byte((19595*int(r) + 38470*int(g) + 7471*int(b) + 1<<15) >> 16)
			}
		case CMYK, YCCK:
			cy, mg, ye, k := p[0].at(y, x), p[1].at(y, x), p[2].at(y, x), int(p[3].at(y, x))
			if m.Colours == YCCK {
				cy, mg, ye = colour(cy, mg, ye)
				cy, mg, ye = 255-cy, 255-mg, 255-ye
			}
			ink := func(v byte) byte {
				if m.Inverted {
					return byte(k * int(v) / 255)
				}
				return byte((255 - k) * (255 - int(v)) / 255)
			}
			r, g, b = ink(cy), ink(mg), ink(ye)
			if channels == 1 {
				r = byte((int(r)*299 + int(g)*587 + int(b)*114 + 500) / 1000)
			}
		}
		if channels == 1 {
			to[x] = r
			continue
		}
		to[3*x], to[3*x+1], to[3*x+2] = r, g, b
	}
}
