package saving_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/saving"
)

// FuzzLoadModel loads archives with any configuration, and any bytes as a file. A model or an
// error comes out.
func FuzzLoadModel(f *testing.F) {
	stored, err := os.ReadFile("testdata/keras3_stacked.keras.gz")
	if err != nil {
		f.Fatal(err)
	}
	archive := unzipped(f, stored)
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		f.Fatal(err)
	}
	members := map[string][]byte{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			f.Fatal(err)
		}
		if members[m.Name], err = io.ReadAll(r); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(members["config.json"], []byte("3.15.1"))
	f.Add(members["config.json"], []byte("2.21.0"))
	f.Add([]byte(`{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1000000000}}], "build_input_shape": [null, 1000000000]}}`), []byte("2.21.0"))
	f.Fuzz(func(t *testing.T, conf, version []byte) {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range map[string][]byte{"config.json": conf, "metadata.json": []byte(`{"keras_version": "` + string(version) + `"}`), "model.weights.h5": members["model.weights.h5"]} {
			m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = m.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := kerasfile.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
		if err != nil {
			return
		}
		if m, err := saving.LoadModelFrom(context.Background(), file, nil); err == nil && m.Model == nil {
			t.Fatal("neither a model nor an error")
		}
	})
}
