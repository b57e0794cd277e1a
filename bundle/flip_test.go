package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// smallBundle writes a bundle with everything that a bundle can hold, with
// padding between the tensors.
func smallBundle(t testing.TB, dir vfs.Dir, prefix string) {
	t.Helper()
	ctx := context.Background()
	write(t, dir, prefix, &WriterOptions{Alignment: 8}, func(w *Writer) {
		add := func(name string, v *tensor.Tensor) {
			if err := w.Add(ctx, name, v); err != nil {
				t.Fatal(err)
			}
		}
		add("float", sample(t, tensor.Float32, 3))
		add("bool", sample(t, tensor.Bool, 3))
		add("int4", sample(t, tensor.Int4, 3))
		add("strings", tensor.Vector("", "ab", "c"))
		add("none", sample(t, tensor.String, 0))
		add("variant", tensor.Must(tensor.FromStrings(tensor.Variant, []string{"xyz", ""}, 2)))
		if err := w.NextShard(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"0,2:-", "2,1:-"} {
			s, err := ParseSlice(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.AddSlice(ctx, "sliced", tensor.Shape{3, 2}, s, sample(t, tensor.Int16, int(s.Extents[0].Length), 2)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// consume opens a checkpoint, verifies it and reads everything in it.
func consume(fsys fs.FS, prefix string) (map[string]*tensor.Tensor, error) {
	ctx := context.Background()
	r, err := Open(ctx, fsys, prefix, nil)
	if err != nil {
		return nil, err
	}
	var reqs []ReadRequest
	for _, n := range r.Names() {
		reqs = append(reqs, ReadRequest{Name: n})
	}
	readErr := r.ReadAll(ctx, reqs, &ReadAllOptions{Workers: 1})
	if err := r.Verify(ctx, &VerifyOptions{Workers: 1}); err != nil {
		if readErr == nil {
			return nil, fmt.Errorf("verified only: %w", err)
		}
		return nil, err
	}
	if readErr != nil {
		return nil, fmt.Errorf("read only: %w", readErr)
	}
	out := make(map[string]*tensor.Tensor)
	for _, q := range reqs {
		out[q.Name] = q.Dst
	}
	return out, nil
}

// harmless lists the bytes of a small checkpoint whose damage can't be told and
// does no harm: alignment padding in data files. Everything else of a bundle is
// covered by a checksum, but for the index's footer, which can be written in
// one way only.
func harmless(name string, b []byte, r *Reader) map[int]string {
	out := make(map[int]string)
	_, shard, _, ok := ParseDataName(name)
	if !ok {
		return out
	}
	for i := range b {
		out[i] = "alignment padding"
	}
	for i := range r.index.n {
		rec := r.record(i)
		if rec.Shard != shard || len(rec.Slices) > 0 {
			continue
		}
		for i := range rec.Size {
			delete(out, int(rec.Offset+i))
		}
	}
	return out
}

// TestEveryFlippedBitIsDetected flips each bit of each file in turn, and
// replaces each byte by some others.
func TestEveryFlippedBitIsDetected(t *testing.T) {
	for _, kind := range []string{"bundle", "v1_slices", "v1_sharded"} {
		t.Run(kind, func(t *testing.T) {
			dir, prefix := vfs.MemDir(), "ckpt"
			if kind == "bundle" {
				smallBundle(t, dir, prefix)
			} else {
				src := os.DirFS(fixtures + "/" + kind)
				entries, _ := fs.ReadDir(src, ".")
				for _, e := range entries {
					b, err := fs.ReadFile(src, e.Name())
					if err != nil {
						t.Fatal(err)
					}
					dir.WriteFile(e.Name(), b)
				}
			}
			want, err := consume(dir, prefix)
			if err != nil {
				t.Fatal(err)
			}
			r := mustOpen(t, dir, prefix)
			tried, undetected := 0, make(map[string]int)
			for _, name := range dir.Names() {
				good, _ := dir.ReadFile(name)
				ok := harmless(name, good, r)
				bad := bytes.Clone(good)
				for i := range good {
					others := []byte{^good[i], good[i] + 1, 0}
					for bit := range 8 {
						others = append(others, good[i]^1<<bit)
					}
					for _, v := range others {
						if v == good[i] {
							continue
						}
						tried++
						bad[i] = v
						dir.WriteFile(name, bad)
						got, err := consume(dir, prefix)
						switch {
						case err == nil:
							place, fine := ok[i]
							if !fine {
								t.Errorf("%s: byte %d changed from %#02x to %#02x is not detected", name, i, good[i], v)
							}
							undetected[place]++
							for n, w := range want {
								if got[n] == nil || !got[n].Equal(w) {
									t.Fatalf("%s: byte %d, %s, changes %q", name, i, place, n)
								}
							}
						case strings.Contains(err.Error(), "read only"):
							t.Errorf("%s: byte %d changed from %#02x to %#02x escapes Verify: %v", name, i, good[i], v, err)
						case !errors.Is(err, ErrCorrupt):
							t.Errorf("%s: byte %d changed from %#02x to %#02x: %v, not a CorruptError", name, i, good[i], v, err)
						}
					}
					bad[i] = good[i]
				}
				dir.WriteFile(name, good)
			}
			t.Logf("%d changes, undetected and harmless: %v", tried, undetected)
		})
	}
}

// TestEveryTruncationIsDetected cuts each file at every length.
func TestEveryTruncationIsDetected(t *testing.T) {
	dir, prefix := vfs.MemDir(), "ckpt"
	smallBundle(t, dir, prefix)
	r := mustOpen(t, dir, prefix)
	for _, name := range dir.Names() {
		good, _ := dir.ReadFile(name)
		last := len(good)
		if _, shard, _, ok := ParseDataName(name); ok {
			last = 0 // the padding at the end may be missing
			for i := range r.index.n {
				rec := r.record(i)
				if rec.Shard == shard && len(rec.Slices) == 0 {
					last = max(last, int(rec.Offset+rec.Size))
				}
			}
		}
		for n := range last {
			dir.WriteFile(name, good[:n])
			if _, err := consume(dir, prefix); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(good), err)
			}
		}
		dir.Remove(name)
		if _, err := consume(dir, prefix); err == nil {
			t.Errorf("%s is missing, which is not detected", name)
		}
		dir.WriteFile(name, good)
	}
}
