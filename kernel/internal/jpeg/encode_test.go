package jpeg_test

import (
	"bytes"
	"errors"
	std "image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/jpeg"
)

// FuzzEncodedImagesAreDecoded holds that whatever is written can be read, by this
// package and by the standard library, in the size that it had.
func FuzzEncodedImagesAreDecoded(f *testing.F) {
	f.Add(uint8(17), uint8(9), uint8(95), true, false, true, []byte("some pixels"))
	f.Add(uint8(1), uint8(1), uint8(0), false, true, false, []byte{0})
	f.Add(uint8(40), uint8(33), uint8(100), true, true, true, []byte{255, 0, 1, 254})
	f.Fuzz(func(t *testing.T, w, h, quality uint8, progressive, optimize, whole bool, seed []byte) {
		r := rand.New(rand.NewChaCha8(([32]byte)(append(bytes.Clone(seed), make([]byte, 32)...))))
		width, height := 1+int(w)%80, 1+int(h)%80
		for _, channels := range []int{1, 3} {
			pix := make([]byte, width*height*channels)
			for i := range pix {
				pix[i] = byte(r.IntN(256) >> (int(w) % 8))
			}
			e := jpeg.Encoding{Quality: int(quality) % 101, Progressive: progressive, Optimize: optimize, Whole: whole, DensityUnit: 1, Interrupted: never}
			b, err := jpeg.Encode(pix, height, width, channels, e)
			if err != nil {
				t.Fatal(err)
			}
			m, err := jpeg.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Decode(jpeg.Options{Channels: channels, Ratio: 1, Interrupted: never, Reserve: unlimited}); err != nil || len(got) != len(pix) {
				t.Fatalf("%d bytes of %d: %v", len(got), len(pix), err)
			}
			if img, err := std.Decode(bytes.NewReader(b)); err != nil || img.Bounds().Dx() != width || img.Bounds().Dy() != height {
				t.Fatal("the standard library:", err)
			}
		}
	})
}

func TestEncodingRefusesWhatNoImageHolds(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		h, w, n int
		pix     int
		e       jpeg.Encoding
	}{
		{0, 1, 1, 0, jpeg.Encoding{Interrupted: never}},
		{1, 65501, 1, 65501, jpeg.Encoding{Interrupted: never}},
		{1, 1, 2, 2, jpeg.Encoding{Interrupted: never}},
		{2, 2, 3, 11, jpeg.Encoding{Interrupted: never}},
		{1, 1, 1, 1, jpeg.Encoding{XMP: string(make([]byte, 65505)), Interrupted: never}},
		{1, 1, 1, 1, jpeg.Encoding{Interrupted: func() error { return stop }}},
	} {
		if b, err := jpeg.Encode(make([]byte, c.pix), c.h, c.w, c.n, c.e); err == nil {
			t.Errorf("%d×%d×%d: %d bytes", c.h, c.w, c.n, len(b))
		}
	}
}
