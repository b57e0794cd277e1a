package xla

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaReduce, XlaVariadicReduce and XlaVariadicReduceV2. The
// function gets elements in row-major order.

// reduce combines the elements along dimensions by a function, beginning with
// an initial value: of one input, or of several side by side.
func reduce(n *engine.Node) (func(*engine.Call) error, error) {
	over := n.Attrs.Ints("dimensions_to_reduce")
	f, err := scalarFunction(n, "reducer", -1)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		count := c.NumIn() / 2
		if c.NumIn() == 0 || c.NumIn() != 2*count {
			return fmt.Errorf("takes as many initial values as inputs (got %d in all)", c.NumIn())
		}
		if err := c.NeedTensors(0); err != nil {
			return err
		}
		shape := c.In(0).Shape()
		types := make([]tensor.DType, 0, 2*count)
		for i := range c.NumIn() {
			if err := fixed(c, i); err != nil {
				return err
			}
			types = append(types, c.In(i).DType())
			switch {
			case i < count && !c.In(i).Shape().Equal(shape):
				return fmt.Errorf("input %d is %v (want %v, as input 0)", i, c.In(i).Shape(), shape)
			case i >= count && (len(c.In(i).Shape()) != 0 || c.In(i).DType() != c.In(i-count).DType()):
				return fmt.Errorf("initial value %d is %v%v (want a scalar of %v)", i-count, c.In(i).DType(), c.In(i).Shape(), c.In(i-count).DType())
			}
		}
		var reduced []int
		for _, d := range over {
			if d < 0 || d >= int64(len(shape)) || slices.Contains(reduced, int(d)) {
				return fmt.Errorf("dimension %d of dimensions_to_reduce is given twice or is not below %d", d, len(shape))
			}
			reduced = append(reduced, int(d))
		}
		if len(reduced) == 0 { // XLA returns the inputs without a call of the function
			for i := range count {
				c.Pass(i, i)
			}
			return nil
		}
		kept := others(len(shape), reduced)
		dims := make(tensor.Shape, len(kept))
		for i, d := range kept {
			dims[i] = shape[d]
		}
		outs := make([]*tensor.Tensor, count)
		for i := range outs {
			var err error
			if outs[i], err = c.Alloc(i, c.In(i).DType(), dims); err != nil {
				return err
			}
			fill(outs[i].Bytes(), c.In(count+i).Bytes())
		}
		if c.In(0).Len() == 0 {
			return nil
		}
		strides := shapes.Strides(dims)
		index := make([]int, len(shape))
		args, results := make([][]byte, 2*count), make([][]byte, count)
		for at := 0; ; at++ {
			to := 0
			for k, d := range kept {
				to += index[d] * strides[k]
			}
			for i, o := range outs {
				size := o.DType().Size()
				results[i] = o.Bytes()[to*size : (to+1)*size]
				args[i], args[count+i] = results[i], c.In(i).Bytes()[at*size:(at+1)*size]
			}
			if err := f.call(c, args, results, types...); err != nil {
				return err
			}
			if !next(index, shape) {
				return nil
			}
		}
	}, nil
}
