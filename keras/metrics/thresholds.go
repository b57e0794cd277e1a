package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/cairnml/cairn/trackable"
)

// Thresholds are the limits from which on predictions count as positive: one, whose metric
// is a number, or several, whose metric has one number for each. The zero value means the
// default.
type Thresholds struct {
	list []float64
	one  bool
}

// Threshold returns a single threshold, between 0 and 1.
func Threshold(x float64) Thresholds { return Thresholds{[]float64{x}, true} }

// ThresholdList returns several thresholds, between 0 and 1.
func ThresholdList(x ...float64) Thresholds { return Thresholds{list: x} }

// MarshalConfig returns nil, a number or a list.
func (t Thresholds) MarshalConfig() (any, error) {
	switch {
	case t.one:
		return t.list[0], nil
	case t.list == nil:
		return nil, nil
	}
	return t.list, nil
}

// UnmarshalConfig reads nil, a number or a list.
func (t *Thresholds) UnmarshalConfig(v any) error {
	*t = Thresholds{}
	if v == nil {
		return nil
	}
	list, several := v.([]any)
	if !several {
		list = []any{v}
	}
	out := Thresholds{list: make([]float64, len(list)), one: !several}
	for i, x := range list {
		n, ok := x.(json.Number)
		if !ok {
			return errors.New("got no number, nor a list of numbers")
		}
		var err error
		if out.list[i], err = n.Float64(); err != nil {
			return err
		}
	}
	*t = out
	return out.check()
}

func (t Thresholds) check() error {
	if !t.one && t.list != nil && len(t.list) == 0 {
		return errors.New("the list of thresholds is empty")
	}
	for _, x := range t.list {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("a threshold is %v, want 0 to 1", x)
		}
	}
	return nil
}

// or returns the thresholds, or the default.
func (t Thresholds) or(def float64) []float64 {
	if t.list == nil {
		return []float64{def}
	}
	return t.list
}

// nodes returns the children that tf_keras's lists of thresholds are in the object graph. They have
// no children; checkpoints contain the edges.
func (t Thresholds) nodes() []State {
	list := func() trackable.Trackable { return trackable.NewList[*trackable.Variable]() }
	if t.list != nil && !t.one {
		return []State{{Edge: "init_thresholds", Child: list()}, {Edge: "thresholds", Child: list()}}
	}
	return []State{{Edge: "thresholds", Child: list()}}
}

// spread returns n thresholds at equal distances from 0 to 1; 0.5 if n is 1. Their roundings are
// tf_keras's.
func spread(n int) []float64 {
	if n == 1 {
		return []float64{0.5}
	}
	out := make([]float64, n)
	for i := range n - 2 {
		out[i+1] = float64(i+1) * 1.0 / float64(n-1)
	}
	out[n-1] = 1
	return out
}

// evenly reports whether thresholds have equal distances from 0 to 1, as tf_keras decides
// it.
func evenly(list []float64) bool {
	n := len(list)
	if n < 3 {
		return false
	}
	for i, x := range list {
		even := float64(float32(i) / float32(n-1))
		if !(math.Abs(x-even) <= 1e-7+1e-5*math.Abs(even)) {
			return false
		}
	}
	return true
}

// maxThresholds bounds the elements of a variable that a config from a file asks for. The number
// is Cairn's and may grow.
const maxThresholds = 1 << 24
