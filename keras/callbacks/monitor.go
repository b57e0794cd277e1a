package callbacks

import (
	"fmt"
	"strings"
)

// Mode determines which values of a monitored number are better.
type Mode string

// The modes.
const (
	// Auto means Max for accuracies and areas under curves, by the number's name, and Min
	// for all else.
	Auto Mode = "auto"
	// Min means that smaller is better.
	Min Mode = "min"
	// Max means that larger is better.
	Max Mode = "max"
)

// rising reports whether larger is better. auto decides for Auto, which "" means too.
func (m Mode) rising(auto func() bool) (bool, error) {
	switch m {
	case Auto, "":
		return auto(), nil
	case Min:
		return false, nil
	case Max:
		return true, nil
	}
	return false, fmt.Errorf("callbacks: unknown mode %q (known: %q)", string(m), []Mode{Auto, Min, Max})
}

// ratesAccuracy reports whether a number is one of those that get better as they rise, by the
// rule of tf_keras's EarlyStopping. ReduceLROnPlateau and ModelCheckpoint have other rules for Auto.
func ratesAccuracy(name string) bool {
	for _, end := range []string{"acc", "accuracy", "auc"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
