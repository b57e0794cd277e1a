package convert

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairnml/cairn/internal/testkit/packed"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/tensorfile"
)

// kerasFixture puts a fixture of package kerasfile into a directory.
func kerasFixture(t *testing.T, dir, name string) string {
	t.Helper()
	to := filepath.Join(dir, name)
	if err := os.WriteFile(to, packed.Read(t, "../keras/kerasfile/testdata/"+name+".gz"), 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

// sameTensors returns an error's text unless two files hold the same tensors; names of the second
// are looked up by name.
func sameTensors(t *testing.T, a, b string) {
	t.Helper()
	x, err := tensorfile.Open(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	y, err := tensorfile.Open(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	if m, n := x.Entries().Len(), y.Entries().Len(); m != n || n == 0 {
		t.Errorf("%d tensors and %d", m, n)
	}
	for e := range x.Entries().All() {
		v, err := x.Read(t.Context(), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := y.Read(t.Context(), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Equal(w) {
			t.Errorf("%s: %v and %v", e.Name, v, w)
		}
	}
}

func TestConvertKerasFiles(t *testing.T) {
	for _, c := range []struct{ from, to, refused string }{
		{"keras3_model.keras", "x.keras", ""},
		{"keras2_text.keras", "x.keras", ""},
		{"keras2_model.h5", "x.h5", ""},
		{"keras2_only.h5", "x.h5", ""},
		{"keras3_model.weights.h5", "x.weights.h5", ""},
		{"keras2_model.weights.h5", "x.safetensors", ""},
		{"keras2_model.weights.h5", "x.npz", ""},
		{"keras2_model.weights.h5", "ckpt", ""},
		{"keras3_half.keras", "x.safetensors", "can't hold the model's configuration, 3 attributes"},
		{"keras2_model.h5", "x.npz", "the order of the layers"},
		{"keras3_model.keras", "x.h5", "can't hold the model's configuration"},
		{"keras2_model.h5", "x.keras", "can't hold the model's configuration"},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			dir := t.TempDir()
			from, to := kerasFixture(t, dir, c.from), filepath.Join(dir, c.to)
			_, err := Convert(t.Context(), from, to, nil)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), "Options.Lossy leaves that out") {
					t.Fatalf("%v, want %q", err, c.refused)
				}
				if tensorfile.KindOf(to) == tensorfile.Keras {
					if _, err := Convert(t.Context(), from, to, &Options{Lossy: true}); err == nil || !strings.Contains(err.Error(), "needs a model's configuration") {
						t.Error(err)
					}
					return
				}
				var res *Result
				if res, err = Convert(t.Context(), from, to, &Options{Lossy: true}); err == nil && !strings.Contains(strings.Join(res.Notes, " "), "left out") {
					t.Errorf("%+v", res)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			sameTensors(t, from, to)
			if c.refused == "" && (strings.HasSuffix(c.to, ".keras") || strings.HasSuffix(c.to, ".h5")) {
				x, err := tensorfile.Open(t.Context(), to, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer x.Close()
				y, err := tensorfile.Open(t.Context(), from, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer y.Close()
				if a, b := x.Keras(), y.Keras(); a.Format != b.Format || string(a.Config) != string(b.Config) || len(a.Members) != len(b.Members) {
					t.Errorf("%v, not %v", a.Format, b.Format)
				}
			}
		})
	}
}

func TestCheckpointBecomesHDF5AndBack(t *testing.T) {
	dir := t.TempDir()
	from := kerasFixture(t, dir, "keras2_model.weights.h5")
	for _, step := range [][2]string{{from, "ckpt"}, {"ckpt", "y.h5"}, {"y.h5", "z.npz"}, {"z.npz", "w.hdf5"}} {
		src := step[0]
		if !filepath.IsAbs(src) {
			src = filepath.Join(dir, src)
		}
		if _, err := Convert(t.Context(), src, filepath.Join(dir, step[1]), nil); err != nil {
			t.Fatal(err)
		}
	}
	sameTensors(t, from, filepath.Join(dir, "w.hdf5"))
}

func TestEditsOfKerasFiles(t *testing.T) {
	dir := t.TempDir()
	from, to := kerasFixture(t, dir, "keras3_model.keras"), filepath.Join(dir, "x.h5")
	edits := Edits{Drop: []*regexp.Regexp{regexp.MustCompile("^optimizer/")}, Cast: []Cast{{regexp.MustCompile("^layers/"), tensor.BFloat16}}}
	if _, _, err := Edit(t.Context(), from, to, edits, &Options{}); err == nil || !strings.Contains(err.Error(), "Options.Lossy leaves that out") {
		t.Error(err)
	}
	if _, _, err := Edit(t.Context(), from, to, edits, &Options{Lossy: true}); err != nil {
		t.Fatal(err)
	}
	s, err := tensorfile.Open(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := s.Entry("layers/dense/vars/0")
	if err != nil || e.DType != tensor.BFloat16 || s.Has("optimizer/vars/0") {
		t.Errorf("%+v, %v", e, err)
	}
}
