package keras

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// with sets options and gives the optimizer back.
func with[O any](o O, set func(O)) O { set(o); return o }

// toNew returns the optimizer with the new layout.
func toNew[O interface{ SetLayout(Layout) error }](o O) O {
	if err := o.SetLayout(NewLayout); err != nil {
		panic(err)
	}
	return o
}

func regularized(f *Ftrl) *Ftrl {
	f.L1, f.L2, f.L2Shrinkage, f.Beta = 0.01, 0.1, 0.05, 0.2
	return f
}

var halving = ExponentialDecay{Initial: 0.1, Steps: 3, Factor: 0.5}

// rated is a schedule with a variable.
type rated struct {
	trackable.Base
	Of *trackable.Scalar[float32] `cairn:"rate"`
}

func newRated(rate float32) *rated {
	r := &rated{Of: trackable.NewScalar(rate)}
	r.Of.Named("rate")
	return r
}

func (r *rated) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	return ops.Div(s, r.Of, ops.Add(s, 1, ops.Cast(s, step, tensor.Float32)))
}

// makeOptimizers has the optimizers of gen_keras.py by their names there.
var makeOptimizers = map[string]func() Optimizer{
	"sgd":          func() Optimizer { return NewSGD(0.1) },
	"sgd_momentum": func() Optimizer { return with(NewSGD(0.1), func(o *SGD) { o.Momentum = 0.9 }) },
	"sgd_nesterov": func() Optimizer {
		return with(NewSGD(0.1), func(o *SGD) { o.Momentum, o.Nesterov = 0.9, true })
	},
	"sgd_decay":    func() Optimizer { return with(NewSGD(0.1), func(o *SGD) { o.Decay = 0.25 }) },
	"sgd_schedule": func() Optimizer { return with(NewSGD(0), func(o *SGD) { o.Schedule = halving }) },
	"adam":         func() Optimizer { return NewAdam(0.1) },
	"adam_amsgrad": func() Optimizer { return with(NewAdam(0.1), func(o *Adam) { o.AMSGrad = true }) },
	"adam_decay": func() Optimizer {
		return with(NewAdam(0.1), func(o *Adam) { o.Beta1, o.Beta2, o.Epsilon, o.Decay = 0.8, 0.95, 1e-3, 0.25 })
	},
	"adam_clipnorm":        func() Optimizer { return with(NewAdam(0.1), func(o *Adam) { o.ClipNorm = 0.5 }) },
	"adam_clipvalue":       func() Optimizer { return with(NewAdam(0.1), func(o *Adam) { o.ClipValue = 0.3 }) },
	"adam_global_clipnorm": func() Optimizer { return with(NewAdam(0.1), func(o *Adam) { o.GlobalClipNorm = 0.5 }) },
	"rmsprop":              func() Optimizer { return NewRMSprop(0.1) },
	"rmsprop_momentum":     func() Optimizer { return with(NewRMSprop(0.1), func(o *RMSprop) { o.Momentum = 0.9 }) },
	"rmsprop_centered":     func() Optimizer { return with(NewRMSprop(0.1), func(o *RMSprop) { o.Centered = true }) },
	"rmsprop_centered_momentum": func() Optimizer {
		return with(NewRMSprop(0.1), func(o *RMSprop) { o.Centered, o.Momentum = true, 0.9 })
	},
	"adagrad": func() Optimizer { return NewAdagrad(0.1) },

	"new_sgd": func() Optimizer { return toNew(NewSGD(0.1)) },
	"new_sgd_nesterov": func() Optimizer {
		return toNew(with(NewSGD(0.1), func(o *SGD) { o.Momentum, o.Nesterov = 0.9, true }))
	},
	"new_adam":         func() Optimizer { return toNew(NewAdam(0.1)) },
	"new_adam_amsgrad": func() Optimizer { return toNew(with(NewAdam(0.1), func(o *Adam) { o.AMSGrad = true })) },
	"new_adam_decay":   func() Optimizer { return toNew(with(NewAdam(0.1), func(o *Adam) { o.WeightDecay = 0.01 })) },
	"new_adam_schedule": func() Optimizer {
		return toNew(with(NewAdam(0), func(o *Adam) { o.Schedule = halving }))
	},
	"adam_rated":     func() Optimizer { return with(NewAdam(0), func(o *Adam) { o.Schedule = newRated(0.5) }) },
	"new_adam_rated": func() Optimizer { return toNew(with(NewAdam(0), func(o *Adam) { o.Schedule = newRated(0.5) })) },

	"new_adamw": func() Optimizer { return NewAdamW(0.1) },
	"new_adamw_amsgrad": func() Optimizer {
		return with(NewAdamW(0.1), func(o *AdamW) { o.WeightDecay, o.AMSGrad = 0.1, true })
	},
	"new_rmsprop": func() Optimizer { return toNew(NewRMSprop(0.1)) },
	"new_rmsprop_centered_momentum": func() Optimizer {
		return toNew(with(NewRMSprop(0.1), func(o *RMSprop) { o.Centered, o.Momentum = true, 0.9 }))
	},
	"new_adagrad": func() Optimizer { return toNew(NewAdagrad(0.1)) },

	"adadelta":             func() Optimizer { return NewAdadelta(0.1) },
	"adamax":               func() Optimizer { return NewAdamax(0.1) },
	"ftrl":                 func() Optimizer { return NewFtrl(0.1) },
	"ftrl_regularized":     func() Optimizer { return regularized(NewFtrl(0.1)) },
	"new_adadelta":         func() Optimizer { return toNew(NewAdadelta(0.1)) },
	"new_adamax":           func() Optimizer { return toNew(NewAdamax(0.1)) },
	"new_ftrl":             func() Optimizer { return toNew(NewFtrl(0.1)) },
	"new_ftrl_regularized": func() Optimizer { return toNew(regularized(NewFtrl(0.1))) },
	"new_lion":             func() Optimizer { return NewLion(0.01) },
	"nadam":                func() Optimizer { return NewNadam(0.1) },
	"new_nadam":            func() Optimizer { return toNew(NewNadam(0.1)) },
	"new_adafactor":        func() Optimizer { return NewAdafactor(0.1) },
	"new_adafactor_absolute": func() Optimizer {
		return with(NewAdafactor(0.1), func(o *Adafactor) { o.ClipThreshold, o.Beta2Decay = 0.5, -0.6 })
	},
}

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
			mk := makeOptimizers[base]
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
	for name := range makeOptimizers {
		if !covered[name] {
			t.Errorf("updates.npz has nothing of %q", name)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	v := trackable.NewVariable(vec(1, 2)).Named("v")
	w := trackable.NewVariable(vec(1, 2)).Named("w")
	g := ops.ValueOf(vec(1, 1))
	late := NewAdamW(0.1)
	s := scope(t)
	late.Apply(s, grad.Gradients{{Variable: v, Grad: g}})
	for name, tt := range map[string]struct {
		opt  Optimizer
		g    grad.Gradients
		says string
	}{
		"no variables":         {NewAdam(0.1), nil, "no variables to train"},
		"no gradients":         {NewAdam(0.1), grad.Gradients{{Variable: v}}, `"v"`},
		"nil variable":         {NewAdam(0.1), grad.Gradients{{Grad: g}}, "no variable"},
		"zero optimizer":       {&Adam{}, grad.Gradients{{Variable: v, Grad: g}}, "NewAdam"},
		"unknown in new":       {late, grad.Gradients{{Variable: w, Grad: g}}, "Build"},
		"gradient's shape":     {NewSGD(0.1), grad.Gradients{{Variable: v, Grad: ops.ValueOf(vec(1))}}, "GradientDescent"},
		"gradient of an int64": {NewSGD(0.1), grad.Gradients{{Variable: v, Grad: ops.ValueOf(tensor.Vector[int64](1, 2))}}, "GradientDescent"},
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
	if err := new(SGD).SetLearningRate(1); err == nil {
		t.Error("SetLearningRate of a zero optimizer is no error")
	}
	if err := late.SetLayout(LegacyLayout); err == nil {
		t.Error("SetLayout after the first step is no error")
	}
	if err := with(NewSGD(0), func(o *SGD) { o.Schedule = halving }).SetLearningRate(1); err == nil {
		t.Error("SetLearningRate with a schedule is no error")
	}
}

func TestVariablesWithoutGradientStay(t *testing.T) {
	for _, opt := range []Optimizer{NewAdam(0.1), NewAdamW(0.1)} {
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
	opt := NewSGD(0.5)
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
	opt.Schedule = PiecewiseConstant{Boundaries: []int64{2}, Rates: []float64{1, 2}}
	if got := step(); got != 8.25 {
		t.Errorf("after a step of 1: %v", got)
	}
	if got := step(); got != 6.25 {
		t.Errorf("after a step of 2: %v", got)
	}
	for _, tt := range []struct {
		s    Schedule
		at   int64
		want float64
	}{
		{halving, 0, 0.1}, {halving, 3, 0.05},
		{ExponentialDecay{Initial: 1, Steps: 2, Factor: 0.25, Staircase: true}, 3, 0.25},
		{CosineDecay{Initial: 1, Steps: 10}, 5, 0.5}, {CosineDecay{Initial: 1, Steps: 10, Alpha: 0.1}, 99, 0.1},
		{ScheduleFunc(func(s *ops.Scope, n *ops.Value) *ops.Value { return ops.Cast(s, n, tensor.Float32) }), 7, 7},
	} {
		got, err := rateAt(tt.s, tt.at)
		if diff := float64(got) - tt.want; err != nil || diff < -1e-7 || diff > 1e-7 {
			t.Errorf("%#v.Rate(%d) is %v, %v, want %v", tt.s, tt.at, got, err, tt.want)
		}
	}
	for says, bad := range map[string]Schedule{
		"0 Rates for 0 Boundaries": PiecewiseConstant{},
		"gave no value":            ScheduleFunc(func(*ops.Scope, *ops.Value) *ops.Value { return nil }),
	} {
		opt := with(NewSGD(0), func(o *SGD) { o.Schedule = bad })
		s := function.Eager(context.Background())
		opt.Apply(s, grad.Gradients{{Variable: v, Grad: one}})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("a step with a bad schedule: %v, want %q", err, says)
		}
	}
}

func TestHyperparametersCanBeSet(t *testing.T) {
	o := with(NewSGD(1), func(o *SGD) { o.Momentum = 0.5 })
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
	rate, err := NewAdamW(0.25).Hyper("learning_rate")
	if err != nil || rate.Get() != 0.25 {
		t.Errorf("AdamW's rate: %v, %v", rate, err)
	}
	if _, err := NewAdamW(1).Hyper("beta_1"); err == nil {
		t.Error("the new layout has a variable beta_1")
	}
	if _, err := new(Adam).Hyper("beta_1"); err == nil {
		t.Error("a zero optimizer has hyperparameters")
	}
}

// TestNarrowVariablesCanBeTrained: every optimizer takes the step of float32 on
// half and bfloat16, as far as those can tell.
func TestNarrowVariablesCanBeTrained(t *testing.T) {
	step := func(mk func() Optimizer, d tensor.DType) ([]float64, error) {
		x, err := tensor.Cast(vec(1, 2), d)
		must(t, err)
		g, err := tensor.Cast(vec(0.5, -0.5), d)
		must(t, err)
		v := trackable.NewVariable(x.Clone())
		s := function.Eager(context.Background())
		mk().Apply(s, grad.Gradients{{Variable: v, Grad: ops.ValueOf(g.Clone())}})
		return floats(t, v.Load()), s.Err()
	}
	for name, mk := range makeOptimizers {
		want, err := step(mk, tensor.Float32)
		must(t, err)
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			got, err := step(mk, d)
			if err != nil {
				t.Errorf("%s on %v: %v", name, d, err)
				continue
			}
			if d == tensor.BFloat16 && strings.Contains(name, "adam") && !strings.Contains(name, "adamax") {
				continue // Beta2 is 1 there, in TensorFlow too, and Adam stands still
			}
			for i := range want {
				if diff := got[i] - want[i]; !(diff > -0.02 && diff < 0.02) {
					t.Errorf("%s on %v: %v, on float32 %v", name, d, got, want)
				}
			}
		}
	}
}
