package tensor

import (
	"fmt"
	"sort"
	"strings"
)

// DType is the type of a tensor's elements. The numbers are TensorFlow's
// (tensorflow/core/framework/types.proto). Files contain them, so they never
// change.
type DType int32

// The element types that a TensorFlow file can hold.
const (
	Invalid DType = 0

	Float32    DType = 1
	Float64    DType = 2
	Int32      DType = 3
	Uint8      DType = 4
	Int16      DType = 5
	Int8       DType = 6
	String     DType = 7
	Complex64  DType = 8
	Int64      DType = 9
	Bool       DType = 10
	QInt8      DType = 11
	QUint8     DType = 12
	QInt32     DType = 13
	BFloat16   DType = 14
	QInt16     DType = 15
	QUint16    DType = 16
	Uint16     DType = 17
	Complex128 DType = 18
	Float16    DType = 19
	Resource   DType = 20
	Variant    DType = 21
	Uint32     DType = 22
	Uint64     DType = 23

	Float8E5M2        DType = 24
	Float8E4M3FN      DType = 25
	Float8E4M3FNUZ    DType = 26
	Float8E4M3B11FNUZ DType = 27
	Float8E5M2FNUZ    DType = 28
	Int4              DType = 29
	Uint4             DType = 30
	Int2              DType = 31
	Uint2             DType = 32
	Float4E2M1FN      DType = 33

	dtypeEnd = 34
)

// refOffset is the number that TensorFlow adds to a type's number for a
// reference to it (DT_FLOAT_REF is 101). Reference types appear in TF1 graphs
// only.
const refOffset = 100

type dtypeInfo struct {
	name string
	size int // bytes an element; 0: variable
}

// dtypes is indexed by DType; the names are TensorFlow's lower-case ones
// (tf.DType.name), on which the command's users rely.
var dtypes = [dtypeEnd]dtypeInfo{
	Float32:    {"float32", 4},
	Float64:    {"float64", 8},
	Int32:      {"int32", 4},
	Uint8:      {"uint8", 1},
	Int16:      {"int16", 2},
	Int8:       {"int8", 1},
	String:     {"string", 0},
	Complex64:  {"complex64", 8},
	Int64:      {"int64", 8},
	Bool:       {"bool", 1},
	QInt8:      {"qint8", 1},
	QUint8:     {"quint8", 1},
	QInt32:     {"qint32", 4},
	BFloat16:   {"bfloat16", 2},
	QInt16:     {"qint16", 2},
	QUint16:    {"quint16", 2},
	Uint16:     {"uint16", 2},
	Complex128: {"complex128", 16},
	Float16:    {"float16", 2},
	Resource:   {"resource", 0},
	Variant:    {"variant", 0},
	Uint32:     {"uint32", 4},
	Uint64:     {"uint64", 8},

	Float8E5M2:        {"float8_e5m2", 1},
	Float8E4M3FN:      {"float8_e4m3fn", 1},
	Float8E4M3FNUZ:    {"float8_e4m3fnuz", 1},
	Float8E4M3B11FNUZ: {"float8_e4m3b11fnuz", 1},
	Float8E5M2FNUZ:    {"float8_e5m2fnuz", 1},
	Int4:              {"int4", 1},
	Uint4:             {"uint4", 1},
	Int2:              {"int2", 1},
	Uint2:             {"uint2", 1},
	Float4E2M1FN:      {"float4_e2m1fn", 1},
}

// Valid reports whether d is one of the element types of this package.
func (d DType) Valid() bool { return d > 0 && d < dtypeEnd }

// Size returns the number of bytes that one element takes in memory and in a
// checkpoint. It is 0 for the types whose elements vary in length: string,
// variant and resource.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].size
}

// Fixed reports whether all elements take the same number of bytes.
func (d DType) Fixed() bool { return d.Size() > 0 }

// String returns TensorFlow's lower-case name: "float32", "string", "bfloat16".
// References of TF1 graphs end in "_ref".
func (d DType) String() string {
	if d.Valid() {
		return dtypes[d].name
	}
	if base := d - refOffset; base.Valid() {
		return dtypes[base].name + "_ref"
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// IsFloating reports whether d is a real floating-point type of any width.
func (d DType) IsFloating() bool {
	switch d {
	case Float32, Float64, Float16, BFloat16, Float8E5M2, Float8E4M3FN,
		Float8E4M3FNUZ, Float8E4M3B11FNUZ, Float8E5M2FNUZ, Float4E2M1FN:
		return true
	}
	return false
}

// IsComplex reports whether d is complex64 or complex128.
func (d DType) IsComplex() bool { return d == Complex64 || d == Complex128 }

// IsInteger reports whether d is a signed or unsigned integer type; quantized
// types are not, as in TensorFlow.
func (d DType) IsInteger() bool {
	switch d {
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64,
		Int4, Uint4, Int2, Uint2:
		return true
	}
	return false
}

// IsQuantized reports whether d is one of qint8, quint8, qint16, quint16 and
// qint32.
func (d DType) IsQuantized() bool {
	switch d {
	case QInt8, QUint8, QInt16, QUint16, QInt32:
		return true
	}
	return false
}

// Swap returns the width in bytes of the parts that change place between
// little-endian and big-endian files: an element's own size, except that a
// complex number swaps each half. It is 1 if nothing is swapped.
func (d DType) Swap() int {
	switch d {
	case Complex64:
		return 4
	case Complex128:
		return 8
	}
	if n := d.Size(); n > 0 {
		return n
	}
	return 1
}

// ParseDType finds the type with TensorFlow's name s; "half" is float16's
// other name. An unknown name is an error that lists the known ones.
func ParseDType(s string) (DType, error) {
	if s == "half" {
		return Float16, nil
	}
	for d := DType(1); d < dtypeEnd; d++ {
		if dtypes[d].name == s {
			return d, nil
		}
	}
	names := make([]string, 0, dtypeEnd-1)
	for _, i := range dtypes[1:] {
		names = append(names, i.name)
	}
	sort.Strings(names)
	return Invalid, fmt.Errorf("tensor: no dtype is called %q; there are %s", s, strings.Join(names, ", "))
}

// DTypes lists all element types in the order of their numbers.
func DTypes() []DType {
	all := make([]DType, 0, dtypeEnd-1)
	for d := DType(1); d < dtypeEnd; d++ {
		all = append(all, d)
	}
	return all
}
