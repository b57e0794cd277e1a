package xla

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of XlaReduceWindow and XlaSelectAndScatter.

// windowOf reads the inputs that describe windows. rank is the number of dimensions; the other
// arguments are the numbers of the inputs with the sizes, the strides, the dilations of the input
// and of the window, and the padding. For -1 the result has ones.
func windowOf(c *engine.Call, rank, size, stride, base, dilation, padding int) (*shape.XlaWindow, error) {
	var w shape.XlaWindow
	ones := make([]int64, rank)
	for d := range ones {
		ones[d] = 1
	}
	for _, x := range []struct {
		into *[]int64
		at   int
		what string
	}{{&w.Size, size, "window_dimensions"}, {&w.Stride, stride, "window_strides"}, {&w.Base, base, "base_dilations"}, {&w.Dilation, dilation, "window_dilations"}} {
		if *x.into = ones; x.at < 0 {
			continue
		}
		var err error
		if *x.into, err = shapes.Ints(c.In(x.at), x.what); err != nil {
			return nil, err
		}
	}
	pads, err := c.In(padding).Int64s()
	if err != nil {
		return nil, err
	}
	if s := c.In(padding).Shape(); len(s) != 2 || s[0] != rank || s[1] != 2 {
		return nil, fmt.Errorf("padding is %v (want [%d,2])", s, rank)
	}
	for d := range rank {
		w.Low, w.High = append(w.Low, pads[2*d]), append(w.High, pads[2*d+1])
	}
	return &w, nil
}

// reduceWindow joins the elements of each window by a function, beginning with an initial
// value.
func reduceWindow(n *engine.Node) (func(*engine.Call) error, error) {
	f, err := scalarFunction(n, "computation", 2)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(7); err != nil {
			return err
		}
		if err := fixed(c, 0, 1); err != nil {
			return err
		}
		x, init := c.In(0), c.In(1)
		if len(init.Shape()) != 0 || init.DType() != x.DType() {
			return fmt.Errorf("the initial value is %v%v (want a scalar of %v)", init.DType(), init.Shape(), x.DType())
		}
		w, err := windowOf(c, len(x.Shape()), 2, 3, 4, 5, 6)
		if err != nil {
			return err
		}
		dims, err := w.Result(x.Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), dims)
		if err != nil || out.Len() == 0 {
			return err
		}
		fill(out.Bytes(), init.Bytes())
		size := x.DType().Size()
		index, pace := make([]int, len(dims)), engine.NewPace(c)
		for i := 0; ; i++ {
			to := out.Bytes()[i*size : (i+1)*size]
			err := eachInWindow(&pace, w, x.Shape(), index, func(at int) error {
				return f.call(c, [][]byte{to, x.Bytes()[at*size : (at+1)*size]}, [][]byte{to}, x.DType())
			})
			if err != nil {
				return err
			}
			if !next(index, dims) {
				return nil
			}
		}
	}, nil
}

// eachInWindow visits the indices of the elements in the window of a result's
// index, in row-major order.
func eachInWindow(pace *engine.Pace, w *shape.XlaWindow, dims tensor.Shape, index []int, visit func(at int) error) error {
	sizes := make(tensor.Shape, len(dims))
	for d, n := range w.Size {
		if sizes[d] = int(n); n == 0 {
			return nil
		}
	}
	strides := shapes.Strides(dims)
	inside := make([]int, len(dims))
	for {
		pace.Work(8) // because a window may be far larger than the tensor
		at, ok := 0, true
		for d, k := range inside {
			p := int64(index[d])*w.Stride[d] + int64(k)*w.Dilation[d] - w.Low[d]
			if p < 0 || p%w.Base[d] != 0 || p/w.Base[d] >= int64(dims[d]) {
				ok = false
				break
			}
			at += int(p/w.Base[d]) * strides[d]
		}
		if ok {
			if err := visit(at); err != nil {
				return err
			}
		}
		if !next(inside, sizes) {
			return nil
		}
	}
}

// selectAndScatter selects an element of each window by one function. It adds
// the source's element to that one by another function, beginning with an
// initial value.
func selectAndScatter(n *engine.Node) (func(*engine.Call) error, error) {
	choose, err := scalarFunction(n, "select", 2)
	if err != nil {
		return nil, err
	}
	combine, err := scalarFunction(n, "scatter", 2)
	if err != nil {
		return nil, err
	}
	return func(c *engine.Call) error {
		if err := c.Need(6); err != nil {
			return err
		}
		if err := fixed(c, 0, 4, 5); err != nil {
			return err
		}
		x, source, init := c.In(0), c.In(4), c.In(5)
		if source.DType() != x.DType() || init.DType() != x.DType() || len(init.Shape()) != 0 {
			return fmt.Errorf("operand, source and initial value are %v, %v and %v%v (want one type, and a scalar)", x.DType(), source.DType(), init.DType(), init.Shape())
		}
		w, err := windowOf(c, len(x.Shape()), 1, 2, -1, -1, 3)
		if err != nil {
			return err
		}
		dims, err := w.Result(x.Shape())
		if err != nil {
			return err
		}
		if !dims.Equal(source.Shape()) {
			return fmt.Errorf("the source is %v, and there are %v windows", source.Shape(), dims)
		}
		out, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		fill(out.Bytes(), init.Bytes())
		if source.Len() == 0 {
			return nil
		}
		size := x.DType().Size()
		element := func(t *tensor.Tensor, i int) []byte { return t.Bytes()[i*size : (i+1)*size] }
		index, pace := make([]int, len(dims)), engine.NewPace(c)
		for i := 0; ; i++ {
			chosen := -1
			err := eachInWindow(&pace, w, x.Shape(), index, func(at int) error {
				if chosen < 0 {
					chosen = at
					return nil
				}
				stays, err := choose.holds(c, [][]byte{element(x, chosen), element(x, at)}, x.DType())
				if err == nil && !stays {
					chosen = at
				}
				return err
			})
			if err != nil {
				return err
			}
			if chosen >= 0 {
				to := element(out, chosen)
				if err := combine.call(c, [][]byte{to, element(source, i)}, [][]byte{to}, x.DType()); err != nil {
					return err
				}
			}
			if !next(index, dims) {
				return nil
			}
		}
	}, nil
}
