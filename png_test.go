package cairn

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestDecodePNG(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	set := func(img interface {
		image.Image
		Set(x, y int, c color.Color)
	}, a, b color.Color) image.Image {
		img.Set(0, 0, a)
		img.Set(1, 0, b)
		return img
	}
	red, see := color.NRGBA{200, 10, 20, 255}, color.NRGBA{100, 50, 25, 128}
	for _, c := range []struct {
		name string
		img  image.Image
		want []uint8
	}{
		{"grey", set(image.NewGray(r), color.Gray{7}, color.Gray{250}), []uint8{7, 250}},
		{"grey of 16 bits", set(image.NewGray16(r), color.Gray16{0x0712}, color.Gray16{0xfa00}), []uint8{7, 250}},
		{"colours", set(image.NewRGBA(r), red, color.White), []uint8{200, 10, 20, 255, 255, 255}},
		{"see-through", set(image.NewNRGBA(r), red, see), []uint8{200, 10, 20, 255, 100, 50, 25, 128}},
		{"a palette", set(image.NewPaletted(r, color.Palette{color.White, red}), color.White, red), []uint8{255, 255, 255, 200, 10, 20}},
	} {
		var b bytes.Buffer
		if err := png.Encode(&b, c.img); err != nil {
			t.Fatal(err)
		}
		got, err := DecodePNG(&b)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !got.Shape().Equal(tensor.Shape{1, 2, len(c.want) / 2}) || !bytes.Equal(got.Bytes(), c.want) {
			t.Errorf("%s: %v %v, want %v", c.name, got.Shape(), got.Bytes(), c.want)
		}
	}
}

// TestDecodePNGBelievesNoSize: a file of some bytes that claims a picture of a
// billion pixels.
func TestDecodePNGBelievesNoSize(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	binary.BigEndian.PutUint32(file[16:], 1<<15)
	binary.BigEndian.PutUint32(file[20:], 1<<15)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	if _, err := DecodePNG(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "32768 by 32768") {
		t.Errorf("%v", err)
	}
	if _, err := DecodePNG(strings.NewReader("no picture")); err == nil {
		t.Error("text was taken for a picture")
	}
}
