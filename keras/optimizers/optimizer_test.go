package optimizers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func TestOptimizersFollowTensorFlowOverTenSteps(t *testing.T) {
	z := npz(t, "updates.npz")
	covered := map[string]bool{}
	for _, name := range z.Names() {
		key, ok := strings.CutSuffix(name, "/kernel")
		if !ok {
			continue
		}
		t.Run(key, func(t *testing.T) {
			d, tol := tensor.Float32, 2e-6
			base, exact := strings.CutSuffix(key, "_float64")
			if exact {
				// The legacy layout keeps its hyperparameters as float32, as TensorFlow's
				// does, but powers and roots are then computed in float64.
				d, tol = tensor.Float64, 1e-12
			}
			covered[base] = true
			mk := optimizertest.Makes[base]
			if mk == nil {
				t.Fatalf("no optimizer here for TensorFlow's %q", base)
			}
			cast := func(x *tensor.Tensor) *tensor.Tensor {
				y, err := tensor.Cast(x, d)
				must(t, err)
				return y.Clone()
			}
			kernel := trackable.NewVariable(cast(array(t, z, "kernel")))
			bias := trackable.NewVariable(cast(array(t, z, "bias")))
			gk, gb := array(t, z, "kernel_gradients"), array(t, z, "bias_gradients")
			wk, wb := array(t, z, key+"/kernel"), array(t, z, key+"/bias")
			opt := mk()
			for step := range 10 {
				s := function.Eager(context.Background())
				opt.Apply(s, grad.Gradients{
					{Variable: kernel, Grad: ops.ValueOf(cast(rowOf(t, gk, step)))},
					{Variable: bias, Grad: ops.ValueOf(cast(rowOf(t, gb, step)))},
				})
				must(t, s.Err())
				near(t, fmt.Sprintf("kernel after step %d", step+1), kernel.Load(), rowOf(t, wk, step), tol, 0.1)
				near(t, fmt.Sprintf("bias after step %d", step+1), bias.Load(), rowOf(t, wb, step), tol, 0.1)
			}
			n, err := opt.Iterations()
			if err != nil || n != 10 {
				t.Errorf("Iterations is %d, %v", n, err)
			}
		})
	}
	for name := range optimizertest.Makes {
		if !covered[name] {
			t.Errorf("updates.npz has nothing of %q", name)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	v := trackable.NewVariable(vec(1, 2)).Named("v")
	w := trackable.NewVariable(vec(1, 2)).Named("w")
	g := ops.ValueOf(vec(1, 1))
	late := optimizers.NewAdamW(0.1)
	s := scope(t)
	late.Apply(s, grad.Gradients{{Variable: v, Grad: g}})
	for name, tt := range map[string]struct {
		opt  optimizers.Optimizer
		g    grad.Gradients
		says string
	}{
		"no variables":         {optimizers.NewAdam(0.1), nil, "no variables to train"},
		"no gradients":         {optimizers.NewAdam(0.1), grad.Gradients{{Variable: v}}, `"v"`},
		"nil variable":         {optimizers.NewAdam(0.1), grad.Gradients{{Grad: g}}, "no variable"},
		"zero optimizer":       {&optimizers.Adam{}, grad.Gradients{{Variable: v, Grad: g}}, "NewAdam"},
		"unknown in new":       {late, grad.Gradients{{Variable: w, Grad: g}}, "Build"},
		"gradient's shape":     {optimizers.NewSGD(0.1), grad.Gradients{{Variable: v, Grad: ops.ValueOf(vec(1))}}, "GradientDescent"},
		"gradient of an int64": {optimizers.NewSGD(0.1), grad.Gradients{{Variable: v, Grad: ops.ValueOf(tensor.Vector[int64](1, 2))}}, "GradientDescent"},
	} {
		t.Run(name, func(t *testing.T) {
			s := function.Eager(context.Background())
			tt.opt.Apply(s, tt.g)
			if err := s.Err(); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one with %q", err, tt.says)
			}
			if n, _ := tt.opt.Iterations(); n > 1 {
				t.Errorf("a failed step was counted: %d", n)
			}
		})
	}
	if err := new(optimizers.SGD).SetLearningRate(1); err == nil {
		t.Error("SetLearningRate of a zero optimizer is no error")
	}
	if err := late.SetLayout(optimizers.LegacyLayout); err == nil {
		t.Error("SetLayout after the first step is no error")
	}
	if err := optimizertest.With(optimizers.NewSGD(0), func(o *optimizers.SGD) { o.Schedule = optimizertest.Halving }).SetLearningRate(1); err == nil {
		t.Error("SetLearningRate with a schedule is no error")
	}
}

// TestAFailedStepChangesNothing takes a second step with a variable that the first one didn't have.
func TestAFailedStepChangesNothing(t *testing.T) {
	v, w := trackable.NewVariable(vec(1, 2)), trackable.NewVariable(vec(1, 2))
	g := ops.ValueOf(vec(1, 1))
	o := optimizers.NewAdamW(0.1)
	o.Apply(scope(t), grad.Gradients{{Variable: v, Grad: g}})
	before := v.Load().Clone()
	s := function.Eager(context.Background())
	if o.Apply(s, grad.Gradients{{Variable: v, Grad: g}, {Variable: w, Grad: g}}); s.Err() == nil {
		t.Error("no error")
	}
	if !slices.Equal(tensor.Values[float32](v.Load()), tensor.Values[float32](before)) {
		t.Error("the variable has changed")
	}
}

func TestVariablesWithoutGradientStay(t *testing.T) {
	for _, opt := range []optimizers.Optimizer{optimizers.NewAdam(0.1), optimizers.NewAdamW(0.1)} {
		v, w := trackable.NewVariable(vec(1, 2)), trackable.NewVariable(vec(3, 4))
		s := scope(t)
		opt.Apply(s, grad.Gradients{{Variable: v}, {Variable: w, Grad: ops.ValueOf(vec(1, 1))}})
		if got := tensor.Values[float32](v.Load()); !slices.Equal(got, []float32{1, 2}) {
			t.Errorf("%T: the variable without a gradient is %v", opt, got)
		}
		if got := tensor.Values[float32](w.Load()); slices.Equal(got, []float32{3, 4}) {
			t.Errorf("%T: the variable with a gradient stayed", opt)
		}
	}
}

func TestLearningRateCanBeSetAndScheduled(t *testing.T) {
	opt := optimizers.NewSGD(0.5)
	v := trackable.NewVariable(vec(10))
	one := ops.ValueOf(vec(1))
	step := func() float32 {
		s := scope(t)
		opt.Apply(s, grad.Gradients{{Variable: v, Grad: one}})
		return tensor.Values[float32](v.Load())[0]
	}
	if got := step(); got != 9.5 {
		t.Errorf("after a step of 0.5: %v", got)
	}
	must(t, opt.SetLearningRate(0.25))
	if r, err := opt.LearningRate(); r != 0.25 || err != nil {
		t.Errorf("LearningRate is %v, %v", r, err)
	}
	if got := step(); got != 9.25 {
		t.Errorf("after a step of 0.25: %v", got)
	}
	opt.Schedule = schedules.PiecewiseConstantDecay{Boundaries: []schedules.Steps{2}, Values: []float64{1, 2}}
	if got := step(); got != 8.25 {
		t.Errorf("after a step of 1: %v", got)
	}
	if got := step(); got != 6.25 {
		t.Errorf("after a step of 2: %v", got)
	}
	for _, tt := range []struct {
		s    schedules.Schedule
		at   int64
		want float64
	}{
		{optimizertest.Halving, 0, 0.1}, {optimizertest.Halving, 3, 0.05},
		{schedules.ExponentialDecay{InitialLearningRate: 1, DecaySteps: 2, DecayRate: 0.25, Staircase: true}, 3, 0.25},
		{schedules.CosineDecay{InitialLearningRate: 1, DecaySteps: 10}, 5, 0.5}, {schedules.CosineDecay{InitialLearningRate: 1, DecaySteps: 10, Alpha: 0.1}, 99, 0.1},
		{schedules.Func(func(s *ops.Scope, n *ops.Value) *ops.Value { return ops.Cast(s, n, tensor.Float32) }), 7, 7},
	} {
		got, err := schedules.At(tt.s, tt.at)
		if diff := float64(got) - tt.want; err != nil || diff < -1e-7 || diff > 1e-7 {
			t.Errorf("%#v.Rate(%d) is %v, %v, want %v", tt.s, tt.at, got, err, tt.want)
		}
	}
	for says, bad := range map[string]schedules.Schedule{
		"0 Values for 0 Boundaries": schedules.PiecewiseConstantDecay{},
		"DecaySteps is 0":           schedules.ExponentialDecay{InitialLearningRate: 1, DecayRate: 0.5},
		"FirstDecaySteps is -1":     schedules.CosineDecayRestarts{InitialLearningRate: 1, FirstDecaySteps: -1},
		"returned no value":         schedules.Func(func(*ops.Scope, *ops.Value) *ops.Value { return nil }),
	} {
		opt := optimizertest.With(optimizers.NewSGD(0), func(o *optimizers.SGD) { o.Schedule = bad })
		s := function.Eager(context.Background())
		opt.Apply(s, grad.Gradients{{Variable: v, Grad: one}})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a step with a bad schedule: %v, want %q", err, says)
		}
	}
}

func TestHyperparametersCanBeSet(t *testing.T) {
	o := optimizertest.With(optimizers.NewSGD(1), func(o *optimizers.SGD) { o.Momentum = 0.5 })
	momentum, err := o.Hyper("momentum")
	must(t, err)
	if momentum.Get() != 0.5 {
		t.Errorf("momentum is %v", momentum.Get())
	}
	momentum.Set(0)
	v := trackable.NewVariable(vec(0))
	s := scope(t)
	for range 2 {
		o.Apply(s, grad.Gradients{{Variable: v, Grad: ops.ValueOf(vec(1))}})
	}
	if got := tensor.Values[float32](v.Load())[0]; got != -2 {
		t.Errorf("without momentum two steps come to %v", got)
	}
	if _, err := o.Hyper("beta_1"); err == nil || !strings.Contains(err.Error(), "momentum") {
		t.Errorf("an unknown name gives %v", err)
	}
	rate, err := optimizers.NewAdamW(0.25).Hyper("learning_rate")
	if err != nil || rate.Get() != 0.25 {
		t.Errorf("AdamW's rate: %v, %v", rate, err)
	}
	if _, err := optimizers.NewAdamW(1).Hyper("beta_1"); err == nil {
		t.Error("the new layout has a variable beta_1")
	}
	if _, err := new(optimizers.Adam).Hyper("beta_1"); err == nil {
		t.Error("a zero optimizer has hyperparameters")
	}
}

// TestNarrowVariablesCanBeTrained checks that every optimizer takes the step of
// float32 on half and bfloat16, as far as those can represent it.
func TestNarrowVariablesCanBeTrained(t *testing.T) {
	step := func(mk func() optimizers.Optimizer, d tensor.DType) ([]float64, error) {
		x, err := tensor.Cast(vec(1, 2), d)
		must(t, err)
		g, err := tensor.Cast(vec(0.5, -0.5), d)
		must(t, err)
		v := trackable.NewVariable(x.Clone())
		s := function.Eager(context.Background())
		mk().Apply(s, grad.Gradients{{Variable: v, Grad: ops.ValueOf(g.Clone())}})
		return floats(t, v.Load()), s.Err()
	}
	for name, mk := range optimizertest.Makes {
		want, err := step(mk, tensor.Float32)
		must(t, err)
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			got, err := step(mk, d)
			if err != nil {
				t.Errorf("%s on %v: %v", name, d, err)
				continue
			}
			if d == tensor.BFloat16 && strings.Contains(name, "adam") && !strings.Contains(name, "adamax") {
				continue // Beta2 is 1 there, in TensorFlow too, and Adam doesn't move
			}
			for i := range want {
				if diff := got[i] - want[i]; !(diff > -0.02 && diff < 0.02) {
					t.Errorf("%s on %v: %v, on float32 %v", name, d, got, want)
				}
			}
		}
	}
}
