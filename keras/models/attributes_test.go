package models_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// scorer is a layer of a program with a table of names, a function and a note that Keras
// knows nothing of.
type scorer struct {
	base.Layer
	Factor float64

	note   string
	limits *trackable.Variable `cairn:"-"`
	wrong  string              // an attribute that isn't declared
	absent bool                // leaves a declared attribute out
}

func (l *scorer) Call(s *ops.Scope, x ops.Input) *ops.Value     { return l.Run(s, l, x, nil) }
func (l *scorer) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, l.Factor) }

func (l *scorer) SaveAttributes(a *models.Attributes) error {
	if err := a.Declare(models.Attribute{Name: "limits", KerasOnly: true}, models.Attribute{Name: "half", Function: true}); err != nil {
		return err
	}
	a.SetProperty("note", l.note)
	if l.absent {
		return nil
	}
	if l.wrong != "" {
		return a.Set(l.wrong, l.limits)
	}
	half := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, l.Factor/2) }, nil)
	if _, err := half.Trace(ops.Spec(tensor.Float32, -1)); err != nil {
		return err
	}
	if err := a.Set("half", half); err != nil {
		return err
	}
	return a.Set("limits", l.limits)
}

func (l *scorer) LoadAttributes(a *models.LoadedAttributes) error {
	api := a.Object.Child("keras_api").(*savedmodel.TrackableObject)
	l.limits = api.Child("limits").(*trackable.Variable)
	return json.Unmarshal(a.Properties["note"], &l.note)
}

func TestLayersSaveAttributesOfTheirOwn(t *testing.T) {
	classes, err := keras.Classes().With([]config.Class{config.Registered[*scorer]("Example", "Scorer")})
	kerastest.Must(t, err)
	save := func(l *scorer) (string, error) {
		l.Name = "scorer"
		s := keras.Symbolic(t.Context())
		x := keras.Input(s, tensor.Shape{2}, nil)
		m, err := keras.NewModel(x, l.Call(s, (&layers.Dense{Units: 2}).Call(s, x)), nil)
		kerastest.Must(t, err)
		dir := t.TempDir()
		return dir, models.Save(t.Context(), m, dir, &models.SaveOptions{Classes: classes})
	}
	limits := trackable.NewVariable(tensor.Vector[float32](1, 9))
	dir, err := save(&scorer{Factor: 4, note: "by hand", limits: limits})
	kerastest.Must(t, err)
	l, err := models.Load(t.Context(), os.DirFS(dir), &models.LoadOptions{Classes: classes})
	kerastest.Must(t, err)
	got := l.Model.(*keras.Functional).Layers()[2].(*scorer)
	if got.note != "by hand" || got.limits == nil || tensor.Values[float32](got.limits.Load())[1] != 9 {
		t.Errorf("got %q %v", got.note, got.limits)
	}
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	if _, err := sm.MetaGraphs[0].Object("layer-2/half"); err != nil {
		t.Error(err)
	}
	for want, l := range map[string]*scorer{
		`attribute "limit": it is not declared`:                {limits: limits, wrong: "limit"},
		`attribute "half": the value is a *trackable.Variable`: {limits: limits, wrong: "half"},
		`the attribute "limits" is declared, but not set`:      {absent: true},
	} {
		if _, err := save(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestCellsOfConvolutionsAreSaved(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{3, 5, 5, 1}, nil)
	m, err := keras.NewModel(x, (&layers.ConvLSTM2D{Filters: 2, KernelSize: []int{3, 3}}).Call(s, x), nil)
	kerastest.Must(t, err)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, nil))
	l, err := models.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	in := ops.Ones(function.Eager(t.Context()), tensor.Float32, 1, 3, 5, 5, 1)
	want, err := m.Call(function.Eager(t.Context()), in).Tensor()
	kerastest.Must(t, err)
	kerastest.Near(t, "output", l.Model.Call(function.Eager(t.Context()), in), want, 0)
}

func TestStatesOfRecurrentLayersAreSaved(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{3, 2}, &keras.InputOptions{BatchSize: 2})
	m, err := keras.NewModel(x, (&layers.GRU{Units: 2, Stateful: true}).Call(s, x), nil)
	kerastest.Must(t, err)
	dir := t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, nil))
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	if _, err := sm.MetaGraphs[0].Object("layer_with_weights-0/states/0"); err != nil {
		t.Error(err)
	}
}
