package models_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Vocabularies come from settings, tables, and an asset that the config knows by a path on
// another machine. The layers are saved again with them.
func TestLayersHaveTheVocabulariesOfTheFile(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/lookups.npz")
	inputs := []*ops.Value{ops.ValueOf(arrays["text"]), ops.ValueOf(arrays["tag"]), ops.ValueOf(arrays["number"])}
	check := func(t *testing.T, l *models.Loaded) {
		t.Helper()
		out := keras.CallAll(function.Eager(t.Context()), l.Model, inputs, nil)
		for i := range out {
			got, err := out[i].Tensor()
			kerastest.Must(t, err)
			want := arrays[fmt.Sprintf("output%d", i)]
			if got.DType() != tensor.String {
				kerastest.Near(t, fmt.Sprintf("output %d", i), ops.ValueOf(got), want, 1e-6)
			} else if g, w := fmt.Sprint(got.Strings()), fmt.Sprint(want.Strings()); g != w {
				t.Errorf("output %d: got %s, want %s", i, g, w)
			}
		}
	}
	l, err := models.Load(t.Context(), saved(t, "lookups"), nil)
	kerastest.Must(t, err)
	check(t, l)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), l.Model, dir, nil))
	again, err := models.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	check(t, again)
}
