package bundle

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/faultfs"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// piecesBundle has tensors of several pieces, of one, and such as come whole.
func piecesBundle(t *testing.T, dir vfs.Dir) {
	ctx := context.Background()
	write(t, dir, "c", nil, func(w *Writer) {
		for name, x := range map[string]*tensor.Tensor{
			"bytes": sample(t, tensor.Uint8, 2*pieceSize+7), "wide": sample(t, tensor.Complex128, 3, pieceSize/16), "one": sample(t, tensor.Float32, 5),
			"none": sample(t, tensor.Float32, 0), "bools": sample(t, tensor.Bool, pieceSize+1), "strings": tensor.Vector("a", strings.Repeat("b", 1000)),
		} {
			if err := w.Add(ctx, name, x); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range []string{"0,2:-", "2,2:-"} {
			slice := mustSlice(t, s)
			if err := w.AddSlice(ctx, "sliced", tensor.Shape{4, 3}, slice, cutOut(t, grid(t, 4, 3), slice)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestPiecesMakeTheTensor(t *testing.T) {
	ctx := context.Background()
	dir := vfs.MemDir()
	piecesBundle(t, dir)
	r := mustOpen(t, dir, "c")
	defer r.Close()
	for _, name := range r.Names() {
		want, err := r.Read(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		var strs []string
		for p, err := range r.Pieces(ctx, name) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if p.DType() != want.DType() || len(p.Shape()) != 1 || p.NumBytes() > pieceSize && name != "sliced" {
				t.Fatalf("%s: a piece of %v%v", name, p.DType(), p.Shape())
			}
			got, strs = append(got, p.Bytes()...), append(strs, p.Strings()...)
		}
		if !bytes.Equal(got, want.Bytes()) || strings.Join(strs, " ") != strings.Join(want.Strings(), " ") {
			t.Errorf("%s: the pieces hold %d bytes, %d strings and not what the tensor does", name, len(got), len(strs))
		}
		n := 0
		for _, err := range r.Pieces(ctx, name) { // no more than are asked for
			if n++; n > 1 || err != nil {
				t.Errorf("%s: piece %d, %v", name, n, err)
			}
			break
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for what, pieces := range map[string]func() error{
		"a tensor that isn't there": func() error { return lastOf(r, ctx, "nothing") },
		"cancelled":                 func() error { return lastOf(r, stopped, "bytes") },
	} {
		if err := pieces(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lastOf(r, ctx, "one"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// lastOf returns the last error of a tensor's pieces, which must come alone.
func lastOf(r *Reader, ctx context.Context, name string) (err error) {
	for p, e := range r.Pieces(ctx, name) {
		if err != nil || p != nil && e != nil {
			return errors.Join(err, e, errors.New("something follows an error"))
		}
		err = e
	}
	return err
}

// TestDamageInAnyPieceIsReported at the last one at the latest.
func TestDamageInAnyPieceIsReported(t *testing.T) {
	ctx := context.Background()
	disk := faultfs.New()
	piecesBundle(t, disk)
	r := mustOpen(t, disk, "c")
	const data = "c.data-00000-of-00001"
	for _, i := range r.index.order { // slices have bytes, the tensors that they make up have none
		p := r.index.placeOf(int(i))
		if p.size == 0 {
			continue
		}
		name := r.ownerOf(r.record(int(i)))
		places := []int64{p.off, p.off + p.size/2, p.off + p.size - 1}
		for _, at := range places {
			bad := disk.AfterCrash(faultfs.LoseNone, 0)
			bad.Damage(data, int(at), int(at)+1)
			r := mustOpen(t, bad, "c")
			var corrupt *CorruptError
			if err := lastOf(r, ctx, name); !errors.As(err, &corrupt) || corrupt.Name != name {
				t.Errorf("%s: with byte %d changed: %v", name, at, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		bad := disk.AfterCrash(faultfs.LoseNone, 0)
		bad.Put(data, disk.Bytes(data)[:p.off+p.size-1])
		if err := lastOf(mustOpen(t, bad, "c"), ctx, name); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: cut off: %v", name, err)
		}
	}
}
