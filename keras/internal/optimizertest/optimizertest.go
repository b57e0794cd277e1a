// Package optimizertest has the optimizers of the fixtures in keras/testdata, for tests.
package optimizertest

import (
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// With sets options and returns the optimizer.
func With[O any](o O, set func(O)) O { set(o); return o }

// ToNew returns the optimizer with the new layout.
func ToNew[O interface{ SetLayout(optimizers.Layout) error }](o O) O {
	if err := o.SetLayout(optimizers.NewLayout); err != nil {
		panic(err)
	}
	return o
}

func regularized(f *optimizers.Ftrl) *optimizers.Ftrl {
	f.L1RegularizationStrength, f.L2RegularizationStrength, f.L2ShrinkageRegularizationStrength, f.Beta = 0.01, 0.1, 0.05, 0.2
	return f
}

// Halving halves a rate of 0.1 every three steps.
var Halving = schedules.ExponentialDecay{InitialLearningRate: 0.1, DecaySteps: 3, DecayRate: 0.5}

// Rated is a schedule with a variable.
type Rated struct {
	trackable.Base
	Of *trackable.Scalar[float32] `cairn:"rate"`
}

// NewRated makes a schedule with that first rate.
func NewRated(rate float32) *Rated {
	r := &Rated{Of: trackable.NewScalar(rate)}
	r.Of.Named("rate")
	return r
}

// Rate returns the variable, divided by the number of steps and one.
func (r *Rated) Rate(s *ops.Scope, step *ops.Value) *ops.Value {
	return ops.Div(s, r.Of, ops.Add(s, 1, ops.Cast(s, step, tensor.Float32)))
}

// Makes has a function for each optimizer of gen_keras.py, by its name there. Names and settings
// must stay those of that script, which writes the fixtures.
var Makes = map[string]func() optimizers.Optimizer{
	"sgd": func() optimizers.Optimizer { return optimizers.NewSGD(0.1) },
	"sgd_momentum": func() optimizers.Optimizer {
		return With(optimizers.NewSGD(0.1), func(o *optimizers.SGD) { o.Momentum = 0.9 })
	},
	"sgd_nesterov": func() optimizers.Optimizer {
		return With(optimizers.NewSGD(0.1), func(o *optimizers.SGD) { o.Momentum, o.Nesterov = 0.9, true })
	},
	"sgd_decay": func() optimizers.Optimizer {
		return With(optimizers.NewSGD(0.1), func(o *optimizers.SGD) { o.Decay = 0.25 })
	},
	"sgd_schedule": func() optimizers.Optimizer {
		return With(optimizers.NewSGD(0), func(o *optimizers.SGD) { o.Schedule = Halving })
	},
	"adam": func() optimizers.Optimizer { return optimizers.NewAdam(0.1) },
	"adam_amsgrad": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.AMSGrad = true })
	},
	"adam_decay": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.Beta1, o.Beta2, o.Epsilon, o.Decay = 0.8, 0.95, 1e-3, 0.25 })
	},
	"adam_clipnorm": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.ClipNorm = new(0.5) })
	},
	"adam_clipvalue": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.ClipValue = new(0.3) })
	},
	"adam_global_clipnorm": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.GlobalClipNorm = new(0.5) })
	},
	"rmsprop": func() optimizers.Optimizer { return optimizers.NewRMSprop(0.1) },
	"rmsprop_momentum": func() optimizers.Optimizer {
		return With(optimizers.NewRMSprop(0.1), func(o *optimizers.RMSprop) { o.Momentum = 0.9 })
	},
	"rmsprop_centered": func() optimizers.Optimizer {
		return With(optimizers.NewRMSprop(0.1), func(o *optimizers.RMSprop) { o.Centered = true })
	},
	"rmsprop_centered_momentum": func() optimizers.Optimizer {
		return With(optimizers.NewRMSprop(0.1), func(o *optimizers.RMSprop) { o.Centered, o.Momentum = true, 0.9 })
	},
	"adagrad": func() optimizers.Optimizer { return optimizers.NewAdagrad(0.1) },

	"new_sgd": func() optimizers.Optimizer { return ToNew(optimizers.NewSGD(0.1)) },
	"new_sgd_nesterov": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewSGD(0.1), func(o *optimizers.SGD) { o.Momentum, o.Nesterov = 0.9, true }))
	},
	"new_adam": func() optimizers.Optimizer { return ToNew(optimizers.NewAdam(0.1)) },
	"new_adam_amsgrad": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.AMSGrad = true }))
	},
	"new_adam_decay": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewAdam(0.1), func(o *optimizers.Adam) { o.WeightDecay = new(0.01) }))
	},
	"new_adam_schedule": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewAdam(0), func(o *optimizers.Adam) { o.Schedule = Halving }))
	},
	"adam_rated": func() optimizers.Optimizer {
		return With(optimizers.NewAdam(0), func(o *optimizers.Adam) { o.Schedule = NewRated(0.5) })
	},
	"new_adam_rated": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewAdam(0), func(o *optimizers.Adam) { o.Schedule = NewRated(0.5) }))
	},

	"new_adamw": func() optimizers.Optimizer { return optimizers.NewAdamW(0.1) },
	"new_adamw_amsgrad": func() optimizers.Optimizer {
		return With(optimizers.NewAdamW(0.1), func(o *optimizers.AdamW) { o.WeightDecay, o.AMSGrad = new(0.1), true })
	},
	"new_rmsprop": func() optimizers.Optimizer { return ToNew(optimizers.NewRMSprop(0.1)) },
	"new_rmsprop_centered_momentum": func() optimizers.Optimizer {
		return ToNew(With(optimizers.NewRMSprop(0.1), func(o *optimizers.RMSprop) { o.Centered, o.Momentum = true, 0.9 }))
	},
	"new_adagrad": func() optimizers.Optimizer { return ToNew(optimizers.NewAdagrad(0.1)) },

	"adadelta":             func() optimizers.Optimizer { return optimizers.NewAdadelta(0.1) },
	"adamax":               func() optimizers.Optimizer { return optimizers.NewAdamax(0.1) },
	"ftrl":                 func() optimizers.Optimizer { return optimizers.NewFtrl(0.1) },
	"ftrl_regularized":     func() optimizers.Optimizer { return regularized(optimizers.NewFtrl(0.1)) },
	"new_adadelta":         func() optimizers.Optimizer { return ToNew(optimizers.NewAdadelta(0.1)) },
	"new_adamax":           func() optimizers.Optimizer { return ToNew(optimizers.NewAdamax(0.1)) },
	"new_ftrl":             func() optimizers.Optimizer { return ToNew(optimizers.NewFtrl(0.1)) },
	"new_ftrl_regularized": func() optimizers.Optimizer { return ToNew(regularized(optimizers.NewFtrl(0.1))) },
	"new_lion":             func() optimizers.Optimizer { return optimizers.NewLion(0.01) },
	"nadam":                func() optimizers.Optimizer { return optimizers.NewNadam(0.1) },
	"new_nadam":            func() optimizers.Optimizer { return ToNew(optimizers.NewNadam(0.1)) },
	"new_adafactor":        func() optimizers.Optimizer { return optimizers.NewAdafactor(0.1) },
	"new_adafactor_absolute": func() optimizers.Optimizer {
		return With(optimizers.NewAdafactor(0.1), func(o *optimizers.Adafactor) { o.ClipThreshold, o.Beta2Decay = 0.5, -0.6 })
	},
}
