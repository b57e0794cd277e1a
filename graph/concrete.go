package graph

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Concrete is a function together with its captures. Tracing returns one, plans
// are compiled from one, and SavedModels contain them. Nothing in it runs.
type Concrete struct {
	// Function is the function. Its last len(Captures) arguments are the
	// captures.
	Function *Function
	// Captures are the values of those arguments, the same in every call.
	Captures []Capture
	// In describes the arguments of a call and Out its results: structs, maps,
	// slices and static values around tensors. The tensors are the function's
	// arguments and results, in order. Nil means unknown.
	In, Out *Structure
	// Call is the canonical form of the arguments in a file: a pair of a tuple
	// of the positional arguments and a dict of the keyword arguments. Nil
	// means that it follows from In, see [Concrete.InputSignature].
	Call *Structure
	// Assemble makes the library with which the function is written to a file.
	// Nil means [Assemble]. A traced function has one that includes its
	// gradients.
	Assemble Assembler
}

// NotTracked keeps traces out of the object graph of a checkpoint.
func (c *Concrete) NotTracked() {}

// SavedModelOnly makes traces nodes of the object graph of a SavedModel.
func (c *Concrete) SavedModelOnly() {}

// Capture is a value from outside of a function that the function uses: a
// variable, a tensor, or another resource. One field is set.
type Capture struct {
	// Variable is a variable, passed as its handle.
	Variable *trackable.Variable
	// Tensor is a constant that is too large for a node of the function.
	Tensor *tensor.Tensor
	// Resource is another object: a [Capturable], or the object that a handle refers to.
	Resource any
}

// NumArgs returns the number of arguments that a caller passes.
func (c *Concrete) NumArgs() int { return len(c.Function.Args) - len(c.Captures) }

// Variables returns the captured variables, in the order of the captures.
func (c *Concrete) Variables() []*trackable.Variable {
	var out []*trackable.Variable
	for _, x := range c.Captures {
		if x.Variable != nil {
			out = append(out, x.Variable)
		}
	}
	return out
}

// Parameters returns the function's parameters with their names: the fields of
// a struct, or for other arguments one parameter called "inputs".
func (c *Concrete) Parameters() (names []string, types []*Structure) {
	switch {
	case c.In == nil:
		return nil, nil
	case c.In.Kind == NamedStructure:
		return c.In.Keys, c.In.Elems
	}
	return []string{"inputs"}, []*Structure{c.In}
}

// InputSignature returns TensorFlow's description of the arguments: a tuple of
// positional parameters, and an empty dict of keyword arguments.
func (c *Concrete) InputSignature() *Structure {
	if c.Call != nil {
		return c.Call
	}
	_, types := c.Parameters()
	return TupleOf(TupleOf(types...), DictOf(nil, nil))
}

// Signature returns "name(in) → out", the structured types of a call.
func (c *Concrete) Signature() string {
	in := c.In.String()
	if c.In == nil || c.In.Kind != NamedStructure && c.In.Kind != TupleStructure {
		in = "(" + in + ")"
	}
	return c.Function.Name + " " + in + " → " + c.Out.String()
}

// String returns the function as text: the types of a call, the body with one
// node per line, the captures, and the called functions.
func (c *Concrete) String() string {
	var b strings.Builder
	if c.In != nil || c.Out != nil {
		fmt.Fprintf(&b, "// %s\n", c.Signature())
	}
	b.WriteString(c.Function.String())
	for i, x := range c.Captures {
		arg := c.Function.Args[c.NumArgs()+i]
		switch {
		case x.Variable != nil:
			fmt.Fprintf(&b, "capture %s = variable %q\n", arg.Name, x.Variable.Name())
		case x.Tensor != nil:
			fmt.Fprintf(&b, "capture %s = %v%v\n", arg.Name, x.Tensor.DType(), x.Tensor.Shape())
		default:
			fmt.Fprintf(&b, "capture %s = %T\n", arg.Name, x.Resource)
		}
	}
	for _, f := range c.Function.Graph.Reachable() {
		if f != c.Function {
			b.WriteByte('\n')
			b.WriteString(f.String())
		}
	}
	return b.String()
}
