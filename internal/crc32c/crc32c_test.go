package crc32c

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestKnownValues(t *testing.T) {
	ascending := make([]byte, 32)
	for i := range ascending {
		ascending[i] = byte(i)
	}
	// The vectors of RFC 3720, section B.4.
	for _, c := range []struct {
		name string
		in   []byte
		want uint32
	}{
		{"32 zeros", make([]byte, 32), 0x8a9136aa},
		{"32 ones", bytes.Repeat([]byte{0xff}, 32), 0x62a8ab43},
		{"ascending", ascending, 0x46dd794e},
		{"nothing", nil, 0},
	} {
		if got := Value(c.in); got != c.want {
			t.Errorf("%s: got %08x, want %08x", c.name, got, c.want)
		}
	}
}

func TestMaskIsReversibleAndNotIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		crc := rapid.Uint32().Draw(t, "crc")
		if Mask(crc) == crc || Unmask(Mask(crc)) != crc {
			t.Fatalf("%08x: masked %08x, back %08x", crc, Mask(crc), Unmask(Mask(crc)))
		}
	})
}

func TestExtendAndCombineAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "b")
		whole := Value(append(bytes.Clone(a), b...))
		if got := Extend(Value(a), b); got != whole {
			t.Fatalf("Extend: %08x, want %08x", got, whole)
		}
		if got := Combine(Value(a), Value(b), int64(len(b))); got != whole {
			t.Fatalf("Combine: %08x, want %08x", got, whole)
		}
	})
}

func BenchmarkValue(b *testing.B) {
	buf := make([]byte, 1<<20)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		Value(buf)
	}
}

// TestCopyPastSumsWhatItCopies checks every length and alignment, and that not a byte more is
// written.
func TestCopyPastSumsWhatItCopies(t *testing.T) {
	src, dst := make([]byte, 5000), make([]byte, 5100)
	for i := range src {
		src[i] = byte(i*i>>3) ^ byte(i)
	}
	for n := range 4200 {
		from, to := n*7%64, n*13%64
		if n%2 == 0 {
			to &^= 15
		}
		clear(dst)
		if got, want := CopyPast(dst[to:to+n], src[from:from+n]), Value(src[from:from+n]); got != want {
			t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
		}
		for i, b := range dst {
			if in := i >= to && i < to+n; in && b != src[from+i-to] || !in && b != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i-to, b)
			}
		}
	}
}

func BenchmarkCopyPast(b *testing.B) {
	src, dst := make([]byte, 256<<10), make([]byte, 64<<20)
	for _, c := range []struct {
		name string
		sum  func(dst, src []byte) uint32
	}{
		{"together", CopyPast},
		{"one after the other", func(dst, src []byte) uint32 { copy(dst, src); return Value(src) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(1 << 10)
			at := 0
			for b.Loop() {
				c.sum(dst[at:at+1<<10], src[at%len(src):][:1<<10])
				at = (at + 1<<10) % len(dst)
			}
		})
	}
}
