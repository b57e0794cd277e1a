package matmul

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Einsum and XlaEinsum.

// label names a dimension.
type label = shape.Label

// equation is a parsed einsum equation.
type equation struct{ shape.Equation }

// prepareEinsum parses the equation once. The plan for the shapes of a call is
// kept for the next one.
func prepareEinsum(n *engine.Node) (func(*engine.Call) error, error) {
	parsed, err := shape.ParseEquation(n.Attrs.String("equation", ""), len(n.In))
	if err != nil {
		return nil, err
	}
	e := equation{*parsed}
	f, err := einsums.Of(n.In[0].DType)
	if err != nil {
		return nil, err
	}
	k := &einsum{equation: e}
	switch n.In[0].DType {
	case tensor.Float32, tensor.Float64:
		k.strides = true
	case tensor.Float16, tensor.BFloat16:
		k.stepwise = true
	}
	if s := k.known(n); s != nil && len(s.in) == 2 && !s.swapped && s.gather[1] == nil {
		k.packing = s.product.packing(n)
	}
	return func(c *engine.Call) error {
		if err := c.Need(len(e.In)); err != nil {
			return err
		}
		s, err := k.forCall(c)
		if err != nil {
			return err
		}
		y, err := c.Alloc(0, c.In(0).DType(), s.dims)
		if err == nil && y.Len() > 0 {
			f(c, s, k.packing, y)
		}
		return err
	}, nil
}

// einsum is a prepared node.
type einsum struct {
	equation
	strides  bool // the element type's products take strides of any kind
	stepwise bool // the element type's sums depend on the order of their steps
	packing  engine.Packing
	last     atomic.Pointer[sum] // of the call before, whose shapes the next one mostly has too
}

// known returns the sum if the node's inputs have known shapes, else nil.
func (k *einsum) known(n *engine.Node) *sum {
	var in []tensor.Shape
	for _, f := range n.In {
		s, ok := f.Shape.Tensor()
		if !ok {
			return nil
		}
		in = append(in, s)
	}
	s, err := k.plan(in)
	if err != nil {
		return nil // the call returns the error
	}
	return s
}

// forCall returns the plan for the shapes of a call's inputs.
func (k *einsum) forCall(c *engine.Call) (*sum, error) {
	for i := range k.In {
		if d := c.In(i).DType(); d != c.In(0).DType() {
			return nil, fmt.Errorf("the inputs' types differ: %v and %v", c.In(0).DType(), d)
		}
	}
	if s := k.last.Load(); s != nil && c.In(0).Shape().Equal(s.shapes[0]) && (len(k.In) == 1 || c.In(1).Shape().Equal(s.shapes[1])) {
		return s, nil
	}
	var in []tensor.Shape
	for i := range k.In {
		in = append(in, slices.Clone(c.In(i).Shape()))
	}
	s, err := k.plan(in)
	if err == nil {
		k.last.Store(s)
	}
	return s, err
}

// plan returns how inputs of these shapes are summed.
func (k *einsum) plan(in []tensor.Shape) (*sum, error) {
	s, err := k.measure(in)
	if err != nil {
		return nil, err
	}
	s.stepwise = k.stepwise
	if len(in) == 1 {
		s.single()
	} else {
		s.double(k.strides)
	}
	return s, nil
}

var einsums = engine.ByType[func(*engine.Call, *sum, engine.Packing, *tensor.Tensor)]{
	tensor.Float32: einsumOf[float32], tensor.Float64: einsumOf[float64],
	tensor.Float16: einsumHalf[tensor.F16], tensor.BFloat16: einsumHalf[tensor.BF16],
	tensor.Int32: einsumOf[int32], tensor.Int64: einsumOf[int64],
	tensor.Complex64: einsumOf[complex64], tensor.Complex128: einsumOf[complex128],
}

func einsumOf[T number](c *engine.Call, s *sum, p engine.Packing, y *tensor.Tensor) {
	var in [2][]T
	for i := range c.NumIn() {
		in[i] = tensor.Values[T](c.In(i))
	}
	compute(c, s, c.Packed(p), tensor.Values[T](y), in)
}

// compute runs the plan.
func compute[T number](c *engine.Call, s *sum, packed any, y []T, in [2][]T) {
	for i, g := range s.gather {
		if g != nil {
			x, _ := engine.Scratch[T](c, g.n)
			relay(g, x, in[i])
			in[i] = x
		}
	}
	data := in[0]
	if p := &s.product; len(s.in) == 2 {
		data = y
		if s.scatter != nil {
			data, _ = engine.Scratch[T](c, p.batch*p.m*p.n)
		}
		switch {
		case p.k == 0:
			clear(data)
		case s.swapped:
			multiply(c, p, nil, data, in[1], in[0])
		default:
			multiply(c, p, packed, data, in[0], in[1])
		}
	}
	if s.scatter != nil {
		relay(s.scatter, y, data)
	}
}
