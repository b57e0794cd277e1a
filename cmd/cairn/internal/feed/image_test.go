package feed

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestPicturesOfTensors(t *testing.T) {
	floats := func(v []float32, dims ...int) *tensor.Tensor { return tensor.Must(tensor.New(v, dims...)) }
	for _, c := range []struct {
		name  string
		t     *tensor.Tensor
		w, h  int
		x, y  int
		want  color.NRGBA
		words string
	}{
		{"shades of bytes", tensor.Must(tensor.New([]uint8{0, 10, 20, 30, 40, 50}, 2, 3)), 3, 2, 2, 1, color.NRGBA{50, 50, 50, 255}, "as they are"},
		{"fractions", floats([]float32{0, 1, 0.5, 0.2}, 2, 2), 2, 2, 0, 1, color.NRGBA{128, 128, 128, 255}, "1 is white"},
		{"up to 255", floats([]float32{0, 200, 2, 3}, 2, 2), 2, 2, 1, 0, color.NRGBA{200, 200, 200, 255}, "255 is white"},
		{"below zero", floats([]float32{-1, 1, 0, 0}, 2, 2), 2, 2, 1, 0, color.NRGBA{255, 255, 255, 255}, "-1 is black"},
		{"colours", floats([]float32{1, 0, 0, 0, 1, 0}, 1, 2, 3), 2, 1, 1, 0, color.NRGBA{0, 255, 0, 255}, "1 is white"},
		{"see-through", tensor.Must(tensor.New([]uint8{1, 2, 3, 4}, 1, 1, 4)), 1, 1, 0, 0, color.NRGBA{1, 2, 3, 4}, ""},
		{"a batch", floats([]float32{0, 0, 1, 1}, 2, 2, 1, 1), 2, 2, 1, 0, color.NRGBA{255, 255, 255, 255}, ""},
	} {
		img, words, err := Picture(c.t)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if b := img.Bounds(); b.Dx() != c.w || b.Dy() != c.h || img.At(c.x, c.y) != c.want || !strings.Contains(words, c.words) {
			t.Errorf("%s: %v, %v, %q", c.name, b, img.At(c.x, c.y), words)
		}
	}
	for name, x := range map[string]*tensor.Tensor{
		"a vector": floats([]float32{1, 2}, 2), "two channels": floats(make([]float32, 8), 1, 2, 2, 2), "none": floats(nil, 0, 3),
		"no number": floats([]float32{float32(math.NaN())}, 1, 1), "text": tensor.Must(tensor.FromStrings(tensor.String, []string{"a"}, 1, 1)),
	} {
		if _, _, err := Picture(x); err == nil {
			t.Errorf("%s became a picture", name)
		}
	}
}

func TestThePictureAmongOutputsIsWritten(t *testing.T) {
	img := tensor.Must(tensor.New(make([]uint8, 12), 2, 2, 3))
	scores := tensor.Must(tensor.New(make([]float32, 4), 2, 2))
	var b bytes.Buffer
	if _, err := WritePNG(&b, map[string]*tensor.Tensor{"img": img, "scores": scores}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&b); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		out  map[string]*tensor.Tensor
		name string
		want string
	}{
		"two":   {map[string]*tensor.Tensor{"a": img, "b": img}, "", "--picture"},
		"none":  {map[string]*tensor.Tensor{"a": tensor.Scalar[float32](1)}, "", "none of the outputs"},
		"other": {map[string]*tensor.Tensor{"a": img}, "c", `no output "c"`},
	} {
		if _, err := WritePNG(&b, c.out, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
