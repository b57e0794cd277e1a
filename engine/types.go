package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// Types are the element types that a kernel accepts, for each attribute of the
// op's definition that names a type, such as "T". An attribute that isn't
// listed accepts every type that the definition allows.
type Types map[string][]tensor.DType

// check reports an attribute of n whose type isn't listed.
func (t Types) check(n *Node) error {
	for attr, known := range t {
		d := n.Attrs.Type(attr, tensor.Invalid)
		if d != tensor.Invalid && !slices.Contains(known, d) {
			return &UnsupportedTypeError{Op: n.Op, Attr: attr, Type: d, Known: known}
		}
	}
	return nil
}

// UnsupportedTypeError reports that an op has a kernel, but none for an element
// type.
type UnsupportedTypeError struct {
	Op    string
	Attr  string         // the attribute that names the type; empty if none does
	Type  tensor.DType   // the type that was asked for
	Known []tensor.DType // the types that there are kernels for
}

// Error lists the types that the op takes.
func (e *UnsupportedTypeError) Error() string {
	names := make([]string, len(e.Known))
	for i, d := range e.Known {
		names[i] = d.String()
	}
	what := e.Type.String()
	if e.Attr != "" {
		what = e.Attr + " = " + what
	}
	return fmt.Sprintf("no kernel for %s, only for %s; Cast converts, and engine.KernelSet.Replace takes a kernel of one's own",
		what, strings.Join(names, ", "))
}

// ByType has the data of a kernel for each element type that it accepts, such
// as the instantiations of a generic function.
type ByType[F any] map[tensor.DType]F

// Types lists the types in TensorFlow's order.
func (t ByType[F]) Types() []tensor.DType {
	out := make([]tensor.DType, 0, len(t))
	for d := range t {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

// Of returns the data for type d.
func (t ByType[F]) Of(d tensor.DType) (F, error) {
	f, ok := t[d]
	if !ok {
		return f, &UnsupportedTypeError{Type: d, Known: t.Types()}
	}
	return f, nil
}
