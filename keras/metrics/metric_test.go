package metrics_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

var (
	truths      = [][]float32{{1, 0}, {0, 1}, {1, 1}}
	predictions = [][]float32{{0.9, 0.2}, {0.4, 0.3}, {0.6, 0.8}}
)

// TestMetricsGoOnFromACheckpoint restores metrics whose variables exist before the first
// update, and others that are made by it.
func TestMetricsGoOnFromACheckpoint(t *testing.T) {
	type all struct {
		Mean  *metrics.Mean
		AUC   *metrics.AUC
		Multi *metrics.AUC
		F1    *metrics.F1Score
		R2    *metrics.R2Score
		IoU   *metrics.BinaryIoU
	}
	fresh := func() *all {
		return &all{new(metrics.Mean), &metrics.AUC{NumThresholds: 7}, &metrics.AUC{NumThresholds: 5, MultiLabel: true},
			&metrics.F1Score{Average: metrics.Macro}, new(metrics.R2Score), new(metrics.BinaryIoU)}
	}
	step := func(m *all) []float64 {
		s := function.Eager(t.Context())
		m.Mean.Update(s, predictions, nil)
		var out []float64
		for _, x := range []metrics.Metric{m.AUC, m.Multi, m.F1, m.R2, m.IoU} {
			x.Update(s, truths, predictions, nil)
			kerastest.Must(t, s.Err())
			v, err := metrics.Value(t.Context(), x)
			kerastest.Must(t, err)
			out = append(out, v)
		}
		v, err := metrics.Value(t.Context(), m.Mean)
		kerastest.Must(t, err)
		n, err := m.Mean.Count.Load().AppendFloat64s(nil, 0, 1)
		kerastest.Must(t, err)
		tp, err := m.Multi.TruePositives.Load().AppendFloat64s(nil, 0, 2)
		kerastest.Must(t, err)
		return append(append(append(out, v), n...), tp...)
	}
	first := fresh()
	step(first)
	ck, err := checkpoint.New(first, nil)
	kerastest.Must(t, err)
	dir := vfs.MemDir()
	path, err := ck.SaveTo(t.Context(), dir, "x")
	kerastest.Must(t, err)
	want := step(first)

	second := fresh()
	ck, err = checkpoint.New(second, nil)
	kerastest.Must(t, err)
	_, err = ck.RestoreFS(t.Context(), dir, path, nil)
	kerastest.Must(t, err)
	got := step(second)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("number %d is %v after a restore, want %v (all: %v)", i, got[i], want[i], got)
		}
	}
}

// span is a program's metric: the largest prediction minus the smallest one.
type span struct {
	metrics.Base
	Unit string

	High *trackable.Variable `cairn:"-"`
}

func (m *span) States(tensor.Shape) ([]metrics.State, error) {
	return []metrics.State{{To: &m.High, Edge: "high"}}, nil
}

func (m *span) Update(s *ops.Scope, _, predicted, _ ops.Input) {
	if m.Ready(s, m) {
		ops.Assign(s, m.High, ops.Maximum(s, m.High, ops.Sub(s, ops.Max(s, predicted), ops.Min(s, predicted))))
	}
}

func (m *span) Result(s *ops.Scope) *ops.Value {
	if !m.Ready(s, m) {
		return nil
	}
	return ops.Identity(s, m.High)
}

func (m *span) Reset(s *ops.Scope) { m.ResetStates(s, m) }

func TestAProgramsOwnMetric(t *testing.T) {
	var m metrics.Metric = &span{Unit: "m"}
	s := function.Eager(t.Context())
	m.Update(s, truths, predictions, nil)
	kerastest.Must(t, s.Err())
	if v, err := metrics.Value(t.Context(), m); err != nil || float32(v) != 0.9-float32(0.2) {
		t.Errorf("got %v, %v", v, err)
	}
	m.Reset(s)
	if v, err := metrics.Value(t.Context(), m); err != nil || v != 0 {
		t.Errorf("after Reset: %v, %v", v, err)
	}
	classes, err := keras.Classes().With([]config.Class{config.Registered[*span]("Example", "Span")})
	kerastest.Must(t, err)
	data, err := keras.Config(m, &keras.ConfigOptions{Classes: classes})
	kerastest.Must(t, err)
	kerastest.SameJSON(t, "config", []byte(`{"module": "builtins", "class_name": "Span", "config": {"name": "span", "dtype": "float32", "unit": "m"}, "registered_name": "Example>Span"}`), data)
	obj, err := keras.FromConfig(data, &keras.ConfigOptions{Classes: classes})
	kerastest.Must(t, err)
	if got, ok := obj.(*span); !ok || got.Unit != "m" {
		t.Errorf("read back: %v", obj)
	}
}

// TestAMeanOfALoss takes losses with a reduction and Go functions as metrics.
func TestAMeanOfALoss(t *testing.T) {
	s := function.Eager(t.Context())
	for name, want := range map[string]struct {
		loss losses.Loss
		x    float32
	}{
		"sum":      {losses.MeanSquaredError{Reduction: losses.SumReduction}, 5},
		"function": {losses.Func(func(s *ops.Scope, t, p ops.Input) *ops.Value { return ops.Sum(s, ops.Sub(s, p, t), -1) }), 3},
	} {
		got, err := metrics.For(want.loss, tensor.Shape{2, 1}, tensor.Shape{2, 1})
		kerastest.Must(t, err)
		got.Update(s, [][]float32{{0}, {0}}, [][]float32{{1}, {2}}, nil)
		if name == "function" {
			got.Update(s, [][]float32{{0}, {0}}, [][]float32{{4}, {5}}, nil)
		}
		kerastest.Must(t, s.Err())
		if v, err := metrics.Value(t.Context(), got); err != nil || float32(v) != want.x {
			t.Errorf("%s: %v, %v, want %v", name, v, err, want.x)
		}
	}
}

func TestMetricsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		metric metrics.Metric
		want   string
	}{
		"threshold":     {&metrics.Precision{Thresholds: metrics.Threshold(1.5)}, "0 to 1"},
		"no thresholds": {&metrics.Recall{Thresholds: metrics.ThresholdList([]float64{}...)}, "empty"},
		"number":        {&metrics.AUC{NumThresholds: 1}, "NumThresholds"},
		"huge":          {&metrics.AUC{NumThresholds: 1 << 30}, "NumThresholds"},
		"labels":        {&metrics.AUC{NumLabels: new(3)}, "MultiLabel"},
		"curve":         {&metrics.AUC{Curve: "ROCK"}, "Curve"},
		"value":         {&metrics.PrecisionAtRecall{Recall: 2}, "0 to 1"},
		"classes":       {&metrics.MeanIoU{NumClasses: 1 << 20}, "NumClasses"},
		"class":         {&metrics.IoU{NumClasses: 2, TargetClassIDs: []int{2}}, "TargetClassIDs"},
		"out of range":  {&metrics.MeanIoU{NumClasses: 2}, "ScatterNd"},
		"average":       {&metrics.F1Score{Average: "mean"}, "Average"},
		"beta":          {&metrics.FBetaScore{Beta: new(-1.0)}, "Beta"},
		"dtype":         {integers(), "DType"},
		"no function":   {new(metrics.MeanMetricWrapper), "Fn"},
		"shapes":        {new(metrics.AUC), "shape"},
	} {
		s := function.Eager(context.Background())
		truth := ops.Input(truths)
		switch name {
		case "out of range":
			truth = [][]float32{{1, 5}, {0, 1}, {1, 1}}
		case "shapes":
			truth = [][]float32{{1, 0, 1}}
		}
		c.metric.Update(s, truth, predictions, nil)
		if s.Err() == nil || !strings.Contains(s.Err().Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, s.Err(), c.want)
		}
	}
	for _, conf := range []string{
		`{"class_name": "AUC", "config": {"num_threshold": 3}}`,
		`{"class_name": "Precision", "config": {"thresholds": [2]}}`,
		`{"class_name": "MeanMetricWrapper", "config": {"name": "x"}}`,
		`{"class_name": "MeanMetricWrapper", "config": {"fn": "mean_square_error"}}`,
		`{"class_name": "AUC", "config": {"label_weights": {"class_name": "x"}}}`,
		`{"class_name": "F1Score", "config": {"average": "mean"}}`,
	} {
		if m, err := metrics.Get([]byte(conf)); err == nil {
			t.Errorf("%s made %v", conf, m)
		}
	}
}

func integers() metrics.Metric {
	m := new(metrics.MeanSquaredError)
	m.DType = "int32"
	return m
}
