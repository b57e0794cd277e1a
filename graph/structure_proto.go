package graph

import (
	"bytes"
	"fmt"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// structureFromProto returns the structure that a message describes. The rest
// of the message is kept, so that an unchanged structure is written as it was.
func structureFromProto(p *pb.StructuredValue) (*Structure, error) {
	s, err := readStructure(p, newAllowance())
	if err != nil {
		return nil, err
	}
	if again, err := s.encode(); err != nil || !bytes.Equal(again.Marshal(), p.Marshal()) {
		s.src = p
	}
	return s, nil
}

// proto returns the structure as a message. A static Go value that files can't
// contain is an error that names its place.
func (s *Structure) proto() (*pb.StructuredValue, error) {
	if p, ok := s.src.(*pb.StructuredValue); ok {
		if was, err := readStructure(p, newAllowance()); err == nil && was.identical(s) {
			return p, nil
		}
	}
	return s.encode()
}

// newAllowance returns the memory, in bytes, that the expanded constants in one
// structure may take.
func newAllowance() *int64 {
	n := int64(64 << 20)
	return &n
}

func readTensor(p *pb.TensorProto, allowance *int64) (*tensor.Tensor, error) {
	if p == nil {
		return nil, nil
	}
	return tensorproto.Decode(p, allowance)
}

// readStructure returns the structure that a message describes, for reading
// only: unlike structureFromProto, it doesn't keep the rest of the message. The
// bytes of its constants are subtracted from allowance, which they may not
// exceed.
func readStructure(p *pb.StructuredValue, allowance *int64) (*Structure, error) {
	if p == nil {
		return &Structure{}, nil
	}
	var err error
	s := &Structure{Kind: StaticStructure}
	switch p.Which {
	case pb.StructuredValueNoneValue:
		s.Kind = NoneStructure
	case pb.StructuredValueFloat64Value:
		s.Value = p.Float64Value
	case pb.StructuredValueInt64Value:
		s.Value = p.Int64Value
	case pb.StructuredValueStringValue:
		s.Value = p.StringValue
	case pb.StructuredValueBoolValue:
		s.Value = p.BoolValue
	case pb.StructuredValueTensorShapeValue:
		s.Value, _, err = readShape(p.TensorShapeValue)
	case pb.StructuredValueTensorDtypeValue:
		s.Value = tensor.DType(p.TensorDtypeValue)
	case pb.StructuredValueTensorValue:
		s.Value, err = readTensor(p.TensorValue, allowance)
	case pb.StructuredValueNumpyValue:
		s.NumPy = true
		s.Value, err = readTensor(p.NumpyValue, allowance)
	case pb.StructuredValueTensorSpecValue:
		s.Kind = TensorStructure
		if v := p.TensorSpecValue; v != nil {
			s.Name, s.Fact.DType = v.Name, tensor.DType(v.Dtype)
			s.Fact.Shape, _, err = readShape(v.Shape)
		}
	case pb.StructuredValueBoundedTensorSpecValue:
		s.Kind = TensorStructure
		if v := p.BoundedTensorSpecValue; v != nil {
			s.Name, s.Fact.DType = v.Name, tensor.DType(v.Dtype)
			if s.Fact.Shape, _, err = readShape(v.Shape); err == nil {
				s.Min, err = readTensor(v.Minimum, allowance)
			}
			if err == nil {
				s.Max, err = readTensor(v.Maximum, allowance)
			}
		}
	case pb.StructuredValueTypeSpecValue:
		s.Kind, s.Composite = CompositeStructure, &Composite{}
		if v := p.TypeSpecValue; v != nil {
			s.Composite, err = readComposite(v, allowance)
		}
	case pb.StructuredValueListValue:
		s.Kind = ListStructure
		if v := p.ListValue; v != nil {
			s.Elems, err = readStructures(v.Values, allowance)
		}
	case pb.StructuredValueTupleValue:
		s.Kind = TupleStructure
		if v := p.TupleValue; v != nil {
			s.Elems, err = readStructures(v.Values, allowance)
		}
	case pb.StructuredValueDictValue:
		s.Kind = DictStructure
		if v := p.DictValue; v != nil {
			for _, f := range v.Fields {
				e, err := readStructure(f.Value, allowance)
				if err != nil {
					return nil, err
				}
				s.Keys, s.Elems = append(s.Keys, f.Key), append(s.Elems, e)
			}
		}
	case pb.StructuredValueNamedTupleValue:
		s.Kind = NamedStructure
		if v := p.NamedTupleValue; v != nil {
			s.Name = v.Name
			for _, f := range v.Values {
				e, err := readStructure(f.Value, allowance)
				if err != nil {
					return nil, err
				}
				s.Keys, s.Elems = append(s.Keys, f.Key), append(s.Elems, e)
			}
		}
	default:
		s.Kind = UnsetStructure
	}
	if err != nil {
		return nil, fmt.Errorf("graph: a structure in the file: %w", err)
	}
	return s, nil
}

// readComposite returns the type of a composite that a message describes; see
// readStructure.
func readComposite(p *pb.TypeSpecProto, allowance *int64) (*Composite, error) {
	c := &Composite{Class: CompositeClass(p.TypeSpecClass), ClassName: p.TypeSpecClassName, Tensors: int(p.NumFlatComponents)}
	if c.Tensors < 0 || c.Tensors > maxComponents {
		return nil, fmt.Errorf("graph: a %s of %d tensors", p.TypeSpecClassName, p.NumFlatComponents)
	}
	var err error
	c.State, err = readStructure(p.TypeState, allowance)
	return c, err
}

// maxComponents bounds the number of tensors of a composite in a file.
const maxComponents = 1 << 10

func readStructures(list []*pb.StructuredValue, allowance *int64) ([]*Structure, error) {
	out := make([]*Structure, len(list))
	for i, p := range list {
		var err error
		if out[i], err = readStructure(p, allowance); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// identical reports whether both would be written equally: names count, and the
// order of keys.
func (s *Structure) identical(o *Structure) bool {
	if s == nil || o == nil {
		return s == o
	}
	if !s.Equal(o) || s.Name != o.Name || s.Composite != nil && !s.Composite.State.identical(o.Composite.State) {
		return false
	}
	for i := range s.Elems {
		if s.Keys != nil && s.Keys[i] != o.Keys[i] || !s.Elems[i].identical(o.Elems[i]) {
			return false
		}
	}
	return true
}

func (s *Structure) encode() (*pb.StructuredValue, error) {
	p := &pb.StructuredValue{}
	if s == nil {
		return p, nil
	}
	var err error
	switch s.Kind {
	case UnsetStructure:
	case NoneStructure:
		p.Which, p.NoneValue = pb.StructuredValueNoneValue, &pb.NoneValue{}
	case StaticStructure:
		err = s.encodeStatic(p)
	case TensorStructure:
		err = s.encodeTensor(p)
	case CompositeStructure:
		c := s.Composite
		v := &pb.TypeSpecProto{TypeSpecClass: pb.TypeSpecProtoTypeSpecClass(c.Class), TypeSpecClassName: c.ClassName, NumFlatComponents: int32(c.Tensors)}
		p.Which, p.TypeSpecValue = pb.StructuredValueTypeSpecValue, v
		if c.State != nil {
			v.TypeState, err = c.State.encode()
		}
	default:
		err = s.encodeElems(p)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (s *Structure) encodeElems(p *pb.StructuredValue) error {
	elems := make([]*pb.StructuredValue, len(s.Elems))
	for i, e := range s.Elems {
		var err error
		if elems[i], err = e.encode(); err != nil {
			if s.Keys != nil {
				return fmt.Errorf("%s: %w", s.Keys[i], err)
			}
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	switch s.Kind {
	case ListStructure:
		p.Which, p.ListValue = pb.StructuredValueListValue, &pb.ListValue{Values: elems}
	case TupleStructure:
		p.Which, p.TupleValue = pb.StructuredValueTupleValue, &pb.TupleValue{Values: elems}
	case DictStructure:
		v := &pb.DictValue{}
		for i, e := range elems {
			v.Fields = append(v.Fields, &pb.StructuredValueEntry{Key: s.Keys[i], Value: e})
		}
		p.Which, p.DictValue = pb.StructuredValueDictValue, v
	case NamedStructure:
		v := &pb.NamedTupleValue{Name: s.Name}
		for i, e := range elems {
			v.Values = append(v.Values, &pb.PairValue{Key: s.Keys[i], Value: e})
		}
		p.Which, p.NamedTupleValue = pb.StructuredValueNamedTupleValue, v
	}
	return nil
}

func (s *Structure) encodeTensor(p *pb.StructuredValue) error {
	shape, dtype := shapeProto(s.Fact.Shape.Anonymous()), pb.DataType(s.Fact.DType)
	if s.Min == nil && s.Max == nil {
		p.Which, p.TensorSpecValue = pb.StructuredValueTensorSpecValue, &pb.TensorSpecProto{Name: s.Name, Shape: shape, Dtype: dtype}
		return nil
	}
	v := &pb.BoundedTensorSpecProto{Name: s.Name, Shape: shape, Dtype: dtype}
	p.Which, p.BoundedTensorSpecValue = pb.StructuredValueBoundedTensorSpecValue, v
	var err error
	if s.Min != nil {
		if v.Minimum, err = tensorproto.Encode(s.Min); err != nil {
			return err
		}
	}
	if s.Max != nil {
		v.Maximum, err = tensorproto.Encode(s.Max)
	}
	return err
}

func (s *Structure) encodeStatic(p *pb.StructuredValue) (err error) {
	switch v := s.Value.(type) {
	case bool:
		p.Which, p.BoolValue = pb.StructuredValueBoolValue, v
	case int64:
		p.Which, p.Int64Value = pb.StructuredValueInt64Value, v
	case float64:
		p.Which, p.Float64Value = pb.StructuredValueFloat64Value, v
	case string:
		p.Which, p.StringValue = pb.StructuredValueStringValue, v
	case tensor.DType:
		p.Which, p.TensorDtypeValue = pb.StructuredValueTensorDtypeValue, pb.DataType(v)
	case PartialShape:
		p.Which, p.TensorShapeValue = pb.StructuredValueTensorShapeValue, shapeProto(v.Anonymous())
	case *tensor.Tensor:
		var t *pb.TensorProto
		if v != nil {
			if t, err = tensorproto.Encode(v); err != nil {
				return err
			}
		}
		if s.NumPy {
			p.Which, p.NumpyValue = pb.StructuredValueNumpyValue, t
		} else {
			p.Which, p.TensorValue = pb.StructuredValueTensorValue, t
		}
	default:
		return fmt.Errorf("a static %T has no form in files; a bool, an int, a float64, a string, a tensor.DType or a tensor.Shape has", s.Value)
	}
	return nil
}
