package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

func TestPreallocatedDataFilesHaveTheirSize(t *testing.T) {
	dir := t.TempDir()
	x := sample(t, tensor.Uint8, step+1)
	write(t, vfs.OSDir(dir), "c", nil, func(w *Writer) {
		for _, name := range []string{"a", "b"} {
			if err := w.Add(t.Context(), name, x); err != nil {
				t.Fatal(err)
			}
		}
	})
	if info, err := os.Stat(filepath.Join(dir, "c.data-00000-of-00001")); err != nil || info.Size() != 2*(step+1) {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	if _, err := consume(vfs.OSDir(dir), "c"); err != nil {
		t.Error(err)
	}
}
