package bundle

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/cairnml/cairn/internal/crc32c"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// sample returns a tensor whose elements are all different if the type allows.
func sample(t testing.TB, d tensor.DType, dims ...int) *tensor.Tensor {
	t.Helper()
	out, err := tensor.Zeros(d, dims...)
	if err != nil {
		t.Fatal(err)
	}
	mask := narrowMask(d)
	for i := range out.Bytes() {
		v := byte(i*7 + i>>8)
		switch {
		case d == tensor.Bool:
			v &= 1
		case mask != 0:
			v &= mask
		}
		out.Bytes()[i] = v
	}
	for i := range out.Strings() {
		out.Strings()[i] = fmt.Sprintf("%d\x00\xff%*s", i, i%5, "")
	}
	return out
}

func write(t testing.TB, dir vfs.Dir, prefix string, opts *WriterOptions, add func(w *Writer)) {
	t.Helper()
	w, err := NewWriter(dir, prefix, opts)
	if err != nil {
		t.Fatal(err)
	}
	add(w)
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, dir vfs.Dir, prefix string) *Reader {
	t.Helper()
	r, err := Open(context.Background(), dir, prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryTypeRoundTripsInBothByteOrders(t *testing.T) {
	ctx := context.Background()
	shapes := [][]int{{}, {0}, {3}, {2, 0, 1}, {5, 7}, {300, 1001}}
	for _, big := range []bool{false, true} {
		dir := vfs.MemDir()
		want := make(map[string]*tensor.Tensor)
		write(t, dir, "a/b", &WriterOptions{BigEndian: big}, func(w *Writer) {
			for _, d := range tensor.DTypes() {
				if d == tensor.Resource || d == tensor.Variant && big {
					continue
				}
				for _, s := range shapes {
					name := fmt.Sprint(d, s)
					want[name] = sample(t, d, s...)
					if err := w.Add(ctx, name, want[name]); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
		r := mustOpen(t, dir, "a/b")
		if r.Len() != len(want) || r.Header().BigEndian != big {
			t.Fatalf("%d tensors, want %d; big-endian %v", r.Len(), len(want), r.Header().BigEndian)
		}
		if err := r.Verify(ctx, nil); err != nil {
			t.Error(err)
		}
		var reqs []ReadRequest
		for name := range want {
			reqs = append(reqs, ReadRequest{Name: name})
		}
		if err := r.ReadAll(ctx, reqs, nil); err != nil {
			t.Fatal(err)
		}
		for _, q := range reqs {
			if !q.Dst.Equal(want[q.Name]) {
				t.Errorf("big %v: %s is not what was written", big, q.Name)
			}
			one, err := r.Read(ctx, q.Name)
			if err != nil || !one.Equal(want[q.Name]) {
				t.Errorf("big %v: %s read alone: %v", big, q.Name, err)
			}
		}
	}
}

// TestBitsThatANarrowTypeDoesNotUseAreDropped checks that unused bits are
// dropped by every way of reading. The checksum includes them.
func TestBitsThatANarrowTypeDoesNotUseAreDropped(t *testing.T) {
	ctx := context.Background()
	for d, mask := range map[tensor.DType]byte{tensor.Int4: 0x0f, tensor.Uint4: 0x0f, tensor.Float4E2M1FN: 0x0f, tensor.Int2: 0x03, tensor.Uint2: 0x03} {
		raw := make([]byte, 256)
		for i := range raw {
			raw[i] = byte(i)
		}
		dir := faultfs.New()
		dir.Put("c.data-00000-of-00001", raw)
		entry := &pb.BundleEntryProto{Dtype: pb.DataType(d), Shape: dims(256), Size: 256, Crc32c: crc32c.Mask(crc32c.Value(raw))}
		dir.Put("c.index", tableOf(t, row{"", goodHeader.Marshal()}, row{"x", entry.Marshal()}))
		r := mustOpen(t, dir, "c")
		whole, err := r.Read(ctx, "x")
		if err != nil || whole.DType() != d {
			t.Fatal(whole.DType(), err)
		}
		part, err := r.ReadSlice(ctx, "x", mustSlice(t, "200,56"))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range append(bytes.Clone(whole.Bytes()), part.Bytes()...) {
			if want := byte(i) & mask; i < 256 && v != want || i >= 256 && v != byte(i-56)&mask {
				t.Fatalf("%v: element %d is %#x", d, i, v)
			}
		}
		if err := r.Verify(ctx, nil); err != nil {
			t.Error(err)
		}
	}
}
