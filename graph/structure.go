package graph

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// StructureKind is the kind of value that a [Structure] describes.
type StructureKind uint8

const (
	// UnsetStructure is a structure without content in a file.
	UnsetStructure StructureKind = iota
	// NoneStructure is Python's None, a nil pointer of Go.
	NoneStructure
	// StaticStructure is a plain value that is part of a function's signature:
	// another value needs another trace.
	StaticStructure
	// TensorStructure is a tensor: its element type and shape.
	TensorStructure
	// ListStructure is a list, a slice of Go.
	ListStructure
	// TupleStructure is a tuple, an array of Go.
	TupleStructure
	// DictStructure is a dict, a map of Go.
	DictStructure
	// NamedStructure is a named tuple, a struct of Go.
	NamedStructure
	// CompositeStructure is a value made of tensors whose class TensorFlow
	// knows: sparse, ragged, a variable.
	CompositeStructure
)

// Structure describes a value that is made of values: an argument or a result
// of a function. Two that describe the same in Go and in Python are equal,
// whatever the Go types are called. It must not be changed once it is in use.
type Structure struct {
	// Kind determines which of the fields below are used.
	Kind StructureKind
	// Name is the name of a tensor's spec, or of a named tuple's type.
	Name string
	// Fact is the element type and shape of a tensor.
	Fact Fact
	// Min and Max bound a tensor's elements; nil means no bound.
	Min, Max *tensor.Tensor
	// Value is a static value: a bool, an int64, a float64, a string, a
	// tensor.DType, a [PartialShape] or a *tensor.Tensor. Any other Go value
	// can be described, but not written to a file.
	Value any
	// NumPy reports whether a tensor among the static values is a NumPy array.
	NumPy bool
	// Keys are those of a dict or the fields of a named tuple, one per element.
	Keys []string
	// Elems are the elements of a list, tuple, dict or named tuple.
	Elems []*Structure
	// Composite describes a composite.
	Composite *Composite

	src any // the message it was read from, if that contains more than the fields above
}

// CompositeClass is the class of a composite value, numbered as in files.
type CompositeClass int32

// The classes of TensorFlow's type specs.
const (
	UnknownComposite    CompositeClass = 0
	SparseComposite     CompositeClass = 1
	SlicesComposite     CompositeClass = 2
	RaggedComposite     CompositeClass = 3
	ArrayComposite      CompositeClass = 4
	DatasetComposite    CompositeClass = 5
	IteratorComposite   CompositeClass = 6
	OptionalComposite   CompositeClass = 7
	ReplicaComposite    CompositeClass = 8
	VariableComposite   CompositeClass = 9
	PartitionComposite  CompositeClass = 10
	RegisteredComposite CompositeClass = 12
	ExtensionComposite  CompositeClass = 13
)

// Composite is the type of a value made of tensors.
type Composite struct {
	Class CompositeClass
	// ClassName is the name of the Python class.
	ClassName string
	// State is the state that the class serializes: of a sparse tensor its
	// shape and element type.
	State *Structure
	// Tensors is the number of tensors of the value; 0 means that the file has
	// no number, see [Composite.Count].
	Tensors int
	// Facts are the facts of the tensors of a value; nil means that only State
	// is known.
	Facts []Fact
}

// TensorOf returns the structure of a tensor with the fact f. The name may be
// empty.
func TensorOf(name string, f Fact) *Structure {
	return &Structure{Kind: TensorStructure, Name: name, Fact: f}
}

// StaticOf returns the structure of a plain value; that of nil is None.
func StaticOf(v any) *Structure {
	if v == nil {
		return &Structure{Kind: NoneStructure}
	}
	return &Structure{Kind: StaticStructure, Value: v}
}

// ListOf returns a list of these elements.
func ListOf(elems ...*Structure) *Structure {
	return &Structure{Kind: ListStructure, Elems: elems}
}

// TupleOf returns a tuple of these elements.
func TupleOf(elems ...*Structure) *Structure {
	return &Structure{Kind: TupleStructure, Elems: elems}
}

// DictOf returns a dict whose element i has the key keys[i].
func DictOf(keys []string, elems []*Structure) *Structure {
	return &Structure{Kind: DictStructure, Keys: keys, Elems: elems}
}

// NamedOf returns a named tuple of the type called name.
func NamedOf(name string, fields []string, elems []*Structure) *Structure {
	return &Structure{Kind: NamedStructure, Name: name, Keys: fields, Elems: elems}
}

// Flat is a tensor in a structure.
type Flat struct {
	// Path leads to the tensor: "pair/y/0". It is empty if the structure is a
	// tensor.
	Path string
	// Name is the name of the tensor's spec.
	Name string
	// Fact is its element type and shape.
	Fact Fact
}

// IsNone reports whether the structure is Python's None, or unknown.
func (s *Structure) IsNone() bool {
	return s == nil || s.Kind == NoneStructure || s.Kind == UnsetStructure
}

// Flatten returns the tensors in the structure in TensorFlow's order of
// arguments and results: the elements of lists, tuples and named tuples in
// their order, those of dicts sorted by key, those of a composite in the order
// of its class.
func (s *Structure) Flatten() []Flat { return s.flatten(nil, "") }

func (s *Structure) flatten(out []Flat, path string) []Flat {
	if s == nil {
		return out
	}
	switch s.Kind {
	case TensorStructure:
		return append(out, Flat{path, s.Name, s.Fact})
	case CompositeStructure:
		for i, f := range s.Composite.facts() {
			out = append(out, Flat{join(path, strconv.Itoa(i)), "", f})
		}
		return out
	}
	for _, i := range s.Order() {
		key := strconv.Itoa(i)
		if s.Keys != nil {
			key = s.Keys[i]
		}
		out = s.Elems[i].flatten(out, join(path, key))
	}
	return out
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "/" + key
}

// Order lists the indices of the elements in the order in which TensorFlow
// flattens them: those of a dict sorted by key.
func (s *Structure) Order() []int {
	order := make([]int, len(s.Elems))
	for i := range order {
		order[i] = i
	}
	if s.Kind == DictStructure {
		sort.SliceStable(order, func(i, j int) bool { return s.Keys[order[i]] < s.Keys[order[j]] })
	}
	return order
}

// Lookup returns the element of a dict or named tuple under key, or nil if
// there is none.
func (s *Structure) Lookup(key string) *Structure {
	if s == nil || s.Kind != DictStructure && s.Kind != NamedStructure {
		return nil
	}
	if i := slices.Index(s.Keys, key); i >= 0 && i < len(s.Elems) {
		return s.Elems[i]
	}
	return nil
}

// Equal reports whether both describe equal values. The names of specs and of
// named tuples' types don't count, nor does the order of a dict's keys; unknown
// sizes are equal.
func (s *Structure) Equal(o *Structure) bool {
	return s.compare(o, equality)
}

// Accepts reports whether s describes every value that o describes: the same
// structure and static values, and tensors whose shapes s allows. As in
// TensorFlow, static numbers are compared as in Python (True is 1, and 2 is
// 2.0). A tensor without known bounds fits a bounded one.
func (s *Structure) Accepts(o *Structure) bool { return s.compare(o, acceptance) }

// comparison contains the functions that compare two structures of one form.
type comparison struct {
	tensors func(a, b *Structure) bool
	facts   func(a, b Fact) bool // of a composite's tensors
	static  func(a, b any) bool
	// shapes compares the shapes in the states of composites, besides those of
	// their tensors.
	shapes func(a, b PartialShape) bool
	// unknown lets any value match a composite of its class that has no other
	// facts.
	unknown bool
}

var equality = comparison{
	tensors: func(a, b *Structure) bool {
		return sameFact(a.Fact, b.Fact) && sameTensor(a.Min, b.Min) && sameTensor(a.Max, b.Max)
	},
	facts:  sameFact,
	static: sameStatic,
	shapes: func(a, b PartialShape) bool { return true },
}

var acceptance = comparison{
	tensors: func(a, b *Structure) bool {
		bounded := (b.Min == nil || sameTensor(a.Min, b.Min)) && (b.Max == nil || sameTensor(a.Max, b.Max))
		return bounded && a.Fact.Accepts(b.Fact)
	},
	facts: func(a, b Fact) bool {
		return a.DType == tensor.Invalid || a.Accepts(b) // of a class that only Python knows
	},
	static: func(a, b any) bool {
		if _, isInt := a.(int64); isInt {
			if _, areInts := b.(int64); areInts { // which a float64 doesn't hold all of
				return a == b
			}
		}
		x, isNumber := number(a)
		y, areNumbers := number(b)
		return isNumber && areNumbers && x == y || sameStatic(a, b)
	},
	shapes:  func(a, b PartialShape) bool { return Fact{Shape: a}.Accepts(Fact{Shape: b}) },
	unknown: true,
}

func sameFact(a, b Fact) bool {
	return a.DType == b.DType && a.Shape.Anonymous().Equal(b.Shape.Anonymous())
}

// number returns a static value as a number of Python.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Accepts reports whether a value with the fact o fits f: the same element
// type, and a shape that has every size that f knows.
func (f Fact) Accepts(o Fact) bool {
	if f.DType != o.DType {
		return false
	}
	if !f.Shape.HasRank() {
		return true
	}
	if o.Shape.Rank() != f.Shape.Rank() {
		return false
	}
	for i, d := range f.Shape.Dims() {
		if d >= 0 && o.Shape.Dim(i) != d {
			return false
		}
	}
	return true
}

// compare reports whether both have the same form and equal contents by the
// functions of by.
func (s *Structure) compare(o *Structure, by comparison) bool {
	if s == nil || o == nil {
		return s == o
	}
	if s.Kind != o.Kind || len(s.Elems) != len(o.Elems) {
		return false
	}
	switch s.Kind {
	case TensorStructure:
		return by.tensors(s, o)
	case StaticStructure:
		return s.NumPy == o.NumPy && by.static(s.Value, o.Value)
	case CompositeStructure:
		a, b := s.Composite, o.Composite
		if a.Class != b.Class || a.ClassName != b.ClassName || a.Tensors != b.Tensors {
			return false
		}
		if b.Facts == nil && a.State.Equal(b.State) {
			return true
		}
		fa, fb := a.facts(), b.facts()
		if len(fa) == 0 {
			return by.unknown && b.Facts != nil
		}
		return by.shapes(a.shape(), b.shape()) && slices.EqualFunc(fa, fb, by.facts)
	}
	a, b := s.Order(), o.Order()
	for k := range a {
		i, j := a[k], b[k]
		if s.Keys != nil && s.Keys[i] != o.Keys[j] || !s.Elems[i].compare(o.Elems[j], by) {
			return false
		}
	}
	return true
}

func sameStatic(a, b any) bool {
	switch x := a.(type) {
	case *tensor.Tensor:
		y, ok := b.(*tensor.Tensor)
		return ok && sameTensor(x, y)
	case PartialShape:
		y, ok := b.(PartialShape)
		return ok && x.Anonymous().Equal(y.Anonymous())
	case float64: // NaN is one value here
		y, ok := b.(float64)
		return ok && (x == y || x != x && y != y)
	case fmt.Stringer:
		return fmt.Sprintf("%T%v", a, a) == fmt.Sprintf("%T%v", b, b)
	}
	return fmt.Sprintf("%T%#v", a, a) == fmt.Sprintf("%T%#v", b, b)
}

// String returns the structure as text: "(x: float32[?,4], training=true)" for a
// named tuple of that, {…} for a dict, […] for a list.
func (s *Structure) String() string {
	if s == nil {
		return "nothing"
	}
	switch s.Kind {
	case NoneStructure:
		return "None"
	case StaticStructure:
		switch v := s.Value.(type) {
		case string:
			return strconv.Quote(v)
		case float64:
			text := strconv.FormatFloat(v, 'g', -1, 64)
			if v == math.Trunc(v) && !strings.ContainsAny(text, "eIN") {
				text += ".0"
			}
			return text
		case *tensor.Tensor:
			if v == nil {
				return "a constant"
			}
			return fmt.Sprintf("a constant %v%v", v.DType(), v.Shape())
		}
		return fmt.Sprint(s.Value)
	case TensorStructure:
		text := Fact{DType: s.Fact.DType, Ref: s.Fact.Ref, Shape: s.Fact.Shape.Anonymous()}.String()
		if s.Min != nil || s.Max != nil {
			text += " bounded"
		}
		return text
	case CompositeStructure:
		return s.Composite.String()
	case UnsetStructure:
		return "?"
	}
	open, end := "(", ")"
	switch s.Kind {
	case ListStructure:
		open, end = "[", "]"
	case DictStructure:
		open, end = "{", "}"
	}
	var b strings.Builder
	if s.Kind == NamedStructure {
		b.WriteString(s.Name)
	}
	b.WriteString(open)
	for k, i := range s.Order() {
		if k > 0 {
			b.WriteString(", ")
		}
		e := s.Elems[i]
		switch {
		case s.Keys != nil:
			b.WriteString(s.Keys[i] + ": ")
		case e != nil && e.Kind == TensorStructure && isRealName(e.Name):
			b.WriteString(e.Name + ": ")
		}
		b.WriteString(e.String())
	}
	if s.Kind == TupleStructure && len(s.Elems) == 1 {
		b.WriteByte(',')
	}
	b.WriteString(end)
	return b.String()
}

// isRealName reports whether the name of a tensor's spec is a real name. Indices such
// as "0/1" and TensorFlow's "unknown" aren't.
func isRealName(name string) bool {
	return name != "" && name != "unknown" && (name[0] < '0' || name[0] > '9')
}

// NoFitError reports that an input fits none of the signatures.
type NoFitError struct {
	In         *Structure
	Candidates []*Structure
}

// Error lists the signatures, with the cause if there is only one.
func (e *NoFitError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the input is %v", e.In)
	switch len(e.Candidates) {
	case 0:
		b.WriteString(", and the function has no trace")
	case 1:
		fmt.Fprintf(&b, ", and the signature is %v", e.Candidates[0])
		if why := e.Candidates[0].Misfit(e.In); why != "" {
			b.WriteString(": " + why)
		}
	default:
		fmt.Fprintf(&b, "; it fits none of the function's %d signatures", len(e.Candidates))
		for i, c := range e.Candidates {
			if i == 16 {
				fmt.Fprintf(&b, "\n  and %d more", len(e.Candidates)-i)
				break
			}
			fmt.Fprintf(&b, "\n  %v", c)
		}
	}
	return b.String()
}

// Misfit describes the first place at which s doesn't accept o. It returns ""
// if s accepts o, or if there is no place to name.
func (s *Structure) Misfit(o *Structure) string { return s.misfit(o, "") }

// misfit describes the first place at which s doesn't accept o.
func (s *Structure) misfit(o *Structure, path string) string {
	if s.Accepts(o) {
		return ""
	}
	if s != nil && o != nil && s.Kind == o.Kind && len(s.Elems) == len(o.Elems) && s.Kind != TensorStructure {
		a, b := s.Order(), o.Order()
		for k := range a {
			key := strconv.Itoa(k)
			if s.Keys != nil {
				if key = s.Keys[a[k]]; key != o.Keys[b[k]] {
					return fmt.Sprintf("%s is missing", join(path, key))
				}
			}
			if why := s.Elems[a[k]].misfit(o.Elems[b[k]], join(path, key)); why != "" {
				return why
			}
		}
	}
	if path == "" {
		return ""
	}
	return fmt.Sprintf("%s is %v, not %v", path, o, s)
}
