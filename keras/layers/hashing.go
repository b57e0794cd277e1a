package layers

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/tensor"
)

// Hashing turns strings or integers into numbers of bins by a hash. The same input has the
// same bin in TensorFlow.
type Hashing struct {
	base.Layer
	// NumBins is the number of bins. It is required.
	NumBins int
	// Salt is the key of a strong hash, SipHash. Default: a fast hash without a key, FarmHash.
	Salt Salt
	// MaskValue is an input, a string or an int, that has bin 0; others have the bins from 1.
	// Default: none.
	MaskValue any
	// OutputMode is OutputInt, OutputOneHot, OutputMultiHot or OutputCount. Default: OutputInt.
	OutputMode string `keras:",default=int"`
	// Sparse makes outputs that are sparse tensors; see [base.SparseOf].
	Sparse bool
}

// Salt is the key of a strong hash, two numbers; nil is none. In a config it may be one
// number, which is used for both.
type Salt []int64

// UnmarshalConfig reads null, a number or a list of two.
func (t *Salt) UnmarshalConfig(v any) error {
	if v == nil {
		*t = nil
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v, v}
	}
	if len(list) != 2 {
		return fmt.Errorf("got %d numbers, want 1 or 2", len(list))
	}
	out := make(Salt, 2)
	for i, x := range list {
		n, ok := x.(json.Number)
		if !ok {
			return fmt.Errorf("got no number and no list of numbers")
		}
		var err error
		if out[i], err = n.Int64(); err != nil {
			return fmt.Errorf("got %.40s, want a number that an int64 holds", n)
		}
	}
	*t = out
	return nil
}

// MarshalConfig returns null or a list of two numbers.
func (t Salt) MarshalConfig() (any, error) {
	if t == nil {
		return nil, nil
	}
	return []int64(t), nil
}

// CompleteConfig sets the type of the outputs.
func (h *Hashing) CompleteConfig() { h.DType = categoryType(h.DType, h.OutputMode) }

// BuildLayer checks the settings.
func (h *Hashing) BuildLayer(*ops.Scope, base.Shapes) error {
	err := checkMode(h.OutputMode, h.Sparse, OutputInt, OutputOneHot, OutputMultiHot, OutputCount)
	if err == nil {
		err = checkNumbers(h.DType, h.OutputMode)
	}
	switch {
	case err != nil:
		return err
	case h.NumBins < 1:
		return fmt.Errorf("NumBins is %d, want 1 or more", h.NumBins)
	case h.Salt != nil && len(h.Salt) != 2:
		return fmt.Errorf("Salt has %d numbers, want 2", len(h.Salt))
	}
	return nil
}

// TakesSparse marks a layer that takes sparse inputs.
func (h *Hashing) TakesSparse() {}

// TakesRagged marks a layer that takes ragged inputs.
func (h *Hashing) TakesRagged() {}

// Call returns the bins of x.
func (h *Hashing) Call(s *ops.Scope, x ops.Input) *ops.Value { return h.Run(s, h, x, nil) }

// Compute returns the bins of x.
func (h *Hashing) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	bins := base.MapElements(s, x, func(x *ops.Value) *ops.Value { return h.bins(s, x) })
	e := &encoding{mode: h.OutputMode, depth: h.NumBins, dtype: h.DType.Compute(), sparse: h.Sparse}
	return e.encode(s, "Hashing", bins)
}

// bins returns the numbers of the bins of strings or integers.
func (h *Hashing) bins(s *ops.Scope, x *ops.Value) *ops.Value {
	n := int64(h.NumBins)
	var masked *ops.Value
	if h.MaskValue != nil && n > 1 {
		mask, err := likeInput(h.MaskValue, x.DType())
		if err != nil {
			return s.Fail("Hashing", fmt.Errorf("MaskValue: %w", err))
		}
		n--
		masked = ops.Equal(s, x, mask)
	}
	if x.DType().IsInteger() {
		x = raw.AsString(s, x, nil)
	}
	if x.DType() != tensor.String {
		return s.Fail("Hashing", fmt.Errorf("the input is of %v, want strings or integers", x.DType()))
	}
	var bins *ops.Value
	if h.Salt != nil {
		bins = raw.StringToHashBucketStrong(s, x, n, h.Salt)
	} else {
		bins = raw.StringToHashBucketFast(s, x, n)
	}
	if masked == nil {
		return bins
	}
	bins = ops.Add(s, bins, ops.OnesLike(s, bins))
	return ops.Where(s, masked, ops.ZerosLike(s, bins), bins)
}

// likeInput returns a setting, a string or an integer, as a scalar of the type of an input.
func likeInput(v any, d tensor.DType) (*tensor.Tensor, error) {
	if d == tensor.String {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("got %v for inputs that are strings", v)
		}
		return tensor.New([]string{text})
	}
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case int64:
		n = v
	case json.Number:
		var err error
		if n, err = v.Int64(); err != nil {
			return nil, fmt.Errorf("got %.40s, want a number that an int64 holds", v)
		}
	case float64:
		if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
			return nil, fmt.Errorf("got %v, want a whole number", v)
		}
		n = int64(v)
	default:
		return nil, fmt.Errorf("got %v for inputs that are %v", v, d)
	}
	return tensor.Cast(tensor.Scalar(n), d)
}
