package image

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"testing"
)

// TestFramesOfGIFFilesAreCountedAsTheyAreDecoded compares the frames and pixels that are counted
// before decoding with those of the decoder, for files with extensions and for damaged ones.
func TestFramesOfGIFFilesAreCountedAsTheyAreDecoded(t *testing.T) {
	g := &gif.GIF{}
	for i := range 3 {
		palette := color.Palette{color.Black, color.White, color.Transparent}
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 9-i, 7), palette[:3-i%2]))
		g.Delay = append(g.Delay, i)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()[:b.Len()-1] // without the end
	check := func(s []byte) (decoded bool) {
		frames, pixels := gifFrames(string(s))
		all, err := gif.DecodeAll(bytes.NewReader(s))
		if err != nil {
			return false
		}
		size := int64(0)
		for _, m := range all.Image {
			size += int64(len(m.Pix))
		}
		if frames != len(all.Image) || pixels != size {
			t.Errorf("%d frames of %d pixels, want %d of %d, in %x", frames, pixels, len(all.Image), size, s)
		}
		return true
	}
	for _, extension := range []string{
		"", "\x21\xfe\x03abc\x00", "\x21\xfe\x00", "\x21\xf9\x04\x00\x00\x00\x00\x00",
		"\x21\x01\x0c123456789012\x01x\x00", "\x21\x01\xff123456789012\x01x\x00",
		"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00", "\x21\xff\x0bNETSCAPE2.0\x00", "\x21\xff\x02ab\x02,,\x00", "\x21\xff\x00\x00",
	} {
		s := append(append(append([]byte{}, whole...), extension...), whole[bytes.IndexByte(whole, 0x2c):]...)
		if !check(append(s, 0x3b)) {
			t.Errorf("a file with %q isn't decoded", extension)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	decoded := 0
	for range 20_000 {
		s := append(append([]byte{}, whole...), 0x3b)
		for range 1 + r.IntN(2) {
			s[13+r.IntN(len(s)-13)] = byte(r.UintN(256))
		}
		if check(s) {
			decoded++
		}
		gifFrames(string(s[:13+r.IntN(len(s)-13)]))
	}
	if decoded == 0 {
		t.Error("no damaged file is decoded")
	}
}
