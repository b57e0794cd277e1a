package saving_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// built returns a sequential model of named Dense layers for three features.
func built(t *testing.T, units ...int) *keras.Sequential {
	t.Helper()
	m := keras.NewSequential()
	for i, n := range units {
		kerastest.Must(t, m.Add(keras.Named(string(rune('a'+i)), dense(n))))
	}
	kerastest.Must(t, keras.Build(keras.WithSeed(function.Eager(t.Context()), 1), m, tensor.Shape{-1, 3}))
	return m
}

func TestMissingFilesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.keras")
	_, err := saving.LoadModel(t.Context(), path, nil)
	_, weights := saving.LoadWeights(t.Context(), built(t, 2), path, nil)
	_, saved := models.Load(t.Context(), os.DirFS(filepath.Dir(path)), nil)
	for _, err := range []error{err, weights, saved} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want fs.ErrNotExist", err)
		}
	}
}

func TestTheNameTellsTheFormat(t *testing.T) {
	m, dir := built(t, 2), t.TempDir()
	format := func(path string) kerasfile.Format {
		b, err := os.ReadFile(path)
		kerastest.Must(t, err)
		return open(t, b).Format
	}
	for name, want := range map[string]kerasfile.Format{"m.keras": kerasfile.Archive, "m.h5": kerasfile.LegacyModel, "m.hdf5": kerasfile.LegacyModel} {
		path := filepath.Join(dir, name)
		kerastest.Must(t, saving.SaveModel(t.Context(), m, path, nil))
		if got := format(path); got != want {
			t.Errorf("%s is of format %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]kerasfile.Format{"w.weights.h5": kerasfile.Weights, "w.h5": kerasfile.LegacyWeights} {
		path := filepath.Join(dir, name)
		kerastest.Must(t, saving.SaveWeights(t.Context(), m, path, nil))
		if got := format(path); got != want {
			t.Errorf("%s is of format %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"m.notkeras", "m", "m.weights.h5"} {
		if err := saving.SaveModel(t.Context(), m, filepath.Join(dir, name), nil); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if err := saving.SaveWeights(t.Context(), m, filepath.Join(dir, "w.txt"), nil); err == nil {
		t.Error("w.txt is written")
	}
}

func TestClassesOfAProgramMustBeKnown(t *testing.T) {
	classes := withTwice(t)
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{3}, nil)
	functional, err := keras.NewModel(x, (&twice{Inner: dense(3)}).Call(s, x), nil)
	kerastest.Must(t, err)
	sequential := keras.NewSequential(&twice{Inner: dense(3)})
	kerastest.Must(t, keras.Build(function.Eager(t.Context()), sequential, tensor.Shape{-1, 3}))
	for _, f := range []kerasfile.Format{kerasfile.Archive, kerasfile.LegacyModel} {
		for _, m := range []models.Model{functional, sequential} {
			var b bytes.Buffer
			if err := saving.WriteModel(t.Context(), &b, m, f, nil); err == nil || !strings.Contains(err.Error(), "in no class") {
				t.Errorf("%v of %T: got %v, want an error about an unknown class", f, m, err)
			}
		}
		for _, m := range []models.Model{functional, sequential} {
			var b bytes.Buffer
			kerastest.Must(t, saving.WriteModel(t.Context(), &b, m, f, &saving.SaveModelOptions{Classes: classes}))
			if _, err := saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), nil); err == nil || !strings.Contains(err.Error(), "Twice") {
				t.Errorf("%v: loaded without the class: %v", f, err)
			}
			_, err := saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), &saving.ModelOptions{Classes: classes})
			kerastest.Must(t, err)
		}
	}
}

// cube is a program's activation function.
type cube struct{}

func (cube) Call(s *ops.Scope, x ops.Input) *ops.Value { return ops.Mul(s, x, ops.Square(s, x)) }

func TestActivationsOfAProgramAreNamed(t *testing.T) {
	classes, err := keras.Classes().With([]config.Class{config.Function("builtins", "cube", cube{})})
	kerastest.Must(t, err)
	m := keras.NewSequential(&layers.Dense{Units: 2, Activation: cube{}})
	kerastest.Must(t, keras.Build(function.Eager(t.Context()), m, tensor.Shape{-1, 3}))
	in := inputsFor(t, m)
	for file, way := range through {
		t.Run(file, func(t *testing.T) {
			got := way(t, m, classes)
			kerastest.Near(t, "output", ops.ValueOf(outputsFor(t, got, in)[0]), outputsFor(t, m, in)[0], 0)
		})
	}
	if _, err := keras.Config(m, nil); err == nil {
		t.Error("a function of no class has a config")
	}
}

func TestAnArchiveTellsItsVersion(t *testing.T) {
	var b bytes.Buffer
	kerastest.Must(t, saving.WriteModel(t.Context(), &b, built(t, 2), kerasfile.Archive, nil))
	var metadata map[string]any
	kerastest.Must(t, json.Unmarshal(open(t, b.Bytes()).Metadata, &metadata))
	if s, _ := metadata["keras_version"].(string); s == "" {
		t.Errorf("the metadata are %v", metadata)
	}
}

// TestAnOptimizerWithoutACompilationIsSaved saves an optimizer that was never compiled with
// the model, before and after its first step.
func TestAnOptimizerWithoutACompilationIsSaved(t *testing.T) {
	for _, f := range []kerasfile.Format{kerasfile.Archive, kerasfile.LegacyModel} {
		m, o := built(t, 2), optimizers.NewRMSprop(0.125)
		kerastest.Must(t, o.SetLayout(optimizers.NewLayout))
		kerastest.Must(t, o.Build(keras.Trainable(m)))
		var b bytes.Buffer
		kerastest.Must(t, saving.WriteModel(t.Context(), &b, m, f, &saving.SaveModelOptions{Optimizer: o}))
		l, err := saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), nil)
		kerastest.Must(t, err)
		got, ok := l.Optimizer.(*optimizers.RMSprop)
		if !ok {
			t.Fatalf("%v: the optimizer is a %T", f, l.Optimizer)
		}
		if rate, err := got.LearningRate(); err != nil || rate != 0.125 {
			t.Errorf("%v: the rate is %v (%v)", f, rate, err)
		}
		if l, err = saving.LoadModelFrom(t.Context(), open(t, b.Bytes()), &saving.ModelOptions{OmitOptimizer: true}); err != nil || l.Optimizer != nil {
			t.Errorf("%v: got the optimizer %v (%v), want none", f, l.Optimizer, err)
		}
	}
}

func TestASaveReplacesTheFileAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path, weights := filepath.Join(dir, "m.keras"), filepath.Join(dir, "m.weights.h5")
	for _, units := range []int{7, 2} {
		m := built(t, units)
		kerastest.Must(t, saving.SaveModel(t.Context(), m, path, nil))
		kerastest.Must(t, saving.SaveWeights(t.Context(), m, weights, nil))
	}
	m, err := saving.LoadModel(t.Context(), path, nil)
	kerastest.Must(t, err)
	if d := m.Model.(*keras.Sequential).Layer("a").(*layers.Dense); d.Units != 2 {
		t.Errorf("the layer has %d units, want 2", d.Units)
	}
	_, err = saving.LoadWeights(t.Context(), built(t, 2), weights, nil)
	kerastest.Must(t, err)
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("the directory has %v, want two files", list)
	}
}

func TestSavesThatFailLeaveNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	kerastest.Must(t, os.WriteFile(file, nil, 0o600))
	for _, name := range []string{"m.keras", "m.h5"} {
		if err := saving.SaveModel(t.Context(), built(t, 2), filepath.Join(file, name), nil); err == nil {
			t.Errorf("%s is saved below a file", name)
		}
	}
	path := filepath.Join(t.TempDir(), "m.keras")
	kerastest.Must(t, saving.SaveModel(t.Context(), built(t, 2), path, nil))
	before, err := os.ReadFile(path)
	kerastest.Must(t, err)
	if err := saving.SaveModel(t.Context(), keras.NewSequential(dense(2)), path, nil); err == nil {
		t.Error("a model that isn't built is saved")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// TestPartsOfAModelAreLoaded loads the weights of the layers that fit.
func TestPartsOfAModelAreLoaded(t *testing.T) {
	from := built(t, 4, 5)
	var archive, legacy bytes.Buffer
	kerastest.Must(t, saving.WriteModel(t.Context(), &archive, from, kerasfile.Archive, nil))
	kerastest.Must(t, saving.WriteWeights(t.Context(), &legacy, from, kerasfile.LegacyWeights, nil))
	kernel := func(m *keras.Sequential, name string) []float32 {
		return tensor.Values[float32](m.Layer(name).(*layers.Dense).Kernel.Load())
	}
	without := func() *keras.Sequential {
		m := keras.NewSequential(keras.Named("a", &layers.Dense{Units: 4, NoBias: true}), keras.Named("b", dense(5)))
		kerastest.Must(t, keras.Build(keras.WithSeed(function.Eager(t.Context()), 2), m, tensor.Shape{-1, 3}))
		return m
	}
	for name, c := range map[string]struct {
		file  []byte
		make  func() *keras.Sequential
		opts  saving.LoadOptions
		taken string // the layers whose kernels are the file's
	}{
		"another shape":           {archive.Bytes(), func() *keras.Sequential { return built(t, 4, 6) }, saving.LoadOptions{}, "a"},
		"a further layer":         {archive.Bytes(), func() *keras.Sequential { return built(t, 4, 5, 5) }, saving.LoadOptions{}, "ab"},
		"another number, by name": {legacy.Bytes(), without, saving.LoadOptions{ByName: true}, "b"},
		"another shape, by name":  {legacy.Bytes(), func() *keras.Sequential { return built(t, 4, 6) }, saving.LoadOptions{ByName: true}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.make()
			for _, v := range keras.Variables(m) {
				s := function.Eager(t.Context())
				ops.Assign(s, v, ops.ZerosLike(s, v))
				kerastest.Must(t, s.Err())
			}
			var mismatch *saving.MismatchError
			if _, err := saving.LoadWeightsFrom(t.Context(), m, open(t, c.file), &c.opts); !errors.As(err, &mismatch) {
				t.Fatalf("got %v, want a mismatch", err)
			}
			c.opts.SkipMismatch = true
			report, err := saving.LoadWeightsFrom(t.Context(), m, open(t, c.file), &c.opts)
			kerastest.Must(t, err)
			if len(report.Skipped) != 1 {
				t.Errorf("skipped %q, want one layer", report.Skipped)
			}
			for _, l := range m.Layers {
				layer := l.(*layers.Dense).Name
				got := kernel(m, layer)
				if taken := strings.Contains(c.taken, layer); taken && !slices.Equal(got, kernel(from, layer)) {
					t.Errorf("the kernel of %s is not the file's", layer)
				} else if !taken && slices.Max(got) != 0 {
					t.Errorf("the kernel of %s was changed", layer)
				}
			}
		})
	}
}

func TestNormalizationComesBack(t *testing.T) {
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 5, 7, 11}, 2, 3))
	given := &layers.Normalization{Mean: layers.Numbers{1, 2, 3}, Variance: layers.Numbers{4, 5, 6}}
	adapted := &layers.Normalization{}
	s := function.Eager(t.Context())
	adapted.Adapt(s, slices.Values([]*ops.Value{ops.ValueOf(x)}))
	kerastest.Must(t, s.Err())
	for name, n := range map[string]*layers.Normalization{"given": given, "adapted": adapted} {
		s := keras.Symbolic(t.Context())
		in := keras.Input(s, tensor.Shape{3}, nil)
		m, err := keras.NewModel(in, n.Call(s, in), nil)
		kerastest.Must(t, err)
		for file, way := range through {
			t.Run(name+"/"+file, func(t *testing.T) {
				got := way(t, m, nil)
				in := []*ops.Value{ops.ValueOf(x)}
				kerastest.Near(t, "output", ops.ValueOf(outputsFor(t, got, in)[0]), outputsFor(t, m, in)[0], 1e-6)
			})
		}
	}
}
