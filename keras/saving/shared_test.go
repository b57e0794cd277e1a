package saving_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// sharing returns a model of which two wrappers contain one layer, which the model calls by
// itself too.
func sharing(t *testing.T) *keras.Functional {
	s := keras.Symbolic(t.Context())
	inner := keras.Named("inner", dense(3))
	x := keras.Input(s, tensor.Shape{4, 5}, nil)
	a := keras.Named("first", &layers.TimeDistributed{Inner: inner}).Call(s, x)
	b := keras.Named("second", &layers.TimeDistributed{Inner: inner}).Call(s, new(layers.ReLU).Call(s, x))
	m, err := keras.NewModel(x, new(layers.Add).Call(s, []*ops.Value{a, b, inner.Call(s, x)}), nil)
	kerastest.Must(t, err)
	return m
}

func TestALayerThatTwoLayersContainIsOneAfterLoading(t *testing.T) {
	m := sharing(t)
	in := tensor.Must(tensor.New(make([]float32, 40), 2, 4, 5))
	want := call(t, m, in)
	dir := os.Getenv("CAIRN_SHARED_MODELS") // keeps the files
	if dir == "" {
		dir = t.TempDir()
	}
	load := func(path string) (base.Callable, error) {
		l, err := saving.LoadModel(t.Context(), path, nil)
		if err != nil {
			return nil, err
		}
		return l.Model, nil
	}
	for _, c := range []struct {
		name string
		save func(path string) error
		load func(path string) (base.Callable, error)
	}{
		{"savedmodel", func(path string) error { return models.Save(t.Context(), m, path, nil) }, func(path string) (base.Callable, error) {
			l, err := models.Load(t.Context(), os.DirFS(path), nil)
			if err != nil {
				return nil, err
			}
			return l.Model, nil
		}},
		{"two.keras", func(path string) error { return saving.SaveModel(t.Context(), m, path, nil) }, load},
		{"three.keras", func(path string) error {
			return saving.SaveModel(t.Context(), m, path, &saving.SaveModelOptions{Keras: 3})
		}, load},
		{"two.h5", func(path string) error { return saving.SaveModel(t.Context(), m, path, nil) }, load},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			kerastest.Must(t, c.save(path))
			loaded, err := c.load(path)
			kerastest.Must(t, err)
			var inner []base.Callable
			for _, l := range loaded.(*keras.Functional).Layers() {
				switch l := l.(type) {
				case *layers.TimeDistributed:
					inner = append(inner, l.Inner)
				case *layers.Dense:
					inner = append(inner, l)
				}
			}
			if len(inner) != 3 || inner[0] != inner[1] || inner[1] != inner[2] {
				t.Errorf("got the layers %v, want one layer three times", inner)
			}
			if n := len(keras.Variables(loaded.(*keras.Functional))); n != 2 {
				t.Errorf("got %d variables, want 2", n)
			}
			compare(t, call(t, loaded, in), want)
		})
	}
}
