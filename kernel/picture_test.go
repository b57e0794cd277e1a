package kernel_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// pngOf returns a PNG image of a size that is cut off before its pixels.
func pngOf(w, h uint32, bits, colours byte) string {
	head := append([]byte("IHDR"), 0, 0, 0, 0, 0, 0, 0, 0, bits, colours, 0, 0, 0)
	binary.BigEndian.PutUint32(head[4:], w)
	binary.BigEndian.PutUint32(head[8:], h)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
	return string(out) + "\x00\x00\x00\x08IDAT\x78\x9c" // compressed data, which end early
}

// bmpOf returns the head of a BMP image of a size, without pixels.
func bmpOf(w, h uint32) string {
	out := make([]byte, 54)
	copy(out, "BM")
	out[10], out[14], out[26], out[28] = 54, 40, 1, 24
	binary.LittleEndian.PutUint32(out[18:], w)
	binary.LittleEndian.PutUint32(out[22:], h)
	return string(out)
}

// TestSmallFileOfALargePictureTakesLittleMemory holds that the sizes in the heads
// of images take no memory before there is something to put there.
func TestSmallFileOfALargePictureTakesLittleMemory(t *testing.T) {
	jpeg := "\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
	gif := "GIF89a\xff\xff\xff\xff\x00\x00\x00\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x00\x3b"
	for _, c := range []struct{ name, op, data string }{
		{"JPEG", "DecodeJpeg", jpeg},
		{"JPEG below the largest size", "DecodeJpeg", jpeg[:7] + "\x30\x00\x30\x00" + jpeg[11:]},
		{"PNG", "DecodePng", pngOf(65535, 65535, 8, 6)},
		{"PNG below the largest size", "DecodePng", pngOf(11000, 11000, 8, 6)},
		{"PNG of bits", "DecodePng", pngOf(11000, 11000, 1, 0)},
		{"narrow PNG", "DecodePng", pngOf(1, 1<<26, 1, 0)},
		{"PNG larger than a word", "DecodePng", pngOf(1<<31-1, 1<<31-1, 16, 6)},
		{"GIF", "DecodeGif", gif},
		{"BMP", "DecodeBmp", bmpOf(65535, 65535)},
		{"BMP upside down", "DecodeBmp", bmpOf(1<<31-1, 1<<31)},
	} {
		for _, op := range []string{c.op, "DecodeImage"} {
			s := function.Eager(context.Background(), nil)
			in := tensor.Must(tensor.FromStrings(tensor.String, []string{c.data}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Emit(op, graph.Attrs{}, in)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; s.Err() == nil || got > 8<<20 {
				t.Errorf("%s of a %s: %v after %d bytes", op, c.name, s.Err(), got)
			}
		}
	}
}
