package graph

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Concrete is a function together with what it captures from outside: what a
// trace yields, what a plan is compiled from, and what a SavedModel holds.
// Nothing in it runs.
type Concrete struct {
	// Function is the function. Its last len(Captures) arguments are the
	// captures.
	Function *Function
	// Captures are what those arguments are in every call.
	Captures []Capture
}

// Capture is something outside of a function that the function uses: one of a
// variable, a tensor, or another resource.
type Capture struct {
	// Variable is a variable, passed as its handle.
	Variable *trackable.Variable
	// Tensor is a constant that is too large to stand in the function.
	Tensor *tensor.Tensor
	// Resource is the object behind another handle.
	Resource any
}

// NumArgs returns the number of arguments that a caller gives.
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

// String returns the function as text, with what it captures.
func (c *Concrete) String() string {
	var b strings.Builder
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
	return b.String()
}
