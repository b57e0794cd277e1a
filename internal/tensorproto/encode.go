package tensorproto

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// Encode returns the message that TensorFlow's make_tensor_proto makes of t:
// the memory of the common numeric types if there is more than one element, a
// list of values otherwise. The message may share t's memory. An error is that of a
// variant or resource whose string is no message.
func Encode(t *tensor.Tensor) (*pb.TensorProto, error) {
	d := t.DType()
	m := &pb.TensorProto{}
	if t.Len() > 1 && asContent(d) {
		m.TensorContent = native(t.Bytes(), d)
	} else {
		var err error
		if m, err = EncodeList(t); err != nil {
			return nil, err
		}
	}
	m.Dtype, m.TensorShape = pb.DataType(d), EncodeShape(t.Shape())
	return m, nil
}

// EncodeList returns a message that has t's elements as a list of values, and
// neither type nor shape, as in checkpoints of version 1. The message may share
// t's memory.
func EncodeList(t *tensor.Tensor) (*pb.TensorProto, error) {
	m := &pb.TensorProto{}
	switch d := t.DType(); d {
	case tensor.Float32:
		m.FloatVal = tensor.Values[float32](t)
	case tensor.Float64:
		m.DoubleVal = tensor.Values[float64](t)
	case tensor.Int32:
		m.IntVal = tensor.Values[int32](t)
	case tensor.Int64:
		m.Int64Val = tensor.Values[int64](t)
	case tensor.Uint32:
		m.Uint32Val = tensor.Values[uint32](t)
	case tensor.Uint64:
		m.Uint64Val = tensor.Values[uint64](t)
	case tensor.Bool:
		m.BoolVal = tensor.Values[bool](t)
	case tensor.QInt32:
		m.IntVal = ints(tensor.Values[tensor.Q32](t))
	case tensor.Int16:
		m.IntVal = ints(tensor.Values[int16](t))
	case tensor.QInt16:
		m.IntVal = ints(tensor.Values[tensor.Q16](t))
	case tensor.Uint16:
		m.IntVal = ints(tensor.Values[uint16](t))
	case tensor.QUint16:
		m.IntVal = ints(tensor.Values[tensor.QU16](t))
	case tensor.Int8:
		m.IntVal = ints(tensor.Values[int8](t))
	case tensor.QInt8:
		m.IntVal = ints(tensor.Values[tensor.Q8](t))
	case tensor.Uint8:
		m.IntVal = ints(tensor.Values[uint8](t))
	case tensor.QUint8:
		m.IntVal = ints(tensor.Values[tensor.QU8](t))
	case tensor.Uint4, tensor.Uint2:
		m.IntVal = ints(t.Bytes())
	case tensor.Int4:
		m.IntVal = signed(t.Bytes(), 4)
	case tensor.Int2:
		m.IntVal = signed(t.Bytes(), 2)
	case tensor.Float16:
		m.HalfVal = ints(tensor.Values[tensor.F16](t))
	case tensor.BFloat16:
		m.HalfVal = ints(tensor.Values[tensor.BF16](t))
	case tensor.Complex64:
		for _, v := range tensor.Values[complex64](t) {
			m.ScomplexVal = append(m.ScomplexVal, real(v), imag(v))
		}
	case tensor.Complex128:
		for _, v := range tensor.Values[complex128](t) {
			m.DcomplexVal = append(m.DcomplexVal, real(v), imag(v))
		}
	case tensor.String:
		m.StringVal = make([][]byte, t.Len())
		for i, s := range t.Strings() {
			m.StringVal[i] = []byte(s)
		}
	case tensor.Variant:
		m.VariantVal = make([]*pb.VariantTensorDataProto, t.Len())
		for i, s := range t.Strings() {
			m.VariantVal[i] = new(pb.VariantTensorDataProto)
			if err := m.VariantVal[i].Unmarshal([]byte(s)); err != nil {
				return nil, fmt.Errorf("variant %d: %w", i, err)
			}
		}
	case tensor.Resource:
		m.ResourceHandleVal = make([]*pb.ResourceHandleProto, t.Len())
		for i, s := range t.Strings() {
			m.ResourceHandleVal[i] = new(pb.ResourceHandleProto)
			if err := m.ResourceHandleVal[i].Unmarshal([]byte(s)); err != nil {
				return nil, fmt.Errorf("resource %d: %w", i, err)
			}
		}
	default:
		m.Float8Val = t.Bytes() // the 8-bit floats
	}
	return m, nil
}

// EncodeShape returns the message of a shape. Any negative size is written as -1, which
// means that it isn't known.
func EncodeShape(s tensor.Shape) *pb.TensorShapeProto {
	dims := make([]pb.Dim, len(s))
	m := &pb.TensorShapeProto{}
	for i, d := range s {
		dims[i].Size = int64(max(d, -1))
		m.Dim = append(m.Dim, &dims[i])
	}
	return m
}

// asContent reports whether TensorFlow writes more than one element of a type
// as memory.
func asContent(d tensor.DType) bool {
	switch d {
	case tensor.BFloat16, tensor.Float16, tensor.Float32, tensor.Float64,
		tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint32, tensor.Uint64,
		tensor.QInt8, tensor.QUint8, tensor.QInt16, tensor.QUint16, tensor.QInt32,
		tensor.Float8E5M2, tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E4M3B11FNUZ, tensor.Float8E5M2FNUZ, tensor.Float4E2M1FN:
		return true
	}
	return false
}

// ints returns v as the integers of a message.
func ints[T ~int8 | ~int16 | ~int32 | ~uint8 | ~uint16](v []T) []int32 {
	out := make([]int32, len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return out
}

// signed returns the signed integers in the lower bits of each byte. bits is the
// number of these bits.
func signed(b []byte, bits int) []int32 {
	out := make([]int32, len(b))
	for i, v := range b {
		out[i] = int32(int8(v<<(8-bits)) >> (8 - bits))
	}
	return out
}

// EncodeContent returns the message that TensorFlow's runtime makes of t: the
// memory of every type whose elements have a size, however few they are. The
// message may share t's memory.
func EncodeContent(t *tensor.Tensor) (*pb.TensorProto, error) {
	d := t.DType()
	if !d.Fixed() {
		return Encode(t)
	}
	return &pb.TensorProto{Dtype: pb.DataType(d), TensorShape: EncodeShape(t.Shape()), TensorContent: native(t.Bytes(), d)}, nil
}

// hostBig reports whether this machine is big-endian.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// native turns little-endian elements into this machine's, or back.
func native(b []byte, d tensor.DType) []byte {
	width := d.Swap()
	if !hostBig || width <= 1 {
		return b
	}
	b = slices.Clone(b)
	for part := range slices.Chunk(b, width) {
		slices.Reverse(part)
	}
	return b
}
