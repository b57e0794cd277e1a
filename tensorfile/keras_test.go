package tensorfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/hdf5"
	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/tensor"
)

// unpack puts a fixture into a directory under its name.
func unpack(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err := os.WriteFile(to, packed.Read(t, path), 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestKerasFilesAreFilesOfTensors(t *testing.T) {
	for name, want := range map[string]struct {
		kind   Kind
		len    int
		some   string
		shape  tensor.Shape
		dtype  tensor.DType
		extras string
	}{
		"keras3_model.keras":      {Keras, 34, "layers/dense/vars/0", tensor.Shape{3, 4}, tensor.Float32, "the model's configuration, 9 attributes"},
		"keras2_model.h5":         {HDF5, 33, "model_weights/first/first/kernel:0", tensor.Shape{3, 4}, tensor.Float32, "the model's configuration, the training configuration, the order of the layers, 14 attributes"},
		"keras2_model.weights.h5": {HDF5, 37, "optimizer/vars/0", tensor.Shape{}, tensor.Int64, ""},
		"keras3_half.keras":       {Keras, 2, "layers/dense/vars/1", tensor.Shape{2}, tensor.BFloat16, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := unpack(t, "../keras/kerasfile/testdata/"+name+".gz")
			for _, o := range []*Options{nil, {FS: os.DirFS(filepath.Dir(path))}} {
				at := path
				if o != nil {
					at = filepath.Base(path)
				}
				s, err := Open(t.Context(), at, o)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if s.Kind != want.kind || s.Keras() == nil {
					t.Errorf("kind %v", s.Kind)
				}
				e, err := s.Entry(want.some)
				if err != nil || e.DType != want.dtype || !e.Shape.Equal(want.shape) {
					t.Errorf("%+v, %v", e, err)
				}
				var c Scratch
				for e := range s.Entries().All() {
					x, err := s.Read(t.Context(), e.Name)
					y, err2 := s.ReadScratch(t.Context(), e.Name, &c)
					if err != nil || err2 != nil || !x.Equal(y) || x.DType() != e.DType || x.NumBytes() != e.Bytes {
						t.Errorf("%s: %v, %v, %v", e.Name, x, err, err2)
					}
				}
				extras, err := s.Extras()
				if got := strings.Join(extras, ", "); err != nil || want.extras != "" && got != want.extras {
					t.Errorf("%s, %v", got, err)
				}
				if n := s.Entries().Len(); n != want.len {
					t.Errorf("%d tensors, want %d", n, want.len)
				}
			}
		})
	}
}

func TestPlainHDF5IsAFileOfTensors(t *testing.T) {
	var w hdf5.Writer
	if _, err := w.Root().Dataset("a/b", tensor.Vector[int32](1, 2), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.hdf5")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if x, err := s.Read(t.Context(), "a/b"); err != nil || !x.Equal(tensor.Vector[int32](1, 2)) || s.Keras() != nil {
		t.Error(x, err)
	}
	if _, err := s.Read(t.Context(), "a/c"); err == nil || !strings.Contains(err.Error(), "a/b") {
		t.Error(err)
	}
}
