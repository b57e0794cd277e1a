package parse

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// parseTensor reads a TensorProto. It is the kernel of ParseTensor.
func parseTensor(n *engine.Node) (func(*engine.Call) error, error) {
	want := n.Attrs.Type("out_type", tensor.Invalid)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		in := c.In(0)
		if in.DType() != tensor.String || in.Len() != 1 {
			return fmt.Errorf("takes a string, not %v%v", in.DType(), in.Shape())
		}
		m := new(pb.TensorProto)
		if err := m.Unmarshal([]byte(in.Strings()[0])); err != nil {
			return err
		}
		if d := tensor.DType(m.Dtype); d != want {
			return fmt.Errorf("the tensor is %v, not %v", d, want)
		}
		shape, err := tensorproto.Shape(m.TensorShape)
		if err != nil {
			return err
		}
		count, err := shape.NumElements()
		if err != nil {
			return err
		}
		size := int64(max(want.Size(), 16))
		if int64(count) > (1<<62)/size {
			return fmt.Errorf("a tensor of shape %v", shape)
		}
		allowance := int64(count) * size
		if err := c.Afford(allowance); err != nil {
			return err
		}
		t, err := tensorproto.Decode(m, &allowance)
		if err == nil {
			c.Set(0, t)
		}
		return err
	}, nil
}

// serializeTensor writes a TensorProto. Its bytes are TensorFlow's: elements
// are tensor_content, strings are fields of their own type.
func serializeTensor(c *engine.Call) error {
	if err := c.Need(1); err != nil {
		return err
	}
	size := c.In(0).NumBytes()
	if !c.In(0).DType().Fixed() {
		size = 0
		for i, s := range c.In(0).Strings() {
			c.Step(i)
			size += int64(len(s)) + 32
		}
	}
	if err := c.Afford(size); err != nil {
		return err
	}
	m, err := tensorproto.EncodeContent(c.In(0))
	if err != nil {
		return err
	}
	c.Set(0, tensor.Scalar(string(m.Marshal())))
	return nil
}
