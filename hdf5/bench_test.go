package hdf5_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/tensor"
)

// benchFile returns a file with 64 datasets of a mebibyte each.
func benchFile(b *testing.B, o *hdf5.DatasetOptions) (*os.File, int64) {
	b.Helper()
	var w hdf5.Writer
	x := numbers(b, tensor.Float32, 512, 512)
	for i := range 64 {
		if _, err := w.Root().Dataset(fmt.Sprintf("layers/dense_%d/vars/0", i), x, o); err != nil {
			b.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(b.TempDir(), "x.h5"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if err := w.Write(b.Context(), f); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return f, info.Size()
}

// BenchmarkRead compares the reading of all datasets with that of the file's bytes.
func BenchmarkRead(b *testing.B) {
	for name, o := range map[string]*hdf5.DatasetOptions{
		"contiguous": nil,
		"chunked":    {Chunks: tensor.Shape{100, 512}},
		"gzip":       {Gzip: 1, Shuffle: true},
	} {
		b.Run(name, func(b *testing.B) {
			f, size := benchFile(b, o)
			into, err := tensor.Zeros(tensor.Float32, 512, 512)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(64 << 20)
			for b.Loop() {
				h, err := hdf5.Open(f, size, nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := h.Root().Walk(func(o hdf5.Object) error {
					if d, ok := o.(*hdf5.Dataset); ok {
						return d.ReadInto(b.Context(), into)
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("the bytes alone", func(b *testing.B) {
		f, size := benchFile(b, nil)
		part := make([]byte, 1<<20)
		b.SetBytes(size)
		for b.Loop() {
			for at := int64(0); at < size; at += int64(len(part)) {
				if _, err := f.ReadAt(part[:min(int64(len(part)), size-at)], at); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkOpen lists a file with 10,000 small datasets.
func BenchmarkOpen(b *testing.B) {
	var w hdf5.Writer
	for i := range 10_000 {
		if _, err := w.Root().Dataset(fmt.Sprintf("layers/dense_%d/vars/0", i), tensor.Scalar[float32](1), nil); err != nil {
			b.Fatal(err)
		}
	}
	file := write(b, &w)
	for b.Loop() {
		h, err := hdf5.Open(bytes.NewReader(file), int64(len(file)), nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Root().Walk(func(hdf5.Object) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
