package engine

import (
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// AttrKind says which of an [Attr]'s values holds.
type AttrKind uint8

// The kinds of attributes that TensorFlow's AttrValue has and kernels use.
const (
	AttrNone AttrKind = iota
	AttrInt
	AttrFloat
	AttrBool
	AttrString
	AttrType
	AttrShape
	AttrTensor
	AttrInts
	AttrFloats
	AttrStrings
	AttrTypes
)

// Attr is one named attribute of an op, such as transpose_a of MatMul. Make
// one with [Int], [Float], [Bool], [String], [Type], [Shape], [Tensor] or one
// of the list forms.
type Attr struct {
	Name string
	Kind AttrKind
	num  uint64
	str  string
	list any
}

// Int is an integer attribute.
func Int(name string, v int64) Attr { return Attr{Name: name, Kind: AttrInt, num: uint64(v)} }

// Float is a float attribute; TensorFlow stores it as float32.
func Float(name string, v float64) Attr {
	return Attr{Name: name, Kind: AttrFloat, num: math.Float64bits(v)}
}

// Bool is a boolean attribute.
func Bool(name string, v bool) Attr {
	a := Attr{Name: name, Kind: AttrBool}
	if v {
		a.num = 1
	}
	return a
}

// String is a string attribute.
func String(name, v string) Attr { return Attr{Name: name, Kind: AttrString, str: v} }

// Type is an element type attribute.
func Type(name string, v tensor.DType) Attr {
	return Attr{Name: name, Kind: AttrType, num: uint64(v)}
}

// Shape is a shape attribute.
func Shape(name string, v tensor.Shape) Attr { return Attr{Name: name, Kind: AttrShape, list: v} }

// Tensor is a tensor attribute, such as the value of Const.
func Tensor(name string, v *tensor.Tensor) Attr { return Attr{Name: name, Kind: AttrTensor, list: v} }

// Ints is a list of integers.
func Ints(name string, v ...int64) Attr { return Attr{Name: name, Kind: AttrInts, list: v} }

// Floats is a list of floats.
func Floats(name string, v ...float64) Attr { return Attr{Name: name, Kind: AttrFloats, list: v} }

// Strings is a list of strings.
func Strings(name string, v ...string) Attr { return Attr{Name: name, Kind: AttrStrings, list: v} }

// Types is a list of element types.
func Types(name string, v ...tensor.DType) Attr { return Attr{Name: name, Kind: AttrTypes, list: v} }

// Value is the attribute's value as a Go value: int64, float64, bool, string,
// tensor.DType, tensor.Shape, *tensor.Tensor, or a slice of those.
func (a Attr) Value() any {
	switch a.Kind {
	case AttrInt:
		return int64(a.num)
	case AttrFloat:
		return math.Float64frombits(a.num)
	case AttrBool:
		return a.num != 0
	case AttrString:
		return a.str
	case AttrType:
		return tensor.DType(a.num)
	case AttrNone:
		return nil
	}
	return a.list
}

// Attrs are an op's attributes. Type attributes that follow from the inputs
// (T, Tidx and the like) may be left out: kernels look at the inputs. A list is
// treated as immutable once an op has been given it.
type Attrs []Attr

func (as Attrs) find(name string, kind AttrKind) (Attr, bool) {
	for i := range as {
		if as[i].Name == name {
			return as[i], as[i].Kind == kind
		}
	}
	return Attr{}, false
}

// Has reports whether there is an attribute of this name.
func (as Attrs) Has(name string) bool {
	for i := range as {
		if as[i].Name == name {
			return true
		}
	}
	return false
}

// Int is the integer called name, or def where there is none.
func (as Attrs) Int(name string, def int64) int64 {
	if a, ok := as.find(name, AttrInt); ok {
		return int64(a.num)
	}
	return def
}

// Float is the float called name, or def where there is none.
func (as Attrs) Float(name string, def float64) float64 {
	if a, ok := as.find(name, AttrFloat); ok {
		return math.Float64frombits(a.num)
	}
	return def
}

// Bool is the boolean called name; false where there is none.
func (as Attrs) Bool(name string) bool {
	a, ok := as.find(name, AttrBool)
	return ok && a.num != 0
}

// String is the string called name, or def where there is none.
func (as Attrs) String(name, def string) string {
	if a, ok := as.find(name, AttrString); ok {
		return a.str
	}
	return def
}

// Type is the element type called name, or def where there is none.
func (as Attrs) Type(name string, def tensor.DType) tensor.DType {
	if a, ok := as.find(name, AttrType); ok {
		return tensor.DType(a.num)
	}
	return def
}

// Shape is the shape called name, and whether there is one.
func (as Attrs) Shape(name string) (tensor.Shape, bool) {
	a, ok := as.find(name, AttrShape)
	if !ok {
		return nil, false
	}
	s, ok := a.list.(tensor.Shape)
	return s, ok
}

// Tensor is the tensor called name, or nil.
func (as Attrs) Tensor(name string) *tensor.Tensor {
	if a, ok := as.find(name, AttrTensor); ok {
		t, _ := a.list.(*tensor.Tensor)
		return t
	}
	return nil
}

// Ints is the list of integers called name, or nil.
func (as Attrs) Ints(name string) []int64 {
	if a, ok := as.find(name, AttrInts); ok {
		v, _ := a.list.([]int64)
		return v
	}
	return nil
}

// Types is the list of element types called name, or nil.
func (as Attrs) Types(name string) []tensor.DType {
	if a, ok := as.find(name, AttrTypes); ok {
		v, _ := a.list.([]tensor.DType)
		return v
	}
	return nil
}

// Describe is a readable list, "transpose_a=true axis=1"; empty where there are
// none.
func (as Attrs) Describe() string {
	var b strings.Builder
	for i, a := range as {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%v", a.Name, a.Value())
	}
	return b.String()
}
