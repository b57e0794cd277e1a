package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The slices that the rounds of a loop add to a variable are pushed to two
// lists, of values and of indices. The lists are joined once after the loop,
// because a sum in each round would copy all earlier rows again.
//
// A sum is a result of the backward loop that adds up the gradient of one
// variable over the rounds. A variable whose gradient is slices has two: its list
// of values and then its list of indices. keptInLists and handlesOfSums list the
// sums in the order of loop.sums, which is that of the loop's results.

// keptInLists reports for each sum whether it is a list of the rounds' parts.
func (l *loop) keptInLists() []bool {
	var kept []bool
	for _, sliced := range l.sliced {
		if kept = append(kept, sliced); sliced {
			kept = append(kept, true)
		}
	}
	return kept
}

// handlesOfSums returns, for each sum, the index of its variable's handle among
// the loop's inputs.
func (l *loop) handlesOfSums() []int {
	var handles []int
	for k, i := range l.handles {
		if handles = append(handles, i); l.sliced[k] {
			handles = append(handles, i)
		}
	}
	return handles
}

func emptyList(s *ops.Scope, d tensor.DType) *ops.Value {
	return s.Emit1("EmptyTensorList", elementType(d), anyShape, tensor.Scalar(int32(-1)))
}

// joinRounds returns the gradient of a variable whose rounds' slices are in
// lists. It is a whole tensor, as TensorFlow's is. Slices would change the
// training: for them, some optimizers skip the rows that no slice names.
func joinRounds(s *ops.Scope, handle, values, indices *ops.Value, indexType tensor.DType) *ops.Value {
	shape := valueShape(s, handle)
	tail := ops.StridedSlice(s, shape, ops.From(1))
	rows := joinVectors(s, tensor.Vector(int32(-1)), tail)
	join := func(list *ops.Value, d tensor.DType, elements ops.Input) *ops.Value {
		attrs := graph.Attrs{graph.Type("element_dtype", d), graph.Type("shape_type", tensor.Int32)}
		return s.EmitN(2, "TensorListConcatV2", attrs, list, elements, tensor.Vector[int64]())[0]
	}
	slices := ops.IndexedSlices{
		Values:  join(values, valueType(handle), rows),
		Indices: join(indices, indexType, tensor.Vector(int32(-1))),
		Shape:   shape,
	}
	return ops.Identity(s, slices.Value(s))
}
