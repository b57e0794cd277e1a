package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TensorArray is a list of tensors of one type, such as the steps of a loop. It never changes:
// methods that write return another one. As a variable of a loop it is its List.
type TensorArray struct {
	// List is TensorFlow's TensorList, a variant.
	List *Value
	// DType is the element type of the tensors.
	DType tensor.DType
	// Shape is the known part of the tensors' shape.
	Shape graph.PartialShape
}

// NewTensorArray returns an array of n tensors of type d that are not written yet. dims are the
// sizes of a tensor, -1 for one that isn't known; none are those of a scalar.
func NewTensorArray(s *Scope, d tensor.DType, n Input, dims ...int) TensorArray {
	a := TensorArray{DType: d, Shape: graph.ShapeOf(dims...)}
	a.List = s.Emit1("TensorListReserve", graph.Attrs{graph.Type("element_dtype", d)}, s.shapeVector(a.Shape), n)
	return a
}

// TensorArrayOf returns the array of the rows of x: of the parts along its first dimension.
func TensorArrayOf(s *Scope, x Input) TensorArray {
	v := Const(s, x)
	if !s.alive() {
		return TensorArray{List: s.failed()}
	}
	a := TensorArray{DType: v.DType(), Shape: graph.PartialShape{}}
	if shape := s.shapeOf(v); shape.HasRank() && shape.Rank() > 0 {
		a.Shape = graph.ShapeOf(shape.Anonymous().Dims()[1:]...)
	}
	a.List = s.Emit1("TensorListFromTensor", nil, v, s.shapeVector(a.Shape))
	return a
}

// With returns the array with another list, which a loop or a branch has given.
func (a TensorArray) With(list *Value) TensorArray {
	a.List = list
	return a
}

func (a TensorArray) attrs() graph.Attrs { return graph.Attrs{graph.Type("element_dtype", a.DType)} }

// Size returns the number of tensors as int32.
func (a TensorArray) Size(s *Scope) *Value { return s.Emit1("TensorListLength", nil, a.List) }

// Write returns the array with x as tensor i. An i outside of the array is an error.
func (a TensorArray) Write(s *Scope, i, x Input) TensorArray {
	return a.With(s.Emit1("TensorListSetItem", nil, a.List, i, x))
}

// Read returns tensor i; zeros if it was not written, provided that the shape
// is known.
func (a TensorArray) Read(s *Scope, i Input) *Value {
	return s.Emit1("TensorListGetItem", a.attrs(), a.List, i, s.shapeVector(a.Shape))
}

// Push returns the array with x appended.
func (a TensorArray) Push(s *Scope, x Input) TensorArray {
	return a.With(s.Emit1("TensorListPushBack", nil, a.List, x))
}

// Pop returns the array without its last tensor, and that tensor.
func (a TensorArray) Pop(s *Scope) (TensorArray, *Value) {
	out := s.EmitN(2, "TensorListPopBack", a.attrs(), a.List, s.shapeVector(a.Shape))
	return a.With(out[0]), out[1]
}

// Resize returns the array with n tensors: shortened, or with tensors that are not written.
func (a TensorArray) Resize(s *Scope, n Input) TensorArray {
	return a.With(s.Emit1("TensorListResize", nil, a.List, n))
}

// Stack returns all tensors as the rows of one.
func (a TensorArray) Stack(s *Scope) *Value {
	return s.Emit1("TensorListStack", a.attrs(), a.List, s.shapeVector(a.Shape))
}

// Gather returns the tensors of the indices as the rows of one.
func (a TensorArray) Gather(s *Scope, indices Input) *Value {
	return s.Emit1("TensorListGather", a.attrs(), a.List, indices, s.shapeVector(a.Shape))
}

// Scatter returns the array with the rows of x as the tensors of the indices.
func (a TensorArray) Scatter(s *Scope, indices, x Input) TensorArray {
	return a.With(s.Emit1("TensorListScatterIntoExistingList", nil, a.List, x, indices))
}

// Concat returns the tensors joined along their first dimension, whose sizes may differ, and
// these sizes as int64.
func (a TensorArray) Concat(s *Scope) (x, sizes *Value) {
	out := s.EmitN(2, "TensorListConcatV2", a.attrs(), a.List, s.shapeVector(a.Shape), ConstOf(s, tensor.Int64, []int64{}))
	return out[0], out[1]
}

// Split returns the array of the parts of x along its first dimension, of sizes that an int64
// vector has.
func (a TensorArray) Split(s *Scope, x, sizes Input) TensorArray {
	return a.With(s.Emit1("TensorListSplit", nil, x, s.shapeVector(a.Shape), sizes))
}
