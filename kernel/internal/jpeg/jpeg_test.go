package jpeg_test

import (
	"bytes"
	"image"
	std "image/jpeg"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/cairnml/cairn/kernel/internal/jpeg"
)

func never() error { return nil }

func unlimited(int) {}

// noise returns an image of random pixels that the standard library has encoded.
func noise(t *testing.T, w, h int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = byte(r.IntN(256)) | byte(i%4/3*255)
	}
	var b bytes.Buffer
	if err := std.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// resized returns the image with another size in its header.
func resized(t *testing.T, data []byte, w, h int) []byte {
	t.Helper()
	out := bytes.Clone(data)
	at := bytes.Index(out, []byte{0xff, 0xc0})
	if at < 0 {
		t.Fatal("the image has no frame")
	}
	copy(out[at+5:], []byte{byte(h >> 8), byte(h), byte(w >> 8), byte(w)})
	return out
}

func TestImageThatPromisesMorePixelsThanItHoldsTakesNoMemory(t *testing.T) {
	data := noise(t, 16, 16)
	for _, size := range [][2]int{{65535, 65535}, {65535, 1000}, {10000, 10000}, {1500, 1500}} {
		m, err := jpeg.Parse(resized(t, data, size[0], size[1]))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = m.Decode(jpeg.Options{Channels: 3, Ratio: 1, Interrupted: never, Reserve: unlimited})
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
			t.Errorf("%v pixels: %v after %d bytes", size, err, got)
		}
	}
}

func TestDamagedImagesAreRefusedOrDecodedWhole(t *testing.T) {
	data, r := noise(t, 33, 17), rand.New(rand.NewPCG(5, 6))
	refused := 0
	for range 3000 {
		bad := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		if r.IntN(4) == 0 {
			bad = bad[:r.IntN(len(bad))]
		}
		m, err := jpeg.Parse(bad)
		if err != nil {
			refused++
			continue
		}
		o := jpeg.Options{Channels: 1 + 2*r.IntN(2), Ratio: 1 << r.IntN(4), Interrupted: never, Reserve: unlimited}
		pix, err := m.Decode(o)
		if err != nil {
			refused++
			continue
		}
		if h, w := m.Size(o.Ratio); len(pix) != h*w*o.Channels {
			t.Fatalf("%d bytes for %d×%d pixels of %d channels", len(pix), w, h, o.Channels)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

func TestWhatIsLeftOfATruncatedImageIsDecoded(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = byte(i / 7)
	}
	var b bytes.Buffer
	if err := std.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	decode := func(data []byte, recover bool) ([]byte, error) {
		m, err := jpeg.Parse(data)
		if err != nil {
			return nil, err
		}
		return m.Decode(jpeg.Options{Channels: 3, Ratio: 1, Plain: true, Recover: recover, Interrupted: never, Reserve: unlimited})
	}
	whole, err := decode(b.Bytes(), false)
	if err != nil {
		t.Fatal(err)
	}
	short := b.Bytes()[:b.Len()*3/4]
	if _, err := decode(short, false); err == nil {
		t.Error("a truncated image is decoded without being asked for")
	}
	got, err := decode(short, true)
	if err != nil {
		t.Fatal(err)
	}
	if rows := 64 * 3 * 16; !bytes.Equal(got[:rows], whole[:rows]) {
		t.Error("the first rows differ from the whole image's")
	}
	if last := got[len(got)-3:]; last[0] != 128 || last[1] != 128 || last[2] != 128 {
		t.Errorf("the last pixel is %v, not gray", last)
	}
}
