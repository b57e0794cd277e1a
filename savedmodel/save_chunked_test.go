package savedmodel_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/savedmodel"
)

// TestALargeModelIsSavedInChunks: the model that is read from the chunks is written again
// with the bytes of the one that was read from one file.
func TestALargeModelIsSavedInChunks(t *testing.T) {
	ctx := context.Background()
	original, err := savedmodel.Restore(ctx, os.DirFS("testdata/models/keras_mlp"), nil)
	if err != nil {
		t.Fatal(err)
	}
	save := func(m *savedmodel.Restored, o *savedmodel.SaveOptions) string {
		dir := filepath.Join(t.TempDir(), "model")
		if err := savedmodel.Save(ctx, m.Root, dir, o); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	again := func(dir string) []byte {
		m, err := savedmodel.Restore(ctx, os.DirFS(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(save(m, nil), savedmodel.GraphFile))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole := save(original, nil)
	want := again(whole)
	size := int64(len(want))
	for _, chunk := range []int64{1000, size / 3, 0} {
		dir := save(original, savedmodel.WithChunks(&savedmodel.SaveOptions{}, 1000, chunk))
		if _, err := os.Stat(filepath.Join(dir, savedmodel.GraphFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("chunks of %d: there is a %s: %v", chunk, savedmodel.GraphFile, err)
		}
		m, err := savedmodel.Read(ctx, os.DirFS(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.File != savedmodel.ChunkedGraphFile || m.Fingerprint == nil || m.Fingerprint.Producer != 2 {
			t.Errorf("chunks of %d: the model is in %s, its fingerprint is %+v", chunk, m.File, m.Fingerprint)
		}
		if !bytes.Equal(again(dir), want) {
			t.Errorf("chunks of %d: the model is another one", chunk)
		}
	}
	// A model that fits is written in one file.
	dir := save(original, savedmodel.WithChunks(&savedmodel.SaveOptions{}, 2*size, 1000))
	if _, err := os.Stat(filepath.Join(dir, savedmodel.GraphFile)); err != nil {
		t.Error(err)
	}
}

// TestChunkedSavesReplaceEachOther: a directory never holds both forms of a model.
func TestChunkedSavesReplaceEachOther(t *testing.T) {
	ctx := context.Background()
	m, err := savedmodel.Restore(ctx, os.DirFS("testdata/models/module"), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "model")
	for _, o := range []*savedmodel.SaveOptions{nil, savedmodel.WithChunks(&savedmodel.SaveOptions{}, 0, 0), nil} {
		if err := savedmodel.Save(ctx, m.Root, dir, o); err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(dir, "saved_model.*"))
		if err != nil || len(list) != 1 {
			t.Errorf("the directory holds %v, %v", list, err)
		}
	}
}
