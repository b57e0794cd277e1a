// Package callbacks has the callbacks of tf_keras: objects that observe and steer training.
//
//	callbacks.List{&callbacks.EarlyStopping{Patience: 3}, &callbacks.CSVLogger{Filename: "log.csv"}}
//
// A program's own callback embeds [Base] and has the methods for the events that it needs:
//
//	type Printer struct{ callbacks.Base }
//
//	func (p *Printer) OnEpochEnd(ctx context.Context, r *callbacks.Run, epoch int, logs callbacks.Logs) error {
//		fmt.Println(epoch, logs["loss"])
//		return nil
//	}
package callbacks

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/trackable"
)

// Logs are the numbers of an epoch or a batch by name: "loss", the metrics, and in the logs
// of an epoch the same of the validation, after "val_". A callback may add numbers for the
// callbacks after it and for the [History].
type Logs map[string]float64

// Params are the settings of a run.
type Params struct {
	// BatchSize is the number of examples in a batch, 0 if it is unknown.
	BatchSize int
	// Epochs is the number of the last epoch, counted from 1.
	Epochs int
	// Steps is the number of batches of an epoch, 0 if it is unknown.
	Steps int
	// Verbose is 0 without progress, 1 for a bar, 2 for a line an epoch.
	Verbose int
	// Metrics are the names in the logs of an epoch.
	Metrics []string
}

// Run is the training, evaluation or prediction that callbacks observe. The code that calls
// them makes it.
type Run struct {
	// Model is the model.
	Model trackable.Trackable
	// Optimizer changes the model's variables. It is nil if the model has none.
	Optimizer optimizers.Optimizer
	// Params are the settings of the run.
	Params Params
	// Output receives the messages of verbose callbacks, and warnings. Default: they are
	// discarded.
	Output io.Writer
	// StopTraining ends the training after the current batch or epoch. Callbacks set it.
	StopTraining bool
	// InitialEpoch and InitialStep are the start of the training, counted from 0. A callback
	// may set them in OnTrainBegin; the examples before are skipped then.
	InitialEpoch, InitialStep int
	// TrainCounter counts the steps of the training. It is nil in evaluations.
	TrainCounter *trackable.Scalar[int64]
	// Tracer is notified of the ops of the steps. A callback sets it before a step. Default:
	// none.
	Tracer engine.Tracer
	// TrainGraph returns the graph of a training step as an encoded GraphDef, nil before the
	// first step and for steps that are not traced. It is nil in evaluations.
	TrainGraph func(ctx context.Context) ([]byte, error)
}

// Weights returns the model's variables in the order of Keras's model.weights.
func (r *Run) Weights() []*trackable.Variable { return base.Variables(r.Model) }

// Printf writes a message to Output.
func (r *Run) Printf(format string, args ...any) {
	if r.Output != nil {
		fmt.Fprintf(r.Output, format, args...)
	}
}

// learningRate returns the optimizer's rate; who names the callback that needs it.
func (r *Run) learningRate(who string) (float32, error) {
	if r.Optimizer == nil {
		return 0, fmt.Errorf("callbacks: %s: the model has no optimizer; compile it with one", who)
	}
	rate, err := r.Optimizer.LearningRate()
	if err != nil {
		return 0, fmt.Errorf("callbacks: %s: %w", who, err)
	}
	return float32(rate), nil
}

func (r *Run) setLearningRate(who string, rate float64) error {
	if err := r.Optimizer.SetLearningRate(rate); err != nil {
		return fmt.Errorf("callbacks: %s: %w", who, err)
	}
	return nil
}

// monitored returns the number in the logs that a callback monitors. who is the callback's name.
// If there is no such number, it prints a warning and ok is false.
func (r *Run) monitored(who, name string, logs Logs) (value float64, ok bool) {
	if value, ok = logs[name]; !ok {
		r.Printf("WARNING: %s: the logs have no %q; there are %s\n", who, name, strings.Join(slices.Sorted(maps.Keys(logs)), ", "))
	}
	return value, ok
}

// Callback is called at the events of a run. Epochs and batches are counted from 0. The first
// error ends the run. Each event's context is that of the run.
type Callback interface {
	OnTrainBegin(ctx context.Context, r *Run) error
	OnTrainEnd(ctx context.Context, r *Run, logs Logs) error
	OnEpochBegin(ctx context.Context, r *Run, epoch int) error
	OnEpochEnd(ctx context.Context, r *Run, epoch int, logs Logs) error
	OnTrainBatchBegin(ctx context.Context, r *Run, batch int) error
	OnTrainBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error
	OnTestBegin(ctx context.Context, r *Run) error
	OnTestEnd(ctx context.Context, r *Run, logs Logs) error
	OnTestBatchBegin(ctx context.Context, r *Run, batch int) error
	OnTestBatchEnd(ctx context.Context, r *Run, batch int, logs Logs) error
	OnPredictBegin(ctx context.Context, r *Run) error
	OnPredictEnd(ctx context.Context, r *Run) error
	OnPredictBatchBegin(ctx context.Context, r *Run, batch int) error
	OnPredictBatchEnd(ctx context.Context, r *Run, batch int) error
}

// Aborter is implemented by callbacks that hold something, such as an open file. OnTrainAbort
// is called instead of OnTrainEnd if the training ends with an error.
type Aborter interface{ OnTrainAbort() }

// Base is a [Callback] that does nothing. Callbacks embed it.
type Base struct{}

// OnTrainBegin does nothing.
func (Base) OnTrainBegin(context.Context, *Run) error { return nil }

// OnTrainEnd does nothing.
func (Base) OnTrainEnd(context.Context, *Run, Logs) error { return nil }

// OnEpochBegin does nothing.
func (Base) OnEpochBegin(context.Context, *Run, int) error { return nil }

// OnEpochEnd does nothing.
func (Base) OnEpochEnd(context.Context, *Run, int, Logs) error { return nil }

// OnTrainBatchBegin does nothing.
func (Base) OnTrainBatchBegin(context.Context, *Run, int) error { return nil }

// OnTrainBatchEnd does nothing.
func (Base) OnTrainBatchEnd(context.Context, *Run, int, Logs) error { return nil }

// OnTestBegin does nothing.
func (Base) OnTestBegin(context.Context, *Run) error { return nil }

// OnTestEnd does nothing.
func (Base) OnTestEnd(context.Context, *Run, Logs) error { return nil }

// OnTestBatchBegin does nothing.
func (Base) OnTestBatchBegin(context.Context, *Run, int) error { return nil }

// OnTestBatchEnd does nothing.
func (Base) OnTestBatchEnd(context.Context, *Run, int, Logs) error { return nil }

// OnPredictBegin does nothing.
func (Base) OnPredictBegin(context.Context, *Run) error { return nil }

// OnPredictEnd does nothing.
func (Base) OnPredictEnd(context.Context, *Run) error { return nil }

// OnPredictBatchBegin does nothing.
func (Base) OnPredictBatchBegin(context.Context, *Run, int) error { return nil }

// OnPredictBatchEnd does nothing.
func (Base) OnPredictBatchEnd(context.Context, *Run, int) error { return nil }

var _ Callback = Base{}
