package keras

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/tensor"
)

func TestMetrics(t *testing.T) {
	s := scope(t)
	probs := mat(3, 2, 0.1, 0.9, 0.8, 0.2, 0.3, 0.7)
	for _, tt := range []struct {
		name   string
		update func() *MeanMetric
		want   float64
	}{
		{"mean", func() *MeanMetric {
			m := NewMean()
			m.Update(s, vec(1, 2, 6))
			m.Update(s, tensor.Scalar[int32](3))
			return m
		}, 3},
		{"weighted mean", func() *MeanMetric {
			m := NewMean()
			m.WeightedUpdate(s, vec(1, 3), vec(3, 1))
			return m
		}, 1.5},
		{"nothing", NewMean, 0},
		{"sparse", func() *MeanMetric {
			a := NewSparseCategoricalAccuracy()
			a.Update(s, tensor.Vector[int32](1, 0, 0), probs)
			a.Update(s, tensor.Must(tensor.New([]int64{1, 1, 1}, 3, 1)), probs)
			return &a.MeanMetric
		}, 4.0 / 6},
		{"categorical", func() *MeanMetric {
			a := NewCategoricalAccuracy()
			a.WeightedUpdate(s, mat(3, 2, 0, 1, 1, 0, 1, 0), probs, vec(1, 1, 2))
			return &a.MeanMetric
		}, 0.5},
		{"binary", func() *MeanMetric {
			a := NewBinaryAccuracy()
			a.Update(s, mat(3, 2, 0, 1, 1, 0, 1, 1), probs)
			return &a.MeanMetric
		}, 5.0 / 6},
	} {
		m := tt.update()
		if got := m.Result(); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if m.Reset(); m.Result() != 0 {
			t.Errorf("%s: %v after Reset", tt.name, m.Result())
		}
	}
	for _, update := range []func(*MeanMetric){
		func(*MeanMetric) { new(Accuracy).Update(function.Eager(context.Background()), probs, probs) },
		func(m *MeanMetric) { m.Update(function.Eager(context.Background()), nil) },
	} {
		m := NewMean()
		update(m)
		if m.Count.Get() != 0 {
			t.Error("a failed update was counted")
		}
	}
}

func TestMetricsLieInTheObjectGraphAsInTensorFlow(t *testing.T) {
	root := &struct {
		M *MeanMetric
		A *Accuracy
	}{NewMean(), NewSparseCategoricalAccuracy()}
	want := []string{
		"0", "  a -> 1", "  m -> 2", "  save_counter -> 3",
		"1", "  total -> 4", "  count -> 5", "  _fn_kwargs -> 6",
		"2", "  total -> 7", "  count -> 8",
		"3", "  VARIABLE_VALUE save_counter save_counter/.ATTRIBUTES/VARIABLE_VALUE int64[]",
		"4", "  VARIABLE_VALUE total a/total/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"5", "  VARIABLE_VALUE count a/count/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"6 no values",
		"7", "  VARIABLE_VALUE total m/total/.ATTRIBUTES/VARIABLE_VALUE float32[]",
		"8", "  VARIABLE_VALUE count m/count/.ATTRIBUTES/VARIABLE_VALUE float32[]",
	}
	if diff := cmp.Diff(want, listing(t, root)); diff != "" {
		t.Errorf("object graph (-TensorFlow +Cairn):\n%s", diff)
	}
}
