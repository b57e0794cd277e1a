package deflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// FuzzZlib checks that the standard library reads the output.
func FuzzZlib(f *testing.F) {
	f.Add([]byte(""), uint8(6), false, uint8(15), uint16(1))
	f.Add([]byte("abcabcabcabcabcabcdabcabc"), uint8(9), true, uint8(9), uint16(300))
	f.Add([]byte{0, 1, 2, 3, 255}, uint8(0), false, uint8(0), uint16(9000))
	f.Add(bytes.Repeat([]byte("many words and many more, "), 9), uint8(1), false, uint8(12), uint16(1000))
	f.Fuzz(func(t *testing.T, piece []byte, level uint8, filtered bool, window uint8, times uint16) {
		data := bytes.Repeat(piece, 1+min(int(times), 200000/(1+len(piece))))
		for i := range data {
			data[i] ^= byte(i * i >> 9 & int(times>>8))
		}
		o := Options{Level: int(level) % 11, Filtered: filtered, Piece: int(times) % 700}
		if window > 0 {
			o.Window = 9 + uint(window)%7
		}
		r, err := zlib.NewReader(bytes.NewReader(Zlib(data, o)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes of %d: %v", len(got), len(data), err)
		}
	})
}
