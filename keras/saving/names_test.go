package saving_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/saving"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// TestLongNamesComeBack has names of layers and weights that fill more than one attribute
// of a .h5 file.
func TestLongNamesComeBack(t *testing.T) {
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{Name: "input_" + strings.Repeat("x", 1<<15)})
	h := x
	for i := range 4 {
		h = keras.Named("dense_"+string(rune('0'+i)), dense(2)).Call(s, h)
	}
	inner, err := keras.NewModel(x, keras.Named("output"+strings.Repeat("y", 1<<14), dense(2)).Call(s, h), &keras.ModelOptions{Name: "nested"})
	kerastest.Must(t, err)
	y := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{Name: "outer_" + strings.Repeat("z", 1<<15)})
	outer, err := keras.NewModel(y, keras.Named("last", dense(2)).Call(s, inner.Call(s, y)), nil)
	kerastest.Must(t, err)
	for name, m := range map[string]*keras.Functional{"layers": inner, "weights": outer} {
		in := inputsFor(t, m)
		for file, way := range through {
			t.Run(name+"/"+file, func(t *testing.T) {
				got := way(t, m, nil)
				kerastest.Near(t, "output", ops.ValueOf(outputsFor(t, got, in)[0]), outputsFor(t, m, in)[0], 0)
			})
		}
	}
}

// TestNamesThatBeginAlikeAreGroupsOfTheirOwn has a layer whose name is the beginning of
// another one's path.
func TestNamesThatBeginAlikeAreGroupsOfTheirOwn(t *testing.T) {
	s := keras.WithSeed(keras.Symbolic(t.Context()), 1)
	x := keras.Input(s, tensor.Shape{4, 4, 3}, &keras.InputOptions{Name: "in"})
	h := keras.Named("conv1/conv", &layers.Conv2D{Filters: 1, KernelSize: []int{1}}).Call(s, x)
	m, err := keras.NewModel(x, keras.Named("conv1", &layers.ReLU{}).Call(s, h), nil)
	kerastest.Must(t, err)
	for _, f := range []kerasfile.Format{kerasfile.Weights, kerasfile.LegacyWeights} {
		var b bytes.Buffer
		kerastest.Must(t, saving.WriteWeights(t.Context(), &b, m, f, nil))
		report, err := saving.LoadWeightsFrom(t.Context(), m, open(t, b.Bytes()), nil)
		if err != nil || len(report.Skipped)+len(report.Unused) > 0 {
			t.Errorf("%v: %v, %+v", f, err, report)
		}
	}
}

func TestGroupsAreNumberedByClass(t *testing.T) {
	var b bytes.Buffer
	kerastest.Must(t, saving.WriteWeights(t.Context(), &b, built(t, 2, 2, 2, 2), kerasfile.Weights, nil))
	var got []string
	for _, g := range open(t, b.Bytes()).Groups {
		if len(g.Weights) > 0 {
			got = append(got, g.Path)
		}
	}
	if s, want := strings.Join(got, " "), "layers/dense layers/dense_1 layers/dense_2 layers/dense_3"; s != want {
		t.Errorf("groups %q, want %q", s, want)
	}
}
