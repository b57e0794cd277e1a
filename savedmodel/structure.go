package savedmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/tensorproto"
	"github.com/cairnml/cairn/tensor"
)

// Functions take and give values made of lists, tuples and dicts. What a file
// says of them, and what a call takes and gives, are these Go values:
//
//	None              nil
//	bool, str         bool, string
//	int, float        int64, float64
//	list              List
//	tuple             Tuple
//	dict              map[string]any
//	namedtuple        *NamedTuple
//	tf.TensorShape    graph.PartialShape
//	tf.DType          tensor.DType
//	a tensor          *tensor.Tensor
//	tf.TensorSpec     *TensorSpec
//	other TypeSpecs   *TypeSpec
//	a composite       Composite

// List is a Python list.
type List []any

// Tuple is a Python tuple.
type Tuple []any

// NamedTuple is a Python namedtuple.
type NamedTuple struct {
	Name   string
	Keys   []string
	Values []any
}

// Composite is the tensors of a composite value, in TensorFlow's order: a
// sparse tensor's indices, values and dense shape; a ragged tensor's flat values
// and row splits, the outermost first.
type Composite []*tensor.Tensor

// TensorSpec is the type of a tensor.
type TensorSpec struct {
	Name  string
	DType tensor.DType
	Shape graph.PartialShape
	// Minimum and Maximum bound the elements; nil for most.
	Minimum, Maximum *tensor.Tensor
}

// String returns "TensorSpec(float32[?,4], name="x")".
func (s *TensorSpec) String() string {
	if s.Name == "" {
		return fmt.Sprintf("TensorSpec(%v%v)", s.DType, s.Shape)
	}
	return fmt.Sprintf("TensorSpec(%v%v, name=%q)", s.DType, s.Shape, s.Name)
}

// TypeSpec is the type of a composite value.
type TypeSpec struct {
	// class is what kind of value it is.
	class pb.TypeSpecProtoTypeSpecClass
	// Name is the name of the Python class.
	Name string
	// State is what the class says of itself.
	State any
	// Tensors is how many tensors a value has; -1 where that isn't known.
	Tensors int
}

// String returns the class's name with its state.
func (s *TypeSpec) String() string { return fmt.Sprintf("%s(%s)", s.Name, Format(s.State)) }

// maxStructure is how deep structures may nest.
const maxStructure = 64

var errDeep = fmt.Errorf("the structure nests more than %d deep: %w", maxStructure, errors.ErrUnsupported)

// decodeStructure returns the Go value of a structured value.
func decodeStructure(p *pb.StructuredValue, depth int) (any, error) {
	if p == nil {
		return nil, nil
	}
	if depth > maxStructure {
		return nil, errDeep
	}
	switch p.Which {
	case 0, pb.StructuredValueNoneValue:
		return nil, nil
	case pb.StructuredValueFloat64Value:
		return p.Float64Value, nil
	case pb.StructuredValueInt64Value:
		return p.Int64Value, nil
	case pb.StructuredValueStringValue:
		return p.StringValue, nil
	case pb.StructuredValueBoolValue:
		return p.BoolValue, nil
	case pb.StructuredValueTensorShapeValue:
		return shapeOf(p.TensorShapeValue)
	case pb.StructuredValueTensorDtypeValue:
		return tensor.DType(p.TensorDtypeValue), nil
	case pb.StructuredValueTensorSpecValue:
		s := p.TensorSpecValue
		if s == nil {
			s = &pb.TensorSpecProto{}
		}
		return tensorSpec(s.Name, s.Shape, s.Dtype)
	case pb.StructuredValueBoundedTensorSpecValue:
		return boundedSpec(p.BoundedTensorSpecValue)
	case pb.StructuredValueTypeSpecValue:
		if p.TypeSpecValue == nil {
			return nil, errors.New("a type without a description")
		}
		return typeSpec(p.TypeSpecValue, depth+1)
	case pb.StructuredValueListValue:
		if p.ListValue == nil {
			return List{}, nil
		}
		v, err := decodeAll(p.ListValue.Values, depth)
		return List(v), err
	case pb.StructuredValueTupleValue:
		if p.TupleValue == nil {
			return Tuple{}, nil
		}
		v, err := decodeAll(p.TupleValue.Values, depth)
		return Tuple(v), err
	case pb.StructuredValueDictValue:
		return decodeDict(p.DictValue, depth)
	case pb.StructuredValueNamedTupleValue:
		return decodeNamedTuple(p.NamedTupleValue, depth)
	case pb.StructuredValueTensorValue:
		return decodeTensor(p.TensorValue)
	case pb.StructuredValueNumpyValue:
		return decodeTensor(p.NumpyValue)
	}
	return nil, fmt.Errorf("a structured value of the unknown kind %d: %w", p.Which, errors.ErrUnsupported)
}

func decodeTensor(p *pb.TensorProto) (any, error) {
	if p == nil {
		return nil, errors.New("a tensor without a value")
	}
	allowance := int64(16 << 20)
	return tensorproto.Decode(p, &allowance)
}

func decodeAll(list []*pb.StructuredValue, depth int) ([]any, error) {
	out := make([]any, len(list))
	for i, p := range list {
		var err error
		if out[i], err = decodeStructure(p, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func decodeDict(p *pb.DictValue, depth int) (any, error) {
	out := map[string]any{}
	if p == nil {
		return out, nil
	}
	for _, e := range p.Fields {
		v, err := decodeStructure(e.Value, depth+1)
		if err != nil {
			return nil, err
		}
		out[e.Key] = v
	}
	return out, nil
}

func decodeNamedTuple(p *pb.NamedTupleValue, depth int) (any, error) {
	out := &NamedTuple{}
	if p == nil {
		return out, nil
	}
	out.Name = p.Name
	for _, e := range p.Values {
		v, err := decodeStructure(e.Value, depth+1)
		if err != nil {
			return nil, err
		}
		out.Keys, out.Values = append(out.Keys, e.Key), append(out.Values, v)
	}
	return out, nil
}

func tensorSpec(name string, s *pb.TensorShapeProto, d pb.DataType) (*TensorSpec, error) {
	shape, err := shapeOf(s)
	if err != nil {
		return nil, err
	}
	return &TensorSpec{Name: name, DType: tensor.DType(d), Shape: shape}, nil
}

func boundedSpec(p *pb.BoundedTensorSpecProto) (any, error) {
	if p == nil {
		return &TensorSpec{}, nil
	}
	s, err := tensorSpec(p.Name, p.Shape, p.Dtype)
	if err != nil {
		return nil, err
	}
	allowance := int64(16 << 20)
	if p.Minimum != nil {
		if s.Minimum, err = tensorproto.Decode(p.Minimum, &allowance); err != nil {
			return nil, err
		}
	}
	if p.Maximum != nil {
		if s.Maximum, err = tensorproto.Decode(p.Maximum, &allowance); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func typeSpec(p *pb.TypeSpecProto, depth int) (*TypeSpec, error) {
	state, err := decodeStructure(p.TypeState, depth)
	if err != nil {
		return nil, err
	}
	s := &TypeSpec{class: p.TypeSpecClass, Name: p.TypeSpecClassName, State: state, Tensors: int(p.NumFlatComponents)}
	if s.Name == "" {
		s.Name = p.TypeSpecClass.String()
	}
	if s.Tensors <= 0 {
		s.Tensors = s.tensors()
	}
	return s, nil
}

// tensors returns how many tensors a value of a built-in class has; older files
// don't say.
func (s *TypeSpec) tensors() int {
	state, _ := s.State.(Tuple)
	switch s.class {
	case pb.TypeSpecProtoTypeSpecClassSparseTensorSpec:
		return 3
	case pb.TypeSpecProtoTypeSpecClassIndexedSlicesSpec:
		if len(state) > 3 && state[3] == nil {
			return 2
		}
		return 3
	case pb.TypeSpecProtoTypeSpecClassRaggedTensorSpec:
		if len(state) > 2 {
			if rank, ok := state[2].(int64); ok && rank >= 0 && rank < 1<<10 {
				return int(rank) + 1
			}
		}
		return -1
	case pb.TypeSpecProtoTypeSpecClassTensorArraySpec, pb.TypeSpecProtoTypeSpecClassDataDatasetSpec,
		pb.TypeSpecProtoTypeSpecClassDataIteratorSpec, pb.TypeSpecProtoTypeSpecClassOptionalSpec,
		pb.TypeSpecProtoTypeSpecClassVariableSpec, pb.TypeSpecProtoTypeSpecClassRowPartitionSpec:
		return 1
	}
	return -1
}

// Format returns a structured value as Python would write it.
func Format(v any) string {
	var b strings.Builder
	format(&b, v)
	return b.String()
}

func format(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if v {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case string:
		fmt.Fprintf(b, "%q", v)
	case List:
		formatAll(b, "[", v, "]")
	case Tuple:
		formatAll(b, "(", v, ")")
	case map[string]any:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%q: ", k)
			format(b, v[k])
		}
		b.WriteByte('}')
	case *NamedTuple:
		b.WriteString(v.Name + "(")
		for i, k := range v.Keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k + "=")
			format(b, v.Values[i])
		}
		b.WriteByte(')')
	case *tensor.Tensor:
		fmt.Fprintf(b, "tensor(%v%v)", v.DType(), v.Shape())
	default:
		fmt.Fprintf(b, "%v", v)
	}
}

func formatAll(b *strings.Builder, open string, list []any, end string) {
	b.WriteString(open)
	for i, x := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		format(b, x)
	}
	b.WriteString(end)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
