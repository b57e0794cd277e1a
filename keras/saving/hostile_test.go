package saving_test

import (
	"archive/zip"
	"bytes"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/tensor"
)

// withConfig returns an archive whose config.json is changed.
func withConfig(t *testing.T, archive []byte, change func(string) string) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	kerastest.Must(t, err)
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		r, err := f.Open()
		kerastest.Must(t, err)
		data, err := io.ReadAll(r)
		kerastest.Must(t, err)
		if f.Name == "config.json" {
			changed := change(string(data))
			if changed == string(data) {
				t.Fatalf("the change does nothing to %s", data)
			}
			data = []byte(changed)
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		kerastest.Must(t, err)
		_, err = w.Write(data)
		kerastest.Must(t, err)
	}
	kerastest.Must(t, out.Close())
	return b.Bytes()
}

func TestHostileConfigsOfModelsAreErrorsInBoundedMemory(t *testing.T) {
	m, err := chain(keras.Symbolic(t.Context()), tensor.Shape{-1, 3}, keras.Named("first", dense(4)), keras.Named("second", dense(2)))
	kerastest.Must(t, err)
	var b bytes.Buffer
	kerastest.Must(t, saving.WriteModel(t.Context(), &b, m, kerasfile.Archive, nil))
	units := regexp.MustCompile(`"units": 4`)
	replace := func(with string) func(string) string {
		return func(s string) string { return units.ReplaceAllString(s, with) }
	}
	layer := regexp.MustCompile(`\{"module": "keras.layers", "class_name": "Dense", "config": \{"name": "second".*?"build_config": \{[^}]*\}\}`)
	for _, c := range []struct {
		name   string
		change func(string) string
		want   string
	}{
		{"units of 16 GiB", replace(`"units": 1000000000`), "too much"},
		{"units that overflow", replace(`"units": 4611686018427387904`), "more memory"},
		{"units of no int", replace(`"units": 1e300`), "units"},
		{"negative units", replace(`"units": -4`), "units"},
		{"many large layers", func(s string) string {
			big := strings.ReplaceAll(layer.FindString(s), `"units": 2`, `"units": 1000000`)
			var list strings.Builder
			for i := range 40 {
				list.WriteString(strings.ReplaceAll(big, `"second"`, `"l`+string(rune('a'+i%26))+strings.Repeat("x", i/26)+`"`) + ", ")
			}
			return layer.ReplaceAllStringFunc(s, func(last string) string { return list.String() + last })
		}, "too much"},
		{"nested layers", func(s string) string {
			return layer.ReplaceAllStringFunc(s, func(last string) string {
				return strings.Repeat(`{"module": "keras.layers", "class_name": "TimeDistributed", "registered_name": null, "config": {"name": "t", "layer": `, 300) +
					last + strings.Repeat(`}}`, 300)
			})
		}, "nest deeper"},
		{"a layer in itself", func(s string) string {
			return strings.Replace(s, `"class_name": "Dense"`, `"shared_object_id": 1, "class_name": "TimeDistributed"`, 1)
		}, "TimeDistributed"},
		{"code", func(s string) string {
			return strings.Replace(s, `"class_name": "Dense"`, `"class_name": "Lambda"`, 1)
		}, "Lambda"},
		{"another class", func(s string) string {
			return strings.Replace(s, `"class_name": "Dense"`, `"class_name": "os.system"`, 1)
		}, "unknown class"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := open(t, withConfig(t, b.Bytes(), c.change))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := saving.LoadModelFrom(t.Context(), file, nil)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
				t.Errorf("%d bytes were allocated, want at most 128 MiB", n)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v, want an error that says %q", err, c.want)
			}
		})
	}
}
