package run

import (
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// This file makes tensors of Go's numbers, strings and lists, as tf.convert_to_tensor with a type does
// for Python's. It is only used if no trace accepts the arguments as they are.

// listOf returns the elements of a list.
func listOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case List:
		return v, true
	case []any:
		return v, true
	}
	return nil, false
}

// number returns a bool or a number of Go: as i if it is an integer, whose bits a float64 may
// not hold, and as x in any case.
func number(v any) (x float64, i int64, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			i = 1
		}
	case int:
		i = int64(v)
	case int32:
		i = int64(v)
	case int64:
		i = v
	case float32:
		return float64(v), 0, true
	case float64:
		return v, 0, true
	default:
		return 0, 0, false
	}
	return float64(i), i, true
}

// toTensor makes a tensor of type d of a number, a string, or nested lists of them that are rectangular. ok
// is false if TensorFlow would refuse the conversion: of fractions to integers, of integers that d cannot hold,
// between truth values and numbers, or between strings and others.
func toTensor(v any, d tensor.DType) (*tensor.Tensor, bool) {
	var c collector
	if !c.collect(v, 0) {
		return nil, false
	}
	switch {
	case d == tensor.String:
		if len(c.strings) != c.n {
			return nil, false
		}
		t, err := tensor.FromStrings(tensor.String, c.strings, c.shape...)
		return t, err == nil
	case len(c.numbers) != c.n || c.floats && isInteger(d) || c.bools != (d == tensor.Bool) && c.n > 0:
		return nil, false
	}
	if c.floats {
		t, err := tensor.New(c.numbers, c.shape...)
		if err == nil {
			t, err = tensor.Cast(t, d)
		}
		return t, err == nil
	}
	whole, err := tensor.New(c.integers, c.shape...)
	if err != nil {
		return nil, false
	}
	t, err := tensor.Cast(whole, d)
	if err == nil && isInteger(d) {
		var back *tensor.Tensor
		if back, err = tensor.Cast(t, tensor.Int64); err == nil && !whole.Equal(back) {
			return nil, false
		}
		if d == tensor.Uint64 && slices.ContainsFunc(c.integers, func(i int64) bool { return i < 0 }) {
			return nil, false
		}
	}
	return t, err == nil
}

func isInteger(d tensor.DType) bool {
	switch d {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return true
	}
	return false
}

// collector flattens nested lists.
type collector struct {
	shape         []int
	ranked        bool // shape has all dimensions
	n             int  // number of elements
	numbers       []float64
	integers      []int64 // of the same numbers, 0 for floats
	strings       []string
	floats, bools bool // whether any element is a float64 or float32; a bool
}

// collect adds a value that is nested in depth lists; false if the lists aren't rectangular or an
// element is no number and no string.
func (c *collector) collect(v any, depth int) bool {
	list, isList := listOf(v)
	if t, ok := v.(Tuple); ok {
		list, isList = t, true
	}
	if isList {
		switch {
		case depth > maxStructure || c.ranked && depth >= len(c.shape):
			return false
		case !c.ranked:
			c.shape = append(c.shape, len(list))
			if len(list) == 0 {
				c.ranked = true
			}
		case c.shape[depth] != len(list):
			return false
		}
		for _, x := range list {
			if !c.collect(x, depth+1) {
				return false
			}
		}
		return true
	}
	if c.ranked && depth != len(c.shape) {
		return false
	}
	c.ranked = true
	c.n++
	if s, ok := v.(string); ok {
		c.strings = append(c.strings, s)
		return true
	}
	x, i, ok := number(v)
	if !ok {
		return false
	}
	switch v.(type) {
	case bool:
		c.bools = true
	case float32, float64:
		c.floats = true
	}
	c.numbers, c.integers = append(c.numbers, x), append(c.integers, i)
	return true
}
