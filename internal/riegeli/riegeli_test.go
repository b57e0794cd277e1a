package riegeli_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/riegeli"
	"github.com/cairnml/cairn/internal/testkit/riegelitest"
)

// TestRecordsComeBack: in every compression, across block headers at every place of a
// chunk, with empty records and ones of many blocks.
func TestRecordsComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, compression := range []byte{0, 'b', 'z', 's'} {
		t.Run(fmt.Sprintf("%#x", compression), func(t *testing.T) {
			w := riegelitest.New()
			var want []riegeli.Record
			for range 60 {
				var chunk [][]byte
				for range 1 + random.IntN(4) {
					r := make([]byte, []int{0, 3, 2000, 65_500, 200_000}[random.IntN(5)])
					for i := range r {
						r[i] = byte(random.Uint32() & 7)
					}
					chunk = append(chunk, r)
				}
				begin := w.Records(compression, chunk...)
				for i, r := range chunk {
					want = append(want, riegeli.Record{Position: uint64(begin + i), Data: r})
				}
				w.Chunk('p', 0, 0, make([]byte, random.IntN(300)))
			}
			got, err := riegeli.Read(w.File, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for i := range want {
				if got[i].Position != want[i].Position || !bytes.Equal(got[i].Data, want[i].Data) {
					t.Fatalf("record %d is at %d with %d bytes, want %d with %d", i, got[i].Position, len(got[i].Data), want[i].Position, len(want[i].Data))
				}
			}
		})
	}
}

// TestChunksOfManySmallRecordsArePadded checks the padding that makes each
// record's position unique.
func TestChunksOfManySmallRecordsArePadded(t *testing.T) {
	w := riegelitest.New()
	first := w.Records('b', make([][]byte, 70_000)...)
	second := w.Records(0, []byte("end"))
	got, err := riegeli.Read(w.File, 1<<30)
	if err != nil || len(got) != 70_001 || second < first+70_000 || got[70_000].Position != uint64(second) {
		t.Errorf("%d records, second chunk at %d: %v", len(got), second, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	w := riegelitest.New()
	w.Records('b', []byte("one"), bytes.Repeat([]byte("two"), 50_000))
	w.Records(0, bytes.Repeat([]byte("three"), 30_000))
	if _, err := riegeli.Read(w.File, 1<<30); err != nil {
		t.Fatal(err)
	}
	for at := range w.File {
		if at > 300 && at%211 != 0 && at%(1<<16) > 24 {
			continue
		}
		b := bytes.Clone(w.File)
		b[at] ^= 4
		if _, err := riegeli.Read(b, 1<<30); err == nil {
			t.Errorf("a flip at byte %d wasn't found", at)
		}
	}
	for n := 1; n < len(w.File); n += 997 {
		_, err := riegeli.Read(w.File[:n], 1<<30)
		var wrong *riegeli.FormatError
		if n != 64 && !errors.As(err, &wrong) {
			t.Errorf("cut at byte %d: %v", n, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	bomb := riegelitest.New()
	bomb.Records('b', make([]byte, 10<<20))
	lie := riegelitest.New()
	lie.Chunk('r', 1, 5, append([]byte{'b', 2, 1}, 0x3b))
	for _, c := range []struct {
		name string
		w    *riegelitest.Writer
		want string
	}{
		{"a bomb", bomb, "more memory"},
		{"a transposed chunk", func() *riegelitest.Writer { w := riegelitest.New(); w.Chunk('t', 1, 1, []byte{0}); return w }(), "transposed"},
		{"an unknown chunk", func() *riegelitest.Writer { w := riegelitest.New(); w.Chunk('?', 0, 0, nil); return w }(), "unknown type"},
		{"an unknown compression", func() *riegelitest.Writer {
			w := riegelitest.New()
			w.Chunk('r', 1, 1, []byte{'q', 2, 1, 1, 1, 1})
			return w
		}(), "unknown compression"},
		{"too few values", func() *riegelitest.Writer { w := riegelitest.New(); w.Chunk('r', 1, 1, []byte{0, 1, 9, 'a'}); return w }(), "cut off"},
		{"too many values", func() *riegelitest.Writer {
			w := riegelitest.New()
			w.Chunk('r', 1, 2, []byte{0, 1, 1, 'a', 'b'})
			return w
		}(), "more in the chunk"},
		{"no data", func() *riegelitest.Writer { w := riegelitest.New(); w.Chunk('r', 1, 2, nil); return w }(), "without data"},
		{"damaged brotli", lie, ""},
	} {
		if _, err := riegeli.Read(c.w.File, 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	w := riegelitest.New()
	w.Records('b', []byte("a"), []byte("bc"))
	w.Records('z', []byte("def"))
	w.Records(0, []byte("ghi"))
	f.Add(w.File[64:])
	f.Fuzz(func(t *testing.T, data []byte) {
		// Hashes that are right by chance don't exist: the data of a chunk are fuzzed.
		w := riegelitest.New()
		w.Chunk('r', len(data)%5, uint64(len(data))/2, data)
		records, err := riegeli.Read(w.File, 1<<20)
		total := 0
		for _, r := range records {
			total += len(r.Data)
		}
		if err == nil && total > 1<<20+len(data) {
			t.Errorf("%d bytes", total)
		}
		_, _ = riegeli.Read(append(riegelitest.New().File, data...), 1<<20)
	})
}
