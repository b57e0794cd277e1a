package sparse

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of SerializeSparse, SerializeManySparse, DeserializeSparse and
// DeserializeManySparse. The strings are TensorFlow's TensorProtos and must
// stay: programs store them.

// part is a sparse tensor as its three tensors: indices, values and shape.
type part [3]*tensor.Tensor

// partOf returns the listed values of m, with their indices from the given
// dimension on.
func (m *matrix) partOf(list []int, from int) (part, error) {
	at := make([]int64, 0, len(list)*(m.rank-from))
	for _, i := range list {
		at = append(at, m.row(i)[from:]...)
	}
	indices, err := tensor.New(at, len(list), m.rank-from)
	if err != nil {
		return part{}, err
	}
	values, err := tensor.Zeros(m.values.DType(), len(list))
	if err != nil {
		return part{}, err
	}
	for to, i := range list {
		copyElements(values, m.values, to, i, 1)
	}
	return part{indices, values, tensor.Vector(slices.Clone(m.shape[from:])...)}, nil
}

// rows returns a sparse tensor for each index of the first dimension.
func (m *matrix) rows() ([]part, error) {
	if m.rank < 2 {
		return nil, fmt.Errorf("the tensor has %d dimensions, less than 2", m.rank)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	lists := make([][]int, m.shape[0])
	for i := range m.n {
		k := m.row(i)[0]
		lists[k] = append(lists[k], i)
	}
	out := make([]part, len(lists))
	for k, list := range lists {
		var err error
		if out[k], err = m.partOf(list, 1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rowsOf reads inputs 0 to 2 and returns a sparse tensor for each index of the
// first dimension.
func rowsOf(c *engine.Call) ([]part, error) {
	m, err := input(c, 0, 1, 2)
	if err != nil {
		return nil, err
	}
	if m.rank > 0 && m.shape[0] > 0 {
		if m.shape[0] > math.MaxInt32 {
			return nil, fmt.Errorf("%d rows are more than can be split", m.shape[0])
		}
		c.Fits(int(m.shape[0]), 400) // its list and three tensors
	}
	return m.rows()
}

// serialize writes a sparse tensor or, if many is set, one for each index of
// the first dimension.
func serialize(many bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		asVariant := n.Attrs.Type("out_type", tensor.String) == tensor.Variant
		return func(c *engine.Call) error {
			if err := c.Need(3); err != nil {
				return err
			}
			m, err := input(c, 0, 1, 2)
			if err != nil {
				return err
			}
			shape := tensor.Shape{3}
			list := []part{{c.In(0), m.values, c.In(2)}}
			if many {
				if list, err = rowsOf(c); err != nil {
					return err
				}
				shape = tensor.Shape{len(list), 3}
			}
			if asVariant {
				h := &engine.Handles{Shape: shape}
				for _, p := range list {
					for _, t := range p {
						h.Items = append(h.Items, &variant.Tensor{Value: t.Clone()})
					}
				}
				c.SetObject(0, h)
				return nil
			}
			out, err := c.Alloc(0, tensor.String, shape)
			if err != nil {
				return err
			}
			total := int64(0)
			for i, p := range list {
				for j, t := range p {
					b, err := encode(t)
					if err != nil {
						return err
					}
					if total += int64(len(b)); c.Afford(total) != nil {
						return c.Afford(total)
					}
					out.Strings()[3*i+j] = string(b)
				}
			}
			return nil
		}, nil
	}
}

// encode returns a TensorProto with its elements in tensor_content. It writes
// strings there, too: their lengths, then their bytes.
func encode(t *tensor.Tensor) ([]byte, error) {
	if t.DType() != tensor.String {
		m, err := tensorproto.EncodeContent(t)
		if err != nil {
			return nil, err
		}
		return m.Marshal(), nil
	}
	m := &pb.TensorProto{Dtype: pb.DataType(t.DType()), TensorShape: tensorproto.EncodeShape(t.Shape())}
	for _, s := range t.Strings() {
		m.TensorContent = binary.AppendUvarint(m.TensorContent, uint64(len(s)))
	}
	for _, s := range t.Strings() {
		m.TensorContent = append(m.TensorContent, s...)
	}
	return m.Marshal(), nil
}

// deserialize reads sparse tensors that serialize wrote. The result begins with
// the dimensions of the input that number them. If single is set, the input may
// be one tensor without such a dimension.
func deserialize(single bool) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		d := n.Attrs.Type("dtype", tensor.Invalid)
		return func(c *engine.Call) error {
			if c.NumIn() != 1 {
				return fmt.Errorf("takes 1 input, %d were given", c.NumIn())
			}
			outer, list, err := serialized(c)
			if err != nil {
				return err
			}
			if !single && len(outer) != 1 {
				return fmt.Errorf("the serialized tensors have shape %v, not [n 3]", append(outer, 3))
			}
			if single && len(outer) == 0 {
				if len(list) != 1 {
					return fmt.Errorf("there are %d serialized tensors", len(list))
				}
				if _, err := list[0].matrix(d); err != nil {
					return err
				}
				for i, t := range list[0] {
					c.Set(i, t)
				}
				return nil
			}
			return join(c, list, outer, d)
		}, nil
	}
}

// serialized reads the sparse tensors in input 0, whose last dimension is 3.
func serialized(c *engine.Call) (outer tensor.Shape, list []part, err error) {
	var shape tensor.Shape
	var item func(i int) (*tensor.Tensor, error)
	switch v := c.Input(0); o := v.Object.(type) {
	case *engine.Handles:
		shape = o.Shape
		item = func(i int) (*tensor.Tensor, error) {
			x, ok := o.Items[i].(*variant.Tensor)
			if !ok {
				return nil, fmt.Errorf("element %d is a %T, not a tensor", i, o.Items[i])
			}
			return x.Value, nil
		}
	case nil:
		if v.Tensor == nil || v.Tensor.DType() != tensor.String {
			return nil, nil, fmt.Errorf("takes strings, not %v", v.DType())
		}
		shape = v.Tensor.Shape()
		allowance := int64(1 << 40)
		item = func(i int) (*tensor.Tensor, error) {
			m := new(pb.TensorProto)
			if err := m.Unmarshal([]byte(v.Tensor.Strings()[i])); err != nil {
				return nil, err
			}
			s, err := tensorproto.Shape(m.TensorShape)
			if err != nil {
				return nil, err
			}
			count, err := s.NumElements()
			if err != nil {
				return nil, err
			}
			if err := c.Afford(16 * min(int64(count), 1<<58)); err != nil {
				return nil, err
			}
			return tensorproto.Decode(m, &allowance)
		}
	default:
		return nil, nil, fmt.Errorf("takes serialized tensors, not a %T", o)
	}
	if len(shape) == 0 || shape[len(shape)-1] != 3 {
		return nil, nil, fmt.Errorf("the serialized tensors have shape %v, whose last size isn't 3", shape)
	}
	outer = shape[:len(shape)-1].Clone()
	for i := range shapes.Count(outer) {
		var p part
		for j := range p {
			if p[j], err = item(3*i + j); err != nil {
				return nil, nil, fmt.Errorf("tensor %d: %w", i, err)
			}
		}
		list = append(list, p)
	}
	return outer, list, nil
}

// matrix returns p as a sparse tensor of values of type d.
func (p part) matrix(d tensor.DType) (m matrix, err error) {
	at, v, s := p[0], p[1], p[2]
	if len(at.Shape()) != 2 || len(v.Shape()) != 1 || len(s.Shape()) != 1 || at.Shape()[0] != v.Len() || at.Shape()[1] != s.Len() ||
		at.DType() != tensor.Int64 || s.DType() != tensor.Int64 {
		return m, fmt.Errorf("indices %v%v, values of %v and a shape %v%v make no sparse tensor", at.DType(), at.Shape(), v.Shape(), s.DType(), s.Shape())
	}
	if v.DType() != d {
		return m, fmt.Errorf("the values are %v, not %v", v.DType(), d)
	}
	return matrix{n: v.Len(), rank: s.Len(), at: tensor.Values[int64](at), values: v, shape: tensor.Values[int64](s)}, nil
}

// join makes one sparse tensor of many, with the dimensions of outer before
// theirs. Each size is the largest among them.
func join(c *engine.Call, list []part, outer tensor.Shape, d tensor.DType) error {
	if len(list) == 0 {
		return fmt.Errorf("there are no sparse tensors: the number of dimensions isn't known")
	}
	var at []int64
	var dims []int64
	ms := make([]matrix, len(list))
	total := 0
	for i, p := range list {
		m, err := p.matrix(d)
		if err != nil {
			return fmt.Errorf("tensor %d: %w", i, err)
		}
		if i == 0 {
			dims = slices.Clone(m.shape)
		}
		if m.rank != len(dims) {
			return fmt.Errorf("tensor %d has %d dimensions, the first %d", i, m.rank, len(dims))
		}
		for k, n := range m.shape {
			dims[k] = max(dims[k], n)
		}
		ms[i] = m
		total += m.n
	}
	values, err := c.Alloc(1, d, tensor.Shape{total})
	if err != nil {
		return err
	}
	to := 0
	strides := shapes.Strides(outer)
	for i, m := range ms {
		for k := range m.n {
			for j, s := range strides {
				at = append(at, int64(i/s%outer[j]))
			}
			at = append(at, m.row(k)...)
		}
		copyElements(values, m.values, to, 0, m.n)
		to += m.n
	}
	shape := make([]int64, 0, len(outer)+len(dims))
	for _, n := range outer {
		shape = append(shape, int64(n))
	}
	shape = append(shape, dims...)
	if err := setInts(c, 0, at, total, len(shape)); err != nil {
		return err
	}
	return setInts(c, 2, shape, len(shape))
}
