package callbacks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/keras/config"
)

// ReduceLROnPlateau lowers the learning rate when a number has stopped improving. It adds
// the rate of the epoch to the logs as "lr".
type ReduceLROnPlateau struct {
	Base
	// Monitor is the number in the logs. Default: "val_loss".
	Monitor string
	// Factor is the factor of the rate, below 1. Default: 0.1.
	Factor *float64
	// Patience is the number of epochs without improvement before the rate falls.
	// Default: 10.
	Patience *int
	// Verbose prints a message when the rate falls. Default: false.
	Verbose bool
	// Mode determines which values are better. Default: Auto; a name that contains acc
	// means Max.
	Mode Mode
	// MinDelta is the least change that counts as an improvement. Default: 0.0001.
	MinDelta *float64
	// Cooldown is the number of epochs after a change of the rate in which the number is not
	// compared. Default: 0.
	Cooldown int
	// MinLR is the least rate. Default: 0.
	MinLR float64

	rising        bool
	best          float64
	wait, cooling int // epochs without an improvement, and those left of Cooldown
}

func (p *ReduceLROnPlateau) monitor() string { return cmp.Or(p.Monitor, "val_loss") }

// or returns the value that p points to, or value if p is nil.
func or[T any](p *T, value T) T {
	if p != nil {
		return *p
	}
	return value
}

// OnTrainBegin forgets earlier trainings.
func (p *ReduceLROnPlateau) OnTrainBegin(context.Context, *Run) error {
	if f := or(p.Factor, 0.1); !(f < 1) {
		return fmt.Errorf("callbacks: ReduceLROnPlateau: Factor is %v, want less than 1", f)
	}
	rising, err := p.Mode.rising(func() bool { return strings.Contains(p.monitor(), "acc") })
	p.rising, p.best, p.wait, p.cooling = rising, math.Inf(1), 0, 0
	if rising {
		p.best = math.Inf(-1)
	}
	return err
}

func (p *ReduceLROnPlateau) improves(value float64) bool {
	delta := or(p.MinDelta, 1e-4)
	if p.rising {
		return value > p.best+delta
	}
	return value < p.best-delta
}

// OnEpochEnd compares the number with the best one, and lowers the rate if it is time.
func (p *ReduceLROnPlateau) OnEpochEnd(_ context.Context, r *Run, epoch int, logs Logs) error {
	rate, err := r.learningRate("ReduceLROnPlateau")
	if err != nil {
		return err
	}
	if logs != nil {
		logs["lr"] = float64(rate)
	}
	current, ok := r.monitored("ReduceLROnPlateau", p.monitor(), logs)
	if !ok {
		return nil
	}
	if p.cooling > 0 {
		p.cooling--
		p.wait = 0
	}
	if p.improves(current) {
		p.best, p.wait = current, 0
		return nil
	}
	if p.cooling > 0 {
		return nil
	}
	if p.wait++; p.wait < or(p.Patience, 10) || !(rate > float32(p.MinLR)) {
		return nil
	}
	next := math.Max(float64(rate*float32(or(p.Factor, 0.1))), p.MinLR)
	if err := r.setLearningRate("ReduceLROnPlateau", next); err != nil {
		return err
	}
	if p.Verbose {
		r.Printf("\nEpoch %d: ReduceLROnPlateau reducing learning rate to %s.\n", epoch+1, config.FormatFloat(next, 64))
	}
	p.cooling, p.wait = p.Cooldown, 0
	return nil
}
