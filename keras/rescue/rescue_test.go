package rescue_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/rescue"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// model returns a model with a cast between layers, an embedding and a function.
func model(t testing.TB) *keras.Functional {
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{3}, &keras.InputOptions{DType: tensor.Int64, Name: "x"})
	h := (&layers.Embedding{InputDim: 9, OutputDim: 4}).Call(s, x)
	h = (&layers.GRU{Units: 3}).Call(s, h)
	h = ops.Cast(s, ops.Cast(s, ops.Mul(s, h, float32(9)), tensor.Int32), tensor.Float32)
	m, err := keras.NewModel(x, (&layers.Dense{Units: 2}).Call(s, h), nil)
	kerastest.Must(t, err)
	return m
}

func outputs(t testing.TB, m keras.Callable) *tensor.Tensor {
	x := ops.ValueOf(tensor.Must(tensor.New([]int64{1, 2, 3, 8, 0, 4}, 2, 3)))
	y, err := m.Call(function.Eager(t.Context()), x).Tensor()
	kerastest.Must(t, err)
	return y
}

func TestModelsMoveBetweenTheVersions(t *testing.T) {
	ctx, dir, m := t.Context(), t.TempDir(), model(t)
	want := outputs(t, m)
	old := filepath.Join(dir, "saved")
	kerastest.Must(t, models.Save(ctx, m, old, nil))
	files := map[string]string{"saved": old}
	for _, name := range []string{"old.h5", "old.keras"} {
		files[name] = filepath.Join(dir, name)
		kerastest.Must(t, saving.SaveModel(ctx, m, files[name], nil))
	}
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			if got := rescue.Open(ctx, path); got != 2 {
				t.Errorf("the file is of Keras %d, want 2", got)
			}
			archive := filepath.Join(dir, name+".new.keras")
			res, err := rescue.Convert(ctx, path, archive, nil)
			kerastest.Must(t, err)
			if got := rescue.Open(ctx, archive); got != 3 || res.Weights != 6 || len(res.Files) != 1 {
				t.Errorf("got Keras %d and %+v", got, res)
			}
			l, err := saving.LoadModel(ctx, archive, nil)
			kerastest.Must(t, err)
			kerastest.Near(t, "the archive", ops.ValueOf(outputs(t, l.Model)), want, 1e-6)
			back := filepath.Join(dir, name+".back")
			_, err = rescue.Convert(ctx, archive, back+"/", nil)
			kerastest.Must(t, err)
			again, err := models.Load(ctx, os.DirFS(back), nil)
			kerastest.Must(t, err)
			kerastest.Near(t, "the SavedModel", ops.ValueOf(outputs(t, again.Model)), want, 1e-6)
		})
	}
}

func TestNothingIsReplacedUnasked(t *testing.T) {
	dir, m := t.TempDir(), model(t)
	src, dst := filepath.Join(dir, "a.h5"), filepath.Join(dir, "b.keras")
	kerastest.Must(t, saving.SaveModel(t.Context(), m, src, nil))
	kerastest.Must(t, os.WriteFile(dst, []byte("mine"), 0o666))
	if _, err := rescue.Convert(t.Context(), src, dst, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want that the file exists", err)
	}
	if data, _ := os.ReadFile(dst); string(data) != "mine" {
		t.Error("the file was changed")
	}
	_, err := rescue.Convert(t.Context(), src, dst, &rescue.Options{Force: true})
	kerastest.Must(t, err)
	if _, err := rescue.Convert(t.Context(), dst, dst, &rescue.Options{Force: true}); err == nil {
		t.Error("a file is written over itself")
	}
}

func TestWhatKeras3LacksIsRefused(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{4, 2}, nil)
	m, err := keras.NewModel(x, (&layers.LocallyConnected1D{Filters: 1, KernelSize: []int{2}}).Call(s, x), nil)
	kerastest.Must(t, err)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, filepath.Join(dir, "saved"), nil))
	_, err = rescue.Convert(t.Context(), filepath.Join(dir, "saved"), filepath.Join(dir, "new.keras"), nil)
	if err == nil || !strings.Contains(err.Error(), "Keras 3 has no such layer") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.keras")); err == nil {
		t.Error("a file was left")
	}
	if got := rescue.Open(t.Context(), dir); got != 0 {
		t.Errorf("a directory is of Keras %d", got)
	}
}

func ExampleConvert() {
	res, err := rescue.Convert(context.Background(), "testdata/none", "new.keras", nil)
	fmt.Println(res, errors.Is(err, fs.ErrNotExist))
	// Output: <nil> true
}
