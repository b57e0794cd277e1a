package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// listRules are the rules of lists of tensors, of optionals and of composites. The gradient with
// regard to a list is a list of gradients, that to an optional an optional.
var listRules = map[string]Rule{
	"EmptyTensorList":   none,
	"TensorListReserve": none,
	"TensorListLength":  none,
	"TensorListPushBack": func(s *ops.Scope, op *Op) {
		out := s.EmitN(2, "TensorListPopBack", elementType(op.In(1).DType()), op.Grad(0), shapeOrScalar(s, op.In(1)))
		op.Give(0, out[0])
		op.Give(1, out[1])
	},
	"TensorListPopBack": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("TensorListPushBack", elementType(op.Out(1).DType()), op.GradOrZero(0), op.GradOrZero(1)))
	},
	"TensorListSetItem": func(s *ops.Scope, op *Op) {
		dy, i, x := op.Grad(0), op.In(1), op.In(2)
		// The element is read first, so that the list can be changed in place.
		if op.Needs(2) {
			op.Give(2, s.Emit1("TensorListGetItem", elementType(op.In(2).DType()), dy, i, shapeOrScalar(s, x)))
		}
		if op.Needs(0) {
			dx := s.Emit1("TensorListSetItem", elementType(op.In(2).DType()), dy, i, ops.ZerosLike(s, x))
			if op.Attrs().Bool("resize_if_index_out_of_bounds") {
				dx = s.Emit1("TensorListResize", nil, dx, listLength(s, op.In(0)))
			}
			op.Give(0, dx)
		}
	},
	"TensorListGetItem": func(s *ops.Scope, op *Op) {
		d, i, dy := elementType(op.Out(0).DType()), op.In(1), op.Grad(0)
		// A list that has a gradient already, as each round of a loop finds it, gets
		// the element added in place: a list a round and their sum would cost as much
		// as all elements each time.
		if dy.DType() != tensor.Variant && op.change(0, func(have *ops.Value) *ops.Value {
			sum := ops.Add(s, s.Emit1("TensorListGetItem", d, have, i, sizesOf(s, dy)), dy)
			return s.Emit1("TensorListSetItem", d, have, i, sum)
		}) {
			return
		}
		zeros := s.Emit1("TensorListReserve", d, anyShape, listLength(s, op.In(0)))
		op.Give(0, s.Emit1("TensorListSetItem", d, zeros, i, dy))
	},
	"TensorListStack": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("TensorListFromTensor", elementType(op.Out(0).DType()), op.Grad(0), anyShape))
	},
	"TensorListFromTensor": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("TensorListStack", elementType(op.In(0).DType()), op.Grad(0), rowShape(s, op.In(0))))
	},
	"TensorListConcat":   gradListConcat,
	"TensorListConcatV2": gradListConcat,
	"TensorListSplit": func(s *ops.Scope, op *Op) {
		x := op.In(0)
		elements := joinVectors(s, tensor.Vector(int32(-1)), rowShape(s, x))
		attrs := elementType(x.DType()).Set(graph.Type("shape_type", tensor.Int32))
		op.Give(0, s.EmitN(2, "TensorListConcatV2", attrs, op.Grad(0), elements, op.In(2))[0])
	},
	"TensorListResize": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("TensorListResize", nil, op.Grad(0), listLength(s, op.In(0))))
	},
	"TensorListGather": func(s *ops.Scope, op *Op) {
		d := op.Out(0).DType()
		zeros := s.Emit1("TensorListReserve", elementType(d), anyShape, listLength(s, op.In(0)))
		// An element may be gathered more than once.
		places := s.EmitN(2, "Unique", nil, op.In(1))
		sums := s.Emit1("UnsortedSegmentSum", nil, op.Grad(0), places[1], s.Emit1("Size", nil, places[0]))
		op.Give(0, s.Emit1("TensorListScatterIntoExistingList", elementType(d), zeros, sums, places[0]))
	},
	"OptionalFromValue": func(s *ops.Scope, op *Op) {
		types, shapes := make([]tensor.DType, op.NumIn()), make([]graph.PartialShape, op.NumIn())
		for i := range types {
			types[i], shapes[i] = op.In(i).DType(), op.In(i).Fact().Shape.Anonymous()
		}
		attrs := graph.Attrs{graph.Types("output_types", types...), graph.Shapes("output_shapes", shapes...)}
		for i, dx := range s.EmitN(len(types), "OptionalGetValue", attrs, op.Grad(0)) {
			op.Give(i, dx)
		}
	},
	"OptionalGetValue": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("OptionalFromValue", nil, inputs(parts(op))...))
	},
	// The gradient with regard to a composite is one whose components are gradients.
	"CompositeTensorVariantFromComponents": func(s *ops.Scope, op *Op) {
		types := make([]tensor.DType, op.NumIn())
		for i := range types {
			types[i] = op.In(i).DType()
		}
		attrs := metadataOf(op).Set(graph.Types("Tcomponents", types...))
		for i, dx := range s.EmitN(len(types), "CompositeTensorVariantToComponents", attrs, op.Grad(0)) {
			op.Give(i, dx)
		}
	},
	"CompositeTensorVariantToComponents": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("CompositeTensorVariantFromComponents", metadataOf(op), inputs(parts(op))...))
	},
	"TensorListScatter":   gradListScatter,
	"TensorListScatterV2": gradListScatter,
	"TensorListScatterIntoExistingList": func(s *ops.Scope, op *Op) {
		x, indices, dy := op.In(1), op.In(2), op.Grad(0)
		d := elementType(x.DType())
		if op.Needs(0) {
			op.Give(0, s.Emit1("TensorListScatterIntoExistingList", d, dy, ops.ZerosLike(s, x), indices))
		}
		if op.Needs(1) {
			op.Give(1, s.Emit1("TensorListGather", d, dy, indices, rowShape(s, x)))
		}
	},
}

// metadataOf returns the attribute that describes a composite.
func metadataOf(op *Op) graph.Attrs {
	return graph.Attrs{graph.String("metadata", op.Attrs().String("metadata", ""))}
}

// gradListConcat cuts the gradient at the borders of the elements.
func gradListConcat(s *ops.Scope, op *Op) {
	d := op.Out(0).DType()
	op.Give(0, s.Emit1("TensorListSplit", elementType(d), op.Grad(0), anyShape, op.Out(1)))
}

// gradListScatter gathers the elements' gradients.
func gradListScatter(s *ops.Scope, op *Op) {
	x := op.In(0)
	op.Give(0, s.Emit1("TensorListGather", elementType(x.DType()), op.Grad(0), op.In(1), rowShape(s, x)))
}

func listLength(s *ops.Scope, list *ops.Value) *ops.Value {
	return s.Emit1("TensorListLength", nil, list)
}

// rowShape returns the shape of one row of x as a value.
func rowShape(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.StridedSlice(s, sizesOf(s, x), ops.From(1))
}

// anyShape means that the elements of a list may have any shape.
var anyShape = tensor.Scalar(int32(-1))

// shapeOrScalar returns x's shape, as ops on lists take that of an element. If x is
// a variant, that is any shape.
func shapeOrScalar(s *ops.Scope, x *ops.Value) ops.Input {
	if x.DType() == tensor.Variant {
		return anyShape
	}
	return sizesOf(s, x)
}
