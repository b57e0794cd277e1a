package graph

import (
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// OpDef defines an op: its inputs, outputs and attributes. [LookupOp] finds
// TensorFlow's definitions; those of other ops come from files. A definition is
// shared and must not be changed.
type OpDef struct {
	// Name is the op's name, "MatMul".
	Name string
	// Inputs and Outputs are the arguments, in order.
	Inputs, Outputs []ArgDef
	// Attrs are the attributes, in the order of the definition.
	Attrs []AttrDef
	// ControlOutputs are the names of the nodes of a function's body that run
	// in every call. Only the signature of a function has any.
	ControlOutputs []string
	// Stateful is TensorFlow's statement that the op has state or an effect.
	// [OpDef.Effect] is more exact, and passes decide by it.
	Stateful bool
	// Commutative ops return the same result for swapped inputs.
	Commutative bool
	// Aggregate ops take any number of inputs of one type, as AddN does.
	Aggregate bool
	// AllowsUninitializedInput is set for ops that take a reference to a
	// variable without a value, as Assign does.
	AllowsUninitializedInput bool
	// DistributedCommunication is set for ops that wait for other processes.
	DistributedCommunication bool
	// Deprecation is nil for an op that new graphs may contain.
	Deprecation *Deprecation

	rest *pb.OpDef // the rest of the message in a file: descriptions, unknown fields
}

// Deprecation is the version from which graphs may not contain an op.
type Deprecation struct {
	// Version is the producer version of the first graph that may not contain
	// it.
	Version int
	// Reason names the replacement.
	Reason string

	unknown []byte
}

// ArgDef is an input or output: one tensor, or several if NumberAttr or
// TypeListAttr is set.
type ArgDef struct {
	// Name is the argument's name, "product".
	Name string
	// Type is the element type; tensor.Invalid if an attribute has it.
	Type tensor.DType
	// TypeAttr is the attribute that holds the type.
	TypeAttr string
	// NumberAttr is the attribute that holds the number of tensors, all of one
	// type.
	NumberAttr string
	// TypeListAttr is the attribute that holds the types of all tensors.
	TypeListAttr string
	// Ref is set if the argument is a reference to a V1 variable.
	Ref bool

	rest *pb.ArgDef
}

// List reports whether the argument is a list of any number of tensors.
func (a *ArgDef) List() bool { return a.NumberAttr != "" || a.TypeListAttr != "" }

// AttrDef is an attribute that an op has.
type AttrDef struct {
	// Name is the attribute's name, "transpose_a".
	Name string
	// Kind is the kind of its value.
	Kind AttrKind
	// HasMinimum reports whether there is a Minimum, of an integer's value or
	// of a list's length.
	HasMinimum bool
	// Minimum is the least value or length.
	Minimum int64
	// AllowedTypes are the values that a type attribute, or an element of a
	// list of types, may have; nil means all.
	AllowedTypes []tensor.DType
	// AllowedStrings are the same for strings.
	AllowedStrings []string

	def  *pb.AttrValue
	rest *pb.AttrDef
}

// HasDefault reports whether the attribute may be left out.
func (a *AttrDef) HasDefault() bool { return a.def != nil }

// defaultProto returns the default value of an attribute, or nil if the
// attribute has no default. It must not be changed.
func (a *AttrDef) defaultProto() *pb.AttrValue { return a.def }

// withAttrsOf returns d with the attributes that only o has and that have a
// default; d itself if there are none.
func (d *OpDef) withAttrsOf(o *OpDef) *OpDef {
	more := *d
	for _, a := range o.Attrs {
		if a.HasDefault() && d.Attr(a.Name) == nil {
			more.Attrs = append(more.Attrs[:len(more.Attrs):len(more.Attrs)], a)
		}
	}
	if len(more.Attrs) == len(d.Attrs) {
		return d
	}
	return &more
}

// readsAs returns the definition by which a node with these attributes is read.
// More has all attributes of d. readsAs returns more if the additional attributes
// have their default values. The effect of other values is unknown to this
// module.
func (d *OpDef) readsAs(more *OpDef, attrs Attrs) *OpDef {
	for _, a := range more.Attrs[len(d.Attrs):] {
		v, ok := attrs.Lookup(a.Name)
		if want, _ := a.Default(); ok && !v.Equal(want) {
			return d
		}
	}
	return more
}

// Input returns the input called name, or nil.
func (d *OpDef) Input(name string) *ArgDef { return argNamed(d.Inputs, name) }

// Output returns the output called name, or nil.
func (d *OpDef) Output(name string) *ArgDef { return argNamed(d.Outputs, name) }

// Attr returns the attribute called name, or nil.
func (d *OpDef) Attr(name string) *AttrDef {
	if i := slices.IndexFunc(d.Attrs, func(a AttrDef) bool { return a.Name == name }); i >= 0 {
		return &d.Attrs[i]
	}
	return nil
}

func argNamed(args []ArgDef, name string) *ArgDef {
	if i := slices.IndexFunc(args, func(a ArgDef) bool { return a.Name == name }); i >= 0 {
		return &args[i]
	}
	return nil
}
