package keras

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestANumberWithoutAScopeDoesntEnterATrace checks numbers that would keep
// their value at the time of the trace in all calls.
func TestANumberWithoutAScopeDoesntEnterATrace(t *testing.T) {
	opt, mean := optimizers.NewSGD(0.5), new(metrics.Mean)
	for name, use := range map[string]func() error{
		"LearningRate":    func() error { _, err := opt.LearningRate(); return err },
		"Iterations":      func() error { _, err := opt.Iterations(); return err },
		"SetLearningRate": func() error { return opt.SetLearningRate(1) },
		"Value":           func() error { _, err := metrics.Value(context.Background(), mean); return err },
	} {
		var err error
		f := func(s *ops.Scope, x *ops.Value) *ops.Value { err = use(); return ops.Add(s, x, 1) }
		_, trace := function.New(f, &function.Options{Mode: function.Traced}).Call(context.Background(), ops.ValueOf(vec(1)))
		if err == nil {
			err = trace
		}
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "scoped_test.go:") {
			t.Errorf("%s in a trace: %v", name, err)
		}
		err = nil
		if _, call := function.New(f, &function.Options{Mode: function.Eagerly}).Call(context.Background(), ops.ValueOf(vec(1))); call != nil || err != nil {
			t.Errorf("%s in an eager call: %v, %v", name, call, err)
		}
	}
}

type numbers struct{ Rate, Steps, Mean *ops.Value }

func TestNumbersOfAScopeAreReadInEachCall(t *testing.T) {
	v, opt, mean := trackable.NewVariable(vec(0)), optimizers.NewSGD(0.5), new(metrics.Mean)
	f := function.New(func(s *ops.Scope, x *ops.Value) numbers {
		mean.Update(s, x, nil)
		opt.Apply(s, grad.Gradients{{Variable: v, Grad: x}})
		out := numbers{opt.Rate(s), opt.Steps(s), mean.Result(s)}
		opt.AssignRate(s, ops.Mul(s, opt.Rate(s), 0.5))
		mean.Reset(s)
		return out
	}, &function.Options{Mode: function.Traced})
	rate := float32(0.5)
	for i := range 3 {
		out, err := f.Call(context.Background(), ops.ValueOf(vec(float32(i))))
		must(t, err)
		if got := tensor.Values[float32](data(t, out.Rate))[0]; got != rate {
			t.Errorf("call %d: the rate is %v, want %v", i, got, rate)
		}
		if got := tensor.Values[int64](data(t, out.Steps))[0]; got != int64(i+1) {
			t.Errorf("call %d: %d steps", i, got)
		}
		if got := tensor.Values[float32](data(t, out.Mean))[0]; got != float32(i) {
			t.Errorf("call %d: the mean is %v", i, got)
		}
		rate /= 2
	}
}

func TestATracedMetricCounts(t *testing.T) {
	m := new(metrics.Mean)
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		before := m.Result(s)
		m.Update(s, x, nil)
		return ops.Stack(s, []*ops.Value{before, m.Result(s)}, 0)
	}, &function.Options{Mode: function.Traced})
	for _, c := range []struct{ x, want []float32 }{{vals(1, 3), vals(0, 2)}, {vals(3, 5), vals(2, 3)}, {vals(5, 7), vals(3, 4)}} {
		got, err := f.Call(context.Background(), ops.ValueOf(vec(c.x...)))
		must(t, err)
		if x := tensor.Values[float32](data(t, got)); !slices.Equal(x, c.want) {
			t.Errorf("the means before and after %v are %v, want %v", c.x, x, c.want)
		}
	}
	if got, err := metrics.Value(context.Background(), m); err != nil || got != 4 {
		t.Errorf("result %v, %v", got, err)
	}
}

func vals(x ...float32) []float32 { return x }
