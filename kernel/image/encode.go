package image

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/jpeg"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of EncodeJpeg and EncodeJpegVariableQuality. Package jpeg writes
// libjpeg's bytes.

// usualDensity has TensorFlow's defaults: quality 95 and 300 pixels an inch.
var usualDensity = jpeg.Encoding{Quality: 95, DensityUnit: 1, DensityX: 300, DensityY: 300}

// prepareEncodeJPEG reads the attributes of EncodeJpeg.
func prepareEncodeJPEG(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	e, channels := usualDensity, 0
	switch f := a.String("format", ""); f {
	case "":
	case "grayscale":
		channels = 1
	case "rgb":
		channels = 3
	default:
		return nil, fmt.Errorf("format must be '', grayscale or rgb, got %q", f)
	}
	quality := a.Int("quality", 95)
	if err := inQuality(quality); err != nil {
		return nil, err
	}
	switch u := a.String("density_unit", "in"); u {
	case "in":
	case "cm":
		e.DensityUnit = 2
	default:
		return nil, fmt.Errorf("density_unit must be 'in' or 'cm', got %q", u)
	}
	e.Quality, e.DensityX, e.DensityY = int(quality), uint16(a.Int("x_density", 300)), uint16(a.Int("y_density", 300))
	e.Progressive, e.Optimize, e.XMP = a.Bool("progressive"), a.Bool("optimize_size"), a.String("xmp_metadata", "")
	e.Whole = a.Has("chroma_downsampling") && !a.Bool("chroma_downsampling")
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		if s := c.In(0).Shape(); channels != 0 && len(s) == 3 && s[2] != channels {
			return fmt.Errorf("an image of %d channels is expected, got shape %v", channels, s)
		}
		return encodeJPEG(c, e)
	}, nil
}

func inQuality(q int64) error {
	if q < 0 || q > 100 {
		return fmt.Errorf("quality must be in [0, 100], got %d", q)
	}
	return nil
}

// encodeVariableQuality encodes with a quality that is an input.
func encodeVariableQuality(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	quality, err := tensor.Item[int32](c.In(1))
	if err != nil {
		return fmt.Errorf("quality must be a scalar: %w", err)
	}
	if err := inQuality(int64(quality)); err != nil {
		return err
	}
	e := usualDensity
	e.Quality = int(quality)
	return encodeJPEG(c, e)
}

// encodeJPEG writes the image in input 0.
func encodeJPEG(c *engine.Call, e jpeg.Encoding) error {
	x := c.In(0)
	s := x.Shape()
	switch {
	case x.DType() != tensor.Uint8 || len(s) != 3:
		return fmt.Errorf("the image must be of uint8 and 3-dimensional, got %v%v", x.DType(), s)
	case s[2] != 1 && s[2] != 3:
		return fmt.Errorf("image must have 1 or 3 channels, got shape %v", s)
	case x.Len() >= math.MaxInt32 || s[0]*s[1] >= mostBytes:
		return fmt.Errorf("an image of shape %v is too large to be encoded", s)
	}
	e.Interrupted = c.Context().Err
	b, err := jpeg.Encode(tensor.Values[uint8](x), s[0], s[1], s[2], e)
	if err != nil {
		return err
	}
	return setString(c, string(b))
}

// setString sets output 0 to a string.
func setString(c *engine.Call, s string) error {
	if err := c.Afford(int64(len(s))); err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(s))
	return nil
}
