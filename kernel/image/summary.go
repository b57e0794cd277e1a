package image

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/events"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ImageSummary and WriteImageSummary.

// prepareSummary prepares ImageSummary: the first images of a batch as PNGs in a
// Summary.
func prepareSummary(n *engine.Node) (func(*engine.Call) error, error) {
	most := n.Attrs.Int("max_images", 3)
	bad := []uint8{255, 0, 0, 255}
	if a, ok := n.Attrs.Lookup("bad_color"); ok {
		if t, ok := a.Value().(*tensor.Tensor); ok {
			if t.DType() != tensor.Uint8 || len(t.Shape()) != 1 {
				return nil, fmt.Errorf("bad_color is %v%v, not a vector of uint8", t.DType(), t.Shape())
			}
			bad = tensor.Values[uint8](t)
		}
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		s, err := summaryOf(c, c.In(0), c.In(1), bad, most)
		if err != nil {
			return err
		}
		c.Set(0, tensor.Scalar(string(s)))
		return nil
	}, nil
}

// writeSummary prepares WriteImageSummary, which writes such a Summary to an
// event file.
func writeSummary(n *engine.Node) (func(*engine.Call) error, error) {
	most := n.Attrs.Int("max_images", 3)
	return func(c *engine.Call) error {
		if c.NumIn() != 5 {
			return fmt.Errorf("takes a writer, a step, a tag, images and a colour")
		}
		return events.WriteSummary(c, func() ([]byte, error) {
			bad := c.In(4)
			if bad.DType() != tensor.Uint8 || len(bad.Shape()) != 1 {
				return nil, fmt.Errorf("bad_color is %v%v, not a vector of uint8", bad.DType(), bad.Shape())
			}
			return summaryOf(c, c.In(2), c.In(3), tensor.Values[uint8](bad), most)
		})
	}, nil
}

// summaryOf returns a Summary of the first images of a batch.
func summaryOf(c *engine.Call, tag, x *tensor.Tensor, bad []uint8, most int64) ([]byte, error) {
	s := x.Shape()
	if tag.DType() != tensor.String || tag.Len() != 1 {
		return nil, fmt.Errorf("the tag is %v%v, not one string", tag.DType(), tag.Shape())
	}
	if len(s) != 4 || s[3] != 1 && s[3] != 3 && s[3] != 4 {
		return nil, fmt.Errorf("the images have shape %v, not one of 4 sizes that ends in 1, 3 or 4", s)
	}
	if x.Len() >= math.MaxInt32 {
		return nil, fmt.Errorf("images of shape %v are too large", s)
	}
	h, w, channels := s[1], s[2], s[3]
	if h == 0 || w == 0 {
		return nil, fmt.Errorf("images without pixels, of shape %v, can't be encoded", s)
	}
	if x.DType() != tensor.Uint8 && len(bad) < channels {
		return nil, fmt.Errorf("bad_color has %d channels, the images have %d", len(bad), channels)
	}
	size := h * w * channels
	var out []byte
	for i := range min(max(int64(s[0]), 0), most) {
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s/image/%d", tag.Strings()[0], i)
		if most == 1 {
			name = tag.Strings()[0] + "/image"
		}
		pixels, err := summaryPixels(x, int(i)*size, size, channels, bad)
		if err != nil {
			return nil, err
		}
		png := (&pngImage{h: h, w: w, channels: channels, bits: 8, level: -1, rows: pixels}).encode(c.Check)
		var picture []byte
		for num, v := range []int{0, h, w, channels} {
			if num > 0 {
				picture = protowire.AppendVarint(protowire.AppendTag(picture, protowire.Number(num), protowire.VarintType), uint64(v))
			}
		}
		picture = protowire.AppendBytes(protowire.AppendTag(picture, 4, protowire.BytesType), png)
		value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
		value = protowire.AppendBytes(protowire.AppendTag(value, 4, protowire.BytesType), picture)
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), value)
		if err := c.Afford(int64(len(out))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// summaryPixels returns one of the images in x, from element at on, as bytes.
// It scales numbers so that the largest is 255 or, if some are negative, so
// that zero is 128. Pixels with numbers that aren't finite get the colour bad.
func summaryPixels(x *tensor.Tensor, at, size, channels int, bad []uint8) ([]uint8, error) {
	switch x.DType() {
	case tensor.Uint8:
		return tensor.Values[uint8](x)[at : at+size], nil
	case tensor.Float32:
		return scaled(tensor.Values[float32](x)[at:at+size], channels, bad), nil
	case tensor.Float64:
		return scaled(tensor.Values[float64](x)[at:at+size], channels, bad), nil
	case tensor.Float16:
		return scaledHalf(tensor.Values[tensor.F16](x)[at:at+size], channels, bad), nil
	}
	return nil, &engine.UnsupportedTypeError{Attr: "T", Type: x.DType(), Known: summarized}
}

// summarized has the types of the images.
var summarized = []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Float64}

// scaledHalf scales in half precision, as TensorFlow does: each step is
// rounded.
func scaledHalf(v []tensor.F16, channels int, bad []uint8) []uint8 {
	wide := make([]float32, len(v))
	elementwise.Widen(wide, v)
	round := func(f float32) float32 {
		var h [1]tensor.F16
		var w [1]float32
		elementwise.Narrow(h[:], []float32{f})
		elementwise.Widen(w[:], h[:])
		return w[0]
	}
	return scaledBy(wide, channels, bad, round)
}

// scaled scales in type T.
func scaled[T float32 | float64](v []T, channels int, bad []uint8) []uint8 {
	return scaledBy(v, channels, bad, func(f T) T { return f })
}

// scaledBy scales v as summaryPixels does, and rounds each step by round.
func scaledBy[T float32 | float64](v []T, channels int, bad []uint8, round func(T) T) []uint8 {
	// TensorFlow computes the extremes and the scale in float32.
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	finite := func(f T) bool { return f-f == 0 }
	for i := 0; i < len(v); i += channels {
		ok := true
		for _, f := range v[i : i+channels] {
			ok = ok && finite(f)
		}
		if ok {
			for _, f := range v[i : i+channels] {
				low, high = min(low, float32(f)), max(high, float32(f))
			}
		}
	}
	const tiny = 1e-6
	scale, offset := T(0), T(0)
	if low < 0 {
		if top := max(-low, high); top >= tiny {
			scale = round(T(127 / top))
		}
		offset = 128
	} else if high >= tiny {
		scale = round(T(255 / high))
	}
	out := make([]uint8, len(v))
	for i := 0; i < len(v); i += channels {
		ok := true
		for _, f := range v[i : i+channels] {
			ok = ok && finite(f)
		}
		if !ok {
			copy(out[i:i+channels], bad)
			continue
		}
		for k, f := range v[i : i+channels] {
			out[i+k] = uint8(round(round(f*scale) + offset))
		}
	}
	return out
}
