package ops

import (
	"errors"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Slice is a named tensor of a checkpoint, or a slice of one.
type Slice struct {
	// Name is the tensor's key in the checkpoint.
	Name string
	// Value is the value to save. For a restore it is an example of the type: its
	// elements don't matter.
	Value *Value
	// Spec is the part of the whole tensor that Value is, in TensorFlow's
	// notation: "10 20 0,5:-" is the first 5 rows of a tensor of 10 by 20. The
	// default, "", is the whole.
	Spec string
}

// SaveV2 writes the tensors as a checkpoint under prefix and returns the prefix
// again, so that a saver can return it. It needs a file grant, which a saver's
// scope has.
func SaveV2(s *Scope, prefix Input, slices []Slice) *Value {
	p := Const(s, prefix)
	if !s.alive() {
		return s.failed()
	}
	names, specs := names(slices)
	in := make([]Input, 0, 3+len(slices))
	in = append(in, p, names, specs)
	for _, sl := range slices {
		in = append(in, sl.Value)
	}
	if !s.Emit0("SaveV2", nil, in...) {
		return s.failed()
	}
	return p
}

// RestoreV2 reads the tensors from the checkpoint under prefix; the types are
// those of the slices' values. It needs a file grant, which a saver's scope
// has.
func RestoreV2(s *Scope, prefix Input, slices []Slice) []*Value {
	names, specs := names(slices)
	types := make([]tensor.DType, len(slices))
	for i, sl := range slices {
		if sl.Value == nil && s.alive() {
			s.fail("RestoreV2", nil, errors.New("slice "+sl.Name+" has no Value, so its type is unknown"))
		}
		types[i] = sl.Value.DType()
	}
	return s.EmitN(len(slices), "RestoreV2", graph.Attrs{graph.Types("dtypes", types...)},
		Const(s, prefix), names, specs)
}

// MergeV2Checkpoints joins the checkpoints under the prefixes, a string vector,
// to one under destination, and removes them.
func MergeV2Checkpoints(s *Scope, prefixes, destination Input) {
	s.Emit0("MergeV2Checkpoints", nil, prefixes, destination)
}

func names(slices []Slice) (names, specs *tensor.Tensor) {
	n, sp := make([]string, len(slices)), make([]string, len(slices))
	for i, sl := range slices {
		n[i], sp[i] = sl.Name, sl.Spec
	}
	return tensor.Vector(n...), tensor.Vector(sp...)
}
