package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestFlipInALargeTensorIsNoticed damages a byte in each of the chunks in which a
// large tensor is read, and reads it in every way that there is.
func TestFlipInALargeTensorIsNoticed(t *testing.T) {
	ctx := context.Background()
	const rows, cols = 11, 64 << 10 // of bytes: two whole chunks and most of a third
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Bool, tensor.Float32} {
		for _, big := range []bool{false, true} {
			dir := vfs.MemDir()
			width := d.Size()
			x := sample(t, d, rows, cols/width)
			write(t, dir, "c", &WriterOptions{BigEndian: big}, func(w *Writer) {
				for _, err := range []error{
					w.Add(ctx, "before", tensor.Scalar(1.0)),
					w.Add(ctx, "large", x),
					w.AddSlice(ctx, "sliced", tensor.Shape{rows + 1, cols / width}, mustSlice(t, fmt.Sprintf("0,%d:-", rows)), x),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			})
			const data = "c.data-00000-of-00001"
			sound, err := fs.ReadFile(dir, data)
			if err != nil {
				t.Fatal(err)
			}
			r := mustOpen(t, dir, "c")
			part := mustSlice(t, fmt.Sprintf("%d,1:-", rows/2))
			other := copyToOther(t, r)
			ways := map[string]func(workers int) error{
				"read": func(workers int) error {
					return r.ReadAll(ctx, []ReadRequest{{Name: "large"}}, &ReadAllOptions{Workers: workers})
				},
				"read into": func(int) error { return r.ReadInto(ctx, "large", tensor.Must(tensor.Zeros(d, x.Shape()...))) },
				"a slice":   func(int) error { _, err := r.ReadSlice(ctx, "large", part); return err },
				"verify":    func(workers int) error { return r.Verify(ctx, &VerifyOptions{Workers: workers}) },
				"copy": func(int) error {
					w, err := NewWriter(vfs.MemDir(), "o", &WriterOptions{BigEndian: big})
					if err != nil {
						return err
					}
					defer w.Abort()
					return w.CopyFrom(ctx, r, "large", "large")
				},
				"copy in the other order": func(int) error { return other("large") },
			}
			e, _ := r.Entry("large")
			for _, at := range []int64{0, chunk - 1, chunk, 2*chunk + 5, e.Size - 1} {
				b := bytes.Clone(sound)
				b[e.Offset+at] ^= 0x10
				if err := dir.WriteFile(data, b); err != nil {
					t.Fatal(err)
				}
				for way, f := range ways {
					for _, workers := range []int{1, 3} {
						if err := f(workers); !errors.Is(err, ErrCorrupt) {
							t.Errorf("%v, big-endian %v, byte %d of %d, %s by %d: %v", d, big, at, e.Size, way, workers, err)
						}
					}
				}
			}
			p, err := r.Parts("sliced")
			if err != nil {
				t.Fatal(err)
			}
			b := bytes.Clone(sound)
			b[p[0].Offset+chunk+1] ^= 1
			if err := dir.WriteFile(data, b); err != nil {
				t.Fatal(err)
			}
			if _, err := r.ReadSlice(ctx, "sliced", part); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, big-endian %v, a slice of a slice: %v", d, big, err)
			}
			if err := dir.WriteFile(data, sound); err != nil {
				t.Fatal(err)
			}
			for way, f := range ways {
				if err := f(2); err != nil {
					t.Errorf("the sound file, %s: %v", way, err)
				}
			}
		}
	}
}

// copyToOther copies tensors of r to a bundle of the other byte order.
func copyToOther(t *testing.T, r *Reader) func(name string) error {
	return func(name string) error {
		w, err := NewWriter(vfs.MemDir(), "o", &WriterOptions{BigEndian: !r.Header().BigEndian})
		if err != nil {
			return err
		}
		defer w.Abort()
		return w.CopyFrom(t.Context(), r, name, name)
	}
}

// TestReadThatIsCancelledSaysSo cancels a read when some of its bytes are there.
func TestReadThatIsCancelledSaysSo(t *testing.T) {
	dir := vfs.MemDir()
	write(t, dir, "c", nil, func(w *Writer) {
		for i := range 3 {
			if err := w.Add(t.Context(), fmt.Sprint("v", i), sample(t, tensor.Uint8, 3*chunk)); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := mustOpen(t, dir, "c")
	for _, workers := range []int{1, 2} {
		for what, read := range map[string]func(ctx context.Context, progress func(done, total int64)) error{
			"read": func(ctx context.Context, progress func(done, total int64)) error {
				return r.ReadAll(ctx, []ReadRequest{{Name: "v0"}, {Name: "v1"}, {Name: "v2"}}, &ReadAllOptions{Workers: workers, Progress: progress})
			},
			"verify": func(ctx context.Context, progress func(done, total int64)) error {
				return r.Verify(ctx, &VerifyOptions{Workers: workers, Progress: progress})
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			err := read(ctx, func(done, total int64) {
				if done < total {
					cancel()
				}
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s by %d: %v", what, workers, err)
			}
		}
	}
}
