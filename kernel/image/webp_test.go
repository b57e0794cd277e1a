package image_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/tensor"
)

// webps returns the WebP files of the fixtures.
func webps(t testing.TB) [][]byte {
	var out [][]byte
	for _, f := range opfixture.Load(t, "../testdata/tf2.21")["DecodeWebP"] {
		out = append(out, []byte(f.In[0].Tensor(t).Strings()[0]))
	}
	if len(out) == 0 {
		t.Fatal("no files")
	}
	return out
}

func decodeWebP(b []byte) (*tensor.Tensor, error) {
	s := function.Eager(context.Background(), &function.Options{MaxOutput: 1 << 22})
	v := s.Emit1("DecodeWebP", nil, tensor.Scalar(string(b)))
	if err := s.Err(); err != nil {
		return nil, err
	}
	return v.Tensor()
}

func FuzzDecodeWebP(f *testing.F) {
	for _, b := range webps(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeWebP(b)
		if err == nil && (len(x.Shape()) != 4 || x.Len() == 0) {
			t.Fatalf("shape %v", x.Shape())
		}
	})
}

func TestTruncatedWebPImagesAreRefused(t *testing.T) {
	for _, b := range webps(t)[:6] {
		for _, n := range []int{0, 8, 12, 20, 24, 29, len(b) / 2} {
			if x, err := decodeWebP(b[:n]); err == nil {
				t.Errorf("%d bytes of %d: %v", n, len(b), x.Shape())
			}
		}
	}
}

// TestSmallWebPFilesThatPromiseManyPixelsAreRefused checks headers with sizes
// that their data can't fill, or that exceed the memory.
func TestSmallWebPFilesThatPromiseManyPixelsAreRefused(t *testing.T) {
	for _, b := range webps(t) {
		b = bytes.Clone(b)
		if at := bytes.Index(b, []byte("VP8 ")); at > 0 {
			binary.LittleEndian.PutUint16(b[at+14:], 0x3fff)
			binary.LittleEndian.PutUint16(b[at+16:], 0x3fff)
		} else if at := bytes.Index(b, []byte("VP8L")); at > 0 {
			binary.LittleEndian.PutUint32(b[at+9:], 1<<28-1)
		}
		if x, err := decodeWebP(b); err == nil {
			t.Errorf("%v pixels of %d bytes", x.Shape(), len(b))
		}
	}
}
