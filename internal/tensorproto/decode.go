// Package tensorproto converts between TensorFlow's TensorProto and tensors.
// Many packages use it.
//
// A TensorProto stores its elements as one piece of memory (tensor_content) or
// as a list of the element type's kind. If the list is shorter than the shape
// requires, its last element is repeated; without any element, all are zero.
//
// Encoded messages must stay those that TensorFlow writes. Decoding refuses some
// messages that TensorFlow takes: integers that the element type can't hold, and
// bools other than 0 and 1.
package tensorproto

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// A SizeError reports that a tensor would take more memory than is allowed: its
// message is much smaller than the tensor.
type SizeError struct {
	DType tensor.DType
	Shape tensor.Shape
	Bytes int64 // size of the tensor
	Limit int64 // the remaining allowance
}

// Error names type, shape and sizes.
func (e *SizeError) Error() string {
	return fmt.Sprintf("a %v%v of few values takes %d bytes, which is over the limit of %d for values that the file doesn't spell out", e.DType, e.Shape, e.Bytes, e.Limit)
}

// Decode returns the tensor that m describes. It may share m's memory. Elements
// that m doesn't spell out are subtracted from the allowance, in bytes; if it
// doesn't suffice, nothing is allocated and the error is a [*SizeError].
// Variants and resources become their encoded messages. A list with more
// elements than the shape has is cut off. Graphs and signatures are read so.
func Decode(m *pb.TensorProto, allowance *int64) (*tensor.Tensor, error) {
	d := tensor.DType(m.Dtype)
	if !d.Valid() {
		return nil, fmt.Errorf("%v is no type of elements", d)
	}
	shape, err := Shape(m.TensorShape)
	if err != nil {
		return nil, err
	}
	n, err := shape.NumElements()
	if err != nil {
		return nil, err
	}
	given, per := values(m, d)
	switch {
	case len(m.TensorContent) > 0 && (d.Fixed() || d == tensor.String):
		return content(m.TensorContent, d, shape, n)
	case given%per != 0:
		return nil, fmt.Errorf("%d parts are no complex numbers", given)
	}
	if missing := n - given/per; missing > 0 {
		size := max(int64(d.Size()), 16)
		if d.Fixed() {
			size = int64(d.Size())
		}
		if int64(missing) > *allowance/size {
			bytes := int64(math.MaxInt64)
			if int64(missing) <= bytes/size {
				bytes = int64(missing) * size
			}
			return nil, &SizeError{d, shape, bytes, *allowance}
		}
		*allowance -= int64(missing) * size
	}
	return fromList(m, d, shape, n)
}

// Exact returns the tensor of type d and a shape that m must hold element by
// element: neither more nor fewer are taken. Only strings may share m's memory. Checkpoints of
// version 1 are read so. The error of variants and resources is errors.ErrUnsupported.
func Exact(m *pb.TensorProto, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if m.Dtype != 0 && tensor.DType(m.Dtype) != d {
		return nil, fmt.Errorf("the values are %v, the entry says %v", tensor.DType(m.Dtype), d)
	}
	n, err := shape.NumElements()
	if err != nil {
		return nil, err
	}
	if len(m.TensorContent) > 0 {
		return content(slices.Clone(m.TensorContent), d, shape, n)
	}
	switch given, per := values(m, d); {
	case d == tensor.Variant || d == tensor.Resource || !d.Valid():
		return nil, fmt.Errorf("values of %v: %w", d, errors.ErrUnsupported)
	case per == 2 && given != 2*n:
		return nil, fmt.Errorf("%d parts for %d complex elements", given, n)
	case per == 1 && given != n:
		return nil, fmt.Errorf("%d values for %d elements", given, n)
	}
	return fromList(m, d, shape, n)
}

// Shape returns the shape of a message, all of whose sizes must be known. No message
// means the shape of a scalar.
func Shape(m *pb.TensorShapeProto) (tensor.Shape, error) {
	if m == nil {
		return tensor.Shape{}, nil
	}
	if m.UnknownRank {
		return nil, fmt.Errorf("the shape of a tensor has no rank")
	}
	if len(m.Dim) > tensor.MaxRank {
		return nil, fmt.Errorf("the shape has %d dimensions; the most is %d", len(m.Dim), tensor.MaxRank)
	}
	shape := make(tensor.Shape, len(m.Dim))
	for i, d := range m.Dim {
		if d.Size < 0 || int64(int(d.Size)) != d.Size {
			return nil, fmt.Errorf("dimension %d of a tensor is %d", i, d.Size)
		}
		shape[i] = int(d.Size)
	}
	return shape, nil
}

// values returns how many entries the list of a type has, and how many of them
// make an element.
func values(m *pb.TensorProto, d tensor.DType) (n, per int) {
	switch d {
	case tensor.Float32:
		return len(m.FloatVal), 1
	case tensor.Float64:
		return len(m.DoubleVal), 1
	case tensor.Int64:
		return len(m.Int64Val), 1
	case tensor.Uint32:
		return len(m.Uint32Val), 1
	case tensor.Uint64:
		return len(m.Uint64Val), 1
	case tensor.Bool:
		return len(m.BoolVal), 1
	case tensor.Float16, tensor.BFloat16:
		return len(m.HalfVal), 1
	case tensor.Complex64:
		return len(m.ScomplexVal), 2
	case tensor.Complex128:
		return len(m.DcomplexVal), 2
	case tensor.String:
		return len(m.StringVal), 1
	case tensor.Variant:
		return len(m.VariantVal), 1
	case tensor.Resource:
		return len(m.ResourceHandleVal), 1
	case tensor.Float8E5M2, tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E4M3B11FNUZ, tensor.Float8E5M2FNUZ, tensor.Float4E2M1FN:
		return len(m.Float8Val), 1
	}
	return len(m.IntVal), 1
}

// fromList returns the tensor of n elements that m's list describes. Strings may share m's
// memory.
func fromList(m *pb.TensorProto, d tensor.DType, shape tensor.Shape, n int) (*tensor.Tensor, error) {
	switch d {
	case tensor.Float32:
		return fill(m.FloatVal, n, shape, func(v float32) float32 { return v })
	case tensor.Float64:
		return fill(m.DoubleVal, n, shape, func(v float64) float64 { return v })
	case tensor.Int32:
		return fill(m.IntVal, n, shape, func(v int32) int32 { return v })
	case tensor.QInt32:
		return fill(m.IntVal, n, shape, func(v int32) tensor.Q32 { return tensor.Q32(v) })
	case tensor.Int16:
		return fillInts(m.IntVal, n, shape, func(v int32) int16 { return int16(v) }, math.MinInt16, math.MaxInt16)
	case tensor.QInt16:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.Q16 { return tensor.Q16(v) }, math.MinInt16, math.MaxInt16)
	case tensor.Uint16:
		return fillInts(m.IntVal, n, shape, func(v int32) uint16 { return uint16(v) }, 0, math.MaxUint16)
	case tensor.QUint16:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.QU16 { return tensor.QU16(v) }, 0, math.MaxUint16)
	case tensor.Int8:
		return fillInts(m.IntVal, n, shape, func(v int32) int8 { return int8(v) }, math.MinInt8, math.MaxInt8)
	case tensor.QInt8:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.Q8 { return tensor.Q8(v) }, math.MinInt8, math.MaxInt8)
	case tensor.Uint8:
		return fillInts(m.IntVal, n, shape, func(v int32) uint8 { return uint8(v) }, 0, math.MaxUint8)
	case tensor.QUint8:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.QU8 { return tensor.QU8(v) }, 0, math.MaxUint8)
	case tensor.Int4:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.I4 { return tensor.I4(v & 0x0f) }, -8, 15)
	case tensor.Uint4:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.U4 { return tensor.U4(v) }, 0, 15)
	case tensor.Int2:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.I2 { return tensor.I2(v & 0x03) }, -2, 3)
	case tensor.Uint2:
		return fillInts(m.IntVal, n, shape, func(v int32) tensor.U2 { return tensor.U2(v) }, 0, 3)
	case tensor.Int64:
		return fill(m.Int64Val, n, shape, func(v int64) int64 { return v })
	case tensor.Uint32:
		return fill(m.Uint32Val, n, shape, func(v uint32) uint32 { return v })
	case tensor.Uint64:
		return fill(m.Uint64Val, n, shape, func(v uint64) uint64 { return v })
	case tensor.Bool:
		return fill(m.BoolVal, n, shape, func(v bool) bool { return v })
	case tensor.Float16:
		return fillInts(m.HalfVal, n, shape, func(v int32) tensor.F16 { return tensor.F16(v) }, 0, math.MaxUint16)
	case tensor.BFloat16:
		return fillInts(m.HalfVal, n, shape, func(v int32) tensor.BF16 { return tensor.BF16(v) }, 0, math.MaxUint16)
	case tensor.Complex64:
		return fill(pairs(m.ScomplexVal, func(re, im float32) complex64 { return complex(re, im) }), n, shape, func(v complex64) complex64 { return v })
	case tensor.Complex128:
		return fill(pairs(m.DcomplexVal, func(re, im float64) complex128 { return complex(re, im) }), n, shape, func(v complex128) complex128 { return v })
	case tensor.String:
		return fillStrings(m.StringVal, d, n, shape, func(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) })
	case tensor.Variant:
		return fillStrings(m.VariantVal, d, n, shape, func(v *pb.VariantTensorDataProto) string { return string(v.Marshal()) })
	case tensor.Resource:
		return fillStrings(m.ResourceHandleVal, d, n, shape, func(v *pb.ResourceHandleProto) string { return string(v.Marshal()) })
	}
	t, err := tensor.Zeros(d, shape...) // the 8-bit floats
	if err != nil {
		return nil, err
	}
	repeat(t.Bytes(), m.Float8Val, func(v byte) byte { return v })
	return mask(t.Bytes(), d, shape)
}

// repeat fills out from vals by f. The last value is repeated; without values out stays
// as it is.
func repeat[V, T any](out []T, vals []V, f func(V) T) {
	n := min(len(vals), len(out))
	for i, v := range vals[:n] {
		out[i] = f(v)
	}
	if n > 0 {
		for i := n; i < len(out); i++ {
			out[i] = out[n-1]
		}
	}
}

// fill returns a tensor of n elements: vals by f, and the last of them for the rest.
func fill[V any, T tensor.Element](vals []V, n int, shape tensor.Shape, f func(V) T) (*tensor.Tensor, error) {
	out := make([]T, n)
	repeat(out, vals, f)
	return tensor.New(out, shape...)
}

// fillInts does the same as fill for integers, which must be from least to most. TensorFlow
// cuts off the upper bits of others.
func fillInts[T tensor.Element](vals []int32, n int, shape tensor.Shape, f func(int32) T, least, most int32) (*tensor.Tensor, error) {
	for i, v := range vals {
		if v < least || v > most {
			return nil, fmt.Errorf("value %d is %d, which %v can't hold", i, v, strings.TrimPrefix(tensor.TypeOf[T]().String(), "dtype"))
		}
	}
	return fill(vals, n, shape, f)
}

// fillStrings does the same as fill for a type whose elements are byte strings.
func fillStrings[V any](vals []V, d tensor.DType, n int, shape tensor.Shape, f func(V) string) (*tensor.Tensor, error) {
	out := make([]string, n)
	repeat(out, vals, f)
	return tensor.FromStrings(d, out, shape...)
}

// pairs returns the complex numbers of which vals has real and imaginary part in turn.
func pairs[V, T any](vals []V, f func(re, im V) T) []T {
	out := make([]T, len(vals)/2)
	for i := range out {
		out[i] = f(vals[2*i], vals[2*i+1])
	}
	return out
}

// content returns the tensor whose elements are stored in little-endian memory.
// It shares b if it can.
func content(b []byte, d tensor.DType, shape tensor.Shape, n int) (*tensor.Tensor, error) {
	if d == tensor.String {
		return stringContent(b, shape, n)
	}
	width := d.Size()
	if width == 0 || n > math.MaxInt/width || len(b) != n*width {
		return nil, fmt.Errorf("%d bytes of %v for %d elements", len(b), d, n)
	}
	return mask(native(b, d), d, shape)
}

// mask returns the tensor over b. Bits that the type doesn't use are cleared in a copy;
// in a bool they are an error.
func mask(b []byte, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	used := byte(0xff)
	switch d {
	case tensor.Int4, tensor.Uint4, tensor.Float4E2M1FN:
		used = 0x0f
	case tensor.Int2, tensor.Uint2:
		used = 0x03
	case tensor.Bool:
		used = 0x01
	}
	if used != 0xff {
		unused := func(v byte) bool { return v&^used != 0 }
		if i := slices.IndexFunc(b, unused); i >= 0 {
			if d == tensor.Bool {
				return nil, fmt.Errorf("element %d of a bool tensor is neither 0 nor 1", i)
			}
			b = slices.Clone(b)
			for i := range b {
				b[i] &= used
			}
		}
	}
	return tensor.FromBytes(d, b, shape...)
}

// stringContent decodes strings that follow their lengths, which are varints. It shares no
// memory with b.
func stringContent(b []byte, shape tensor.Shape, n int) (*tensor.Tensor, error) {
	if n > len(b) {
		return nil, fmt.Errorf("%d bytes for %d strings", len(b), n)
	}
	lengths := make([]int, n)
	for i := range lengths {
		v, k := protowire.ConsumeVarint(b)
		if k < 0 || v > math.MaxInt32 {
			return nil, fmt.Errorf("the length of string %d can't be read", i)
		}
		lengths[i], b = int(v), b[k:]
	}
	out := make([]string, n)
	for i, l := range lengths {
		if l > len(b) {
			return nil, fmt.Errorf("string %d is cut off", i)
		}
		out[i], b = string(b[:l]), b[l:]
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes follow the last string", len(b))
	}
	return tensor.FromStrings(tensor.String, out, shape...)
}
