package training_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/metrics"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// line returns n points of y = 2x - 1.
func line(n int) (x, y *tensor.Tensor) {
	xs, ys := make([]float32, n), make([]float32, n)
	for i := range xs {
		xs[i] = float32(i%7) / 7
		ys[i] = 2*xs[i] - 1
	}
	return tensor.Must(tensor.New(xs, n, 1)), tensor.Must(tensor.New(ys, n, 1))
}

func compiled(t testing.TB, model base.Callable, opts *training.CompileOptions) *training.Trainer {
	t.Helper()
	trainer, err := training.Compile(model, opts)
	must(t, err)
	return trainer
}

func regression() *training.CompileOptions {
	return &training.CompileOptions{Optimizer: optimizers.NewSGD(0.1), Loss: "mse", Metrics: "mae", Seed: new(uint64(1))}
}

type pair struct{ X, Y *tensor.Tensor }

// TestAllFormsOfDataTrainAlike passes the same batches in every form.
func TestAllFormsOfDataTrainAlike(t *testing.T) {
	x, y := line(20)
	batches := dataset.FromSlices(pair{x, y}).Batch(8, nil)
	forms := map[string]training.Data{
		"tensors":           &training.Examples{X: x, Y: y},
		"values":            &training.Examples{X: ops.ValueOf(x), Y: ops.ValueOf(y)},
		"a list of one":     &training.Examples{X: []*tensor.Tensor{x}, Y: []*tensor.Tensor{y}},
		"a map of truths":   &training.Examples{X: x, Y: map[string]*tensor.Tensor{"output_1": y}},
		"dataset":           training.Batches(batches),
		"dataset of values": training.Batches(dataset.FromSlices(struct{ A, B *ops.Value }{ops.ValueOf(x), ops.ValueOf(y)}).Batch(8, nil)),
		"sequence":          training.Sequence(batches.All(ctx)),
		"iterator": training.Values(func(yield func(training.Examples) bool) {
			for b := range batches.All(ctx) {
				if !yield(training.Examples{X: b.X, Y: b.Y}) {
					return
				}
			}
		}),
	}
	var want *callbacks.History
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		o := &training.FitOptions{Epochs: 3, InOrder: true}
		if _, memory := forms[name].(*training.Examples); memory {
			o.BatchSize = 8
		}
		got, err := compiled(t, &layers.Dense{Units: 1}, regression()).Fit(ctx, forms[name], o)
		must(t, err)
		if want == nil {
			want = got
		}
		if d := cmp.Diff(want.History, got.History); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if n := len(want.History["loss"]); n != 3 {
		t.Errorf("%d epochs", n)
	}
}

// TestEagerAndTracedStepsAreEqual trains with and without traces.
func TestEagerAndTracedStepsAreEqual(t *testing.T) {
	x, y := line(20)
	var all []map[string][]float64
	for _, eager := range []bool{false, true} {
		o := regression()
		o.RunEagerly = eager
		h, err := compiled(t, keras.NewSequential(&layers.Dense{Units: 4}, &layers.Dense{Units: 1}), o).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Epochs: 3, BatchSize: 8})
		must(t, err)
		all = append(all, h.History)
	}
	for name, traced := range all[0] {
		for i, want := range traced {
			if !near(all[1][name][i], want) {
				t.Errorf("%s: %v and %v", name, all[1][name], traced)
			}
		}
	}
}

// events records the events of a run.
type events struct {
	callbacks.LambdaCallback
	list []string
}

func (e *events) add(what string) { e.list = append(e.list, what) }

func newEvents() *events {
	e := new(events)
	logged := func(what string) func(context.Context, *callbacks.Run, int, callbacks.Logs) error {
		return func(_ context.Context, _ *callbacks.Run, n int, logs callbacks.Logs) error {
			e.add(what + string(rune('0'+n)) + " " + strings.Join(slices.Sorted(maps.Keys(logs)), ","))
			return nil
		}
	}
	at := func(what string) func(context.Context, *callbacks.Run, int) error {
		return func(_ context.Context, _ *callbacks.Run, n int) error { e.add(what + string(rune('0'+n))); return nil }
	}
	begin := func(what string) func(context.Context, *callbacks.Run) error {
		return func(context.Context, *callbacks.Run) error { e.add(what); return nil }
	}
	end := func(what string) func(context.Context, *callbacks.Run, callbacks.Logs) error {
		return func(_ context.Context, _ *callbacks.Run, logs callbacks.Logs) error {
			e.add(what + " " + strings.Join(slices.Sorted(maps.Keys(logs)), ","))
			return nil
		}
	}
	e.LambdaCallback = callbacks.LambdaCallback{
		TrainBegin: begin("train"), TrainEnd: end("train end"), EpochBegin: at("epoch"), EpochEnd: logged("epoch end"),
		TrainBatchBegin: at("batch"), TrainBatchEnd: logged("batch end"),
		TestBegin: begin("test"), TestEnd: end("test end"), TestBatchBegin: at("test batch"), TestBatchEnd: logged("test batch end"),
		PredictBegin: begin("predict"), PredictEnd: begin("predict end"), PredictBatchBegin: at("predict batch"), PredictBatchEnd: at("predict batch end"),
	}
	return e
}

// TestCallbacksAreCalledInTfKerasOrder lists the events of a run of two steps with a
// validation, as tf_keras has them.
func TestCallbacksAreCalledInTfKerasOrder(t *testing.T) {
	x, y := line(8)
	e := newEvents()
	data := &training.Examples{X: x, Y: y}
	trainer := compiled(t, &layers.Dense{Units: 1}, regression())
	_, err := trainer.Fit(ctx, data, &training.FitOptions{BatchSize: 4, ValidationData: data, ValidationBatchSize: 8, Callbacks: []callbacks.Callback{e}})
	must(t, err)
	_, err = trainer.Predict(ctx, data, &training.EvaluateOptions{Callbacks: []callbacks.Callback{e}})
	must(t, err)
	want := []string{"train", "epoch0", "batch0", "batch end0 loss,mae", "batch1", "batch end1 loss,mae",
		"test", "test batch0", "test batch end0 loss,mae", "test end loss,mae",
		"epoch end0 loss,mae,val_loss,val_mae", "train end loss,mae,val_loss,val_mae",
		"predict", "predict batch0", "predict batch end0", "predict end"}
	if d := cmp.Diff(want, e.list); d != "" {
		t.Error(d)
	}
}

// TestStepsPerExecutionCallsBatchMethodsLessOften runs five steps, two at a time.
func TestStepsPerExecutionCallsBatchMethodsLessOften(t *testing.T) {
	x, y := line(20)
	e := newEvents()
	o := regression()
	o.StepsPerExecution = 2
	_, err := compiled(t, &layers.Dense{Units: 1}, o).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{BatchSize: 4, Callbacks: []callbacks.Callback{e}})
	must(t, err)
	want := []string{"train", "epoch0", "batch0", "batch end1 loss,mae", "batch2", "batch end3 loss,mae", "batch4", "batch end4 loss,mae",
		"epoch end0 loss,mae", "train end loss,mae"}
	if d := cmp.Diff(want, e.list); d != "" {
		t.Error(d)
	}
}

// TestTheEndOfTheContextEndsTheTraining cancels in a callback.
func TestTheEndOfTheContextEndsTheTraining(t *testing.T) {
	x, y := line(40)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(ctx)
	steps := 0
	stop := &callbacks.LambdaCallback{TrainBatchEnd: func(_ context.Context, _ *callbacks.Run, n int, _ callbacks.Logs) error {
		steps++
		if n == 2 {
			cancel(cause)
		}
		return nil
	}}
	_, err := compiled(t, &layers.Dense{Units: 1}, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{BatchSize: 4, Callbacks: []callbacks.Callback{stop}})
	if !errors.Is(err, cause) || steps != 3 {
		t.Errorf("%d steps, error %v", steps, err)
	}
}

// TestStopTrainingEndsAfterTheBatch sets StopTraining in the first batch.
func TestStopTrainingEndsAfterTheBatch(t *testing.T) {
	x, y := line(40)
	steps := 0
	stop := &callbacks.LambdaCallback{TrainBatchEnd: func(_ context.Context, r *callbacks.Run, _ int, _ callbacks.Logs) error {
		steps++
		r.StopTraining = true
		return nil
	}}
	h, err := compiled(t, &layers.Dense{Units: 1}, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Epochs: 4, Callbacks: []callbacks.Callback{stop}})
	must(t, err)
	if steps != 1 || len(h.Epoch) != 1 {
		t.Errorf("%d steps, %d epochs", steps, len(h.Epoch))
	}
}

// twoHeads is a program's own model with two outputs and two inputs.
type twoHeads struct {
	keras.Model
	Left, Right *layers.Dense
}

func (m *twoHeads) Call(s *ops.Scope, x ops.Input) *ops.Value { return m.Run(s, m, x, nil) }

func (m *twoHeads) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	return []*ops.Value{m.Left.Call(s, c.Inputs[0]), m.Right.Call(s, c.Inputs[1])}
}

// TestSeveralOutputsHaveLossesAndMetricsOfTheirOwn names them, and weights the losses.
func TestSeveralOutputsHaveLossesAndMetricsOfTheirOwn(t *testing.T) {
	x, y := line(16)
	o := &training.CompileOptions{Optimizer: optimizers.NewSGD(0), Loss: map[string]any{"output_1": "mse", "output_2": "mae"},
		LossWeights: []float64{1, 10}, Metrics: []any{[]any{"mae"}, []any{"mse", &metrics.Mean{}}}}
	if _, err := training.Compile(&twoHeads{}, o); err == nil || !strings.Contains(err.Error(), "takes values") {
		t.Errorf("a metric of values: %v", err)
	}
	o.Metrics = map[string]any{"output_1": "mae", "output_2": []any{"mse"}}
	trainer := compiled(t, &twoHeads{Left: &layers.Dense{Units: 1}, Right: &layers.Dense{Units: 1}}, o)
	logs, err := trainer.Evaluate(ctx, &training.Examples{X: []*tensor.Tensor{x, x}, Y: []*tensor.Tensor{y, y}}, nil)
	must(t, err)
	if want := []string{"loss", "output_1_loss", "output_2_loss", "output_1_mae", "output_2_mse"}; !slices.Equal(trainer.MetricsNames(), want) {
		t.Errorf("metrics %q, want %q", trainer.MetricsNames(), want)
	}
	if !near(logs["loss"], logs["output_1_loss"]+10*logs["output_2_loss"]) {
		t.Errorf("the loss isn't the weighted sum: %v", logs)
	}
	out, err := trainer.PredictAll(ctx, &training.Examples{X: []*tensor.Tensor{x, x}}, &training.EvaluateOptions{BatchSize: 5})
	must(t, err)
	if len(out) != 2 || out[1].Shape()[0] != 16 {
		t.Errorf("predictions %v", out)
	}
}

// TestWrongArgumentsAreErrors checks that errors name the fault.
func TestWrongArgumentsAreErrors(t *testing.T) {
	x, y := line(16)
	short, _ := line(3)
	model := func() *layers.Dense { return &layers.Dense{Units: 1} }
	for name, c := range map[string]struct {
		compile *training.CompileOptions
		data    training.Data
		fit     *training.FitOptions
		want    string
	}{
		"unknown optimizer": {compile: &training.CompileOptions{Optimizer: "adm"}, want: `"adm"`},
		"unknown loss":      {compile: &training.CompileOptions{Loss: "mze"}, want: "mse"},
		"unknown metric":    {compile: &training.CompileOptions{Metrics: []string{"acuracy"}}, want: "accuracy"},
		"same metric twice": {compile: &training.CompileOptions{Metrics: []any{"mae", "mae"}, Loss: "mse"}, want: `the name "mae"`},
		"unknown output":    {compile: &training.CompileOptions{Loss: map[string]string{"out": "mse"}}, want: "output_1"},
		"no loss":           {compile: &training.CompileOptions{}, want: "option Loss"},
		"no truths":         {data: &training.Examples{X: x}, want: "set Y"},
		"no data":           {data: &training.Examples{}, want: "no X"},
		"unequal lengths":   {data: &training.Examples{X: x, Y: short}, want: "3 examples, want 16"},
		"split of batches":  {data: training.Batches(dataset.FromSlices(pair{x, y}).Batch(4, nil)), fit: &training.FitOptions{ValidationSplit: 0.1}, want: "ValidationData"},
		"split too small":   {fit: &training.FitOptions{ValidationSplit: 0.99}, want: "split"},
		"endless dataset":   {data: training.Batches(dataset.FromSlices(pair{x, y}).Batch(4, nil).Repeat(-1)), want: "never ends"},
		"negative epochs":   {fit: &training.FitOptions{Epochs: -1}, want: "Epochs is -1"},
		"batches of batch":  {data: training.Batches(dataset.FromSlices(pair{x, y}).Batch(4, nil)), fit: &training.FitOptions{BatchSize: 3}, want: "BatchSize"},
		"failing sequence": {data: training.Sequence(iter.Seq2[pair, error](func(yield func(pair, error) bool) { yield(pair{}, errors.New("disk is gone")) })),
			want: "disk is gone"},
	} {
		o := c.compile
		if o == nil {
			o = regression()
		}
		data := c.data
		if data == nil {
			data = &training.Examples{X: x, Y: y}
		}
		trainer, err := training.Compile(model(), o)
		if err == nil {
			_, err = trainer.Fit(ctx, data, c.fit)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// TestOutputIsTheLinesOfTfKeras checks the output without a terminal.
func TestOutputIsTheLinesOfTfKeras(t *testing.T) {
	x, y := line(16)
	var out strings.Builder
	_, err := compiled(t, &layers.Dense{Units: 1}, regression()).Fit(ctx, &training.Examples{X: x, Y: y}, &training.FitOptions{Epochs: 2, BatchSize: 4, ValidationSplit: 0.25, Output: &out})
	must(t, err)
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 5 || lines[0] != "Epoch 1/2" || !strings.HasPrefix(lines[1], "3/3 - 0s - loss: ") || !strings.Contains(lines[1], " - mae: ") ||
		!strings.Contains(lines[1], " - val_loss: ") || !strings.HasSuffix(lines[1], "/step") {
		t.Errorf("%q", lines)
	}
}

// TestBatchesOfManySizesAreEqualToEagerOnes trains with batches of four sizes and two
// lengths, of which the last traces have unknown sizes.
func TestBatchesOfManySizesAreEqualToEagerOnes(t *testing.T) {
	var batches []training.Examples
	for i, size := range [][2]int{{5, 4}, {4, 4}, {3, 6}, {2, 6}, {1, 5}} {
		words := make([]int32, size[0]*size[1])
		truths := make([]int64, size[0])
		for k := range words {
			words[k] = int32((k*7 + i) % 5) // 0 is masked
		}
		for k := range truths {
			truths[k] = int64(k % 3)
		}
		batches = append(batches, training.Examples{X: tensor.Must(tensor.New(words, size[0], size[1])), Y: tensor.Vector(truths...), SampleWeight: make([]float32, size[0])})
		for k := range truths {
			batches[i].SampleWeight.([]float32)[k] = float32(k + 1)
		}
	}
	var histories []map[string][]float64
	for _, eager := range []bool{true, false} {
		model := keras.NewSequential(&layers.Embedding{InputDim: 5, OutputDim: 3, MaskZero: true}, &layers.LSTM{Units: 4}, &layers.Dense{Units: 3})
		trainer := compiled(t, model, &training.CompileOptions{Optimizer: optimizers.NewAdam(0.05), RunEagerly: eager, Seed: new(uint64(1)),
			Loss: losses.SparseCategoricalCrossentropy{FromLogits: true}, Metrics: "accuracy", WeightedMetrics: []string{"ce"}})
		h, err := trainer.Fit(ctx, training.Values(slices.Values(batches)), &training.FitOptions{Epochs: 3, ClassWeight: []float64{1, 2, 3}})
		must(t, err)
		histories = append(histories, h.History)
	}
	for name, want := range histories[0] {
		for i := range want {
			if !near(histories[1][name][i], want[i]) {
				t.Errorf("%s is %v, want %v", name, histories[1][name], want)
				break
			}
		}
	}
}
