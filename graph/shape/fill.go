package shape

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// fillRules returns the rules of ops that make tensors of attributes or numbers, and of some without outputs.
func fillRules() map[string]Rule {
	return map[string]Rule{
		"Const": constant, "Placeholder": placeholder, "PlaceholderV2": placeholder, "Fill": fill, "Range": rangeRule,
		"LinSpace": linSpace, "Empty": empty, "ImmutableConst": ensureAttr, "NoOp": nothing, "ControlTrigger": nothing,
		"Assert": nothing, "Print": printRule, "PrintV2": nothing,
	}
}

// nothing infers nothing, for ops that have no outputs, or outputs without
// known properties.
func nothing(*Inference) error { return nil }

func printRule(c *Inference) error {
	if len(c.In) > 0 {
		c.pass(0, 0)
	}
	return nil
}

func constant(c *Inference) error {
	t := c.Attrs.Tensor("value")
	if t == nil {
		return fmt.Errorf("needs the attribute value")
	}
	if len(c.Out) > 0 {
		ref := c.Out[0].Ref
		c.Out[0] = graph.FactOf(t)
		c.Out[0].Ref = ref
	}
	return nil
}

func placeholder(c *Inference) error {
	s, ok := c.Attrs.Shape("shape")
	if !ok || s.HasRank() && s.Rank() == 0 && !c.Attrs.Has("_output_shapes") && c.Attrs.Has("_user_shape_unknown") {
		return nil
	}
	c.set(0, s.Identified())
	return nil
}

func fill(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if err := c.scalar(1); err != nil {
		return fmt.Errorf("the value: %w", err)
	}
	return c.described(0, "the shape")
}

// described sets the shape of output 0 to the value of input i, and the known
// elements of a Fill of integers. what names the input in errors.
func (c *Inference) described(i int, what string) error {
	s, err := c.sizes(i, what)
	if err != nil {
		return err
	}
	c.set(0, s)
	if c.Op == "Fill" && s.Rank() == 1 && len(c.Out) > 0 && isInteger(c.In[1].DType) {
		if n := s.Dim(0); n >= 0 && n <= tensor.MaxRank {
			if v, ok := c.In[1].Int(); ok {
				e := make([]graph.Elem, n)
				for k := range e {
					e[k] = graph.ElemOf(v)
				}
				c.setElems(0, e)
			}
		}
	}
	return nil
}

func empty(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	return c.described(0, "the shape")
}

// maxRange bounds a range's length, so that a wrong limit is an error and no
// attempt to fill the memory. The number is Cairn's; TensorFlow's limit is that
// of its integers.
const maxRange = math.MaxInt32 * 8

// RangeInt returns the number of elements from start up to limit, delta apart.
func RangeInt(start, limit, delta int64) (int, error) {
	if err := leads(start, limit, delta); err != nil {
		return 0, err
	}
	// In uint64 the distance can't overflow.
	span, step := uint64(limit)-uint64(start), uint64(delta)
	if delta < 0 {
		span, step = uint64(start)-uint64(limit), -uint64(delta)
	}
	count := span / step
	if span%step != 0 {
		count++
	}
	if count > maxRange || count > uint64(math.MaxInt) {
		return 0, fmt.Errorf("the range would have %d elements", count)
	}
	return int(count), nil
}

// RangeFloat returns the length of a range as [RangeInt] does, for floats.
func RangeFloat[T float32 | float64](start, limit, delta T) (int, error) {
	if err := leads(start, limit, delta); err != nil {
		return 0, err
	}
	count := math.Ceil(math.Abs(float64((limit - start) / delta)))
	if !(count < maxRange) || int64(count) != int64(int(count)) {
		return 0, fmt.Errorf("the range would have %v elements", count)
	}
	return int(count), nil
}

// RangeHalf returns the length of a range as [RangeFloat] does, for halves; round
// rounds intermediate results to the type.
func RangeHalf(start, limit, delta float32, round func(float32) float32) (int, error) {
	if err := leads(start, limit, delta); err != nil {
		return 0, err
	}
	return RangeFloat(0, round(round(limit-start)/delta), 1)
}

// leads checks that steps of delta lead from start to limit.
func leads[T int64 | float32 | float64](start, limit, delta T) error {
	if delta == 0 {
		return fmt.Errorf("delta is 0")
	}
	if delta > 0 && start > limit || delta < 0 && start < limit {
		return fmt.Errorf("delta %v never leads from %v to %v", delta, start, limit)
	}
	return nil
}

func rangeRule(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	if err := each(c.scalar(0), c.scalar(1), c.scalar(2)); err != nil {
		return fmt.Errorf("start, limit and delta must be scalars of one type: %w", err)
	}
	c.set(0, graph.OfRank(1))
	n, ok, err := rangeOf(c.In)
	switch {
	case err != nil:
		return err
	case ok:
		c.setDims(0, n)
	default:
		// From 0 up to a size, one by one.
		start, sok := c.In[0].Int()
		delta, dok := c.In[2].Int()
		if e, eok := c.In[1].Ints(); sok && dok && eok && start == 0 && delta == 1 {
			if d, ok := e[0].Size(); ok && d != -1 {
				c.setDims(0, d)
			}
		}
		return nil
	}
	if start, ok := c.In[0].Int(); ok && n <= tensor.MaxRank && len(c.Out) > 0 && isInteger(c.In[0].DType) {
		delta, _ := c.In[2].Int()
		e := make([]graph.Elem, n)
		for i := range e {
			e[i] = graph.ElemOf(start + int64(i)*delta)
		}
		c.setElems(0, e)
	}
	return nil
}

// rangeOf returns the length of a range between three scalars, if they are
// known.
func rangeOf(in []graph.Fact) (int, bool, error) {
	for _, f := range in[:3] {
		if f.Value == nil || f.Value.Len() != 1 || f.Value.DType() != in[0].Value.DType() {
			return 0, false, nil
		}
	}
	var n int
	var err error
	switch in[0].Value.DType() {
	case tensor.Float32:
		n, err = rangeIn(in, RangeFloat[float32])
	case tensor.Float64:
		n, err = rangeIn(in, RangeFloat[float64])
	case tensor.Float16:
		n, err = rangeIn(in, func(a, b, d tensor.F16) (int, error) {
			return RangeHalf(a.Float(), b.Float(), d.Float(), func(x float32) float32 { return tensor.ToF16(x).Float() })
		})
	case tensor.BFloat16:
		n, err = rangeIn(in, func(a, b, d tensor.BF16) (int, error) {
			return RangeHalf(a.Float(), b.Float(), d.Float(), func(x float32) float32 { return tensor.ToBF16(x).Float() })
		})
	default:
		var v [3]int64
		for i := range v {
			x, ok := in[i].Int()
			if !ok {
				return 0, false, nil
			}
			v[i] = x
		}
		n, err = RangeInt(v[0], v[1], v[2])
	}
	return n, err == nil, err
}

func rangeIn[T tensor.Element](in []graph.Fact, f func(a, b, d T) (int, error)) (int, error) {
	var v [3]T
	for i := range v {
		v[i] = tensor.Values[T](in[i].Value)[0]
	}
	return f(v[0], v[1], v[2])
}

// LinSpace checks the number of values that LinSpace is to make.
func LinSpace(n int64) (int, error) {
	if n < 1 || n > maxRange || n != int64(int(n)) {
		return 0, fmt.Errorf("the number of values is %d", n)
	}
	return int(n), nil
}

func linSpace(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	c.set(0, graph.OfRank(1))
	if err := each(c.scalar(0), c.scalar(1), c.scalar(2)); err != nil {
		return err
	}
	if n, ok := c.In[2].Int(); ok {
		d, err := LinSpace(n)
		if err != nil {
			return err
		}
		c.setDims(0, d)
		return nil
	}
	d, err := c.size(2, "the number of values")
	if err == nil {
		c.setDims(0, d)
	}
	return err
}
