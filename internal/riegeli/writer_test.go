package riegeli_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cairnml/cairn/internal/riegeli"
	"github.com/cairnml/cairn/internal/testkit/riegelitest"
)

// TestWrittenRecordsAreRead: records of every size around a block's, from every place in
// a block. The bytes are those of the writer that the tests have.
func TestWrittenRecordsAreRead(t *testing.T) {
	for shift := 65_380; shift < 65_560; shift += 31 {
		var b bytes.Buffer
		w, other := riegeli.NewWriter(&b), riegelitest.New()
		var want [][]byte
		for _, n := range []int{shift, 0, 1, 23, 65_472, 65_536, 200_000, 24, 3} {
			record := bytes.Repeat([]byte{byte(n)}, n)
			at, err := w.Write(record)
			if err != nil {
				t.Fatal(err)
			}
			if begin := other.Records(0, record); at != uint64(begin) {
				t.Fatalf("shift %d: the record of %d bytes is at %d, want %d", shift, n, at, begin)
			}
			want = append(want, record)
		}
		if !bytes.Equal(b.Bytes(), other.File) {
			t.Fatalf("shift %d: the file differs from the test's writer's", shift)
		}
		got, err := riegeli.Read(b.Bytes(), 1<<30)
		if err != nil || len(got) != len(want) {
			t.Fatalf("shift %d: %d records, error %v", shift, len(got), err)
		}
		for i := range want {
			if !bytes.Equal(got[i].Data, want[i]) {
				t.Fatalf("shift %d: record %d differs", shift, i)
			}
		}
	}
}

// full fails after some bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("the disk is full")

func TestAWriterStopsAtTheFirstFailure(t *testing.T) {
	disk := full(100)
	w := riegeli.NewWriter(&disk)
	for range 3 {
		if _, err := w.Write(make([]byte, 1000)); !errors.Is(err, errFull) {
			t.Errorf("error %v", err)
		}
	}
}
