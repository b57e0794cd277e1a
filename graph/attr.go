package graph

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// AttrKind is the kind of the value of an [Attr].
type AttrKind uint8

// The kinds of attributes, those of TensorFlow's AttrValue.
const (
	AttrNone AttrKind = iota
	AttrInt
	AttrFloat
	AttrBool
	AttrString
	AttrType
	AttrShape
	AttrTensor
	AttrFunc
	AttrInts
	AttrFloats
	AttrBools
	AttrStrings
	AttrTypes
	AttrShapes
	AttrTensors
	AttrFuncs
	// AttrPlaceholder is the name of an attribute of the surrounding function.
	// Each call of the function sets its value.
	AttrPlaceholder
)

var kindNames = [...]string{"none", "int", "float", "bool", "string", "type", "shape", "tensor", "func",
	"list(int)", "list(float)", "list(bool)", "list(string)", "list(type)", "list(shape)", "list(tensor)", "list(func)",
	"placeholder"}

// String returns the kind's name in an op definition, "list(int)".
func (k AttrKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("AttrKind(%d)", uint8(k))
}

// ParseAttrKind returns the kind whose name in an op definition is s, and
// whether there is one.
func ParseAttrKind(s string) (AttrKind, bool) {
	i := slices.Index(kindNames[:], s)
	if i <= 0 {
		return AttrNone, false
	}
	return AttrKind(i), true
}

// IsList reports whether the kind is a list.
func (k AttrKind) IsList() bool { return k >= AttrInts && k <= AttrFuncs }

// Elem returns the kind of a list's elements. The kind of a single value
// returns itself.
func (k AttrKind) Elem() AttrKind {
	switch k {
	case AttrInts, AttrFloats, AttrBools:
		return k - AttrInts + AttrInt
	case AttrStrings, AttrTypes, AttrShapes, AttrTensors, AttrFuncs:
		return k - AttrStrings + AttrString
	}
	return k
}

// Attr is one named attribute of an op, such as transpose_a of MatMul. Make
// one with [Int], [Float], [Bool], [String], [Type], [Shape], [Tensor], [Func]
// or one of the list forms.
type Attr struct {
	Name  string
	Kind  AttrKind
	num   uint64        // an int, a type, a bool or the bits of a float
	str   string        // a string, or the name of a placeholder
	value any           // of the other kinds, and of a string that names a function
	src   *pb.AttrValue // the value in the file, if the fields above don't contain all of it
}

// Callee is a function that an attribute names: the function itself, if it is
// known, and the attributes of the call. Only files refer to functions by name.
type Callee struct {
	// Function is the function. It is nil if the library has no function called
	// Name.
	Function *Function
	// Name is the name of the function in the file. It may also be that of an
	// op, which is then called as a function. [Callee.FuncName] prefers the name
	// of Function.
	Name string
	// Attrs are the values of the function's attributes.
	Attrs Attrs

	unknown []byte // fields of a file that this package doesn't know
}

// FuncName returns the name of the function.
func (c Callee) FuncName() string {
	if c.Function != nil {
		return c.Function.Name
	}
	return c.Name
}

// Int returns an integer attribute.
func Int(name string, v int64) Attr { return Attr{Name: name, Kind: AttrInt, num: uint64(v)} }

// Float returns a float attribute; TensorFlow stores it as float32.
func Float(name string, v float64) Attr {
	return Attr{Name: name, Kind: AttrFloat, num: math.Float64bits(v)}
}

// Bool returns a boolean attribute.
func Bool(name string, v bool) Attr {
	a := Attr{Name: name, Kind: AttrBool}
	if v {
		a.num = 1
	}
	return a
}

// String returns a string attribute.
func String(name, v string) Attr { return Attr{Name: name, Kind: AttrString, str: v} }

// Type returns an element type attribute.
func Type(name string, v tensor.DType) Attr {
	return Attr{Name: name, Kind: AttrType, num: uint64(v)}
}

// Shape returns a shape attribute. [Whole] converts the shape of a tensor.
func Shape(name string, v PartialShape) Attr { return Attr{Name: name, Kind: AttrShape, value: v} }

// Tensor returns a tensor attribute, such as the value of Const.
func Tensor(name string, v *tensor.Tensor) Attr { return Attr{Name: name, Kind: AttrTensor, value: v} }

// Func returns a function attribute.
func Func(name string, f *Function) Attr { return Call(name, Callee{Function: f}) }

// Call returns a function attribute with attributes for the function.
func Call(name string, c Callee) Attr { return Attr{Name: name, Kind: AttrFunc, value: c} }

// FunctionName returns a string attribute whose value is a function's name,
// such as forward_function_name. The name follows the function: a writer may
// rename it.
func FunctionName(name string, f *Function) Attr {
	return Attr{Name: name, Kind: AttrString, value: Callee{Function: f}}
}

// Ints returns a list of integers.
func Ints(name string, v ...int64) Attr { return Attr{Name: name, Kind: AttrInts, value: v} }

// Floats returns a list of floats.
func Floats(name string, v ...float64) Attr { return Attr{Name: name, Kind: AttrFloats, value: v} }

// Bools returns a list of booleans.
func Bools(name string, v ...bool) Attr { return Attr{Name: name, Kind: AttrBools, value: v} }

// Strings returns a list of strings.
func Strings(name string, v ...string) Attr { return Attr{Name: name, Kind: AttrStrings, value: v} }

// Types returns a list of element types.
func Types(name string, v ...tensor.DType) Attr { return Attr{Name: name, Kind: AttrTypes, value: v} }

// Shapes returns a list of shapes.
func Shapes(name string, v ...PartialShape) Attr {
	return Attr{Name: name, Kind: AttrShapes, value: v}
}

// Tensors returns a list of tensors.
func Tensors(name string, v ...*tensor.Tensor) Attr {
	return Attr{Name: name, Kind: AttrTensors, value: v}
}

// Funcs returns a list of functions.
func Funcs(name string, v ...Callee) Attr { return Attr{Name: name, Kind: AttrFuncs, value: v} }

// Placeholder returns an attribute whose value is that of the surrounding
// function's attribute called of.
func Placeholder(name, of string) Attr { return Attr{Name: name, Kind: AttrPlaceholder, str: of} }

// Named returns the same value under another name.
func (a Attr) Named(name string) Attr {
	a.Name = name
	return a
}

// Value returns the attribute's value as a Go value: int64, float64, bool,
// string, tensor.DType, PartialShape, *tensor.Tensor, Callee, or a slice of
// those. That of a placeholder is the name it refers to.
func (a Attr) Value() any {
	switch a.Kind {
	case AttrInt:
		return int64(a.num)
	case AttrFloat:
		return math.Float64frombits(a.num)
	case AttrBool:
		return a.num != 0
	case AttrString, AttrPlaceholder:
		return a.text()
	case AttrType:
		return tensor.DType(a.num)
	case AttrNone:
		return nil
	}
	return a.value
}

// text returns the value of a string.
func (a *Attr) text() string {
	if c, ok := a.value.(Callee); ok {
		return c.FuncName()
	}
	return a.str
}

// Len returns the number of elements of a list.
func (a Attr) Len() int {
	switch v := a.value.(type) {
	case []int64:
		return len(v)
	case []float64:
		return len(v)
	case []bool:
		return len(v)
	case []string:
		return len(v)
	case []tensor.DType:
		return len(v)
	case []PartialShape:
		return len(v)
	case []*tensor.Tensor:
		return len(v)
	case []Callee:
		return len(v)
	}
	return 0
}

// Equal reports whether both have the same name, kind and value. Tensors are
// compared by their contents, functions by identity.
func (a Attr) Equal(b Attr) bool {
	if a.Name != b.Name || a.Kind != b.Kind || a.num != b.num || a.str != b.str {
		return false
	}
	if (a.value == nil) != (b.value == nil) { // a string, and one that is a function's name
		return false
	}
	switch x := a.value.(type) {
	case nil:
		return true
	case PartialShape:
		return x.Equal(b.value.(PartialShape))
	case *tensor.Tensor:
		return sameTensor(x, b.value.(*tensor.Tensor))
	case Callee:
		return x.Equal(b.value.(Callee))
	case []int64:
		return slices.Equal(x, b.value.([]int64))
	case []float64:
		return slices.Equal(x, b.value.([]float64))
	case []bool:
		return slices.Equal(x, b.value.([]bool))
	case []string:
		return slices.Equal(x, b.value.([]string))
	case []tensor.DType:
		return slices.Equal(x, b.value.([]tensor.DType))
	case []PartialShape:
		return slices.EqualFunc(x, b.value.([]PartialShape), PartialShape.Equal)
	case []*tensor.Tensor:
		return slices.EqualFunc(x, b.value.([]*tensor.Tensor), sameTensor)
	case []Callee:
		return slices.EqualFunc(x, b.value.([]Callee), Callee.Equal)
	}
	return false
}

// Equal reports whether both name the same function with the same attributes.
func (c Callee) Equal(o Callee) bool {
	return c.Function == o.Function && c.FuncName() == o.FuncName() && slices.EqualFunc(c.Attrs, o.Attrs, Attr.Equal)
}

func sameTensor(a, b *tensor.Tensor) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil || a.DType() != b.DType() || !a.Shape().Equal(b.Shape()):
		return false
	case a.DType().Fixed():
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	return slices.Equal(tensor.Values[string](a), tensor.Values[string](b))
}

// String returns "axis=1".
func (a Attr) String() string {
	switch v := a.value.(type) {
	case *tensor.Tensor:
		if v != nil && v.Len() > 8 {
			return fmt.Sprintf("%s=<%v%v>", a.Name, v.DType(), v.Shape())
		}
	case Callee:
		return a.Name + "=" + v.FuncName()
	case []Callee:
		names := make([]string, len(v))
		for i, c := range v {
			names[i] = c.FuncName()
		}
		return fmt.Sprintf("%s=%v", a.Name, names)
	}
	return fmt.Sprintf("%s=%v", a.Name, a.Value())
}

// Attrs are an op's attributes. Attributes that follow from the inputs, such as
// T, N and Tidx, may be left out when an op is emitted: [OpDef.Bind] adds them.
// A list must not be changed after an op has received it.
type Attrs []Attr

// Lookup returns the attribute called name, and whether there is one.
func (as Attrs) Lookup(name string) (Attr, bool) {
	for i := range as {
		if as[i].Name == name {
			return as[i], true
		}
	}
	return Attr{}, false
}

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
	_, ok := as.Lookup(name)
	return ok
}

// Set returns the list with a in the place of the attribute of the same name,
// or at the end. The receiver is not changed.
func (as Attrs) Set(a Attr) Attrs {
	out := slices.Clone(as)
	for i := range out {
		if out[i].Name == a.Name {
			out[i] = a
			return out
		}
	}
	return append(out, a)
}

// Without returns the list without the attributes of these names.
func (as Attrs) Without(names ...string) Attrs {
	out := make(Attrs, 0, len(as))
	for _, a := range as {
		if !slices.Contains(names, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// Int returns the integer called name, or def if there is none.
func (as Attrs) Int(name string, def int64) int64 {
	if a, ok := as.find(name, AttrInt); ok {
		return int64(a.num)
	}
	return def
}

// Float returns the float called name, or def if there is none.
func (as Attrs) Float(name string, def float64) float64 {
	if a, ok := as.find(name, AttrFloat); ok {
		return math.Float64frombits(a.num)
	}
	return def
}

// Bool returns the boolean called name, or false if there is none.
func (as Attrs) Bool(name string) bool {
	a, ok := as.find(name, AttrBool)
	return ok && a.num != 0
}

// String returns the string called name, or def if there is none.
func (as Attrs) String(name, def string) string {
	if a, ok := as.find(name, AttrString); ok {
		return a.text()
	}
	return def
}

// Type returns the element type called name, or def if there is none.
func (as Attrs) Type(name string, def tensor.DType) tensor.DType {
	if a, ok := as.find(name, AttrType); ok {
		return tensor.DType(a.num)
	}
	return def
}

// Shape returns the shape called name, and whether there is one.
func (as Attrs) Shape(name string) (PartialShape, bool) {
	a, ok := as.find(name, AttrShape)
	if !ok {
		return PartialShape{}, false
	}
	return a.value.(PartialShape), true
}

// Tensor returns the tensor called name, or nil.
func (as Attrs) Tensor(name string) *tensor.Tensor {
	if a, ok := as.find(name, AttrTensor); ok {
		return a.value.(*tensor.Tensor)
	}
	return nil
}

// Func returns the function called name, and whether there is one.
func (as Attrs) Func(name string) (Callee, bool) {
	a, ok := as.find(name, AttrFunc)
	if !ok {
		return Callee{}, false
	}
	return a.value.(Callee), true
}

// Ints returns the list of integers called name, or nil.
func (as Attrs) Ints(name string) []int64 { return listOf[int64](as, name, AttrInts) }

// Floats returns the list of floats called name, or nil.
func (as Attrs) Floats(name string) []float64 { return listOf[float64](as, name, AttrFloats) }

// Bools returns the list of booleans called name, or nil.
func (as Attrs) Bools(name string) []bool { return listOf[bool](as, name, AttrBools) }

// Strings returns the list of strings called name, or nil.
func (as Attrs) Strings(name string) []string { return listOf[string](as, name, AttrStrings) }

// Types returns the list of element types called name, or nil.
func (as Attrs) Types(name string) []tensor.DType { return listOf[tensor.DType](as, name, AttrTypes) }

// Shapes returns the list of shapes called name, or nil.
func (as Attrs) Shapes(name string) []PartialShape {
	return listOf[PartialShape](as, name, AttrShapes)
}

// Tensors returns the list of tensors called name, or nil.
func (as Attrs) Tensors(name string) []*tensor.Tensor {
	return listOf[*tensor.Tensor](as, name, AttrTensors)
}

// Funcs returns the list of functions called name, or nil.
func (as Attrs) Funcs(name string) []Callee { return listOf[Callee](as, name, AttrFuncs) }

func listOf[T any](as Attrs, name string, kind AttrKind) []T {
	if a, ok := as.find(name, kind); ok {
		v, _ := a.value.([]T)
		return v
	}
	return nil
}

// Describe returns a readable list, "transpose_a=true axis=1", or "" for an
// empty list.
func (as Attrs) Describe() string {
	var b strings.Builder
	for i, a := range as {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.String())
	}
	return b.String()
}
