package dataset

import (
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// PadOptions are the options of [Pad].
type PadOptions[T tensor.Element] struct {
	// Length is the length of the rows. Default: that of the longest sequence.
	Length int
	// After pads after a sequence that is shorter. Default: before it.
	After bool
	// CutEnd cuts the end of a sequence that is longer. Default: its start.
	CutEnd bool
	// Value is the padding. Default: zero, or the empty string.
	Value T
}

// Pad makes one tensor of sequences of different lengths, a row of each, as
// tf.keras.utils.pad_sequences does.
//
//	x, err := dataset.Pad([][]int32{{1}, {2, 3}}, nil) // [[0 1] [2 3]]
func Pad[T tensor.Element](sequences [][]T, o *PadOptions[T]) (*tensor.Tensor, error) {
	var values PadOptions[T]
	if o != nil {
		values = *o
	}
	n := values.Length
	if n < 0 {
		return nil, fmt.Errorf("dataset: Pad: the length is %d, want 0 or more", n)
	}
	if n == 0 {
		for _, s := range sequences {
			n = max(n, len(s))
		}
	}
	// The product is checked before anything of its size is made.
	if _, err := (tensor.Shape{len(sequences), n}).NumElements(); err != nil {
		return nil, fmt.Errorf("dataset: Pad: %w", err)
	}
	all := make([]T, len(sequences)*n)
	for i := range all {
		all[i] = values.Value
	}
	for i, s := range sequences {
		if len(s) > n {
			if values.CutEnd {
				s = s[:n]
			} else {
				s = s[len(s)-n:]
			}
		}
		row := all[i*n : (i+1)*n]
		if !values.After {
			row = row[n-len(s):]
		}
		copy(row, s)
	}
	x, err := tensor.New(all, len(sequences), n)
	if err != nil {
		return nil, fmt.Errorf("dataset: Pad: %w", err)
	}
	return x, nil
}

// PadTensors makes one tensor of sequences of different lengths as [Pad] does. Each
// sequence is a tensor of its time steps: they have the same type, and the same shape after
// the first dimension. The Value of o is converted to their type.
func PadTensors(sequences []*tensor.Tensor, o *PadOptions[float64]) (*tensor.Tensor, error) {
	fail := func(err error) (*tensor.Tensor, error) { return nil, fmt.Errorf("dataset: PadTensors: %w", err) }
	if o == nil {
		o = &PadOptions[float64]{}
	}
	if len(sequences) == 0 {
		return fail(fmt.Errorf("there are no sequences"))
	}
	first, n := sequences[0], o.Length
	if n < 0 {
		return fail(fmt.Errorf("the length is %d, want 0 or more", n))
	}
	for i, s := range sequences {
		switch {
		case s == nil || s.Rank() == 0:
			return fail(fmt.Errorf("sequence %d has no time steps", i))
		case s.DType() != first.DType() || !s.DType().Fixed():
			return fail(fmt.Errorf("sequence %d is of %v, sequence 0 of %v; want one numeric type", i, s.DType(), first.DType()))
		case !s.Shape()[1:].Equal(first.Shape()[1:]):
			return fail(fmt.Errorf("sequence %d has steps of the shape %v, sequence 0 of %v", i, s.Shape()[1:], first.Shape()[1:]))
		}
		if o.Length == 0 {
			n = max(n, s.Shape()[0])
		}
	}
	value, err := tensor.Cast(tensor.Scalar(o.Value), first.DType())
	if err != nil {
		return fail(err)
	}
	out, err := tensor.Zeros(first.DType(), append([]int{len(sequences), n}, first.Shape()[1:]...)...)
	if err != nil {
		return fail(err)
	}
	all := out.Bytes()
	if o.Value != 0 {
		for at := 0; at < len(all); at += len(value.Bytes()) {
			copy(all[at:], value.Bytes())
		}
	}
	row := len(all) / len(sequences)
	for i, s := range sequences {
		bytes, to := s.Bytes(), all[i*row:(i+1)*row]
		if len(bytes) > row {
			if bytes = bytes[len(bytes)-row:]; o.CutEnd {
				bytes = s.Bytes()[:row]
			}
		}
		if !o.After {
			to = to[row-len(bytes):]
		}
		copy(to, bytes)
	}
	return out, nil
}
