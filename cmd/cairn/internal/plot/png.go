package plot

import (
	"image"
	imagecolor "image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// pngScale is the number of pixels of a PNG for one of an SVG, in each direction, for sharp letters.
const pngScale = 2

// pngCanvas draws pixels.
type pngCanvas struct {
	w     io.Writer
	img   *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face
}

func newPNG(w io.Writer, width, height float64) (*pngCanvas, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	c := &pngCanvas{w: w, font: f, faces: map[float64]font.Face{}}
	c.img = image.NewRGBA(image.Rect(0, 0, int(math.Ceil(width*pngScale)), int(math.Ceil(height*pngScale))))
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(white.rgba()), image.Point{}, draw.Src)
	return c, nil
}

func (c color) rgba() imagecolor.RGBA { return imagecolor.RGBA{c[0], c[1], c[2], 0xff} }

// rect fills whole pixels, at least one each way.
func (c *pngCanvas) rect(x, y, w, h float64, fill color) {
	pixel := func(v float64) int { return int(math.Round(v * pngScale)) }
	r := image.Rect(pixel(x), pixel(y), max(pixel(x+w), pixel(x)+1), max(pixel(y+h), pixel(y)+1))
	draw.Draw(c.img, r, image.NewUniform(fill.rgba()), image.Point{}, draw.Src)
}

func (c *pngCanvas) text(x, y, size float64, a anchor, fill color, s string) {
	face := c.faces[size]
	if face == nil {
		var err error
		face, err = opentype.NewFace(c.font, &opentype.FaceOptions{Size: size * pngScale, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return // impossible: the font has the sizes that this package asks for
		}
		c.faces[size] = face
	}
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(fill.rgba()), Face: face}
	at := fixed.Int26_6(x * pngScale * 64)
	switch a {
	case atMiddle:
		at -= d.MeasureString(s) / 2
	case atEnd:
		at -= d.MeasureString(s)
	}
	d.Dot = fixed.Point26_6{X: at, Y: fixed.Int26_6(y * pngScale * 64)}
	d.DrawString(s)
}

func (c *pngCanvas) flush() error { return png.Encode(c.w, c.img) }
