package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// A tensor without elements can have other dimensions of any size: [2^40, 0]. An op may
// only take memory and time in proportion to the elements of its inputs and outputs. So a
// kernel that loops over dimensions must not see such a tensor. The rule is here, for all
// kernels: the engine makes the outputs by the shape rule if none has elements, and refuses
// the op otherwise. Ops that never look at dimensions, or only report them, are exempt.

// maxExtent is the largest product of the dimensions other than zero that a kernel gets
// to see of a tensor without elements.
const maxExtent = 1 << 20

// ExtentError reports an op whose input has no elements and huge dimensions, and whose
// result does not follow from the shapes alone.
type ExtentError struct {
	Op    string       // the op
	Input int          // the number of the input
	Shape tensor.Shape // its shape
	Err   error        // why the result does not follow; nil if an output has elements or an unknown shape
}

// Error reports the op, the input and its shape.
func (e *ExtentError) Error() string {
	s := fmt.Sprintf("input %d of shape %s has no elements, but its other dimensions have a product of more than %d; "+
		"%s takes such a tensor only if no output has elements", e.Input, e.Shape.String(), maxExtent, e.Op)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err and [errors.ErrUnsupported].
func (e *ExtentError) Unwrap() []error {
	if e.Err == nil {
		return []error{errors.ErrUnsupported}
	}
	return []error{e.Err, errors.ErrUnsupported}
}

// hugeExtent reports whether a shape has no elements, and dimensions other than zero with
// a product of more than maxExtent.
func hugeExtent(s tensor.Shape) bool {
	n, zero := 1, false
	for _, d := range s {
		switch {
		case d == 0:
			zero = true
		case n > math.MaxInt/d:
			n = math.MaxInt
		default:
			n *= d
		}
	}
	return zero && n > maxExtent
}

// opaqueOps are the ops whose kernels hand tensors on, read their shapes, or go through
// their elements without a look at dimensions.
var opaqueOps = set("Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "CheckNumerics", "EnsureShape", "Placeholder",
	"PlaceholderWithDefault", "Shape", "ShapeN", "Size", "Rank", "Reshape", "ExpandDims", "Squeeze", "Bitcast", "Cast", "NoOp", "Assert",
	"Print", "PrintV2", "StringFormat", "Assign", "AssignVariableOp", "Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit",
	"NextIteration", "RefNextIteration", "RefIdentity", "DeepCopy", "ZerosLike", "OnesLike", "Fill", "BroadcastTo")

// opaqueParts are parts of the names of ops that keep tensors as elements of something.
var opaqueParts = []string{"Dataset", "Iterator", "TensorList", "TensorArray", "Optional", "Queue", "Stack", "Barrier", "Stage", "Session"}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// opaque reports whether the kernel of a node may see tensors of any extent.
func opaque(n *Node) bool {
	if opaqueOps[n.Op] {
		return true
	}
	for _, a := range n.Attrs {
		if a.Kind == graph.AttrFunc || a.Kind == graph.AttrFuncs {
			return true // the ops of the functions are checked by themselves
		}
	}
	for _, part := range opaqueParts {
		if strings.Contains(n.Op, part) {
			return true
		}
	}
	return false
}

// withinExtents returns a kernel's function with the rule for tensors without elements.
func withinExtents(k *Kernel, n *Node, run func(*Call) error) func(*Call) error {
	if run == nil || len(n.In) == 0 || opaque(n) {
		return run
	}
	handles := false
	for _, f := range n.In {
		handles = handles || f.Ref || handleType(f.DType)
	}
	return func(c *Call) error {
		for i := range c.in {
			if t := c.in[i].Tensor; t != nil {
				if t.Len() == 0 && hugeExtent(t.Shape()) {
					return c.answerByShapes(k.Definition(), i)
				}
			} else if handles {
				if v := c.in[i].Variable(); v != nil {
					if s := v.ValueShape(); hugeExtent(s) {
						return &ExtentError{Op: c.node.Op, Input: i, Shape: s}
					}
				}
			}
		}
		return run(c)
	}
}

// answerByShapes makes the outputs of an op from its shape rule, without its
// kernel, because of input i. It returns an error if an output has elements or
// an unknown shape, or if the op has effects.
func (c *Call) answerByShapes(def *graph.OpDef, i int) error {
	refused := &ExtentError{Op: c.node.Op, Input: i, Shape: c.in[i].Tensor.Shape()}
	if def == nil || def.Stateful {
		return refused
	}
	facts := make([]graph.Fact, len(c.in))
	for j, v := range c.in {
		if v.Tensor == nil {
			return refused
		}
		facts[j] = graph.FactOf(v.Tensor)
	}
	attrs, out, err := def.Bind(c.node.Attrs, facts)
	if err == nil {
		inference := &shape.Inference{Op: c.node.Op, Attrs: attrs, In: facts, Out: out}
		if err = shape.All().Infer(inference); err == nil {
			out = inference.Out
		}
	}
	if err != nil {
		refused.Err = err
		return refused
	}
	for _, f := range out {
		if n, _ := f.Shape.NumElements(); !f.Shape.Known() || n > 0 || handleType(f.DType) {
			return refused
		}
	}
	for j, f := range out {
		if _, err := c.Alloc(j, f.DType, f.Shape.Dims()); err != nil {
			return err
		}
	}
	return nil
}

// handleType reports whether a value of this type may be a handle.
func handleType(d tensor.DType) bool {
	return d == tensor.Resource || d == tensor.Variant || d == tensor.Invalid
}
