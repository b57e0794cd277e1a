package bundle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// benchDir returns a directory on disk, not one in memory, if CAIRN_BENCH_DIR
// names one.
func benchDir(b *testing.B) string {
	if dir := os.Getenv("CAIRN_BENCH_DIR"); dir != "" {
		sub, err := os.MkdirTemp(dir, "bundle")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { os.RemoveAll(sub) })
		return sub
	}
	return b.TempDir()
}

// benchCases returns the two works of the speed goals: 1 GiB in 100 tensors (an
// eighth of it with -short), and 10,000 tensors of 1 KiB.
func benchCases(b *testing.B) map[string][]*tensor.Tensor {
	make := func(n, bytes int) []*tensor.Tensor {
		out := make([]*tensor.Tensor, n)
		for i := range out {
			t, err := tensor.Zeros(tensor.Float32, bytes/4)
			if err != nil {
				b.Fatal(err)
			}
			for k := range t.Bytes() {
				t.Bytes()[k] = byte(k*31 + i + k>>12)
			}
			out[i] = t
		}
		return out
	}
	size := 1 << 30 / 100
	if testing.Short() {
		size /= 8
	}
	return map[string][]*tensor.Tensor{"big": make(100, size&^3), "many": make(10000, 1024)}
}

func benchName(i int) string {
	return fmt.Sprintf("model/v/%d/.ATTRIBUTES/VARIABLE_VALUE", i)
}

func total(ts []*tensor.Tensor) (n int64) {
	for _, t := range ts {
		n += t.NumBytes()
	}
	return n
}

func benchWrite(b *testing.B, dir string, ts []*tensor.Tensor) {
	w, err := NewWriter(vfs.OSDir(dir), "ckpt", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	for i, t := range ts {
		if err := w.Add(context.Background(), benchName(i), t); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Finish(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSave(b *testing.B) {
	for name, ts := range benchCases(b) {
		dir := benchDir(b)
		b.Run(name+"/bundle", func(b *testing.B) {
			b.SetBytes(total(ts))
			for b.Loop() {
				os.Remove(filepath.Join(dir, "ckpt.data-00000-of-00001"))
				benchWrite(b, dir, ts)
			}
		})
		b.Run(name+"/raw", func(b *testing.B) {
			b.SetBytes(total(ts))
			for b.Loop() {
				os.Remove(filepath.Join(dir, "raw"))
				f, err := os.Create(filepath.Join(dir, "raw"))
				if err != nil {
					b.Fatal(err)
				}
				for _, t := range ts {
					f.Write(t.Bytes())
				}
				f.Sync()
				f.Close()
			}
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	for name, ts := range benchCases(b) {
		dir := benchDir(b)
		benchWrite(b, dir, ts)
		b.Run(name+"/bundle", func(b *testing.B) {
			b.SetBytes(total(ts))
			for b.Loop() {
				r, err := OpenFile(context.Background(), filepath.Join(dir, "ckpt"), nil)
				if err != nil {
					b.Fatal(err)
				}
				reqs := make([]ReadRequest, len(ts))
				for i, t := range ts {
					reqs[i] = ReadRequest{Name: benchName(i), Dst: t}
				}
				if err := r.ReadAll(context.Background(), reqs, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/raw", func(b *testing.B) {
			b.SetBytes(total(ts))
			for b.Loop() {
				f, err := os.Open(filepath.Join(dir, "ckpt.data-00000-of-00001"))
				if err != nil {
					b.Fatal(err)
				}
				for _, t := range ts {
					f.Read(t.Bytes())
				}
				f.Close()
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	dir := benchDir(b)
	benchWrite(b, dir, benchCases(b)["many"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenFile(context.Background(), filepath.Join(dir, "ckpt"), nil); err != nil {
			b.Fatal(err)
		}
	}
}
