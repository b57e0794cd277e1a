package callbacks

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// EarlyStopping ends the training when a number has stopped improving.
type EarlyStopping struct {
	Base
	// Monitor is the number in the logs. Default: "val_loss".
	Monitor string
	// MinDelta is the least change that counts as an improvement; its sign is ignored.
	// Default: 0.
	MinDelta float64
	// Patience is the number of epochs without improvement before the training ends.
	// Default: 0.
	Patience int
	// Verbose prints a message when the training ends early. Default: false.
	Verbose bool
	// Mode determines which values are better. Default: Auto.
	Mode Mode
	// Baseline is a value that must be beaten as well. Default: none.
	Baseline *float64
	// RestoreBestWeights restores the weights of the model's best epoch at the end.
	// Default: false, it keeps the last ones.
	RestoreBestWeights bool
	// StartFromEpoch is the first epoch that counts. Default: 0.
	StartFromEpoch int

	state earlyState
}

// earlyState is the state of one training.
type earlyState struct {
	rising    bool                  // larger is better
	wait      int                   // epochs without an improvement
	stopped   int                   // the epoch after which the training ends early; 0 before that
	best      float64               // the best value so far, at first the worst one
	bestEpoch int                   // the epoch of best, counted from 0
	vars      []*trackable.Variable // the model's, with RestoreBestWeights
	weights   []*tensor.Tensor      // their values in the best epoch
}

// StoppedEpoch returns the epoch after which the last training ended early, counted from 0;
// 0 if it did not.
func (e *EarlyStopping) StoppedEpoch() int { return e.state.stopped }

func (e *EarlyStopping) monitor() string { return cmp.Or(e.Monitor, "val_loss") }

// OnTrainBegin forgets earlier trainings.
func (e *EarlyStopping) OnTrainBegin(context.Context, *Run) error {
	rising, err := e.Mode.rising(func() bool { return ratesAccuracy(e.monitor()) })
	e.state = earlyState{rising: rising, best: math.Inf(1)}
	if rising {
		e.state.best = math.Inf(-1)
	}
	return err
}

// improves reports whether value is better than reference by MinDelta.
func (e *EarlyStopping) improves(value, reference float64) bool {
	delta := math.Abs(e.MinDelta)
	if e.state.rising {
		return value-delta > reference
	}
	return value+delta < reference
}

// keep notes the best epoch, and its weights if they may be restored.
func (e *EarlyStopping) keep(r *Run, epoch int) {
	e.state.bestEpoch = epoch
	if !e.RestoreBestWeights {
		return
	}
	e.state.vars = r.Weights()
	e.state.weights = make([]*tensor.Tensor, len(e.state.vars))
	for i, v := range e.state.vars {
		e.state.weights[i] = v.Load()
	}
}

// OnEpochEnd compares the number with the best one.
func (e *EarlyStopping) OnEpochEnd(_ context.Context, r *Run, epoch int, logs Logs) error {
	current, ok := r.monitored("EarlyStopping", e.monitor(), logs)
	if !ok || epoch < e.StartFromEpoch {
		return nil
	}
	if e.RestoreBestWeights && e.state.weights == nil {
		e.keep(r, epoch) // the weights to restore if there never is an improvement
	}
	e.state.wait++
	if e.improves(current, e.state.best) {
		e.state.best = current
		e.keep(r, epoch)
		if e.Baseline == nil || e.improves(current, *e.Baseline) {
			e.state.wait = 0
		}
		return nil
	}
	if e.state.wait >= e.Patience && epoch > 0 { // never after the first epoch, as tf_keras
		e.state.stopped = epoch
		r.StopTraining = true
	}
	return nil
}

// OnTrainEnd restores the best weights.
func (e *EarlyStopping) OnTrainEnd(_ context.Context, r *Run, _ Logs) error {
	if e.state.stopped > 0 && e.Verbose {
		r.Printf("Epoch %d: early stopping\n", e.state.stopped+1)
	}
	if e.state.weights == nil {
		return nil
	}
	if e.Verbose {
		r.Printf("Restoring model weights from the end of the best epoch: %d.\n", e.state.bestEpoch+1)
	}
	for i, v := range e.state.vars {
		if err := v.StoreShared(e.state.weights[i]); err != nil {
			return fmt.Errorf("callbacks: EarlyStopping: %w", err)
		}
	}
	e.state.vars, e.state.weights = nil, nil
	return nil
}
