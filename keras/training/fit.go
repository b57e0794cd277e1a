package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// FitOptions are the options of [Trainer.Fit].
type FitOptions struct {
	// BatchSize is the number of examples in a batch. Data that comes in batches has none.
	// Default: 32, or the size that makes StepsPerEpoch batches.
	BatchSize int
	// Epochs is the number of the last epoch, counted from 1. Default: 1.
	Epochs int
	// InitialEpoch is the number of epochs before this call. Default: 0.
	InitialEpoch int
	// StepsPerEpoch is the number of batches in an epoch. Default: those of one pass over
	// the data.
	StepsPerEpoch int
	// InOrder takes the examples in their order. Default: each epoch has a random order of
	// its own. Data that comes in batches is always taken in its order.
	InOrder bool
	// ClassWeight has a factor for the examples of each class: those whose truth is the
	// number, or whose one-hot truth has its largest element there. Default: ones.
	ClassWeight []float64
	// ValidationData is evaluated after epochs. Default: none.
	ValidationData Data
	// ValidationSplit is the part of the examples, from the end, that is used for
	// validation instead of training, if there is no ValidationData. Default: none.
	ValidationSplit float64
	// ValidationBatchSize is the number of examples in a batch of the validation. Default:
	// BatchSize.
	ValidationBatchSize int
	// ValidationSteps is the number of batches that are validated with. Default: all.
	ValidationSteps int
	// ValidationFreq is the number of epochs from one validation to the next. Default: 1.
	ValidationFreq int
	// ValidationEpochs are the epochs after which validations are, counted from 1. Default:
	// those of ValidationFreq.
	ValidationEpochs []int
	// Callbacks are called at events of the training, in their order, before the History
	// and the progress bar. Default: none.
	Callbacks []callbacks.Callback
	// Verbose is how much is written to Output. Default: Auto.
	Verbose Verbosity
	// Output receives the progress and the messages of callbacks. Default: they are
	// discarded.
	Output io.Writer
}

// Verbosity is how much of the progress is written.
type Verbosity uint8

// The verbosities.
const (
	// Auto is Bar if the output is a terminal, else Lines.
	Auto Verbosity = iota
	// Silent writes no progress.
	Silent
	// Bar writes a progress bar for each epoch.
	Bar
	// Lines writes a line for each epoch.
	Lines
)

// number returns tf_keras's number of a verbosity.
func (v Verbosity) number(w io.Writer) int {
	switch {
	case w == nil || v == Silent:
		return 0
	case v == Bar || v == Auto && callbacks.IsTerminal(w):
		return 1
	}
	return 2
}

// Fit trains the model for some epochs, each a pass over the data, and returns the logs of
// the epochs. After an error, which can be the end of ctx, the model has the state of the
// last step that ended, and the History has the epochs before.
func (t *Trainer) Fit(ctx context.Context, data Data, opts *FitOptions) (*callbacks.History, error) {
	var o FitOptions
	if opts != nil {
		o = *opts
	}
	f := fitting{t: t, o: o, history: new(callbacks.History)}
	if err := f.run(ctx, data); err != nil {
		return f.history, fmt.Errorf("training: Fit: %w", err)
	}
	return f.history, nil
}

// fitting is one call of Fit.
type fitting struct {
	t       *Trainer
	o       FitOptions
	history *callbacks.History
	r       *callbacks.Run
	list    callbacks.List
	feed    *feed

	validation *evaluation // nil without validation data
	classes    []*ops.Value
}

func (f *fitting) check() error {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"BatchSize", f.o.BatchSize}, {"Epochs", f.o.Epochs}, {"InitialEpoch", f.o.InitialEpoch}, {"StepsPerEpoch", f.o.StepsPerEpoch},
		{"ValidationBatchSize", f.o.ValidationBatchSize}, {"ValidationSteps", f.o.ValidationSteps}, {"ValidationFreq", f.o.ValidationFreq},
	} {
		if n.value < 0 {
			return fmt.Errorf("%s is %d, want 0 or more", n.name, n.value)
		}
	}
	if f.o.Epochs == 0 {
		f.o.Epochs = 1
	}
	if f.o.ValidationFreq == 0 {
		f.o.ValidationFreq = 1
	}
	return nil
}

// prepare opens the data.
func (f *fitting) prepare(ctx context.Context, data Data) error {
	if err := f.check(); err != nil {
		return err
	}
	o := &f.o
	if o.ValidationSplit != 0 && o.ValidationData == nil {
		e, ok := data.(*Examples)
		if !ok {
			return errors.New("ValidationSplit needs Examples, whose end can be split off; set ValidationData")
		}
		all, err := e.rows(ctx)
		if err != nil {
			return err
		}
		train, validation, err := all.split(o.ValidationSplit)
		if err != nil {
			return err
		}
		data, o.ValidationData = train, validation
	}
	var err error
	f.feed, err = newFeed(ctx, data, &sourceOptions{batchSize: o.BatchSize, steps: o.StepsPerEpoch, passes: max(o.Epochs-o.InitialEpoch, 0), shuffle: !o.InOrder, seed: f.t.opts.Seed})
	if err != nil {
		return err
	}
	f.classes = classVector(o.ClassWeight)
	verbose := o.Verbose.number(o.Output)
	f.r = &callbacks.Run{
		Model: f.t.model, Optimizer: f.t.optimizer, Output: o.Output, InitialEpoch: o.InitialEpoch, TrainCounter: f.t.steps, TrainGraph: f.t.trainGraph,
		Params: callbacks.Params{BatchSize: f.feed.src.batchSize(), Epochs: o.Epochs, Steps: max(f.feed.perEpoch, 0), Verbose: verbose},
	}
	f.list, f.history = withDefaults(o.Callbacks, verbose)
	if o.ValidationData != nil {
		size := o.ValidationBatchSize
		if _, streams := o.ValidationData.(*stream); size == 0 && !streams {
			size = o.BatchSize
		}
		f.validation = &evaluation{t: f.t, r: f.r, list: f.list, data: o.ValidationData, o: sourceOptions{batchSize: size, steps: o.ValidationSteps, passes: 1}}
	}
	return nil
}

// trainGraph returns the graph of the first trace of the training step, nil if there is none.
func (t *Trainer) trainGraph(ctx context.Context) ([]byte, error) {
	traces := t.train.Traces()
	if len(traces) == 0 {
		return nil, nil
	}
	return traces[0].GraphDef(ctx)
}

// withDefaults adds a History and a progress bar to callbacks, if there are none.
func withDefaults(list []callbacks.Callback, verbose int) (callbacks.List, *callbacks.History) {
	out := slices.Clone(callbacks.List(list))
	var history *callbacks.History
	bar := false
	for _, c := range out {
		switch c := c.(type) {
		case *callbacks.History:
			history = c
		case *callbacks.ProgbarLogger:
			bar = true
		}
	}
	if history == nil {
		history = new(callbacks.History)
		out = append(out, history)
	}
	if !bar && verbose != 0 {
		out = append(out, new(callbacks.ProgbarLogger))
	}
	return out, history
}

func (f *fitting) run(ctx context.Context, data Data) error {
	if err := f.prepare(ctx, data); err != nil {
		return err
	}
	defer f.feed.close()
	err := f.train(ctx)
	if err != nil {
		f.list.OnTrainAbort()
	}
	return err
}

// train runs the epochs. The order of its calls, of resets and of callbacks, is that of tf_keras's
// Model.fit and must stay. After an error, run calls OnTrainAbort instead of OnTrainEnd.
func (f *fitting) train(ctx context.Context) error {
	f.t.steps.Set(0)
	if err := f.list.OnTrainBegin(ctx, f.r); err != nil {
		return err
	}
	if err := f.skip(ctx); err != nil {
		return err
	}
	var logs callbacks.Logs
	for epoch := f.r.InitialEpoch; epoch < f.o.Epochs && !f.feed.exhausted; epoch++ {
		var err error
		if logs, err = f.epoch(ctx, epoch); err != nil {
			return err
		}
		if f.r.StopTraining {
			break
		}
	}
	if err := f.finalize(ctx); err != nil {
		return err
	}
	return f.list.OnTrainEnd(ctx, f.r, logs)
}

// skip skips the batches before the place at which a callback, such as BackupAndRestore,
// lets the training begin: Run.InitialEpoch and Run.InitialStep.
func (f *fitting) skip(ctx context.Context) error {
	epochs := f.r.InitialEpoch - f.o.InitialEpoch
	if epochs < 0 || f.r.InitialStep < 0 {
		return fmt.Errorf("a callback sets the beginning to epoch %d and step %d, want those of this training", f.r.InitialEpoch, f.r.InitialStep)
	}
	n := f.r.InitialStep
	if !f.feed.src.restarts() {
		if epochs > 0 && f.feed.perEpoch < 0 {
			return errors.New("the training can't continue in a later epoch: the number of steps in an epoch isn't known; set StepsPerEpoch")
		}
		n += epochs * max(f.feed.perEpoch, 0)
	}
	if n == 0 {
		return nil
	}
	f.feed.begin(ctx, epochs)
	for range n {
		switch _, err := f.feed.next(); {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the data ends before batch %d of the epoch, at which the training continues; use the data of the earlier training", f.r.InitialStep)
		case err != nil:
			return err
		}
	}
	f.feed.first, f.feed.begun = f.r.InitialStep, true
	return nil
}

// epoch trains for an epoch and returns its logs.
func (f *fitting) epoch(ctx context.Context, epoch int) (callbacks.Logs, error) {
	t := f.t
	if err := t.ResetMetrics(ctx); err != nil {
		return nil, err
	}
	f.feed.begin(ctx, epoch-f.o.InitialEpoch)
	if err := f.list.OnEpochBegin(ctx, f.r, epoch); err != nil {
		return nil, err
	}
	var logs callbacks.Logs
	err := f.feed.each(f.r, f.t.executions(f.feed, func(step int) error {
		return f.list.OnTrainBatchBegin(ctx, f.r, step)
	}, func(e *element) (err error) {
		logs, err = t.step(function.WithTracer(ctx, f.r.Tracer), t.train, e, f.classes)
		return err
	}, func(step int) (bool, error) {
		f.r.Params.Metrics = t.names
		err := f.list.OnTrainBatchEnd(ctx, f.r, step, logs)
		return f.r.StopTraining, err
	}))
	if err != nil {
		return nil, err
	}
	if logs == nil {
		return nil, errors.New("the data has no batch")
	}
	f.r.Params.Steps = max(f.feed.perEpoch, 0)
	if f.validation != nil && f.validates(epoch+1) {
		val, err := f.validation.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("validation: %w", err)
		}
		for name, v := range val {
			logs["val_"+name] = v
		}
		f.r.Params.Metrics = t.MetricsNames()
		for _, name := range t.names {
			f.r.Params.Metrics = append(f.r.Params.Metrics, "val_"+name)
		}
	}
	return logs, f.list.OnEpochEnd(ctx, f.r, epoch, logs)
}

// executions returns the function that runs a batch between the callbacks' batch methods. With
// StepsPerExecution n, it calls begin before the first of n batches and end after the last.
func (t *Trainer) executions(f *feed, begin func(step int) error, run func(e *element) error, end func(step int) (stop bool, err error)) func(step int, e *element) (bool, error) {
	n, done := t.opts.StepsPerExecution, 0
	return func(step int, e *element) (stop bool, err error) {
		if done == 0 {
			if err := begin(step); err != nil {
				return false, err
			}
		}
		if err := run(e); err != nil {
			return false, err
		}
		if done++; done < n && step+1 != f.perEpoch {
			return false, nil
		}
		done = 0
		return end(step)
	}
}

func (f *fitting) validates(epoch int) bool {
	if f.o.ValidationEpochs != nil {
		return slices.Contains(f.o.ValidationEpochs, epoch)
	}
	return epoch%f.o.ValidationFreq == 0
}

// finalize sets the variables to the averages that the optimizer stores.
func (f *fitting) finalize(ctx context.Context) error {
	o, ok := f.t.optimizer.(interface {
		FinalizeVariableValues(s *ops.Scope, vars []*trackable.Variable)
	})
	if !ok {
		return nil
	}
	s := function.Eager(ctx)
	o.FinalizeVariableValues(s, base.Trainable(f.t.model))
	return s.Err()
}

// step runs one step on a batch and returns its logs.
func (t *Trainer) step(ctx context.Context, f *function.Func[stepInput, []*ops.Value], e *element, classes []*ops.Value) (callbacks.Logs, error) {
	results, err := f.Call(ctx, t.input(e, classes))
	if err != nil {
		return nil, err
	}
	if n := len(t.allMetrics()); len(results) != n {
		return nil, fmt.Errorf("the step has %d results for %d metrics", len(results), n)
	}
	logs := make(callbacks.Logs, len(results)+2)
	for i, name := range t.names {
		if logs[name], err = number(results[i]); err != nil {
			return nil, fmt.Errorf("the metric %q: %w", name, err)
		}
	}
	return logs, nil
}

// input returns a batch as the steps take it.
func (t *Trainer) input(e *element, classes []*ops.Value) stepInput {
	return stepInput{X: e.x, Y: e.y, Weights: e.weights, ClassWeights: classes,
		Form: t.arrangementOf(e.layouts, classes != nil)}
}

// number returns the value of a scalar.
func number(v *ops.Value) (float64, error) {
	x, err := v.Tensor()
	if err != nil {
		return 0, err
	}
	if x.Len() != 1 {
		return 0, fmt.Errorf("the result has the shape %v, want a scalar", x.Shape())
	}
	switch x.DType() {
	case tensor.Float32:
		return float64(tensor.Values[float32](x)[0]), nil
	case tensor.Float64:
		return tensor.Values[float64](x)[0], nil
	}
	y, err := tensor.Zeros(tensor.Float64)
	if err == nil {
		err = tensor.CastRange(y.Bytes(), x, tensor.Float64, 0, 1)
	}
	if err != nil {
		return 0, err
	}
	return tensor.Values[float64](y)[0], nil
}
