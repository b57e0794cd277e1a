package matmul

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// prepareMixed prepares a product whose matrices may have other element types
// than their product: bytes that are summed in 32 bits, or a byte matrix with a
// bfloat16 one. It is the kernel of BatchMatMulV3. The pairs of types are those
// for which TensorFlow's CPU has kernels.
func prepareMixed(n *engine.Node) (func(*engine.Call) error, error) {
	if len(n.In) < 2 {
		return nil, fmt.Errorf("takes 2 inputs, %d were given", len(n.In))
	}
	a, b := n.In[0].DType, n.In[1].DType
	d := n.Attrs.Type("Tout", a)
	if a == d && b == d {
		return prepare("adj_x", "adj_y", true)(n)
	}
	if !mixes(a, b, d) {
		return nil, fmt.Errorf("matrices of %v and %v have no product of %v; Cast converts", a, b, d)
	}
	k := &matMul{ta: n.Attrs.Bool("adj_x"), tb: n.Attrs.Bool("adj_y"), batched: true}
	var err error
	if k.run, err = runs.Of(d); err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		for i := range 2 {
			v, err := convert(c, i, d)
			if err != nil {
				return err
			}
			defer c.Refs().Release(v)
		}
		s, err := k.forCall(c)
		if err != nil {
			return err
		}
		_, err = k.compute(c, s)
		return err
	}, nil
}

// mixes reports whether matrices of a and b have a product of d.
func mixes(a, b, d tensor.DType) bool {
	isByte := func(d tensor.DType) bool { return d == tensor.Int8 || d == tensor.Uint8 }
	switch d {
	case tensor.Int32:
		return isByte(a) && isByte(b)
	case tensor.BFloat16:
		return (isByte(a) || a == d) && (isByte(b) || b == d)
	}
	return false
}

// convert replaces input i by its elements converted to d. It returns the value
// that holds them, for the caller to drop. The value is zero if nothing was
// converted.
func convert(c *engine.Call, i int, d tensor.DType) (v engine.Value, err error) {
	t := c.In(i)
	if t == nil || t.DType() == d {
		return v, c.NeedTensors(i)
	}
	if v, err = c.Refs().New(d, t.Shape()); err != nil {
		return v, err
	}
	if err := tensor.CastRange(v.Tensor.Bytes(), t, d, 0, t.Len()); err != nil {
		c.Refs().Release(v)
		return v, err
	}
	c.Substitute(i, v.Tensor)
	return v, nil
}
