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
// all if n is 10,000.
func manyVariables(n int) *struct{ Vars []*trackable.Variable } {
	s := &struct{ Vars []*trackable.Variable }{make([]*trackable.Variable, n)}
	for i := range s.Vars {
		s.Vars[i] = trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 256))).Named("v" + strconv.Itoa(i))
	}
	return s
}

// benchSizes are how many variables the benchmarks have.
var benchSizes = []int{10_000, 100_000}

func bySize(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range benchSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			f(b, n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/variable")
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		root := manyVariables(n)
		for b.Loop() {
			if _, err := trackable.Walk(root, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSave(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		ck, err := New(manyVariables(n), &Options{Writer: &bundle.WriterOptions{NoSync: true}})
		if err != nil {
			b.Fatal(err)
		}
		dir := vfs.OSDir(b.TempDir())
		for b.Loop() {
			if err := ck.WriteTo(context.Background(), dir, "ckpt"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRestore(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		ck, err := New(manyVariables(n), nil)
		if err != nil {
			b.Fatal(err)
		}
		dir := vfs.OSDir(b.TempDir())
		if err := ck.WriteTo(context.Background(), dir, "ckpt"); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			report, err := ck.ReadFS(context.Background(), dir, "ckpt", nil)
			if err == nil {
				err = report.AssertConsumed()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	bySize(b, func(b *testing.B, n int) {
		ck, err := New(manyVariables(n), nil)
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
	})
}
