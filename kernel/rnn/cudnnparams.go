package rnn

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CudnnRNNParamsSize, CudnnRNNCanonicalToParams and
// CudnnRNNParamsToCanonical, and of the V2 forms of the last two.
//
// TensorFlow has these ops for GPUs only. kernel/testdata/tf2.21/gen_rnn.py records the parameters
// that tf_keras makes of a layer's weights for cuDNN.

// sizesOf reads the first three inputs of the ops about parameters: layers, units
// and elements of the input.
func (n *network) sizesOf(c *engine.Call) (*sized, error) {
	var v [3]int64
	for i, what := range []string{"num_layers", "num_units", "input_size"} {
		var err error
		if v[i], err = shapes.Int(c.In(i), what); err != nil {
			return nil, err
		}
	}
	return n.sized(v[0], v[1], v[2])
}

// aboutParams prepares an op that begins with a network's sizes.
func aboutParams(run func(c *engine.Call, s *sized) error) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		net, err := newNetwork(n.Attrs)
		if err != nil {
			return nil, err
		}
		return func(c *engine.Call) error {
			if c.NumIn() < 3 {
				return fmt.Errorf("takes 3 inputs or more, %d were given", c.NumIn())
			}
			if err := c.NeedTensors(0); err != nil {
				return err
			}
			s, err := net.sizesOf(c)
			if err != nil {
				return err
			}
			return run(c, s)
		}, nil
	}
}

var (
	prepareParamsSize  = aboutParams(paramsSize)
	prepareToParams    = aboutParams(toParams)
	prepareToCanonical = aboutParams(toCanonical)
)

// paramsSize returns the number of parameters.
func paramsSize(c *engine.Call, s *sized) error {
	if err := c.Need(3); err != nil {
		return err
	}
	n, err := s.count()
	if err != nil {
		return err
	}
	d := c.Attrs().Type("S", tensor.Int32)
	out, err := c.Alloc(0, d, tensor.Shape{1})
	if err != nil {
		return err
	}
	switch d {
	case tensor.Int64:
		tensor.Values[int64](out)[0] = n
	case tensor.Int32:
		if n != int64(int32(n)) {
			return fmt.Errorf("%d parameters are more than int32 holds; ask for S = int64", n)
		}
		tensor.Values[int32](out)[0] = int32(n)
	default:
		return &engine.UnsupportedTypeError{Attr: "S", Type: d, Known: []tensor.DType{tensor.Int32, tensor.Int64}}
	}
	return nil
}

// parts returns the numbers of matrices and of biases, and checks that they are
// those of the network.
func (s *sized) parts(c *engine.Call) (int, error) {
	n := s.layers * s.directions * 2 * s.gates
	for _, attr := range []string{"num_params", "num_params_weights", "num_params_biases"} {
		if got := c.Attrs().Int(attr, int64(n)); got != int64(n) {
			return 0, fmt.Errorf("%s is %d, of a network of %d matrices and as many biases", attr, got, n)
		}
	}
	return n, nil
}

// toParams joins the matrices and biases, inputs from 3 on, to one vector.
func toParams(c *engine.Call, s *sized) error {
	n, err := s.parts(c)
	if err != nil {
		return err
	}
	if err := c.Need(3 + 2*n); err != nil {
		return err
	}
	count, err := s.count()
	if err != nil {
		return err
	}
	d := c.In(3).DType()
	if !d.Fixed() {
		return fmt.Errorf("weights are %v", d)
	}
	out, err := c.Alloc(0, d, tensor.Shape{int(count)})
	if err != nil {
		return err
	}
	i := 3
	put := func(r region) bool {
		t := c.In(i)
		if t.DType() != d || t.Len() != r.rows*r.columns {
			err = fmt.Errorf("input %d is %v%v, where %d elements of %v belong (%d×%d)", i, t.DType(), t.Shape(), r.rows*r.columns, d, r.rows, r.columns)
			return false
		}
		copy(out.Bytes()[r.at*d.Size():], t.Bytes())
		i++
		return true
	}
	s.regions(put, put)
	return err
}

// toCanonical splits the vector in input 3 into matrices and biases, one an
// output.
func toCanonical(c *engine.Call, s *sized) error {
	n, err := s.parts(c)
	if err != nil {
		return err
	}
	if err := c.Need(4); err != nil {
		return err
	}
	count, err := s.count()
	if err != nil {
		return err
	}
	p := c.In(3)
	d := p.DType()
	if !d.Fixed() || p.Len() != int(count) || len(p.Shape()) != 1 {
		return fmt.Errorf("params is %v%v, not a vector of %d", d, p.Shape(), count)
	}
	i := 0
	take := func(shape tensor.Shape, at int) bool {
		var out *tensor.Tensor
		if out, err = c.Alloc(i, d, shape); err != nil {
			return false
		}
		copy(out.Bytes(), p.Bytes()[at*d.Size():])
		i++
		return true
	}
	s.regions(func(r region) bool { return take(tensor.Shape{r.rows, r.columns}, r.at) },
		func(r region) bool { return err == nil && take(tensor.Shape{r.rows}, r.at) })
	if err == nil && i != 2*n {
		err = fmt.Errorf("BUG: %d of %d parts", i, 2*n)
	}
	return err
}
