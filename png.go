package cairn

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"

	"github.com/cairnml/cairn/tensor"
)

// maxPNG is the greatest number of pixels that DecodePNG makes: a small file can declare any
// size. The limit is Cairn's and may change.
const maxPNG = 1 << 26

// DecodePNG returns a picture as uint8 of [height, width, channels]: one channel for
// shades of grey, three for colours, four if the format of the pixels has transparency.
// Colours aren't multiplied by the transparency. Of 16 bits the upper 8 are kept. The results
// of programs depend on these values, so they must stay.
func DecodePNG(r io.Reader) (*tensor.Tensor, error) {
	// The first bytes contain the size, which is checked before it is used.
	var head bytes.Buffer
	config, err := png.DecodeConfig(io.TeeReader(io.LimitReader(r, 1<<20), &head))
	if err != nil {
		return nil, fmt.Errorf("cairn: PNG: %w", err)
	}
	if w, h := config.Width, config.Height; w <= 0 || h <= 0 || w > maxPNG/h {
		return nil, fmt.Errorf("cairn: PNG: a picture of %d by %d pixels; the most is %d in all", w, h, maxPNG)
	}
	img, err := png.Decode(bufio.NewReader(io.MultiReader(&head, r)))
	if err != nil {
		return nil, fmt.Errorf("cairn: PNG: %w", err)
	}
	b := img.Bounds()
	channels := 4
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() && !hasAlpha(config.ColorModel) {
		channels = 3
	}
	if _, grey := img.(*image.Gray); grey || config.ColorModel == color.Gray16Model {
		channels = 1
	}
	pix := make([]uint8, 0, b.Dx()*b.Dy()*channels)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			pix = append(pix, []uint8{c.R, c.G, c.B, c.A}[:channels]...)
		}
	}
	return tensor.FromBytes(tensor.Uint8, pix, b.Dy(), b.Dx(), channels)
}

// hasAlpha reports whether pictures of that model can be transparent.
func hasAlpha(m color.Model) bool {
	if p, ok := m.(color.Palette); ok {
		for _, c := range p {
			if _, _, _, a := c.RGBA(); a != 0xffff {
				return true
			}
		}
		return false
	}
	return m == color.NRGBAModel || m == color.NRGBA64Model
}
