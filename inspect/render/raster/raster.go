// Package raster draws the pictures of package render as PNG.
package raster

import (
	"fmt"
	"image"
	imagecolor "image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/cairnml/cairn/inspect/render"
)

// maxPixels bounds a picture's memory, of four bytes for each pixel. Larger pictures have a smaller
// scale. The number may change.
const maxPixels = 40 << 20

// scale is the number of pixels for one of an SVG, which makes letters sharp.
const scale = 2

// Surface returns the surface that writes a PNG picture to w. An SVG's pixel becomes two
// each way, or fewer in a picture of more than 40 million pixels.
func Surface(w io.Writer) render.Surface {
	return func(width, height float64) (render.Canvas, error) {
		c := &raster{w: w, scale: scale, faces: map[faceKey]font.Face{}}
		if most := math.Sqrt(maxPixels / max(width*height, 1)); most < c.scale {
			c.scale = most
		}
		var err error
		if c.regular, err = opentype.Parse(goregular.TTF); err != nil {
			return nil, err
		}
		if c.bold, err = opentype.Parse(gobold.TTF); err != nil {
			return nil, err
		}
		c.img = image.NewRGBA(image.Rect(0, 0, max(int(math.Ceil(width*c.scale)), 1), max(int(math.Ceil(height*c.scale)), 1)))
		draw.Draw(c.img, c.img.Bounds(), image.White, image.Point{}, draw.Src)
		return c, nil
	}
}

type faceKey struct {
	size float64
	bold bool
}

// raster draws pixels.
type raster struct {
	w             io.Writer
	img           *image.RGBA
	scale         float64
	regular, bold *opentype.Font
	faces         map[faceKey]font.Face
}

// parseColor returns the colour that "#rrggbb" writes, or black.
func parseColor(s string) *image.Uniform {
	var v uint64
	if len(s) == 7 {
		v, _ = strconv.ParseUint(s[1:], 16, 32)
	}
	return image.NewUniform(imagecolor.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff})
}

// fill fills a polygon that draw describes in the pixels of the picture's part around it.
func (c *raster) fill(x0, y0, x1, y1 float64, color string, describe func(z *vector.Rasterizer, at func(x, y float64) (float32, float32))) {
	area := image.Rect(int(math.Floor(x0*c.scale))-1, int(math.Floor(y0*c.scale))-1, int(math.Ceil(x1*c.scale))+1, int(math.Ceil(y1*c.scale))+1).Intersect(c.img.Bounds())
	if area.Empty() {
		return
	}
	z := vector.NewRasterizer(area.Dx(), area.Dy())
	describe(z, func(x, y float64) (float32, float32) {
		return float32(x*c.scale - float64(area.Min.X)), float32(y*c.scale - float64(area.Min.Y))
	})
	z.Draw(c.img, area, parseColor(color), image.Point{})
}

// roundness is the distance of a control point of a quarter of a circle from its end, in radii: the
// common approximation of a circle by cubic curves.
const roundness = 0.5523

// Rect implements [render.Canvas].
func (c *raster) Rect(x, y, w, h, radius float64, fill, border string) {
	const line = 1.0
	shape := func(x, y, w, h, r float64, color string) {
		r = max(min(r, w/2, h/2), 0)
		k := r * (1 - roundness)
		c.fill(x, y, x+w, y+h, color, func(z *vector.Rasterizer, at func(x, y float64) (float32, float32)) {
			move := func(x, y float64) { px, py := at(x, y); z.MoveTo(px, py) }
			to := func(x, y float64) { px, py := at(x, y); z.LineTo(px, py) }
			curve := func(x1, y1, x2, y2, x3, y3 float64) {
				a, b := at(x1, y1)
				d, e := at(x2, y2)
				f, g := at(x3, y3)
				z.CubeTo(a, b, d, e, f, g)
			}
			move(x+r, y)
			to(x+w-r, y)
			curve(x+w-k, y, x+w, y+k, x+w, y+r)
			to(x+w, y+h-r)
			curve(x+w, y+h-k, x+w-k, y+h, x+w-r, y+h)
			to(x+r, y+h)
			curve(x+k, y+h, x, y+h-k, x, y+h-r)
			to(x, y+r)
			curve(x, y+k, x+k, y, x+r, y)
			z.ClosePath()
		})
	}
	if border != "" {
		shape(x-line/2, y-line/2, w+line, h+line, radius+line/2, border)
		if fill == "" {
			fill = "#ffffff"
		}
		shape(x+line/2, y+line/2, w-line, h-line, radius-line/2, fill)
		return
	}
	if fill != "" {
		shape(x, y, w, h, radius, fill)
	}
}

// Circle implements [render.Canvas]. A picture of pixels has no titles.
func (c *raster) Circle(x, y, r float64, fill, _ string) { c.Rect(x-r, y-r, 2*r, 2*r, r, fill, "") }

// Path implements [render.Canvas].
func (c *raster) Path(p *render.Path, s render.Stroke) {
	points := flatten(p)
	var dash, gap float64 = math.Inf(1), 0
	if s.Dashed {
		dash, gap = 4, 3
	}
	left, on := dash, true
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		for {
			length := math.Hypot(b[0]-a[0], b[1]-a[1])
			if length <= left {
				if on {
					c.segment(a, b, s)
				}
				left -= length
				break
			}
			t := left / length
			m := [2]float64{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])}
			if on {
				c.segment(a, m, s)
			}
			a, on = m, !on
			if left = dash; !on {
				left = gap
			}
		}
	}
	if s.Arrow && len(p.Pieces) > 0 {
		h := p.Arrowhead()
		c.fill(min(h[0][0], h[1][0], h[2][0]), min(h[0][1], h[1][1], h[2][1]), max(h[0][0], h[1][0], h[2][0]), max(h[0][1], h[1][1], h[2][1]), s.Color,
			func(z *vector.Rasterizer, at func(x, y float64) (float32, float32)) {
				x, y := at(h[0][0], h[0][1])
				z.MoveTo(x, y)
				for _, p := range h[1:] {
					x, y = at(p[0], p[1])
					z.LineTo(x, y)
				}
				z.ClosePath()
			})
	}
}

// flatten returns the points of a path whose curves are made of short straight lines.
func flatten(p *render.Path) [][2]float64 {
	var out [][2]float64
	x, y := 0.0, 0.0
	for i, e := range p.Pieces {
		if i > 0 && e.Curve {
			const steps = 24
			for k := 1; k < steps; k++ {
				t := float64(k) / steps
				u := 1 - t
				a, b, d, f := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
				out = append(out, [2]float64{a*x + b*e.X1 + d*e.X2 + f*e.X, a*y + b*e.Y1 + d*e.Y2 + f*e.Y})
			}
		}
		out = append(out, [2]float64{e.X, e.Y})
		x, y = e.X, e.Y
	}
	return out
}

// segment draws a straight line as a thin rectangle.
func (c *raster) segment(a, b [2]float64, s render.Stroke) {
	dx, dy := b[0]-a[0], b[1]-a[1]
	n := math.Hypot(dx, dy)
	if n == 0 {
		return
	}
	half := s.Width / 2
	dx, dy = dx/n*half, dy/n*half
	c.fill(min(a[0], b[0])-half, min(a[1], b[1])-half, max(a[0], b[0])+half, max(a[1], b[1])+half, s.Color,
		func(z *vector.Rasterizer, at func(x, y float64) (float32, float32)) {
			for i, p := range [][2]float64{{a[0] - dy, a[1] + dx}, {b[0] - dy, b[1] + dx}, {b[0] + dy, b[1] - dx}, {a[0] + dy, a[1] - dx}} {
				x, y := at(p[0], p[1])
				if i == 0 {
					z.MoveTo(x, y)
				} else {
					z.LineTo(x, y)
				}
			}
			z.ClosePath()
		})
}

// Text implements [render.Canvas]. Italic letters are drawn upright.
func (c *raster) Text(x, y float64, words string, s render.TextStyle) {
	key := faceKey{s.Size, s.Bold}
	face := c.faces[key]
	if face == nil {
		f := c.regular
		if s.Bold {
			f = c.bold
		}
		var err error
		if face, err = opentype.NewFace(f, &opentype.FaceOptions{Size: s.Size * c.scale, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return // impossible: the fonts have the sizes that pictures ask for
		}
		c.faces[key] = face
	}
	d := font.Drawer{Dst: c.img, Src: parseColor(s.Color), Face: face}
	at := fixed.Int26_6(x * c.scale * 64)
	if s.Middle {
		at -= d.MeasureString(words) / 2
	}
	d.Dot = fixed.Point26_6{X: at, Y: fixed.Int26_6(y * c.scale * 64)}
	d.DrawString(words)
}

// Flush implements [render.Canvas].
func (c *raster) Flush() error {
	if err := png.Encode(c.w, c.img); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}
