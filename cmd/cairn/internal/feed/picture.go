package feed

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/cairnml/cairn/rest"
	"github.com/cairnml/cairn/tensor"
)

// readPicture makes an input of a PNG or JPEG. A string input is the file itself.
// Otherwise the input is [height, width, channels], or a batch of one of those; the
// picture is scaled to its sizes, in grey for one channel, with opacity for four.
func readPicture(file []byte, x rest.Spec, opts *Options) (*tensor.Tensor, error) {
	if x.DType == tensor.String {
		return pictureFile(file, x)
	}
	if x.DType != tensor.Uint8 && !x.DType.IsFloating() {
		return nil, fmt.Errorf("a picture can't be %v (want uint8 or a floating type)", x.DType)
	}
	decode, decodeConfig := jpeg.Decode, jpeg.DecodeConfig
	if bytes.HasPrefix(file, []byte(pngMagic)) {
		decode, decodeConfig = png.Decode, png.DecodeConfig
	}
	config, err := decodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("the picture can't be read: %w", err)
	}
	if config.Width*config.Height > maxPixels || config.Width <= 0 || config.Height <= 0 {
		return nil, fmt.Errorf("a picture of %d by %d pixels: at most %d are read", config.Width, config.Height, maxPixels)
	}
	shape, err := pictureShape(x, config)
	if err != nil {
		return nil, err
	}
	src, err := decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("the picture can't be read: %w", err)
	}
	h, w, c := shape[len(shape)-3], shape[len(shape)-2], shape[len(shape)-1]
	if size := src.Bounds().Size(); size.X != w || size.Y != h {
		opts.note("the picture of %d by %d pixels is scaled to %d by %d", size.X, size.Y, w, h)
	}
	pixels := scaled(src, w, h, c)
	bytes8 := tensor.Must(tensor.New(pixels, shape...))
	if x.DType == tensor.Uint8 {
		return bytes8, nil
	}
	lo, hi := 0.0, 255.0
	if opts != nil && (opts.Low != 0 || opts.High != 0) {
		lo, hi = opts.Low, opts.High
	}
	opts.note("the picture's values are %g for black to %g for white", lo, hi)
	values := make([]float32, len(pixels))
	for i, p := range pixels {
		values[i] = float32(lo + (hi-lo)*float64(p)/255)
	}
	return tensor.Cast(tensor.Must(tensor.New(values, shape...)), x.DType)
}

// pictureFile returns the file as a string of the input's shape, which has one
// element.
func pictureFile(file []byte, x rest.Spec) (*tensor.Tensor, error) {
	dims := []int{}
	for _, d := range x.Shape {
		if d >= 0 && d != 1 {
			return nil, fmt.Errorf("the file of a picture is one string, and the input takes the shape %v", x.Shape)
		}
		dims = append(dims, 1)
	}
	if x.Shape == nil {
		dims = []int{1}
	}
	return tensor.FromStrings(tensor.String, []string{string(file)}, dims...)
}

// pictureShape returns the input's shape for a picture: [height, width, channels] or
// [1, height, width, channels]. Sizes that the input leaves open are the picture's.
func pictureShape(x rest.Spec, config image.Config) ([]int, error) {
	want := x.Shape
	if want == nil {
		want = tensor.Shape{1, -1, -1, -1}
	}
	n := len(want) - 3
	if n != 0 && n != 1 || n == 1 && want[0] > 1 {
		return nil, fmt.Errorf("a picture can't have the shape %v (want [height,width,channels], or a batch of one)", want)
	}
	shape := append([]int(nil), want...)
	for i, natural := range []int{config.Height, config.Width, channelsOf(config.ColorModel)} {
		if shape[n+i] < 0 {
			shape[n+i] = natural
		}
	}
	if n == 1 {
		shape[0] = 1
	}
	h, w, c := shape[n], shape[n+1], shape[n+2]
	if c != 1 && c != 3 && c != 4 || h == 0 || w == 0 || h > maxPixels/w {
		return nil, fmt.Errorf("a picture can't have the shape %v (want 1, 3 or 4 channels, the last dimension)", want)
	}
	return shape, nil
}

// channelsOf returns the channels of a color model: grey 1, otherwise 3.
func channelsOf(m color.Model) int {
	if m == color.GrayModel || m == color.Gray16Model {
		return 1
	}
	return 3
}

// scaled returns a picture's bytes in another size, by bilinear interpolation,
// with so many channels.
func scaled(src image.Image, w, h, c int) []uint8 {
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	if size := src.Bounds().Size(); size.X == w && size.Y == h {
		draw.Copy(dst, image.Point{}, src, src.Bounds(), draw.Src, nil)
	} else {
		draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
	}
	out := make([]uint8, 0, w*h*c)
	for y := range h {
		for x := range w {
			p := dst.NRGBAAt(x, y)
			switch c {
			case 1:
				out = append(out, color.GrayModel.Convert(p).(color.Gray).Y)
			case 3:
				out = append(out, p.R, p.G, p.B)
			default:
				out = append(out, p.R, p.G, p.B, p.A)
			}
		}
	}
	return out
}
