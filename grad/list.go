package grad

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// listRules are the rules of lists of tensors. The gradient with regard to a
// list is a list of gradients.
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
		if op.Needs(0) {
			op.Give(0, s.Emit1("TensorListSetItem", elementType(op.In(2).DType()), dy, i, ops.ZerosLike(s, x)))
		}
		if op.Needs(2) {
			op.Give(2, s.Emit1("TensorListGetItem", elementType(op.In(2).DType()), dy, i, shapeOrScalar(s, x)))
		}
	},
	"TensorListGetItem": func(s *ops.Scope, op *Op) {
		list := op.In(0)
		n := s.Emit1("TensorListLength", nil, list)
		zeros := s.Emit1("TensorListReserve", elementType(op.Out(0).DType()), anyShape, n)
		op.Give(0, s.Emit1("TensorListSetItem", elementType(op.Out(0).DType()), zeros, op.In(1), op.Grad(0)))
	},
	"TensorListStack": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("TensorListFromTensor", elementType(op.Out(0).DType()), op.Grad(0), anyShape))
	},
	"TensorListFromTensor": func(s *ops.Scope, op *Op) {
		rows := ops.StridedSlice(s, sizesOf(s, op.In(0)), ops.From(1))
		op.Give(0, s.Emit1("TensorListStack", elementType(op.In(0).DType()), op.Grad(0), rows))
	},
}

// anyShape says that the elements of a list may have any shape.
var anyShape = tensor.Scalar(int32(-1))

// shapeOrScalar returns the shape of an element of a list.
func shapeOrScalar(s *ops.Scope, x *ops.Value) ops.Input {
	if x.DType() == tensor.Variant {
		return anyShape
	}
	return sizesOf(s, x)
}
