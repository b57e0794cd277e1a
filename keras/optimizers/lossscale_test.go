package optimizers_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// scaledRun trains one variable, whose loss is the variable times a factor.
type scaledRun struct {
	Opt  optimizers.Optimizer
	V    *trackable.Variable
	step *function.Func[*ops.Value, *ops.Value]
}

// newScaledRun makes a run; its steps return the gradient of the scaled loss. Losses are of
// type d.
func newScaledRun(o optimizers.Optimizer, mode function.Mode, d tensor.DType, first ...float32) *scaledRun {
	r := &scaledRun{Opt: o, V: trackable.NewVariable(vec(first...)).Named("v")}
	r.step = function.New(func(s *ops.Scope, factor *ops.Value) *ops.Value {
		scaled, is := r.Opt.(*optimizers.LossScaleOptimizer)
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			loss := ops.Cast(s, ops.Mul(s, r.V, factor), d)
			if is {
				loss = scaled.ScaledLoss(s, loss)
			}
			return loss
		})
		g := tape.Gradient(loss, []*trackable.Variable{r.V})
		before := g[0].Grad
		if is {
			g = scaled.UnscaledGradients(s, g)
		}
		r.Opt.Apply(s, g)
		return before
	}, &function.Options{Mode: mode})
	return r
}

// take takes a step and checks the gradient of the scaled loss, and the variable after it.
func (r *scaledRun) take(t *testing.T, factor, gradient float32, after ...float32) {
	t.Helper()
	g, err := r.step.Call(context.Background(), ops.ValueOf(tensor.Scalar(factor)))
	must(t, err)
	if got := floats(t, data(t, g))[0]; got != float64(gradient) {
		t.Errorf("the gradient of the scaled loss is %v, want %v", got, gradient)
	}
	for i, want := range after {
		if got := tensor.Values[float32](r.V.Load())[i]; got != want {
			t.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
}

// takeNot takes a step with a loss that isn't finite.
func (r *scaledRun) takeNot(t *testing.T, factor float64) {
	t.Helper()
	before := r.V.Load()
	_, err := r.step.Call(context.Background(), ops.ValueOf(tensor.Scalar(float32(factor))))
	must(t, err)
	if !r.V.Load().Equal(before) {
		t.Errorf("a gradient of %v changed the variable to %v", factor, r.V.Load())
	}
}

// scale and counter check the state of the scale.
func (r *scaledRun) state(t *testing.T, scale float64, counter int64) {
	t.Helper()
	o, s := r.Opt.(*optimizers.LossScaleOptimizer), scope(t)
	if got := floats(t, data(t, o.LossScale(s)))[0]; got != scale {
		t.Errorf("the scale is %v, want %v", got, scale)
	}
	if got := floats(t, data(t, o.DynamicCounter(s)))[0]; got != float64(counter) {
		t.Errorf("the counter is %v, want %v", got, counter)
	}
}

// families calls f with a maker of inner optimizers of both families, eager and traced.
func families(t *testing.T, f func(t *testing.T, sgd func(rate float64) *optimizers.SGD, mode function.Mode)) {
	for name, l := range map[string]optimizers.Layout{"legacy": optimizers.LegacyLayout, "new": optimizers.NewLayout} {
		for how, mode := range map[string]function.Mode{"eager": function.Eagerly, "traced": function.Traced} {
			t.Run(name+"/"+how, func(t *testing.T) {
				f(t, func(rate float64) *optimizers.SGD {
					o := optimizers.NewSGD(rate)
					must(t, o.SetLayout(l))
					return o
				}, mode)
			})
		}
	}
}

func fixed(scale float64) *optimizers.LossScaleOptions {
	return &optimizers.LossScaleOptions{Fixed: true, InitialScale: scale}
}

func dynamic(scale float64, steps int) *optimizers.LossScaleOptions {
	return &optimizers.LossScaleOptions{InitialScale: scale, DynamicGrowthSteps: steps}
}

func TestTheLossIsScaledAndTheGradientsAreNot(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		newScaledRun(optimizers.NewLossScaleOptimizer(sgd(2), fixed(10)), mode, tensor.Float32, 5).take(t, 1, 10, 3)
		r := newScaledRun(optimizers.NewLossScaleOptimizer(sgd(2), dynamic(2, 1)), mode, tensor.Float32, 5)
		r.take(t, 1, 2, 3)
		r.take(t, 1, 4, 1)
		newScaledRun(optimizers.NewLossScaleOptimizer(sgd(2), dynamic(2, 1)), mode, tensor.Float16, 5).take(t, 1, 2, 3)
	})
}

func TestScaledLossesAndUnscaledGradients(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, _ function.Mode) {
		o, s := optimizers.NewLossScaleOptimizer(sgd(1), fixed(2)), scope(t)
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float16} {
			loss := o.ScaledLoss(s, ops.Cast(s, float32(5), d))
			if got := floats(t, data(t, loss))[0]; got != 10 || loss.DType() != d {
				t.Errorf("the scaled loss is %v of %v, want 10 of %v", got, loss.DType(), d)
			}
		}
		rows := ops.IndexedSlices{
			Values: ops.Const(s, [][]float32{{4, 2}, {8, 5}}), Indices: ops.Const(s, []int32{1, 3}), Shape: ops.Const(s, []int32{5, 2}),
		}
		v := make([]*trackable.Variable, 4)
		for i := range v {
			v[i] = trackable.NewVariable(vec(0))
		}
		g := o.UnscaledGradients(s, grad.Gradients{
			{Variable: v[0], Grad: ops.Const(s, float32(3))}, {Variable: v[1]},
			{Variable: v[2], Grad: ops.Cast(s, float32(-4), tensor.Float16)}, {Variable: v[3], Grad: rows.Value(s)},
		})
		must(t, s.Err())
		if g[1].Grad != nil {
			t.Error("a gradient that there isn't became one")
		}
		if a, b := floats(t, data(t, g[0].Grad))[0], floats(t, data(t, g[2].Grad))[0]; a != 1.5 || b != -2 || g[2].Grad.DType() != tensor.Float16 {
			t.Errorf("the gradients are %v and %v of %v, want 1.5 and -2 of half", a, b, g[2].Grad.DType())
		}
		x, ok := g[3].Grad.IndexedSlices()
		if !ok {
			t.Fatal("slices became a whole tensor")
		}
		near(t, "slices", data(t, x.Values), tensor.Must(tensor.New([]float32{2, 1, 4, 2.5}, 2, 2)), 0, 1)
	})
}

func TestAFixedScaleNeverChanges(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		r := newScaledRun(optimizers.NewLossScaleOptimizer(sgd(1), fixed(2)), mode, tensor.Float32, 5)
		for range 3 {
			r.take(t, 1, 2)
			r.state(t, 2, 0)
		}
		for path := range trackableEdges(t, r.Opt) {
			if strings.HasPrefix(path, "loss_scale") {
				t.Errorf("a fixed scale is saved at %s", path)
			}
		}
	})
}

// trackableEdges returns the paths of an object's variables in the object graph.
func trackableEdges(t *testing.T, root any) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, line := range listing(t, root) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.Contains(line, ".ATTRIBUTES") {
			out[fields[2]] = true
		}
	}
	return out
}

func TestDefaultsOfADynamicScale(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		r := newScaledRun(optimizers.NewLossScaleOptimizer(sgd(1), nil), mode, tensor.Float32, 1)
		r.state(t, 1<<15, 0)
		for range 1999 {
			r.take(t, 0, 0)
		}
		r.state(t, 1<<15, 1999)
		r.take(t, 0, 0)
		r.state(t, 1<<16, 0)
	})
}

func TestADynamicScaleGrowsAndHalves(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		r := newScaledRun(optimizers.NewLossScaleOptimizer(sgd(1), dynamic(2, 1)), mode, tensor.Float32, 1, 2)
		r.take(t, 2, 4, -1, 0)
		r.state(t, 4, 0)
		r.takeNot(t, math.NaN())
		r.state(t, 2, 0)
		r.takeNot(t, math.Inf(1))
		r.takeNot(t, math.Inf(1))
		r.state(t, 1, 0) // never less
		if n, err := r.Opt.Iterations(); err != nil || n != 4 {
			t.Errorf("%d steps (%v), want 4: those that were left out count", n, err)
		}

		with := sgd(1)
		with.Momentum = 1
		r = newScaledRun(optimizers.NewLossScaleOptimizer(with, dynamic(2, 1)), mode, tensor.Float32, 1, 2)
		r.take(t, 1, 2, 0, 1)
		r.state(t, 4, 0)
		r.takeNot(t, math.NaN()) // leaves the momentum as it was
		r.take(t, 1, 2, -2, -1)
		r.state(t, 4, 0)
	})
}

func TestGradientsAreClippedUnscaled(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		for name, clip := range map[string]func(*optimizers.SGD){
			"norm":        func(o *optimizers.SGD) { o.ClipNorm = new(2.0) },
			"global norm": func(o *optimizers.SGD) { o.GlobalClipNorm = new(2.0) },
			"value":       func(o *optimizers.SGD) { o.ClipValue = new(2.0) },
		} {
			t.Run(name, func(t *testing.T) {
				inner := sgd(2)
				clip(inner)
				r := newScaledRun(optimizers.NewLossScaleOptimizer(inner, dynamic(2, 1)), mode, tensor.Float32, 5)
				r.take(t, 4, 8, 1)
				r.state(t, 4, 0)
				r.takeNot(t, math.Inf(1)) // is left out, not clipped
				r.state(t, 2, 0)
			})
		}
	})
}

func TestTheScaledOptimizerHasTheStateOfTheInnerOne(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		inner := sgd(1)
		o := optimizers.NewLossScaleOptimizer(inner, dynamic(2, 1))
		if o.InnerOptimizer() != optimizers.Optimizer(inner) {
			t.Error("the inner optimizer is another one")
		}
		must(t, o.SetLearningRate(0.5))
		if rate, err := inner.LearningRate(); err != nil || rate != 0.5 {
			t.Errorf("the inner rate is %v (%v), want 0.5", rate, err)
		}
		must(t, inner.SetLearningRate(2))
		if rate, err := o.LearningRate(); err != nil || rate != 2 {
			t.Errorf("the rate is %v (%v), want 2", rate, err)
		}
		r := newScaledRun(o, mode, tensor.Float32, 5)
		r.take(t, 1, 2, 3)
		a, _ := o.Iterations()
		b, _ := inner.Iterations()
		if a != 1 || b != 1 {
			t.Errorf("%d and %d steps, want 1", a, b)
		}
		if a, b := o.Variables(), inner.Variables(); len(a) == 0 || len(a) != len(b) || a[0] != b[0] {
			t.Errorf("the variables are %v and %v, want the same", a, b)
		}
	})
	adam := optimizers.NewAdam(1)
	o := optimizers.NewLossScaleOptimizer(adam, nil)
	hyper, err := o.Hyper("beta_1")
	must(t, err)
	hyper.Set(0.25)
	if of, err := adam.Hyper("beta_1"); err != nil || of != hyper || of.Get() != 0.25 {
		t.Errorf("beta_1 of the inner optimizer is %v (%v), want the same 0.25", of, err)
	}
}

// TestCheckpointsWithAndWithoutLossScaling saves with or without a scale and restores with or
// without one: the inner optimizer's state is restored, and the scale's if both have it.
func TestCheckpointsWithAndWithoutLossScaling(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		make := func(scaled bool) *scaledRun {
			inner := sgd(1)
			inner.Momentum = 1
			var o optimizers.Optimizer = inner
			if scaled {
				o = optimizers.NewLossScaleOptimizer(inner, dynamic(1, 2))
			}
			return newScaledRun(o, mode, tensor.Float32, 2)
		}
		for _, c := range []struct{ save, restore bool }{{true, true}, {true, false}, {false, true}} {
			dir, first := vfs.MemDir(), make(c.save)
			first.take(t, 1, 1, 1)
			from, err := checkpoint.New(first, nil)
			must(t, err)
			must(t, from.WriteTo(t.Context(), dir, "x"))
			second := make(c.restore)
			to, err := checkpoint.New(second, nil)
			must(t, err)
			partial := &checkpoint.RestoreOptions{Partial: c.save != c.restore, AllowMissing: c.save != c.restore}
			_, err = to.ReadFS(t.Context(), dir, "x", partial)
			must(t, err)
			want := int64(0)
			if c.save && c.restore {
				want = 1
			}
			if c.restore {
				second.state(t, 1, want)
			}
			second.take(t, 1, 1, -1) // with the momentum of the first step
			if n, err := second.Opt.Iterations(); err != nil || n != 2 {
				t.Errorf("%+v: %d steps (%v), want 2", c, n, err)
			}
			_, err = to.ReadFS(t.Context(), dir, "x", partial) // now that the slots are there
			must(t, err)
			second.take(t, 1, 1, -1)
		}
	})
}

func TestConfigsOfLossScalingMakeTheOptimizer(t *testing.T) {
	for name, c := range map[string]struct {
		class, inner, scale string
		fixed               bool
	}{
		"legacy, fixed":       {"LossScaleOptimizer", `"inner_optimizer"`, `"dynamic": false, "initial_scale": 2.0, "dynamic_growth_steps": null`, true},
		"legacy, dynamic":     {"LossScaleOptimizer", `"inner_optimizer"`, `"dynamic": true, "initial_scale": 2.0, "dynamic_growth_steps": 3`, false},
		"version 1":           {"LossScaleOptimizerV1", `"inner_optimizer"`, `"dynamic": true, "initial_scale": 2.0, "dynamic_growth_steps": 3.0`, false},
		"new, fixed":          {"LossScaleOptimizerV3", `"inner_optimizer"`, `"dynamic": false, "initial_scale": 2.0, "dynamic_growth_steps": null`, true},
		"new, dynamic":        {"LossScaleOptimizerV3", `"inner_optimizer"`, `"dynamic": true, "initial_scale": 2.0, "dynamic_growth_steps": 3`, false},
		"TensorFlow 2.3":      {"LossScaleOptimizer", `"optimizer"`, `"loss_scale": {"class_name": "DynamicLossScale", "config": {"initial_loss_scale": 2.0, "increment_period": 3, "multiplier": 2.0}}`, false},
		"TensorFlow 2.3, too": {"LossScaleOptimizer", `"optimizer"`, `"loss_scale": {"class_name": "FixedLossScale", "config": {"loss_scale_value": 2.0}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			legacy := "true"
			if c.class == "LossScaleOptimizerV3" {
				legacy = "false"
			}
			inner := `{"class_name": "SGD", "config": {"name": "SGD", "learning_rate": 2.0, "momentum": 0.5, "nesterov": false, "is_legacy_optimizer": ` + legacy + `}}`
			o, err := optimizers.Get([]byte(`{"class_name": "` + c.class + `", "config": {` + c.inner + `: ` + inner + `, ` + c.scale + `}}`))
			must(t, err)
			sgd := o.(*optimizers.LossScaleOptimizer).InnerOptimizer().(*optimizers.SGD)
			if rate, err := o.LearningRate(); err != nil || rate != 2 || sgd.Momentum != 0.5 {
				t.Errorf("the rate is %v, the momentum %v (%v), want 2 and 0.5", rate, sgd.Momentum, err)
			}
			r := newScaledRun(o, function.Eagerly, tensor.Float32, 5)
			r.state(t, 2, 0)
			r.take(t, 1, 2, 3)
			if c.fixed {
				r.state(t, 2, 0)
				return
			}
			r.state(t, 2, 1)
			r.takeFor(t, 2)
			r.state(t, 4, 0)
		})
	}
}

// takeFor takes n steps with a loss of 0.
func (r *scaledRun) takeFor(t *testing.T, n int) {
	for range n {
		r.take(t, 0, 0)
	}
}

func TestLossScalingOfAProgramsOptimizerIsSaved(t *testing.T) {
	signs := config.Registered[*Signs]("Example", "Signs")
	signs.New = func() any { return NewSigns(0.01) }
	classes, err := keras.Classes().With([]config.Class{signs})
	must(t, err)
	for _, legacy := range []bool{false, true} {
		text, err := keras.Config(optimizers.NewLossScaleOptimizer(func() *Signs { o := NewSigns(2); o.Keep = 0.125; return o }(), dynamic(2, 3)),
			&keras.ConfigOptions{Classes: classes, Legacy: legacy})
		must(t, err)
		obj, err := keras.FromConfig(text, &keras.ConfigOptions{Classes: classes})
		must(t, err)
		got := obj.(*optimizers.LossScaleOptimizer).InnerOptimizer().(*Signs)
		if rate, err := got.LearningRate(); err != nil || rate != 2 || got.Keep != 0.125 {
			t.Errorf("the rate is %v, Keep %v (%v), want 2 and 0.125", rate, got.Keep, err)
		}
		newScaledRun(obj.(optimizers.Optimizer), function.Eagerly, tensor.Float32, 5).state(t, 2, 0)
		if _, err := keras.FromConfig(text, nil); err == nil {
			t.Error("an inner optimizer of an unknown class is no error")
		}
	}
}

func TestWrongLossScalingIsRefused(t *testing.T) {
	families(t, func(t *testing.T, sgd func(float64) *optimizers.SGD, mode function.Mode) {
		twice := sgd(1)
		optimizers.NewLossScaleOptimizer(twice, nil)
		for name, c := range map[string]struct {
			o    *optimizers.LossScaleOptimizer
			says string
		}{
			"a fixed scale without one": {optimizers.NewLossScaleOptimizer(sgd(1), &optimizers.LossScaleOptions{Fixed: true}), "needs an InitialScale"},
			"a fixed scale that grows":  {optimizers.NewLossScaleOptimizer(sgd(1), &optimizers.LossScaleOptions{Fixed: true, InitialScale: 1, DynamicGrowthSteps: 2}), "no DynamicGrowthSteps"},
			"in each other":             {optimizers.NewLossScaleOptimizer(optimizers.NewLossScaleOptimizer(sgd(1), nil), nil), "in use already"},
			"two of one":                {optimizers.NewLossScaleOptimizer(twice, nil), "in use already"},
		} {
			r := newScaledRun(c.o, mode, tensor.Float32, 5)
			if _, err := r.step.Call(t.Context(), ops.ValueOf(tensor.Scalar[float32](1))); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want an error with %q", name, err, c.says)
			}
		}
	})
}

// TestAStateThatCannotBeAttachedStaysAnError checks that an optimizer whose edge has another
// object reports it each time: its state would be missing in checkpoints.
func TestAStateThatCannotBeAttachedStaysAnError(t *testing.T) {
	v := trackable.NewVariable(vec(1))
	for name, edge := range map[string]string{"state": "loss_scale", "inner": "base_optimizer"} {
		t.Run(name, func(t *testing.T) {
			inner := optimizers.NewSGD(1)
			must(t, inner.SetLayout(optimizers.LegacyLayout))
			o := optimizers.NewLossScaleOptimizer(inner, nil)
			must(t, o.Attach(edge, trackable.NewList[*trackable.Variable]()))
			for i := range 3 {
				if err := o.Build([]*trackable.Variable{v}); err == nil || !strings.Contains(err.Error(), edge) {
					t.Errorf("call %d: %v, want an error with %q", i, err, edge)
				}
			}
		})
	}
	t.Run("exclusion", func(t *testing.T) {
		for _, edge := range []string{"_exclude_from_weight_decay", "_exclude_from_weight_decay_names"} {
			o := optimizers.NewAdamW(1)
			must(t, o.SetLayout(optimizers.NewLayout))
			trackableEdges(t, o) // makes the counter
			must(t, o.Attach(edge, trackable.NewList[*trackable.Variable]()))
			for i := range 3 {
				if err := o.ExcludeFromWeightDecay(nil, "bias"); err == nil || !strings.Contains(err.Error(), edge) {
					t.Errorf("call %d: %v, want an error with %q", i, err, edge)
				}
			}
		}
	})
}

// TestAcceptsChildDuringTheFirstStep asks for edges while another goroutine makes them, as a
// restore does; the race detector watches.
func TestAcceptsChildDuringTheFirstStep(t *testing.T) {
	for name, l := range map[string]optimizers.Layout{"legacy": optimizers.LegacyLayout, "new": optimizers.NewLayout} {
		t.Run(name, func(t *testing.T) {
			inner := optimizers.NewNadam(1)
			must(t, inner.SetLayout(l))
			o := optimizers.NewLossScaleOptimizer(inner, nil)
			built := make(chan error)
			go func() { built <- o.Build([]*trackable.Variable{trackable.NewVariable(vec(1))}) }()
			for {
				for _, edge := range []string{"loss_scale", "base_optimizer", "iter", "_variables", "momentum_cache"} {
					o.AcceptsChild(edge)
				}
				select {
				case err := <-built:
					must(t, err)
					for _, edge := range []string{"loss_scale", "base_optimizer"} {
						if o.AcceptsChild(edge) {
							t.Errorf("%s is accepted after the first step", edge)
						}
					}
					return
				default:
				}
			}
		})
	}
}
