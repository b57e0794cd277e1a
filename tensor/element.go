package tensor

import "unsafe"

// The element types without a Go counterpart. F… and BF16 hold the bits of a floating-point
// number: their method Float returns its value, and ToF16 and the other functions To… round to
// it. I… and U… hold an integer of fewer than eight bits: Int returns it, and ToI4 and the
// others keep the low bits. Q… are the plain integers of quantized types.
type (
	F16           uint16 // IEEE 754 half precision
	BF16          uint16 // the upper half of a float32
	F8E5M2        uint8  // 5 exponent bits, 2 mantissa bits, infinities
	F8E4M3FN      uint8  // 4 and 3, no infinities
	F8E4M3FNUZ    uint8  // 4 and 3, no infinities, no negative zero
	F8E4M3B11FNUZ uint8  // 4 and 3, exponent bias 11, no infinities, no negative zero
	F8E5M2FNUZ    uint8  // 5 and 2, no infinities, no negative zero
	F4E2M1FN      uint8  // 2 and 1, in the lower four bits
	I4            uint8  // two's complement in the lower four bits
	U4            uint8  // unsigned in the lower four bits
	I2            uint8  // two's complement in the lower two bits
	U2            uint8  // unsigned in the lower two bits
	Q8            int8   // qint8
	QU8           uint8  // quint8
	Q16           int16  // qint16
	QU16          uint16 // quint16
	Q32           int32  // qint32
	Opaque        string // a variant's or a resource's encoded bytes
)

// Element lists the Go types of tensors' elements, one for each [DType];
// [Opaque] serves both variant and resource.
type Element interface {
	bool | string | Opaque |
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128 |
		F16 | BF16 | F8E5M2 | F8E4M3FN | F8E4M3FNUZ | F8E4M3B11FNUZ | F8E5M2FNUZ | F4E2M1FN |
		I4 | U4 | I2 | U2 | Q8 | QU8 | Q16 | QU16 | Q32
}

// TypeOf returns the DType whose elements have the Go type T; for [Opaque] it is
// [Variant].
func TypeOf[T Element]() DType {
	var z T
	switch any(z).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int32:
		return Int32
	case uint8:
		return Uint8
	case int16:
		return Int16
	case int8:
		return Int8
	case string:
		return String
	case complex64:
		return Complex64
	case int64:
		return Int64
	case bool:
		return Bool
	case Q8:
		return QInt8
	case QU8:
		return QUint8
	case Q32:
		return QInt32
	case BF16:
		return BFloat16
	case Q16:
		return QInt16
	case QU16:
		return QUint16
	case uint16:
		return Uint16
	case complex128:
		return Complex128
	case F16:
		return Float16
	case Opaque:
		return Variant
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case F8E5M2:
		return Float8E5M2
	case F8E4M3FN:
		return Float8E4M3FN
	case F8E4M3FNUZ:
		return Float8E4M3FNUZ
	case F8E4M3B11FNUZ:
		return Float8E4M3B11FNUZ
	case F8E5M2FNUZ:
		return Float8E5M2FNUZ
	case I4:
		return Int4
	case U4:
		return Uint4
	case I2:
		return Int2
	case U2:
		return Uint2
	case F4E2M1FN:
		return Float4E2M1FN
	}
	return Invalid
}

// alloc makes zeroed storage for n bytes, aligned for every element type.
func alloc(n int) []byte {
	if n == 0 {
		return nil
	}
	// Large makes of a pointer-free type start at a page, small ones at a
	// multiple of their size class; words of 16 bytes keep complex128 aligned.
	words := make([][2]uint64, (n+15)/16)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// cast views b as elements of type T without a copy.
func cast[T any](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// bytesOf views v's storage as bytes without a copy.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
