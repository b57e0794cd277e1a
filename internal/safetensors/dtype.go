package safetensors

import (
	"slices"

	"github.com/cairnml/cairn/tensor"
)

// kinds lists the format's element types that a tensor can have, in the
// reference implementation's descending order.
var kinds = []struct {
	name  string
	dtype tensor.DType
}{
	{"U64", tensor.Uint64},
	{"I64", tensor.Int64},
	{"F64", tensor.Float64},
	{"C64", tensor.Complex64},
	{"F32", tensor.Float32},
	{"U32", tensor.Uint32},
	{"I32", tensor.Int32},
	{"BF16", tensor.BFloat16},
	{"F16", tensor.Float16},
	{"U16", tensor.Uint16},
	{"I16", tensor.Int16},
	{"F8_E5M2FNUZ", tensor.Float8E5M2FNUZ},
	{"F8_E4M3FNUZ", tensor.Float8E4M3FNUZ},
	{"F8_E4M3", tensor.Float8E4M3FN},
	{"F8_E5M2", tensor.Float8E5M2},
	{"I8", tensor.Int8},
	{"U8", tensor.Uint8},
	{"BOOL", tensor.Bool},
}

// others are types of the format that no tensor has.
var others = []string{"F8_E8M0", "F6_E3M2", "F6_E2M3", "F4"}

// rank returns the index of an element type in kinds; -1 if the format lacks it.
func rank(d tensor.DType) int {
	for i, k := range kinds {
		if k.dtype == d {
			return i
		}
	}
	return -1
}

// Holds reports whether the format has d as an element type.
func Holds(d tensor.DType) bool { return rank(d) >= 0 }

// parseKind returns the element type of a name. known is true for all of the format's names; d is Invalid for
// those that no tensor has.
func parseKind(name string) (d tensor.DType, known bool) {
	for _, k := range kinds {
		if k.name == name {
			return k.dtype, true
		}
	}
	return tensor.Invalid, slices.Contains(others, name)
}
