package feed

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// maxPixels bounds the pixels of a picture that is read or written, because decoding takes four
// bytes for each. It may change.
const maxPixels = 1 << 26

// Picture returns a tensor as an image: [height, width], or with 1, 3 or 4 channels
// last, or a batch of those, in a row. Bytes are unchanged. Floating numbers have the
// range 0 to 1 if all are in it, or else 0 to 255 if all are in that. Other numbers are
// stretched from the least to the largest. The returned text names the range.
func Picture(t *tensor.Tensor) (image.Image, string, error) {
	n, h, w, c, ok := layout(t.Shape())
	if !ok || t.DType() != tensor.Uint8 && !t.DType().IsFloating() {
		return nil, "", fmt.Errorf("%v%v is no picture: that is uint8 or floating, [height, width] or with 1, 3 or 4 channels last, or a batch of them", t.DType(), t.Shape())
	}
	if n*h*w > maxPixels || n*h*w == 0 {
		return nil, "", fmt.Errorf("a picture of %d pixels: at least 1, at most %d", n*h*w, maxPixels)
	}
	f, err := tensor.Cast(t, tensor.Float64)
	if err != nil {
		return nil, "", err
	}
	v := tensor.Values[float64](f)
	lo, scale, words := 0.0, 1.0, "values as they are"
	if t.DType() != tensor.Uint8 {
		if lo, scale, words, err = scaleOf(v); err != nil {
			return nil, "", err
		}
	}
	at := func(i int) uint8 { return uint8(math.Round(min(255, max(0, (v[i]-lo)*scale)))) }
	img := image.NewNRGBA(image.Rect(0, 0, n*w, h))
	for b := range n {
		for y := range h {
			for x := range w {
				i := ((b*h+y)*w + x) * c
				p := color.NRGBA{A: 255}
				if c >= 3 {
					p.R, p.G, p.B = at(i), at(i+1), at(i+2)
				} else {
					p.R = at(i)
					p.G, p.B = p.R, p.R
				}
				if c == 4 {
					p.A = at(i + 3)
				}
				img.SetNRGBA(b*w+x, y, p)
			}
		}
	}
	return img, words, nil
}

// layout reads a shape as a batch of n pictures of h rows, w columns and c channels. The order of
// cases decides: [5, 4, 3] is one picture of 3 channels, [5, 4, 2] are five without channels.
func layout(s tensor.Shape) (n, h, w, c int, ok bool) {
	channels := func(c int) bool { return c == 1 || c == 3 || c == 4 }
	switch {
	case len(s) == 2:
		return 1, s[0], s[1], 1, true
	case len(s) == 3 && channels(s[2]):
		return 1, s[0], s[1], s[2], true
	case len(s) == 3:
		return s[0], s[1], s[2], 1, true
	case len(s) == 4 && channels(s[3]):
		return s[0], s[1], s[2], s[3], true
	}
	return 0, 0, 0, 0, false
}

// scaleOf finds out how floating numbers v become bytes: (v-lo)*scale. words name the range for
// the user.
func scaleOf(v []float64) (lo, scale float64, words string, err error) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, 0, "", errors.New("some values are no numbers")
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	switch {
	case lo >= 0 && hi <= 1:
		return 0, 255, "0 is black and 1 is white", nil
	case lo >= 0 && hi <= 255:
		return 0, 1, "0 is black and 255 is white", nil
	case lo == hi:
		return lo, 0, fmt.Sprintf("all values are %.4g, which is black", lo), nil
	}
	return lo, 255 / (hi - lo), fmt.Sprintf("%.4g is black and %.4g is white", lo, hi), nil
}

// WritePNG writes the output called name as a PNG file; without a name the only
// one that is a picture of two dimensions or more.
func WritePNG(w io.Writer, out map[string]*tensor.Tensor, name string) (words string, err error) {
	if name == "" {
		if name, err = onlyPicture(out); err != nil {
			return "", err
		}
	}
	t := out[name]
	if t == nil {
		return "", fmt.Errorf("there is no output %q among %q", name, slices.Sorted(maps.Keys(out)))
	}
	img, words, err := Picture(t)
	if err != nil {
		return "", fmt.Errorf("the output %q: %w", name, err)
	}
	return words, png.Encode(w, img)
}

// onlyPicture returns the name of the only output that is a picture. A matrix counts only if
// there is no other output, because most outputs are matrices.
func onlyPicture(out map[string]*tensor.Tensor) (string, error) {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(out)) {
		t := out[name]
		if _, _, _, _, ok := layout(t.Shape()); ok && (t.DType() == tensor.Uint8 || t.DType().IsFloating()) && (len(t.Shape()) > 2 || len(out) == 1) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("none of the outputs %q is a picture", slices.Sorted(maps.Keys(out)))
	}
	return "", fmt.Errorf("the outputs %q are pictures: --picture names one", found)
}
