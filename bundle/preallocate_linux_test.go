//go:build !arm

package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/tensor"
)

func TestPreallocatingKeepsTheSize(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	osFile{f}.preallocate(0, 1<<20)
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	x := sample(t, tensor.Uint8, step+1)
	write(t, OSDir(dir), "c", nil, func(w *Writer) {
		for _, name := range []string{"a", "b"} {
			if err := w.Add(t.Context(), name, x); err != nil {
				t.Fatal(err)
			}
		}
	})
	if info, err := os.Stat(filepath.Join(dir, "c.data-00000-of-00001")); err != nil || info.Size() != 2*(step+1) {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	if _, err := consume(OSDir(dir), "c"); err != nil {
		t.Error(err)
	}
}
