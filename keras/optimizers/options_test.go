package optimizers_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestOptionsThatDoNothingAreErrors checks options that exclude each other, are out of
// range, or belong to the other layout.
func TestOptionsThatDoNothingAreErrors(t *testing.T) {
	sgd := func(set func(o *optimizers.SGD)) optimizers.Optimizer {
		return optimizertest.With(optimizers.NewSGD(0.1), set)
	}
	inUse := optimizers.NewSGD(0.1)
	must(t, inUse.Build([]*trackable.Variable{trackable.NewVariable(vec(1))}))
	for says, o := range map[string]optimizers.Optimizer{
		"exclude each other":     sgd(func(o *optimizers.SGD) { o.ClipNorm, o.GlobalClipNorm = new(1.0), new(1.0) }),
		"ClipValue is -1":        sgd(func(o *optimizers.SGD) { o.ClipValue = new(-1.0) }),
		"has WeightDecay":        sgd(func(o *optimizers.SGD) { o.WeightDecay = new(0.1) }),
		"has UseEMA":             sgd(func(o *optimizers.SGD) { o.UseEMA = true }),
		"EMAMomentum is 2":       optimizertest.ToNew(optimizertest.With(optimizers.NewSGD(1), func(o *optimizers.SGD) { o.UseEMA, o.EMAMomentum = true, 2 })),
		"has Decay":              optimizertest.ToNew(optimizertest.With(optimizers.NewSGD(1), func(o *optimizers.SGD) { o.Decay = 1 })),
		"Momentum is 2":          sgd(func(o *optimizers.SGD) { o.Momentum = 2 }),
		"Beta1 is 0":             optimizertest.With(optimizers.NewLion(1), func(o *optimizers.Lion) { o.Beta1 = 0 }),
		"LearningRatePower is 1": optimizertest.With(optimizers.NewFtrl(1), func(o *optimizers.Ftrl) { o.LearningRatePower = 1 }),
		"no Schedule":            optimizertest.With(optimizers.NewNadam(1), func(o *optimizers.Nadam) { o.Schedule = optimizertest.Halving }),
		"in use":                 optimizers.NewLossScaleOptimizer(inUse, nil),
		"needs an InitialScale":  optimizers.NewLossScaleOptimizer(optimizers.NewSGD(1), &optimizers.LossScaleOptions{Fixed: true}),
		"InitialScale is -1":     optimizers.NewLossScaleOptimizer(optimizers.NewSGD(1), &optimizers.LossScaleOptions{InitialScale: -1}),
		"NewLossScaleOptimizer":  new(optimizers.LossScaleOptimizer),
	} {
		s := function.Eager(context.Background())
		o.Apply(s, grad.Gradients{{Variable: trackable.NewVariable(vec(1, 2)), Grad: ops.ValueOf(vec(1, 1))}})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: a step gives %v", says, err)
		}
	}
	if err := inUse.ExcludeFromWeightDecay(nil, "("); err == nil {
		t.Error("a broken regular expression is taken")
	}
	late := optimizertest.ToNew(optimizers.NewSGD(0.1))
	must(t, late.Build([]*trackable.Variable{trackable.NewVariable(vec(1))}))
	if err := late.ExcludeFromWeightDecay(nil, "bias"); err == nil {
		t.Error("ExcludeFromWeightDecay after the first step is no error")
	}
}

// TestANormThatIsNotFiniteMakesGradientsNaN follows tf.clip_by_global_norm.
func TestANormThatIsNotFiniteMakesGradientsNaN(t *testing.T) {
	o := optimizers.NewSGD(1)
	o.GlobalClipNorm = new(1.0)
	v := trackable.NewVariable(vec(1, 2))
	s := scope(t)
	o.Apply(s, grad.Gradients{{Variable: v, Grad: ops.Div(s, []float32{1, 0.5}, []float32{0, 1})}})
	for i, x := range tensor.Values[float32](v.Load()) {
		if x == x {
			t.Errorf("element %d is %v, want NaN", i, x)
		}
	}
}

func TestGet(t *testing.T) {
	adam := optimizers.NewAdam(0.5)
	for _, c := range []struct {
		id   any
		rate float64
		says string
	}{
		{adam, 0.5, ""},
		{"SGD", 0.01, ""},
		{"adafactor", 0.001, ""},
		{"AdamW", 0.001, ""},
		{json.RawMessage(`{"class_name": "Custom>Lion", "config": {"name": "Lion", "learning_rate": 0.25, "is_legacy_optimizer": false}}`), 0.25, ""},
		{[]byte(`{"class_name": "adam", "config": {"lr": 0.125}}`), 0.125, ""},
		{"adamant", 0, "adam"},
		{"relu", 0, "unknown"},
		{"ExponentialDecay", 0, "ExponentialDecay"},
		{[]byte(`{"class_name": "ExponentialDecay", "config": {}}`), 0, "no optimizer"},
		{7, 0, "int"},
		{[]byte(`{"class_name": "SGD", "config": {"learning_rate": "ExponentialDecay"}}`), 0, "learning_rate"},
		{[]byte(`{"class_name": "SGD", "config": {"learning_rate": null}}`), 0, "learning_rate"},
		{[]byte(`{"class_name": "Adam", "config": {"beta1": 0.125}}`), 0, "beta_1"},
		{[]byte(`{"class_name": "AdamW", "config": {"name": "AdamW", "is_legacy_optimizer": true}}`), 0, "no legacy optimizer"},
	} {
		o, err := optimizers.Get(c.id)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, %v; want an error with %q", c.id, o, err, c.says)
			}
			continue
		}
		must(t, err)
		if rate, err := o.LearningRate(); err != nil || rate != float64(float32(c.rate)) {
			t.Errorf("%s: the rate is %v, %v, want %v", c.id, rate, err, c.rate)
		}
	}
	if o, err := optimizers.Get(adam); o != optimizers.Optimizer(adam) || err != nil {
		t.Errorf("an Optimizer gives %v, %v", o, err)
	}
}

// TestConfigsWithoutTfKerasClassAreErrors checks layouts and values that no config has.
func TestConfigsWithoutTfKerasClassAreErrors(t *testing.T) {
	for says, o := range map[string]any{
		"Keras 3":      optimizertest.With(optimizers.NewSGD(1), func(o *optimizers.SGD) { must(t, o.SetLayout(optimizers.Keras3Layout)) }),
		"zero value":   new(optimizers.SGD),
		"NewLossScale": new(optimizers.LossScaleOptimizer),
		"in no class":  optimizertest.With(optimizers.NewSGD(1), func(o *optimizers.SGD) { o.Schedule = optimizertest.NewRated(1) }),
	} {
		if c, err := keras.Config(o, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %s, %v", says, c, err)
		}
	}
}

func TestTheLegacyFamilyHasNoNewerOptimizers(t *testing.T) {
	for _, o := range []interface{ SetLayout(optimizers.Layout) error }{optimizers.NewAdamW(1), optimizers.NewLion(1), optimizers.NewAdafactor(1)} {
		if err := o.SetLayout(optimizers.LegacyLayout); err == nil || !strings.Contains(err.Error(), "no legacy optimizer") {
			t.Errorf("%T takes the legacy layout: %v", o, err)
		}
	}
}

// TestTheOldFormOfLossScaling reads the config of TensorFlow 2.3.
func TestTheOldFormOfLossScaling(t *testing.T) {
	for conf, scale := range map[string]float64{
		`{"class_name": "DynamicLossScale", "config": {"initial_loss_scale": 64, "increment_period": 7, "multiplier": 2}}`: 64,
		`{"class_name": "FixedLossScale", "config": {"loss_scale_value": 16}}`:                                             16,
		`{"class_name": "DynamicLossScale", "config": {"initial_loss_scale": 64, "increment_period": 7, "multiplier": 3}}`: 0,
		`{"class_name": "OtherLossScale", "config": {}}`:                                                                   0,
	} {
		o, err := optimizers.Get([]byte(`{"class_name": "LossScaleOptimizer", "config": {"optimizer": {"class_name": "SGD", "config": {"name": "SGD", "learning_rate": 0.5}}, "loss_scale": ` + conf + `}}`))
		if scale == 0 {
			if err == nil {
				t.Errorf("%s is taken", conf)
			}
			continue
		}
		must(t, err)
		near(t, conf, data(t, o.(*optimizers.LossScaleOptimizer).LossScale(scope(t))), tensor.Scalar(scale), 0, 1)
	}
}
