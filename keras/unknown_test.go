package keras

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

type pairOfInputs struct{ X, Y *ops.Value }

// knowledge is how much of its arguments' shapes a trace is told.
var knowledge = map[string]func(x *ops.Value) *ops.Value{
	"all": func(x *ops.Value) *ops.Value { return ops.Spec(x.DType(), x.Shape()...) },
	"no batch": func(x *ops.Value) *ops.Value {
		dims := append([]int(nil), x.Shape()...)
		dims[0] = -1
		return ops.Spec(x.DType(), dims...)
	},
	"ranks": func(x *ops.Value) *ops.Value {
		dims := make([]int, len(x.Shape()))
		for i := range dims {
			dims[i] = -1
		}
		return ops.Spec(x.DType(), dims...)
	},
	"nothing": func(x *ops.Value) *ops.Value { return ops.SpecOf(graph.Fact{DType: x.DType()}) },
}

// sameTraced fails the test unless f returns the same bits eagerly and traced,
// however much the trace knows.
func sameTraced(t *testing.T, in pairOfInputs, f func(s *ops.Scope, in pairOfInputs) *ops.Value) {
	t.Helper()
	ctx := context.Background()
	eager, err := function.New(f, &function.Options{Mode: function.Eagerly}).Call(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := eager.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	for told, spec := range knowledge {
		traced := function.New(f)
		c, err := traced.Trace(pairOfInputs{spec(in.X), spec(in.Y)})
		if err != nil {
			t.Errorf("told %s: %v", told, err)
			continue
		}
		v, err := traced.Call(ctx, in)
		if err != nil {
			t.Errorf("told %s: %v\n%v", told, err, c)
			continue
		}
		if got, err := v.Tensor(); err != nil || !got.Shape().Equal(want.Shape()) || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("told %s: %v, eagerly %v (%v)\n%v", told, got, want, err, c)
		}
	}
}

func floatsOf(dims ...int) *ops.Value {
	n, err := tensor.Shape(dims).NumElements()
	if err != nil {
		panic(err)
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32((i*7+3)%11) / 11
	}
	return ops.ValueOf(tensor.Must(tensor.New(v, dims...)))
}

func TestLayersTakeUnknownShapes(t *testing.T) {
	ctx := context.Background()
	for _, dims := range [][]int{{2, 4}, {2, 3, 4}, {2, 0, 4}, {0, 3, 4}, {3, 2, 2, 4}} {
		d := &layers.Dense{Units: 3, Activation: activations.Relu}
		if err := Build(function.Eager(ctx), d, dims); err != nil {
			t.Fatal(err)
		}
		x := floatsOf(dims...)
		sameTraced(t, pairOfInputs{x, x}, func(s *ops.Scope, in pairOfInputs) *ops.Value { return d.Call(s, in.X) })
	}
	for _, dims := range [][]int{{5}, {2, 4}, {2, 3, 4}, {0, 3, 4}, {2, 0, 4}} {
		x := floatsOf(dims...)
		sameTraced(t, pairOfInputs{x, x}, func(s *ops.Scope, in pairOfInputs) *ops.Value { return new(layers.Flatten).Call(s, in.X) })
	}
}

func TestDenseNeedsToKnowItsInputs(t *testing.T) {
	for name, spec := range map[string]*ops.Value{
		"last size": ops.Spec(tensor.Float32, 2, -1), "rank": ops.SpecOf(graph.Fact{DType: tensor.Float32}),
	} {
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return (&layers.Dense{Units: 3}).Call(s, x) })
		if _, err := f.Trace(spec); err == nil || !strings.Contains(err.Error(), "a size of the input that isn't known") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLossesAndMetricsTakeUnknownShapes(t *testing.T) {
	p := floatsOf(3, 4)
	classes := ops.ValueOf(tensor.Vector[int64](1, 3, 0))
	column := ops.ValueOf(tensor.Must(tensor.New([]int32{1, 3, 0}, 3, 1)))
	right := func(m metrics.Metric) func(s *ops.Scope, in pairOfInputs) *ops.Value {
		return func(s *ops.Scope, in pairOfInputs) *ops.Value {
			m.Reset(s)
			m.Update(s, in.Y, in.X, nil)
			return m.Result(s)
		}
	}
	loss := func(l losses.Loss) func(s *ops.Scope, in pairOfInputs) *ops.Value {
		return func(s *ops.Scope, in pairOfInputs) *ops.Value { return l.Loss(s, in.Y, in.X, nil) }
	}
	for name, c := range map[string]struct {
		truth *ops.Value
		f     func(s *ops.Scope, in pairOfInputs) *ops.Value
	}{
		"absolute":         {floatsOf(3, 4), loss(losses.MeanAbsoluteError{})},
		"squared":          {floatsOf(3, 4), loss(losses.MeanSquaredError{Reduction: losses.NoReduction})},
		"huber":            {floatsOf(3, 4), loss(losses.Huber{})},
		"categorical":      {floatsOf(3, 4), loss(losses.CategoricalCrossentropy{LabelSmoothing: 0.1})},
		"logits":           {floatsOf(3, 4), loss(losses.CategoricalCrossentropy{FromLogits: true, LabelSmoothing: 0.1})},
		"sparse":           {classes, loss(losses.SparseCategoricalCrossentropy{})},
		"sparse column":    {column, loss(losses.SparseCategoricalCrossentropy{FromLogits: true, Reduction: losses.NoReduction})},
		"binary":           {floatsOf(3, 4), loss(losses.BinaryCrossentropy{LabelSmoothing: 0.1})},
		"accuracy":         {classes, right(new(metrics.SparseCategoricalAccuracy))},
		"accuracy column":  {column, right(new(metrics.SparseCategoricalAccuracy))},
		"one-hot accuracy": {floatsOf(3, 4), right(new(metrics.CategoricalAccuracy))},
		"binary accuracy":  {floatsOf(3, 4), right(new(metrics.BinaryAccuracy))},
	} {
		t.Run(name, func(t *testing.T) { sameTraced(t, pairOfInputs{p, c.truth}, c.f) })
	}
	m := new(metrics.Mean)
	sameTraced(t, pairOfInputs{p, p}, func(s *ops.Scope, in pairOfInputs) *ops.Value {
		m.Reset(s)
		m.Update(s, in.X, nil)
		return ops.ReadVariable(s, m.Total)
	})
}

// TestTheTrainingFlagHoldsInTraces drops elements if the scope trains, in a
// branch too, and draws the same ones as eagerly.
func TestTheTrainingFlagHoldsInTraces(t *testing.T) {
	x := floatsOf(4, 6)
	sameTraced(t, pairOfInputs{x, x}, func(s *ops.Scope, in pairOfInputs) *ops.Value {
		drop := &layers.Dropout{Rate: 0.5, Seed: new(3)}
		train := s.WithTraining(true)
		branch := ops.If(train, ops.Greater(s, ops.Sum(s, in.Y), 0),
			func(s *ops.Scope) *ops.Value { return drop.Call(s, in.X) },
			func(s *ops.Scope) *ops.Value { return in.X })
		return ops.Add(s, drop.Call(s, in.X), ops.Sub(s, ops.Mul(s, drop.Call(train, in.X), 10), branch))
	})
}
