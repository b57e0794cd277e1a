package training

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// EvaluateOptions are the options of [Trainer.Evaluate], [Trainer.Predict] and
// [Trainer.PredictAll].
type EvaluateOptions struct {
	// BatchSize is the number of examples in a batch. Data that comes in batches has none.
	// Default: 32, or the size that makes Steps batches.
	BatchSize int
	// Steps is the number of batches. Default: all.
	Steps int
	// Callbacks are called at the events. Default: none.
	Callbacks []callbacks.Callback
	// Verbose is how much is written to Output. Default: Auto.
	Verbose Verbosity
	// Output receives the progress and the messages of callbacks. Default: they are
	// discarded.
	Output io.Writer
}

// evaluation is a pass over data with the metrics: one call of Evaluate, or all validations
// of one Fit, which calls run once for each.
type evaluation struct {
	t    *Trainer
	r    *callbacks.Run
	list callbacks.List
	data Data
	o    sourceOptions
	feed *feed
}

// run evaluates the data from its first batch and returns the logs.
func (v *evaluation) run(ctx context.Context) (callbacks.Logs, error) {
	if v.feed == nil {
		var err error
		if v.feed, err = newFeed(ctx, v.data, &v.o); err != nil {
			return nil, err
		}
	}
	f := v.feed
	defer f.close()
	if err := v.list.OnTestBegin(ctx, v.r); err != nil {
		return nil, err
	}
	if err := v.t.ResetMetrics(ctx); err != nil {
		return nil, err
	}
	f.exhausted = false
	f.begin(ctx, 0)
	var logs callbacks.Logs
	err := f.each(v.r, v.t.executions(f, func(step int) error {
		return v.list.OnTestBatchBegin(ctx, v.r, step)
	}, func(e *element) (err error) {
		logs, err = v.t.step(ctx, v.t.test, e, nil)
		return err
	}, func(step int) (bool, error) {
		return false, v.list.OnTestBatchEnd(ctx, v.r, step, logs)
	}))
	if err != nil {
		return nil, err
	}
	if logs == nil {
		return nil, errors.New("the data has no batch")
	}
	return logs, v.list.OnTestEnd(ctx, v.r, maps.Clone(logs))
}

// observed returns the run and the callbacks of an evaluation or a prediction.
func (t *Trainer) observed(f *feed, o *EvaluateOptions) (*callbacks.Run, callbacks.List) {
	verbose := o.Verbose.number(o.Output)
	list, _ := withDefaults(o.Callbacks, verbose)
	return &callbacks.Run{
		Model: t.model, Optimizer: t.optimizer, Output: o.Output,
		Params: callbacks.Params{BatchSize: f.src.batchSize(), Epochs: 1, Steps: max(f.perEpoch, 0), Verbose: verbose, Metrics: t.MetricsNames()},
	}, list
}

// open checks the options and opens the data.
func (o *EvaluateOptions) open(ctx context.Context, data Data) (*feed, error) {
	if o.BatchSize < 0 || o.Steps < 0 {
		return nil, fmt.Errorf("BatchSize is %d and Steps is %d, want 0 or more", o.BatchSize, o.Steps)
	}
	return newFeed(ctx, data, &sourceOptions{batchSize: o.BatchSize, steps: o.Steps, passes: 1})
}

// Evaluate returns the loss and the metrics for data, by name. Sample weights apply to the
// loss and the weighted metrics.
func (t *Trainer) Evaluate(ctx context.Context, data Data, opts *EvaluateOptions) (callbacks.Logs, error) {
	if opts == nil {
		opts = &EvaluateOptions{}
	}
	feed, err := opts.open(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("training: Evaluate: %w", err)
	}
	v := evaluation{t: t, feed: feed}
	v.r, v.list = t.observed(feed, opts)
	logs, err := v.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("training: Evaluate: %w", err)
	}
	return logs, nil
}

// Predict returns the first output of the model for the inputs of data.
func (t *Trainer) Predict(ctx context.Context, data Data, opts *EvaluateOptions) (*tensor.Tensor, error) {
	all, err := t.PredictAll(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// PredictAll returns all outputs of the model for the inputs of data, in the order of a
// list of outputs, or of the sorted keys of a map.
func (t *Trainer) PredictAll(ctx context.Context, data Data, opts *EvaluateOptions) ([]*tensor.Tensor, error) {
	if opts == nil {
		opts = &EvaluateOptions{}
	}
	out, err := t.predictAll(ctx, data, opts)
	if err != nil {
		return nil, fmt.Errorf("training: Predict: %w", err)
	}
	return out, nil
}

func (t *Trainer) predictAll(ctx context.Context, data Data, opts *EvaluateOptions) ([]*tensor.Tensor, error) {
	feed, err := opts.open(ctx, data)
	if err != nil {
		return nil, err
	}
	defer feed.close()
	r, list := t.observed(feed, opts)
	if err := list.OnPredictBegin(ctx, r); err != nil {
		return nil, err
	}
	feed.begin(ctx, 0)
	var parts [][]*tensor.Tensor // of each output
	err = feed.each(r, t.executions(feed, func(step int) error {
		return list.OnPredictBatchBegin(ctx, r, step)
	}, func(e *element) error {
		out, err := t.outputsFor(ctx, e)
		if err != nil {
			return err
		}
		if parts == nil {
			parts = make([][]*tensor.Tensor, len(out))
		}
		for i, v := range out {
			parts[i] = append(parts[i], v)
		}
		return nil
	}, func(step int) (bool, error) {
		return false, list.OnPredictBatchEnd(ctx, r, step)
	}))
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return nil, errors.New("the data has no batch")
	}
	whole := make([]*tensor.Tensor, len(parts))
	for i, list := range parts {
		if whole[i], err = join(list); err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
	}
	return whole, list.OnPredictEnd(ctx, r)
}

// outputsFor returns the outputs for a batch. It leaves out the batch's truths and weights:
// they would be arguments of predict, and each form of its arguments needs a trace.
func (t *Trainer) outputsFor(ctx context.Context, e *element) ([]*tensor.Tensor, error) {
	only := &element{x: e.x, layouts: &layouts{x: e.layouts.x}}
	values, err := t.predict.Call(ctx, t.input(only, nil))
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(values))
	for i, v := range values {
		if out[i], err = v.Tensor(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// join puts tensors one after another along their first dimension, in new storage unless there is
// only one.
func join(parts []*tensor.Tensor) (*tensor.Tensor, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	shape := parts[0].Shape().Clone()
	for _, p := range parts[1:] {
		s := p.Shape()
		if len(s) == 0 || len(s) != len(shape) || !s[1:].Equal(shape[1:]) {
			return nil, fmt.Errorf("batches have the shapes %v and %v, which can't be joined; predict them one by one", parts[0].Shape(), s)
		}
		shape[0] += s[0]
	}
	out, err := tensor.Zeros(parts[0].DType(), shape...)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, p := range parts {
		if out.DType().Fixed() {
			n += copy(out.Bytes()[n:], p.Bytes())
		} else {
			n += copy(out.Strings()[n:], p.Strings())
		}
	}
	return out, nil
}

// BatchOptions are the options of [Trainer.TrainOnBatch] and [Trainer.TestOnBatch].
type BatchOptions struct {
	// ClassWeight has a factor for the examples of each class; TestOnBatch ignores it.
	// Default: ones.
	ClassWeight []float64
	// KeepMetrics adds the batch to the state of the metrics. Default: the logs are those
	// of this batch alone.
	KeepMetrics bool
}

// TrainOnBatch takes one step of training with a batch, and returns its logs.
func (t *Trainer) TrainOnBatch(ctx context.Context, batch *Examples, opts *BatchOptions) (callbacks.Logs, error) {
	logs, err := t.onBatch(ctx, batch, opts, true)
	if err != nil {
		return nil, fmt.Errorf("training: TrainOnBatch: %w", err)
	}
	return logs, nil
}

// TestOnBatch evaluates one batch and returns its logs.
func (t *Trainer) TestOnBatch(ctx context.Context, batch *Examples, opts *BatchOptions) (callbacks.Logs, error) {
	logs, err := t.onBatch(ctx, batch, opts, false)
	if err != nil {
		return nil, fmt.Errorf("training: TestOnBatch: %w", err)
	}
	return logs, nil
}

func (t *Trainer) onBatch(ctx context.Context, batch *Examples, opts *BatchOptions, train bool) (callbacks.Logs, error) {
	if opts == nil {
		opts = &BatchOptions{}
	}
	e, err := elementOf(ctx, batch)
	if err != nil {
		return nil, err
	}
	if !opts.KeepMetrics {
		if err := t.ResetMetrics(ctx); err != nil {
			return nil, err
		}
	}
	if !train {
		return t.step(ctx, t.test, e, nil)
	}
	return t.step(ctx, t.train, e, classVector(opts.ClassWeight))
}

// classVector returns class weights as an argument of the step.
func classVector(weights []float64) []*ops.Value {
	if weights == nil {
		return nil
	}
	w := make([]float32, len(weights))
	for i, x := range weights {
		w[i] = float32(x)
	}
	return []*ops.Value{ops.ValueOf(tensor.Vector(w...))}
}

// PredictOnBatch returns the outputs of the model for one batch of inputs: a tensor, or a
// list or map of them.
func (t *Trainer) PredictOnBatch(ctx context.Context, x any) ([]*tensor.Tensor, error) {
	e, err := elementOf(ctx, &Examples{X: x})
	if err != nil {
		return nil, fmt.Errorf("training: PredictOnBatch: %w", err)
	}
	out, err := t.outputsFor(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("training: PredictOnBatch: %w", err)
	}
	return out, nil
}
