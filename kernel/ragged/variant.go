package ragged

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RaggedTensorToVariant, RaggedTensorFromVariant and
// RaggedTensorToVariantGradient. Values in variants are copies from the Go
// heap, because they outlive the call.

// rowsOf returns a copy of rows [from, to) of t.
func rowsOf(t *tensor.Tensor, from, to int) (*tensor.Tensor, error) {
	s := t.Shape()
	width := shapes.Count(s[1:])
	out, err := tensor.Zeros(t.DType(), append(tensor.Shape{to - from}, s[1:]...)...)
	if err == nil {
		copyElements(out, t, 0, from*width, (to-from)*width)
	}
	return out, err
}

// toVariant makes a variant of a ragged tensor or, if batched, one of each row.
func toVariant(n *engine.Node) (func(*engine.Call) error, error) {
	batched := n.Attrs.Bool("batched_input")
	return func(c *engine.Call) error {
		levels := c.NumIn() - 1
		if levels < 0 {
			return fmt.Errorf("takes splits and values")
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		values := c.In(levels)
		splits := make([][]int64, levels)
		if (levels > 0 || batched) && len(values.Shape()) == 0 {
			return fmt.Errorf("the values are a scalar, which has no rows")
		}
		for i := range splits {
			var err error
			if splits[i], err = shapes.Ints(c.In(i), "the splits"); err != nil {
				return err
			}
		}
		for i, s := range splits {
			n := 0
			if i+1 < levels {
				n = len(splits[i+1]) - 1
			} else {
				n = values.Shape()[0]
			}
			if err := checkSplits(s, n); err != nil {
				return err
			}
		}
		if !batched {
			for i, s := range splits {
				splits[i] = append([]int64{}, s...)
			}
			c.SetObject(0, &variant.Ragged{Splits: splits, Values: values.Clone()})
			return nil
		}
		rows := 0
		if levels > 0 {
			rows = len(splits[0]) - 1
		} else {
			rows = values.Shape()[0]
		}
		c.Fits(rows, 256+40*levels) // a variant, its tensor and its splits
		h := &engine.Handles{Shape: tensor.Shape{rows}}
		for row := range rows {
			c.Step(row)
			from, to := row, row+1
			r := &variant.Ragged{}
			for i, s := range splits {
				if i > 0 {
					part := make([]int64, 0, to-from+1)
					for _, at := range s[from : to+1] {
						part = append(part, at-s[from])
					}
					r.Splits = append(r.Splits, part)
				}
				from, to = int(s[from]), int(s[to])
			}
			var err error
			if r.Values, err = rowsOf(values, from, to); err != nil {
				return err
			}
			if levels == 0 { // a row of a dense tensor has one dimension less
				if r.Values, err = r.Values.Reshape(values.Shape()[1:]...); err != nil {
					return err
				}
			}
			h.Items = append(h.Items, r)
		}
		c.SetObject(0, h)
		return nil
	}, nil
}

// variants returns the ragged tensors in input 0, and its shape.
func variants(c *engine.Call) (tensor.Shape, []*variant.Ragged, error) {
	if c.NumIn() < 1 {
		return nil, nil, fmt.Errorf("takes variants")
	}
	items := []any{c.Input(0).Object}
	shape := tensor.Shape{}
	if h, ok := items[0].(*engine.Handles); ok {
		items, shape = h.Items, h.Shape
	}
	list := make([]*variant.Ragged, len(items))
	for i, o := range items {
		r, ok := o.(*variant.Ragged)
		if !ok {
			return nil, nil, fmt.Errorf("element %d is a %T, not a ragged tensor", i, o)
		}
		list[i] = r
	}
	return shape, list, nil
}

// fromVariant makes one ragged tensor of variants, with a level for each
// dimension of their tensor.
func fromVariant(n *engine.Node) (func(*engine.Call) error, error) {
	as := n.Attrs
	levels, inner := int(as.Int("output_ragged_rank", 0)), int(as.Int("input_ragged_rank", 0))
	values, splits := as.Type("Tvalues", tensor.Invalid), as.Type("Tsplits", tensor.Int64)
	return func(c *engine.Call) error {
		outer, list, err := variants(c)
		if err != nil {
			return err
		}
		inner := inner
		if inner == -1 {
			inner = levels - len(outer)
		}
		if inner < 0 || inner+len(outer) != levels {
			return fmt.Errorf("variants of %d dimensions and ragged rank %d make no tensor of ragged rank %d", len(outer), inner, levels)
		}
		for i, r := range list {
			if len(r.Splits) != inner || r.Values.DType() != values {
				return fmt.Errorf("element %d has ragged rank %d and %v values, not %d and %v", i, len(r.Splits), r.Values.DType(), inner, values)
			}
		}
		if len(outer) == 0 {
			for i, s := range list[0].Splits {
				if err := shapes.SetInts(c, i, splits, s); err != nil {
					return err
				}
			}
			c.Set(levels, list[0].Values)
			return nil
		}
		count := 1
		for i, d := range outer[:len(outer)-1] {
			count *= d
			s := make([]int64, count+1)
			for k := range s {
				s[k] = int64(k * outer[i+1])
			}
			if err := shapes.SetInts(c, i, splits, s); err != nil {
				return err
			}
		}
		all := make([][]int64, inner+1)
		for i := range all {
			all[i] = []int64{0}
		}
		for _, r := range list {
			for i, s := range append(append([][]int64{}, r.Splits...), nil) {
				rows := 0
				switch {
				case i < inner:
					rows = len(s) - 1
				case i > 0:
					continue // the splits of the level above have the lengths
				case len(r.Values.Shape()) == 0:
					return fmt.Errorf("a scalar has no rows")
				default:
					rows = r.Values.Shape()[0]
				}
				if i == 0 {
					last := all[0][len(all[0])-1]
					all[0] = append(all[0], last+int64(rows))
				}
				if i < inner {
					last := all[i+1][len(all[i+1])-1]
					for _, at := range s[1:] {
						all[i+1] = append(all[i+1], last+at)
					}
				}
			}
		}
		for i, s := range all {
			if err := shapes.SetInts(c, len(outer)-1+i, splits, s); err != nil {
				return err
			}
		}
		return concat(c, levels, values, list)
	}, nil
}

// concat sets output i to the values of all tensors, one after the other.
func concat(c *engine.Call, i int, d tensor.DType, list []*variant.Ragged) error {
	rows, inner := 0, tensor.Shape{}
	for k, r := range list {
		s := r.Values.Shape()
		if len(s) == 0 || k > 0 && !s[1:].Equal(inner) {
			return fmt.Errorf("the values of element %d have shape %v, those of others rows of %v", k, s, inner)
		}
		rows, inner = rows+s[0], s[1:]
	}
	out, err := c.Alloc(i, d, append(tensor.Shape{rows}, inner...))
	if err != nil {
		return err
	}
	at := 0
	for _, r := range list {
		copyElements(out, r.Values, at, 0, r.Values.Len())
		at += r.Values.Len()
	}
	return nil
}

// toVariantGrad computes the gradient of the values from those of the variants.
func toVariantGrad(n *engine.Node) (func(*engine.Call) error, error) {
	values := n.Attrs.Type("Tvalues", tensor.Invalid)
	return func(c *engine.Call) error {
		if c.NumIn() != 3 {
			return fmt.Errorf("takes 3 inputs, %d were given", c.NumIn())
		}
		if err := c.NeedTensors(1); err != nil {
			return err
		}
		_, list, err := variants(c)
		if err != nil {
			return err
		}
		shape, err := shapes.Dims(c.In(2), "the shape of the values", 0)
		if err != nil {
			return err
		}
		out, err := c.AllocZero(0, values, shape)
		if err != nil {
			return err
		}
		at := 0
		for i, r := range list {
			if r.Values.DType() != values || at+r.Values.Len() > out.Len() {
				return fmt.Errorf("the gradient of element %d is %v%v, which doesn't fit values of shape %v", i, r.Values.DType(), r.Values.Shape(), shape)
			}
			copyElements(out, r.Values, at, 0, r.Values.Len())
			at += r.Values.Len()
		}
		if at != out.Len() {
			return fmt.Errorf("there are gradients of %d values, not %d", at, out.Len())
		}
		return nil
	}, nil
}
