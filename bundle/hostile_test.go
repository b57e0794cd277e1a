package bundle

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cairnml/cairn/internal/pb"
)

// allocated is how many bytes f allocates in all, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// headerOnly is a bundle of no tensors whose header speaks of n data files.
func headerOnly(t *testing.T, n int32) *Mem {
	dir := MemDir()
	dir.WriteFile("ckpt.index", tableOf(t, row{"", (&pb.BundleHeaderProto{NumShards: n, Version: &pb.VersionDef{Producer: 1}}).Marshal()}))
	return dir
}

func TestHeaderOfTwoBillionDataFilesIsRefused(t *testing.T) {
	ctx := context.Background()
	dir := headerOnly(t, math.MaxInt32)
	if _, err := Open(ctx, dir, "ckpt", nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Open: %v", err)
	}
	if err := Merge(ctx, dir, "merged", []string{"ckpt"}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Merge: %v", err)
	}
	// Who raises the limit still gets no work for files that aren't there.
	r, err := Open(ctx, dir, "ckpt", &ReaderOptions{MaxShards: math.MaxInt32})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, "copy", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.CopyAll(ctx, r, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("CopyAll: %v", err)
	}
}

// TestDataFilesThatAreMissingMakeNoWork: a header within the limit whose data
// files aren't there is told so before anything is made for each of them.
func TestDataFilesThatAreMissingMakeNoWork(t *testing.T) {
	ctx := context.Background()
	dir := headerOnly(t, defaultMaxShards)
	r, err := Open(ctx, dir, "ckpt", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, "copy", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	n := allocated(func() {
		if err := w.CopyAll(ctx, r, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("CopyAll: %v", err)
		}
		if err := Merge(ctx, dir, "merged", []string{"ckpt"}, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Merge: %v", err)
		}
	})
	if n > 1<<20 {
		t.Errorf("%d bytes are allocated", n)
	}
}

func TestStateFilesThatNameFoldersAreFollowedOnce(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	state := func(dir, latest string) {
		text := "model_checkpoint_path: \"" + filepath.ToSlash(latest) + "\"\n"
		if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, a, b string }{
		{"its own folder", a, a},
		{"itself", filepath.Join(a, "checkpoint"), a},
		{"each other", b, a},
		{"each other's state files", filepath.Join(b, "checkpoint"), filepath.Join(a, "checkpoint")},
		{"a relative folder", ".", "."},
	} {
		state(a, c.a)
		state(b, c.b)
		for _, p := range []string{a, filepath.Join(a, "checkpoint")} {
			var none *PathError
			if f, err := FindFile(p); !errors.As(err, &none) {
				t.Errorf("%s: %s leads to %+v, %v", c.name, p, f, err)
			}
		}
	}
}
