package models_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/keras/regularizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// counting is a program's layer. In training it counts its calls, drops inputs and adds a
// loss.
type counting struct {
	keras.Layer
	Drop  *layers.Dropout     `keras:"-"`
	Calls *trackable.Variable `cairn:"-"`
	Gain  *trackable.Variable `cairn:"-"`
}

func (l *counting) Weights(keras.Shapes) ([]keras.Weight, error) {
	return []keras.Weight{
		{To: &l.Calls, Edge: "calls", Shape: tensor.Shape{}, NotTrainable: true, Init: initializers.Zeros{}},
		{To: &l.Gain, Edge: "gain", Shape: tensor.Shape{}, Init: initializers.Ones{}},
	}, nil
}

func (l *counting) CompleteLayer() error {
	if l.Drop == nil {
		l.Drop = &layers.Dropout{Rate: 0.5}
	}
	return nil
}

func (l *counting) Call(s *ops.Scope, x ops.Input) *ops.Value { return l.Run(s, l, x, nil) }

func (l *counting) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	base.AddLoss(s, ops.Square(s, l.Gain))
	if s.Training() {
		ops.AssignAdd(s, l.Calls, float32(1))
	}
	return ops.Mul(s, l.Drop.Call(s, x), l.Gain)
}

// block is a program's model.
type block struct {
	keras.Model
	First *layers.Dense
	Count *counting
}

func (b *block) Call(s *ops.Scope, x ops.Input) *ops.Value { return b.Run(s, b, x, nil) }

func (b *block) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	return b.Count.Call(s, b.First.Call(s, x))
}

// programs returns the known classes and those of this file.
func programs(t *testing.T) *config.Classes {
	t.Helper()
	c, err := keras.Classes().With([]config.Class{config.Registered[*counting]("Example", "Counting"), config.Registered[*block]("Example", "Block")})
	kerastest.Must(t, err)
	return c
}

// reload saves a model and loads it.
func reload(t *testing.T, m models.Model, save *models.SaveOptions, load *models.LoadOptions) *models.Loaded {
	t.Helper()
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, save))
	l, err := models.Load(t.Context(), os.DirFS(dir), load)
	kerastest.Must(t, err)
	return l
}

// mixed returns a functional model of built-in and a program's layers.
func mixed(t *testing.T) *keras.Functional {
	t.Helper()
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{3}, nil)
	h := keras.Named("count", new(counting)).Call(s, keras.Named("first", &layers.Dense{Units: 3}).Call(s, x))
	b := keras.Named("block", &block{First: keras.Named("inner", &layers.Dense{Units: 2}), Count: keras.Named("inner_count", new(counting))})
	m, err := keras.NewModel(x, b.Call(s, h), nil)
	kerastest.Must(t, err)
	return m
}

func ones(t *testing.T, dims ...int) *ops.Value {
	t.Helper()
	v, err := ops.Ones(function.Eager(t.Context()), tensor.Float32, dims...).Tensor()
	kerastest.Must(t, err)
	return ops.ValueOf(v)
}

func callFor(t *testing.T, m keras.Callable, in *ops.Value, training bool) (*tensor.Tensor, int) {
	t.Helper()
	s, losses := base.WithLosses(function.Eager(t.Context()).WithTraining(training))
	y, err := m.Call(s, in).Tensor()
	kerastest.Must(t, err)
	return y, len(losses.Values())
}

// TestClassesOfAProgramAreRevived loads a model whose layers and inner model are of a
// program's classes: with these, and without.
func TestClassesOfAProgramAreRevived(t *testing.T) {
	classes, m := programs(t), mixed(t)
	want, losses := callFor(t, m, ones(t, 2, 3), false)
	for known, load := range map[bool]*models.LoadOptions{true: {Classes: classes}, false: nil} {
		t.Run(fmt.Sprint(known), func(t *testing.T) {
			l := reload(t, m, &models.SaveOptions{Classes: classes}, load)
			var generic []string
			for _, o := range l.Objects {
				if o.Generic {
					generic = append(generic, o.Name)
				}
			}
			slices.Sort(generic)
			if wanted := map[bool]string{true: "", false: "block count"}[known]; strings.Join(generic, " ") != wanted {
				t.Errorf("generic layers %q, want %q", generic, wanted)
			}
			got, n := callFor(t, l.Model, ones(t, 2, 3), false)
			kerastest.Near(t, "output", ops.ValueOf(got), want, 1e-6)
			if n != losses {
				t.Errorf("%d losses, want %d", n, losses)
			}
			if known {
				if a, b := len(keras.Variables(l.Model)), len(keras.Variables(m)); a != b {
					t.Errorf("%d variables, want %d", a, b)
				}
				if c := l.Model.(*keras.Functional).Layer("block").(*block); c.First.Units != 2 {
					t.Errorf("the inner layer has %d units", c.First.Units)
				}
			}
		})
	}
}

// TestALayerThatUpdatesItselfGoesOn calls a layer in training, which then counts and drops.
func TestALayerThatUpdatesItselfGoesOn(t *testing.T) {
	classes := programs(t)
	for known, load := range map[bool]*models.LoadOptions{true: {Classes: classes}, false: nil} {
		l := reload(t, mixed(t), &models.SaveOptions{Classes: classes}, load)
		calls := func() float32 {
			for _, v := range keras.Variables(l.Model) {
				if !v.Trainable() && strings.HasSuffix(v.Name(), "calls") {
					return tensor.Values[float32](v.Load())[0]
				}
			}
			t.Fatal("there is no count")
			return 0
		}
		for i := range 3 {
			if got := calls(); got != float32(i) {
				t.Errorf("known %v: %v calls, want %d", known, got, i)
			}
			callFor(t, l.Model, ones(t, 2, 3), false)
			callFor(t, l.Model, ones(t, 2, 3), true)
		}
	}
}

func TestLayersWithDropoutAreSaved(t *testing.T) {
	classes := programs(t)
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{3}, nil)
	m, err := keras.NewModel(x, keras.Named("count", new(counting)).Call(s, x), nil)
	kerastest.Must(t, err)
	for known, load := range map[bool]*models.LoadOptions{true: {Classes: classes}, false: nil} {
		l := reload(t, m, &models.SaveOptions{Classes: classes}, load)
		in := ones(t, 50, 3)
		if y, _ := callFor(t, l.Model, in, false); slices.Max(tensor.Values[float32](y)) != 1 || slices.Min(tensor.Values[float32](y)) != 1 {
			t.Errorf("known %v: inference drops", known)
		}
		if y, _ := callFor(t, l.Model, in, true); slices.Max(tensor.Values[float32](y)) != 2 || slices.Min(tensor.Values[float32](y)) != 0 {
			t.Errorf("known %v: training gives %v, want zeros and twos", known, y)
		}
	}
}

// trainableNames lists the variables that an optimizer changes.
func trainableNames(m trackable.Trackable) (names []string) {
	for _, v := range keras.Trainable(m) {
		names = append(names, v.Name())
	}
	return names
}

// TestTrainableFlagsComeBack freezes a weight, layers, a whole model.
func TestTrainableFlagsComeBack(t *testing.T) {
	classes := programs(t)
	for name, freeze := range map[string]func(m *keras.Functional) error{
		"a weight": func(*keras.Functional) error { return nil },
		"a layer": func(m *keras.Functional) error {
			return keras.SetTrainable(m.Layer("first").(trackable.Trackable), false)
		},
		"a program's layer": func(m *keras.Functional) error {
			return keras.SetTrainable(m.Layer("count").(trackable.Trackable), false)
		},
		"an inner model": func(m *keras.Functional) error {
			return keras.SetTrainable(m.Layer("block").(trackable.Trackable), false)
		},
		"the model": func(m *keras.Functional) error { return keras.SetTrainable(m, false) },
	} {
		for known, load := range map[bool]*models.LoadOptions{true: {Classes: classes}, false: nil} {
			t.Run(fmt.Sprint(name, "/", known), func(t *testing.T) {
				m := mixed(t)
				kerastest.Must(t, freeze(m))
				want := len(trainableNames(m))
				l := reload(t, m, &models.SaveOptions{Classes: classes}, load)
				if got := trainableNames(l.Model); len(got) != want {
					t.Errorf("trainable are %q, want %q", got, trainableNames(m))
				}
			})
		}
	}
}

// TestBatchNormalizationGoesOnWhereItIsTrainable calls a loaded model in training.
func TestBatchNormalizationGoesOnWhereItIsTrainable(t *testing.T) {
	in := ops.ValueOf(tensor.Must(tensor.New([]float32{11, 12, 13}, 3, 1)))
	for _, trainable := range []bool{true, false} {
		m := keras.NewSequential(new(layers.BatchNormalization))
		kerastest.Must(t, keras.Build(function.Eager(t.Context()), m, tensor.Shape{-1, 1}))
		kerastest.Must(t, keras.SetTrainable(m, trainable))
		l := reload(t, m, nil, nil)
		norm := l.Model.(*keras.Sequential).Layers[len(l.Model.(*keras.Sequential).Layers)-1].(*layers.BatchNormalization)
		check := func(want float32) {
			t.Helper()
			if got := tensor.Values[float32](norm.MovingMean.Load())[0]; got < want-1e-5 || got > want+1e-5 {
				t.Errorf("trainable %v: the moving mean is %v, want %v", trainable, got, want)
			}
		}
		check(0)
		callFor(t, l.Model, in, true)
		if !trainable {
			check(0)
			kerastest.Must(t, keras.SetTrainable(l.Model, true))
			callFor(t, l.Model, in, true)
		}
		check(0.12)
		callFor(t, l.Model, in, false)
		check(0.12)
	}
}

func TestARevivedSequentialTakesOtherLayers(t *testing.T) {
	layer := func(units int) *layers.Dense {
		return &layers.Dense{Units: units, KernelRegularizer: regularizers.L2{}}
	}
	m := keras.NewSequential(layer(5), layer(2))
	kerastest.Must(t, keras.Build(function.Eager(t.Context()), m, tensor.Shape{-1, 3}))
	got := reload(t, m, nil, nil).Model.(*keras.Sequential)
	losses := func(want int) {
		t.Helper()
		s := function.Eager(t.Context())
		if n := len(base.RegularizationLosses(s, got)); n != want {
			t.Errorf("%d losses, want %d (%v)", n, want, s.Err())
		}
	}
	losses(2)
	_, err := got.Pop()
	kerastest.Must(t, err)
	losses(1)
	kerastest.Must(t, got.Add(layer(4)))
	if y, _ := callFor(t, got, ones(t, 2, 3), false); !y.Shape().Equal(tensor.Shape{2, 4}) {
		t.Errorf("the output has the shape %v", y.Shape())
	}
	losses(2)
}

// TestASaveLeavesTheLossesAlone compares the losses of a model before and after a save.
func TestASaveLeavesTheLossesAlone(t *testing.T) {
	m := small(t)
	losses := func() (out []float32) {
		s, added := base.WithLosses(function.Eager(t.Context()))
		m.Call(s, ones(t, 2, 4))
		for _, v := range append(added.Values(), base.RegularizationLosses(s, m)...) {
			x, err := ops.Item[float32](v)
			kerastest.Must(t, err)
			out = append(out, x)
		}
		return out
	}
	before := losses()
	kerastest.Must(t, models.Save(t.Context(), m, t.TempDir(), nil))
	if after := losses(); len(before) != 2 || !slices.Equal(before, after) {
		t.Errorf("the losses are %v after a save, %v before", after, before)
	}
}

func TestAGenericLayerSaysWhichCallItLacks(t *testing.T) {
	classes := programs(t)
	l := reload(t, mixed(t), &models.SaveOptions{Classes: classes}, nil)
	g := l.Model.(*keras.Functional).Layer("count").(*models.Generic)
	s := function.Eager(t.Context())
	g.Call(s, ones(t, 2, 7, 7))
	if err := s.Err(); err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "count") {
		t.Errorf("got %v, want an error that names the layer", err)
	}
}
