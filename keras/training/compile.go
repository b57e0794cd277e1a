package training

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/trackable"
)

// CompileOptions are the options of [Compile].
type CompileOptions struct {
	// Optimizer changes the variables: an optimizers.Optimizer, or an identifier for
	// optimizers.Get. An optimizer of a model with a layer of the policy mixed_float16 is
	// wrapped in an optimizers.LossScaleOptimizer. Default: "rmsprop".
	Optimizer any
	// Loss is the loss that is minimized: an identifier for losses.Get, or a function
	// func(s *ops.Scope, truth, predicted ops.Input) *ops.Value. A model with several
	// outputs takes a list or a map of them; a single loss is that of each output. The sum
	// is minimized. Default: only the losses that layers add.
	Loss any
	// LossWeights multiply the losses of outputs: a []float64 or a map[string]float64.
	// Default: ones.
	LossWeights any
	// Metrics are evaluated besides the loss, without sample weights: an identifier for
	// metrics.Get, or a list of them. "accuracy" and "crossentropy" mean the kind for the
	// output's shape. A model with several outputs also takes a list with a list for each
	// output, or a map of them; a single list is that of each output. Default: none.
	Metrics any
	// WeightedMetrics are metrics that sample weights and class weights apply to. Default:
	// none.
	WeightedMetrics any
	// StepsPerExecution is the number of batches between two calls of the callbacks' batch
	// methods. Default: 1.
	StepsPerExecution int
	// RunEagerly calls the model's Go code in each step, instead of tracing it once.
	// Default: false.
	RunEagerly bool
	// Seed is the seed of tf_keras.utils.set_random_seed: of the model's first values, if
	// it is not built yet, and of the order of examples. Default: none, each run differs.
	Seed *uint64

	stored bool // the options are from a file: the names of metrics may begin with an output's
}

// Trainer trains, evaluates and runs a model. It must not be used by several goroutines at
// once, and its model must not be trained by something else meanwhile.
type Trainer struct {
	model     base.Callable
	optimizer optimizers.Optimizer
	opts      CompileOptions

	losses  lossSet
	metrics metricSet

	train, test *function.Func[stepInput, []*ops.Value]
	predict     *function.Func[stepInput, []*ops.Value]

	arrangements map[string]*arrangement // by the text of their layouts: arrangementOf
	lastLayouts  *layouts                // of the last batch, whose arrangement is lastForm
	lastForm     *arrangement
	all          []metrics.Accumulator // once they are made, and their names
	names        []string
	steps        *trackable.Scalar[int64]
}

// Compile returns a Trainer of a model. Losses and metrics that are not known are errors
// here; those that don't fit the outputs are errors of the first step.
func Compile(model base.Callable, opts *CompileOptions) (*Trainer, error) {
	t := &Trainer{model: model, arrangements: map[string]*arrangement{}, steps: trackable.NewScalar[int64](0)}
	if opts != nil {
		t.opts = *opts
	}
	if err := t.compile(); err != nil {
		return nil, fmt.Errorf("training: Compile: %w", err)
	}
	return t, nil
}

func (t *Trainer) compile() error {
	if t.model == nil {
		return errors.New("the model is nil")
	}
	if t.opts.StepsPerExecution < 0 {
		return fmt.Errorf("StepsPerExecution is %d, want 1 or more", t.opts.StepsPerExecution)
	}
	t.opts.StepsPerExecution = max(t.opts.StepsPerExecution, 1)
	if t.opts.Optimizer == nil {
		t.opts.Optimizer = "rmsprop"
	}
	var err error
	if t.optimizer, err = optimizers.Get(t.opts.Optimizer); err != nil {
		return err
	}
	if _, scaled := t.optimizer.(*optimizers.LossScaleOptimizer); !scaled && base.HasPolicy(t.model, "mixed_float16") {
		inner, ok := t.optimizer.(optimizers.Based)
		if !ok {
			return fmt.Errorf("the optimizer is a %T, whose losses can't be scaled for mixed_float16; embed optimizers.Base", t.optimizer)
		}
		t.optimizer = optimizers.NewLossScaleOptimizer(inner, nil)
	}
	if err := t.losses.check(t.opts.Loss); err != nil {
		return err
	}
	for _, list := range []any{t.opts.Metrics, t.opts.WeightedMetrics} {
		if err := checkMetrics(list); err != nil {
			return err
		}
	}
	mode := function.Traced
	if t.opts.RunEagerly {
		mode = function.Eagerly
	}
	options := &function.Options{Mode: mode}
	t.train = function.New(t.trainStep, options)
	t.test = function.New(t.testStep, options)
	t.predict = function.New(t.predictStep, options)
	return nil
}

// Model returns the model.
func (t *Trainer) Model() base.Callable { return t.model }

// CompileOptions returns the options that the trainer was compiled with, as a file of the
// model has them.
func (t *Trainer) CompileOptions() CompileOptions { return t.opts }

// Optimizer returns the optimizer, with the loss scaling that [Compile] put around it.
func (t *Trainer) Optimizer() optimizers.Optimizer { return t.optimizer }

// Metrics returns the metrics in the order of tf_keras's model.metrics: the loss, those of
// outputs, then those that were compiled. Before the first step there are none.
func (t *Trainer) Metrics() []metrics.Accumulator {
	return slices.Clone(t.allMetrics())
}

// allMetrics returns the metrics, nil before the first step.
func (t *Trainer) allMetrics() []metrics.Accumulator {
	if t.all == nil && t.metrics.built {
		t.all = append(t.losses.metrics(), t.metrics.all...)
		for _, m := range t.all {
			t.names = append(t.names, metrics.NameOf(m))
		}
	}
	return t.all
}

// MetricsNames returns the names of the metrics, which are those in logs.
func (t *Trainer) MetricsNames() []string {
	t.allMetrics()
	return slices.Clone(t.names)
}

// ResetMetrics resets the state of the metrics, as each epoch and evaluation does.
func (t *Trainer) ResetMetrics(ctx context.Context) error {
	s := function.Eager(ctx)
	for _, m := range t.allMetrics() {
		m.Reset(s)
	}
	return s.Err()
}

// arrangementOf returns the shared arrangement of a batch. Equal batches must get the same pointer,
// since a static argument that differs makes a new trace.
func (t *Trainer) arrangementOf(l *layouts, weighsClasses bool) *arrangement {
	if l == t.lastLayouts && t.lastForm.weighsClasses == weighsClasses {
		return t.lastForm
	}
	key := fmt.Sprint(l.x.key(), l.y.key(), l.weights.key(), weighsClasses)
	form := t.arrangements[key]
	if form == nil {
		form = &arrangement{*l, weighsClasses}
		t.arrangements[key] = form
	}
	t.lastLayouts, t.lastForm = l, form
	return form
}
