package optimizers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/optimizertest"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type stepIn struct{ Kernel, Bias *ops.Value }

// trainer takes steps with given gradients through a function.
type trainer struct {
	opt          optimizers.Optimizer
	kernel, bias *trackable.Variable
	traces       int // how often the Go function ran
	step         *function.Func[stepIn, *ops.Value]
}

func newTrainer(t testing.TB, opt optimizers.Optimizer, mode function.Mode, d tensor.DType) *trainer {
	z := npz(t, "updates.npz")
	first := func(name string) *trackable.Variable {
		x, err := tensor.Cast(array(t, z, name), d)
		must(t, err)
		return trackable.NewVariable(x.Clone()).Named(name)
	}
	r := &trainer{opt: opt, kernel: first("kernel"), bias: first("bias")}
	r.step = function.New(func(s *ops.Scope, in stepIn) *ops.Value {
		r.traces++
		r.opt.Apply(s, grad.Gradients{{Variable: r.kernel, Grad: in.Kernel}, {Variable: r.bias, Grad: in.Bias}})
		return ops.Sum(s, r.kernel)
	}, &function.Options{Mode: mode})
	return r
}

// take takes the step with the fixture's gradients of that number.
func (r *trainer) take(t testing.TB, n int) {
	t.Helper()
	z := npz(t, "updates.npz")
	g := func(name string) *ops.Value {
		x, err := tensor.Cast(rowOf(t, array(t, z, name), n), r.kernel.DType())
		must(t, err)
		return ops.ValueOf(x.Clone())
	}
	_, err := r.step.Call(context.Background(), stepIn{g("kernel_gradients"), g("bias_gradients")})
	must(t, err)
}

// state returns the bits of all that a step may change.
func (r *trainer) state() map[string][]byte {
	all := map[string][]byte{"kernel": r.kernel.Load().Bytes(), "bias": r.bias.Load().Bytes()}
	for i, v := range base.Variables(r.opt.(trackable.Trackable)) {
		all[string(rune('a'+i))+" "+v.Name()] = v.Load().Bytes()
	}
	if slots, ok := r.opt.(interface {
		Slot(*trackable.Variable, string) *trackable.Variable
		SlotNames() []string
	}); ok {
		for _, name := range slots.SlotNames() {
			for _, v := range []*trackable.Variable{r.kernel, r.bias} {
				if x := slots.Slot(v, name); x != nil {
					all["slot "+x.Name()] = x.Load().Bytes()
				}
			}
		}
	}
	return all
}

func same(t testing.TB, what string, a, b *trainer) {
	t.Helper()
	want := a.state()
	for name, got := range b.state() {
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: %s is % x traced, % x eager", what, name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s: there is no %s traced", what, name)
	}
}

func TestTracedStepsHaveTheBitsOfEagerOnes(t *testing.T) {
	for name, mk := range optimizertest.Makes {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
			t.Run(name+"/"+d.String(), func(t *testing.T) {
				eager, traced := newTrainer(t, mk(), function.Eagerly, d), newTrainer(t, mk(), function.Traced, d)
				for n := range 10 {
					eager.take(t, n)
					traced.take(t, n)
					same(t, "step "+string(rune('0'+n)), eager, traced)
				}
				if traced.traces != 1 {
					t.Errorf("%d traces for ten steps", traced.traces)
				}
				if n, err := traced.opt.Iterations(); n != 10 || err != nil {
					t.Errorf("Iterations is %d, %v", n, err)
				}
			})
		}
	}
}

var makeSchedules = map[string]schedules.Schedule{
	"exponential":           optimizertest.Halving,
	"exponential staircase": schedules.ExponentialDecay{InitialLearningRate: 0.1, DecaySteps: 3, DecayRate: 0.5, Staircase: true},
	"inverse time":          schedules.InverseTimeDecay{InitialLearningRate: 0.1, DecaySteps: 3, DecayRate: 0.5},
	"inverse staircase":     schedules.InverseTimeDecay{InitialLearningRate: 0.1, DecaySteps: 3, DecayRate: 0.5, Staircase: true},
	"polynomial":            schedules.PolynomialDecay{InitialLearningRate: 0.1, DecaySteps: 4, EndLearningRate: new(0.01)},
	"polynomial cycle":      schedules.PolynomialDecay{InitialLearningRate: 0.1, DecaySteps: 4, EndLearningRate: new(0.01), Power: new(0.5), Cycle: true},
	"cosine":                schedules.CosineDecay{InitialLearningRate: 0.1, DecaySteps: 6, Alpha: 0.1},
	"cosine restarts":       schedules.CosineDecayRestarts{InitialLearningRate: 0.1, FirstDecaySteps: 2, MMul: new(0.9), Alpha: 0.1},
	"cosine even restarts":  schedules.CosineDecayRestarts{InitialLearningRate: 0.1, FirstDecaySteps: 3, TMul: new(1.0)},
	"piecewise":             schedules.PiecewiseConstantDecay{Boundaries: []schedules.Steps{2, 5}, Values: []float64{1, 0.5, 0.25}},
}

// TestSchedulesGiveTensorFlowsRates: counted as an integer, as the new
// optimizers count, and in the variable's precision, as the legacy ones do.
func TestSchedulesGiveTensorFlowsRates(t *testing.T) {
	z := npz(t, "schedules.npz")
	for _, key := range z.Names() {
		name, dtype, _ := strings.Cut(key, "/")
		schedule := makeSchedules[name]
		if schedule == nil {
			t.Errorf("no schedule here for TensorFlow's %q", name)
			continue
		}
		var step ops.Input
		s := scope(t)
		for i, want := range floats(t, array(t, z, key)) {
			if step = int64(i); dtype == "float32" {
				step = float32(i)
			}
			rate := schedule.Rate(s, ops.Const(s, step))
			must(t, s.Err())
			near(t, fmt.Sprintf("%s at step %d", key, i), data(t, rate), tensor.Scalar(want), 1e-6, 1e-3)
		}
	}
	if n := len(z.Names()); n != 2*len(makeSchedules) {
		t.Errorf("schedules.npz has %d arrays for %d schedules", n, len(makeSchedules))
	}
}

func TestASchedulesRateChangesInsideATrace(t *testing.T) {
	for name, schedule := range makeSchedules {
		for _, layout := range []optimizers.Layout{optimizers.LegacyLayout, optimizers.NewLayout, optimizers.Keras3Layout} {
			mk := func() optimizers.Optimizer {
				return optimizertest.With(optimizers.NewSGD(0), func(o *optimizers.SGD) { o.Schedule = schedule; must(t, o.SetLayout(layout)) })
			}
			eager, traced := newTrainer(t, mk(), function.Eagerly, tensor.Float32), newTrainer(t, mk(), function.Traced, tensor.Float32)
			var rates []float64
			for n := range 10 {
				r, err := traced.opt.LearningRate()
				must(t, err)
				rates = append(rates, r)
				eager.take(t, n)
				traced.take(t, n)
				same(t, name, eager, traced)
			}
			if traced.traces != 1 {
				t.Errorf("%s: %d traces", name, traced.traces)
			}
			if len(slices.Compact(rates)) < 3 {
				t.Errorf("%s: the rates are %v", name, rates)
			}
		}
	}
}

func TestAPiecewiseRateCrossesItsBoundaryInsideATrace(t *testing.T) {
	opt := optimizertest.With(optimizers.NewSGD(0), func(o *optimizers.SGD) {
		o.Schedule = schedules.PiecewiseConstantDecay{Boundaries: []schedules.Steps{1, 3}, Values: []float64{1, 10, 100}}
	})
	v := trackable.NewVariable(vec(0))
	step := function.New(func(s *ops.Scope, g *ops.Value) *ops.Value {
		opt.Apply(s, grad.Gradients{{Variable: v, Grad: g}})
		return ops.ReadVariable(s, v)
	}, &function.Options{Mode: function.Traced})
	for i, want := range []float32{-1, -2, -12, -22, -122} {
		got, err := step.Call(context.Background(), ops.ValueOf(vec(1)))
		must(t, err)
		if x := tensor.Values[float32](data(t, got))[0]; x != want {
			t.Errorf("after step %d: %v, want %v", i+1, x, want)
		}
	}
}

func TestWhatChangesBetweenTracedStepsTakesEffect(t *testing.T) {
	for name, mk := range map[string]func() optimizers.Optimizer{
		"legacy": func() optimizers.Optimizer {
			return optimizertest.With(optimizers.NewSGD(0.5), func(o *optimizers.SGD) { o.Momentum = 0.9 })
		},
		"new": func() optimizers.Optimizer { return optimizertest.ToNew(optimizers.NewAdam(0.5)) },
		"keras3": func() optimizers.Optimizer {
			return optimizertest.With(optimizers.NewAdam(0.5), func(o *optimizers.Adam) { must(t, o.SetLayout(optimizers.Keras3Layout)) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			eager, traced := newTrainer(t, mk(), function.Eagerly, tensor.Float32), newTrainer(t, mk(), function.Traced, tensor.Float32)
			for n := range 6 {
				for _, r := range []*trainer{eager, traced} {
					switch o, legacy := r.opt.(*optimizers.SGD); {
					case n == 2:
						must(t, r.opt.SetLearningRate(0.03125))
					case n == 4 && legacy:
						momentum, err := o.Hyper("momentum")
						must(t, err)
						momentum.Set(0.25)
					}
					r.take(t, n)
				}
				same(t, "after a change", eager, traced)
			}
			if traced.traces != 1 {
				t.Errorf("%d traces", traced.traces)
			}
			if rate, err := traced.opt.LearningRate(); rate != 0.03125 || err != nil {
				t.Errorf("the rate is %v, %v", rate, err)
			}
		})
	}
}

type trained struct {
	trackable.Base
	Kernel, Bias *trackable.Variable
	Optimizer    optimizers.Optimizer
}

// TestARestoreBetweenTracedStepsTakesEffect checks that the trace continues from
// the restored variables, counter and slots, whether they were made before the
// restore or in the first trace after it.
func TestARestoreBetweenTracedStepsTakesEffect(t *testing.T) {
	ctx := context.Background()
	for name, mk := range optimizertest.Makes {
		t.Run(name, func(t *testing.T) {
			of := func(r *trainer) *checkpoint.Checkpoint {
				ck, err := checkpoint.New(&trained{Kernel: r.kernel, Bias: r.bias, Optimizer: r.opt}, nil)
				must(t, err)
				return ck
			}
			eager := newTrainer(t, mk(), function.Eagerly, tensor.Float32)
			for n := range 3 {
				eager.take(t, n)
			}
			path := filepath.Join(t.TempDir(), "ckpt")
			must(t, of(eager).Write(ctx, path))
			late, early := newTrainer(t, mk(), function.Traced, tensor.Float32), newTrainer(t, mk(), function.Traced, tensor.Float32)
			for n := range 5 {
				early.take(t, n)
			}
			for _, r := range []*trainer{early, late} {
				_, err := of(r).Restore(ctx, path, nil)
				must(t, err)
			}
			for n := 3; n < 6; n++ {
				for _, r := range []*trainer{eager, early, late} {
					r.take(t, n)
				}
				same(t, "slots made before the restore", eager, early)
				same(t, "slots made in the first trace", eager, late)
			}
			if early.traces != 1 || late.traces != 1 {
				t.Errorf("%d and %d traces", early.traces, late.traces)
			}
		})
	}
}
