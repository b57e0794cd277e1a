package callbacks

import (
	"context"
	"errors"

	"github.com/cairnml/cairn/keras/config"
)

// LearningRateScheduler sets the learning rate before each epoch. It adds the rate of the
// epoch to the logs as "lr".
type LearningRateScheduler struct {
	Base
	// Schedule returns the rate of an epoch, counted from 0. rate is the one before.
	Schedule func(epoch int, rate float64) float64
	// Verbose prints a message for each epoch. Default: false.
	Verbose bool
}

// OnEpochBegin sets the rate.
func (l *LearningRateScheduler) OnEpochBegin(_ context.Context, r *Run, epoch int) error {
	rate, err := r.learningRate("LearningRateScheduler")
	if err != nil {
		return err
	}
	if l.Schedule == nil {
		return errors.New("callbacks: LearningRateScheduler: Schedule is nil; set it to a function")
	}
	next := l.Schedule(epoch, float64(rate))
	if err := r.setLearningRate("LearningRateScheduler", next); err != nil {
		return err
	}
	if l.Verbose {
		r.Printf("\nEpoch %d: LearningRateScheduler setting learning rate to %s.\n", epoch+1, config.FormatFloat(next, 64))
	}
	return nil
}

// OnEpochEnd adds the rate to the logs.
func (l *LearningRateScheduler) OnEpochEnd(_ context.Context, r *Run, _ int, logs Logs) error {
	rate, err := r.learningRate("LearningRateScheduler")
	if err == nil && logs != nil {
		logs["lr"] = float64(rate)
	}
	return err
}
