package models_test

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// saved opens a fixture of testdata/gen_saved.py.
func saved(t testing.TB, name string) fs.FS {
	z, err := zip.OpenReader("testdata/" + name + ".zip")
	kerastest.Must(t, err)
	t.Cleanup(func() { z.Close() })
	return z
}

func TestModelsOfTfKerasOpen(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/saved.npz")
	for name, want := range map[string]struct{ class, generic string }{
		"functional": {"*keras.Functional", ""},
		"sequential": {"*keras.Sequential", ""},
		"unknown":    {"*keras.Functional", "scale"},
		"subclassed": {"*models.Generic", "net"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := models.Load(t.Context(), saved(t, name), nil)
			kerastest.Must(t, err)
			if got := fmt.Sprintf("%T", l.Model); got != want.class {
				t.Errorf("the model is a %s, want %s", got, want.class)
			}
			var generic []string
			for _, o := range l.Objects {
				if o.Generic {
					generic = append(generic, o.Name)
					if !strings.Contains(o.Reason, "unknown") {
						t.Errorf("reason %q", o.Reason)
					}
				}
			}
			if got := strings.Join(generic, " "); got != want.generic {
				t.Errorf("generic layers %q, want %q", got, want.generic)
			}
			in := ops.ValueOf(arrays[name+"/input"])
			call := func(training bool) (out []*ops.Value, losses int) {
				s, collected := base.WithLosses(function.Eager(t.Context()).WithTraining(training))
				out = keras.CallAll(s, l.Model, []*ops.Value{in}, nil)
				losses = len(collected.Values()) + len(base.RegularizationLosses(s, l.Model))
				kerastest.Must(t, s.Err())
				return out, losses
			}
			out, losses := call(false)
			for i := range out {
				kerastest.Near(t, fmt.Sprintf("output %d", i), out[i], arrays[fmt.Sprintf("%s/output%d", name, i)], 1e-5)
			}
			if losses != arrays[name+"/losses"].Len() {
				t.Errorf("%d losses, want %d", losses, arrays[name+"/losses"].Len())
			}
			if train := arrays[name+"/train"]; train != nil {
				out, _ := call(true)
				kerastest.Near(t, "training", out[0], train, 1e-5)
			}
		})
	}
}

func TestLoadedModelsAreSavedAgain(t *testing.T) {
	l, err := models.Load(t.Context(), saved(t, "functional"), nil)
	kerastest.Must(t, err)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), l.Model, dir, nil))
	again, err := models.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	want, err := keras.Config(l.Model, nil)
	kerastest.Must(t, err)
	got, err := keras.Config(again.Model, nil)
	kerastest.Must(t, err)
	kerastest.SameJSON(t, "config", want, got)
	from, to := keras.Variables(l.Model), keras.Variables(again.Model)
	if len(from) != len(to) {
		t.Fatalf("%d variables, want %d", len(to), len(from))
	}
	for i := range from {
		kerastest.Near(t, from[i].Name(), ops.ValueOf(to[i].Load()), from[i].Load(), 0)
	}
}

// Objects of unknown classes keep their metadata, functions and edges, so that a program that
// knows the classes opens the new file.
func TestGenericLayersAreSavedAgain(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/saved.npz")
	for _, name := range []string{"unknown", "subclassed"} {
		t.Run(name, func(t *testing.T) {
			l, err := models.Load(t.Context(), saved(t, name), nil)
			kerastest.Must(t, err)
			dir := t.TempDir()
			kerastest.Must(t, models.Save(t.Context(), l.Model, dir, nil))
			again, err := models.Load(t.Context(), os.DirFS(dir), nil)
			kerastest.Must(t, err)
			in := []*ops.Value{ops.ValueOf(arrays[name+"/input"])}
			out := keras.CallAll(function.Eager(t.Context()), again.Model, in, nil)
			kerastest.Near(t, "output", out[0], arrays[name+"/output0"], 1e-5)
			if train := arrays[name+"/train"]; train != nil {
				out := keras.CallAll(function.Eager(t.Context()).WithTraining(true), again.Model, in, nil)
				kerastest.Near(t, "training", out[0], train, 1e-5)
			}
			if a, b := fmt.Sprint(l.Objects), fmt.Sprint(again.Objects); a != b {
				t.Errorf("objects\n%s\nwant\n%s", b, a)
			}
		})
	}
}

func TestWhatIsNoKerasModel(t *testing.T) {
	for name, want := range map[string]string{"mlp": "no Keras metadata", "session": ""} {
		if _, err := models.Load(t.Context(), os.DirFS("../../savedmodel/testdata/models/"+name), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := models.Load(t.Context(), fstest.MapFS{}, nil); err == nil {
		t.Error("an empty directory is a model")
	}
	l, err := models.Load(t.Context(), saved(t, "unknown"), nil)
	kerastest.Must(t, err)
	s := function.Eager(t.Context())
	l.Model.Call(s, tensor.Must(tensor.New([]float32{1, 2}, 1, 2)))
	if s.Err() == nil {
		t.Error("an input of another shape is taken")
	}
}

// Models of TensorFlow 2.1 and 2.3 have their metadata in the nodes of the object graph.
func TestModelsOfOldVersionsOpen(t *testing.T) {
	arrays := kerastest.Arrays(t, "testdata/old.npz")
	for _, c := range []struct {
		name, generic, last string
		steps               int64
	}{
		{"tf21", "", "root.layer_with_weights-3", 10_000},
		{"tf23", "transform_features_layer", "root.layer-8", 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := models.Load(t.Context(), saved(t, c.name), nil)
			kerastest.Must(t, err)
			check := func(l *models.Loaded) {
				t.Helper()
				var in []*ops.Value
				for i := range 4 {
					in = append(in, ops.ValueOf(arrays[fmt.Sprintf("%s/input%d", c.name, i)]))
				}
				out := keras.CallAll(function.Eager(t.Context()), l.Model, in, nil)
				kerastest.Near(t, "output", out[0], arrays[c.name+"/output0"], 1e-5)
				if n, err := l.Trainer.Optimizer().Iterations(); err != nil || n != c.steps {
					t.Errorf("the optimizer has done %d steps (%v), want %d", n, err, c.steps)
				}
				var generic string
				for _, o := range l.Objects {
					if o.Generic {
						generic += o.Name
					}
				}
				if generic != c.generic {
					t.Errorf("generic layers %q, want %q", generic, c.generic)
				}
			}
			check(l)
			if got := l.Objects[len(l.Objects)-1].Path; got != c.last {
				t.Errorf("the last layer is %s, want %s", got, c.last)
			}
			dir := t.TempDir()
			kerastest.Must(t, models.Save(t.Context(), l.Model, dir, &models.SaveOptions{Trainer: l.Trainer}))
			again, err := models.Load(t.Context(), os.DirFS(dir), nil)
			kerastest.Must(t, err)
			check(again)
		})
	}
}
