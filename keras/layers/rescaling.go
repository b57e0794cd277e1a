package layers

import (
	"encoding/json"
	"fmt"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Rescaling computes x·Scale + Offset. Inputs that are integers are converted to floats.
type Rescaling struct {
	base.Layer
	// Scale is the factor, one number or one for each channel. It is required.
	Scale Numbers
	// Offset is added, one number or one for each channel. Default: 0.
	Offset Numbers `keras:",default=0.0"`
}

// MapsElements allows ragged inputs: each element is computed independently.
func (r *Rescaling) MapsElements() (string, error) { return "elements", nil }

// Call returns x·Scale + Offset.
func (r *Rescaling) Call(s *ops.Scope, x ops.Input) *ops.Value { return r.Run(s, r, x, nil) }

// Compute returns x·Scale + Offset.
func (r *Rescaling) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	if len(r.Scale) == 0 {
		return s.Fail("Rescaling", fmt.Errorf("there is no scale"))
	}
	d := r.DType.Compute()
	return ops.Add(s, ops.Mul(s, ops.Cast(s, x, d), r.Scale.value(s, d)), r.Offset.value(s, d))
}

// Numbers are numbers of a setting. In a config a single one is a plain number.
type Numbers []float64

// MarshalConfig returns a number for one, a list for several, and nil for none.
func (n Numbers) MarshalConfig() (any, error) {
	switch len(n) {
	case 0:
		return nil, nil
	case 1:
		return n[0], nil
	}
	return []float64(n), nil
}

// UnmarshalConfig reads a number, a list of numbers or null.
func (n *Numbers) UnmarshalConfig(v any) error {
	if v == nil {
		*n = nil
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make(Numbers, len(list))
	for i, x := range list {
		number, ok := x.(json.Number)
		if !ok {
			return fmt.Errorf("got no number and no list of numbers")
		}
		var err error
		if out[i], err = number.Float64(); err != nil {
			return fmt.Errorf("got %.40s, want a number that a float64 holds", number)
		}
	}
	*n = out
	return nil
}

// value returns the numbers as a scalar or a vector of a type.
func (n Numbers) value(s *ops.Scope, d tensor.DType) *ops.Value {
	if len(n) == 1 {
		return ops.ConstOf(s, d, n[0])
	}
	return ops.Cast(s, tensor.Must(tensor.New([]float64(n), len(n))), d)
}
