package savedmodel_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/vfs"
)

// TestAFileOfSeveralAssetsIsWrittenOnce saves two assets that are one file and one of the
// same name, and writes the model again.
func TestAFileOfSeveralAssetsIsWrittenOnce(t *testing.T) {
	files := fstest.MapFS{"a/v.txt": {Data: []byte("x")}, "b/v.txt": {Data: []byte("y")}}
	root := &struct{ A, Again, B *savedmodel.TrackableAsset }{
		savedmodel.NewAssetFS(files, "a/v.txt"), savedmodel.NewAssetFS(files, "a/v.txt"), savedmodel.NewAssetFS(files, "b/v.txt"),
	}
	dir := vfs.MemDir()
	if err := savedmodel.SaveFS(t.Context(), root, dir, "m", nil); err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Read(t.Context(), sub(t, dir, "m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := savedmodel.Rewrite(t.Context(), m, dir, "n", nil); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"m", "n"} {
		m, err := savedmodel.Read(t.Context(), sub(t, dir, model), nil)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{"a": "x", "again": "x", "b": "y"} {
			o, err := m.MetaGraphs[0].Object(path)
			if err != nil {
				t.Fatal(err)
			}
			b, err := fs.ReadFile(dir, model+"/"+o.Asset.Path())
			if err != nil || string(b) != want {
				t.Errorf("%s: %s is %q (%v)", model, path, b, err)
			}
		}
		if list, err := fs.ReadDir(dir, model+"/assets"); err != nil || len(list) != 2 {
			t.Errorf("%s has %d files (%v)", model, len(list), err)
		}
	}
}
