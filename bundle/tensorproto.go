package bundle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// protoTensor is the tensor of a TensorProto, which must hold exactly the
// elements of shape. Nothing is allocated before their number is known to be
// right.
func protoTensor(m *pb.TensorProto, d tensor.DType, shape tensor.Shape) (*tensor.Tensor, error) {
	if m.Dtype != 0 && tensor.DType(m.Dtype) != d {
		return nil, fmt.Errorf("the values are %v, the entry says %v", tensor.DType(m.Dtype), d)
	}
	n := volume(shape)
	if len(m.TensorContent) > 0 {
		return contentTensor(m.TensorContent, d, n, shape)
	}
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
		return fillPairs(m.ScomplexVal, n, shape, func(re, im float32) complex64 { return complex(re, im) })
	case tensor.Complex128:
		return fillPairs(m.DcomplexVal, n, shape, func(re, im float64) complex128 { return complex(re, im) })
	case tensor.String:
		if int64(len(m.StringVal)) != n {
			return nil, countError(len(m.StringVal), n)
		}
		strs := make([]string, n)
		for i, b := range m.StringVal {
			strs[i] = string(b)
		}
		return tensor.FromStrings(d, strs, shape...)
	case tensor.Float8E5M2, tensor.Float8E4M3FN, tensor.Float8E4M3FNUZ, tensor.Float8E4M3B11FNUZ, tensor.Float8E5M2FNUZ, tensor.Float4E2M1FN:
		if int64(len(m.Float8Val)) != n {
			return nil, countError(len(m.Float8Val), n)
		}
		return tensor.FromBytes(d, slices.Clone(m.Float8Val), shape...)
	}
	return nil, errUnsupported("values of %v", d)
}

func countError(got int, want int64) error {
	return fmt.Errorf("%d values for %d elements", got, want)
}

// contentTensor takes elements that stand as they are in little-endian memory.
func contentTensor(b []byte, d tensor.DType, n int64, shape tensor.Shape) (*tensor.Tensor, error) {
	width := int64(d.Size())
	if width == 0 || int64(len(b)) != n*width {
		return nil, fmt.Errorf("%d bytes of %v for %d elements", len(b), d, n)
	}
	t, err := tensor.Zeros(d, shape...)
	if err != nil {
		return nil, err
	}
	copy(t.Bytes(), b)
	r := &Reader{}
	if fix := r.fixer(d); fix != nil {
		if err := fix(t.Bytes()); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func fill[V any, T tensor.Element](vals []V, n int64, shape tensor.Shape, f func(V) T) (*tensor.Tensor, error) {
	if int64(len(vals)) != n {
		return nil, countError(len(vals), n)
	}
	out := make([]T, n)
	for i, v := range vals {
		out[i] = f(v)
	}
	return tensor.New(out, shape...)
}

func fillInts[T tensor.Element](vals []int32, n int64, shape tensor.Shape, f func(int32) T, least, most int32) (*tensor.Tensor, error) {
	for i, v := range vals {
		if v < least || v > most {
			return nil, fmt.Errorf("value %d is %d, which %v can't hold", i, v, strings.TrimPrefix(tensor.TypeOf[T]().String(), "dtype"))
		}
	}
	return fill(vals, n, shape, f)
}

func fillPairs[V any, T tensor.Element](vals []V, n int64, shape tensor.Shape, f func(re, im V) T) (*tensor.Tensor, error) {
	if len(vals)%2 != 0 || int64(len(vals)/2) != n {
		return nil, fmt.Errorf("%d parts for %d complex elements", len(vals), n)
	}
	out := make([]T, n)
	for i := range out {
		out[i] = f(vals[2*i], vals[2*i+1])
	}
	return tensor.New(out, shape...)
}
