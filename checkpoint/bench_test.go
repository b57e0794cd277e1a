package checkpoint

import (
	"context"
	"strconv"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// manyVariables returns a list of small layers: 10,000 variables of 1 KiB in
// all where n is 10,000.
func manyVariables(n int) *struct{ Vars []*trackable.Variable } {
	s := &struct{ Vars []*trackable.Variable }{make([]*trackable.Variable, n)}
	for i := range s.Vars {
		s.Vars[i] = trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 256))).Named("v" + strconv.Itoa(i))
	}
	return s
}

func BenchmarkWalk10000(b *testing.B) {
	root := manyVariables(10000)
	for b.Loop() {
		if _, err := trackable.Walk(root, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSave10000(b *testing.B) {
	ck, err := New(manyVariables(10000), &Options{Writer: &bundle.WriterOptions{NoSync: true}})
	if err != nil {
		b.Fatal(err)
	}
	dir := vfs.OSDir(b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		if err := ck.WriteTo(context.Background(), dir, "ckpt"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRestore10000(b *testing.B) {
	ck, err := New(manyVariables(10000), nil)
	if err != nil {
		b.Fatal(err)
	}
	dir := vfs.OSDir(b.TempDir())
	if err := ck.WriteTo(context.Background(), dir, "ckpt"); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ck.ReadFS(context.Background(), dir, "ckpt", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot10000(b *testing.B) {
	ck, err := New(manyVariables(10000), nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		sn, err := ck.snapshot(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		sn.release()
	}
}
