package graph

import (
	"slices"

	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/tensor"
)

// OpDef defines an op: what it takes, what it gives and which attributes it
// has. [LookupOp] finds TensorFlow's; [OpDefFromProto] makes one from what a
// file carries for an op of its own. A definition is shared and must not be
// changed.
type OpDef struct {
	// Name is the op's name, "MatMul".
	Name string
	// Inputs and Outputs are the arguments, in order.
	Inputs, Outputs []ArgDef
	// Attrs are the attributes, in the order of the definition.
	Attrs []AttrDef
	// ControlOutputs name the nodes of a function's body that run whether or
	// not anybody takes a result. Only the signature of a function has any.
	ControlOutputs []string
	// Stateful ops are neither merged with their like, folded nor dropped when a
	// graph asks for their effect.
	Stateful bool
	// Commutative ops give the same result for swapped inputs.
	Commutative bool
	// Aggregate ops take any number of inputs of one type, as AddN does.
	Aggregate bool
	// AllowsUninitializedInput is set for ops that take a reference to a
	// variable without a value, as Assign does.
	AllowsUninitializedInput bool
	// DistributedCommunication is set for ops that wait for other processes.
	DistributedCommunication bool
	// Deprecation is nil for an op that newer graphs may hold.
	Deprecation *Deprecation

	rest *pb.OpDef // what a file says besides: words, unknown fields
}

// Deprecation says from which version on graphs may not hold an op.
type Deprecation struct {
	// Version is the producer version of the first graph that may not.
	Version int
	// Reason says what to use instead.
	Reason string

	unknown []byte
}

// ArgDef is an input or output. It stands for one tensor, or for several where
// NumberAttr or TypeListAttr is set.
type ArgDef struct {
	// Name is the argument's name, "product".
	Name string
	// Type is the element type; tensor.Invalid where an attribute has it.
	Type tensor.DType
	// TypeAttr is the attribute that holds the type.
	TypeAttr string
	// NumberAttr is the attribute that holds the number of tensors, all of one
	// type.
	NumberAttr string
	// TypeListAttr is the attribute that holds the types of all tensors.
	TypeListAttr string
	// Ref is set where a reference to a V1 variable is taken or given.
	Ref bool

	rest *pb.ArgDef
}

// List reports whether the argument stands for any number of tensors.
func (a *ArgDef) List() bool { return a.NumberAttr != "" || a.TypeListAttr != "" }

// AttrDef is an attribute that an op has.
type AttrDef struct {
	// Name is the attribute's name, "transpose_a".
	Name string
	// Kind is what it holds.
	Kind AttrKind
	// HasMinimum says whether there is a Minimum: of an integer's value, of a
	// list's length.
	HasMinimum bool
	// Minimum is the least value or length.
	Minimum int64
	// AllowedTypes are the types that a type attribute, or an element of a list
	// of types, may be; nil where all are allowed.
	AllowedTypes []tensor.DType
	// AllowedStrings are the same for strings.
	AllowedStrings []string

	def  *pb.AttrValue
	rest *pb.AttrDef
}

// HasDefault reports whether the attribute may be left out.
func (a *AttrDef) HasDefault() bool { return a.def != nil }

// DefaultProto returns the value of an attribute that is left out, or nil where
// it may not be. It must not be changed.
func (a *AttrDef) DefaultProto() *pb.AttrValue { return a.def }

// withAttrsOf returns d with the attributes that only o has, as far as they may be left
// out; d itself where there are none.
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

// readsAs returns the definition by which a node with these attributes is read: more,
// which has all attributes of d, where those that only it has are what they are by
// default. What they would change otherwise nobody here knows.
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
