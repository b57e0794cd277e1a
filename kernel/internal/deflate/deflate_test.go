package deflate

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/cairnml/cairn/internal/testkit/processor"
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

// TestCheckEndsLongCompressions ends the compression of data that take many seconds at the
// first call of Check.
func TestCheckEndsLongCompressions(t *testing.T) {
	data := make([]byte, 8<<20)
	for i, state := 0, uint32(1); i < len(data); i++ {
		state = state*1664525 + 1013904223
		data[i] = byte(state >> 31)
	}
	for level := range 10 {
		processor.Bound(t, fmt.Sprintf("level %d", level), 200*time.Millisecond, func() {
			defer func() {
				if recover() == nil {
					t.Errorf("level %d: Check isn't called", level)
				}
			}()
			Zlib(data, Options{Level: level, Check: func() { panic("ended") }})
		})
	}
}
