package ops

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The functions of this package that need the shape of an input use it if it is
// known, and otherwise emit the ops that find it when the function runs.

// shapeOf returns the known part of an input's shape; the unknown shape for a failed one.
func (s *Scope) shapeOf(x Input) graph.PartialShape {
	switch x := x.(type) {
	case *Value:
		if x != nil && x.data.Tensor != nil {
			return graph.Whole(x.data.Tensor.Shape())
		}
		return x.Fact().Shape.Anonymous()
	case *tensor.Tensor:
		if x != nil {
			return graph.Whole(x.Shape())
		}
	case trackable.VariableLike:
		if v := variableOf(x); v != nil {
			if s.IsTracing() {
				return shapeOf(v)
			}
			return graph.Whole(v.Shape())
		}
	case nil:
	default:
		if t, err := tensorOf(x, tensor.Invalid); err == nil {
			return graph.Whole(t.Shape())
		}
	}
	return graph.PartialShape{}
}

// isMatrix reports whether an input is known to have two dimensions at most.
func (s *Scope) isMatrix(x Input) bool {
	shape := s.shapeOf(x)
	return shape.HasRank() && shape.Rank() <= 2
}

// dim returns the size of a dimension of x as an int32 scalar; a negative axis
// counts from the end.
func (s *Scope) dim(x Input, axis int) *Value {
	if shape := s.shapeOf(x); shape.HasRank() {
		i := axis
		if i < 0 {
			i += shape.Rank()
		}
		if i >= 0 && i < shape.Rank() && shape.Dim(i) >= 0 {
			return s.scalar32(shape.Dim(i))
		}
	}
	return asSizes(StridedSlice(s, Shape(s, x), At(axis)))
}

// asSizes marks v as a shape, axes or a count.
func asSizes(v *Value) *Value {
	v.mark().sizes = true
	return v
}

// lastRows returns x as a matrix whose rows are the vectors along x's last
// dimension, and the sizes of x's other dimensions.
func (s *Scope) lastRows(x Input) (rows, outer *Value) {
	shape := Shape(s, x)
	outer = StridedSlice(s, shape, To(-1))
	last := StridedSlice(s, shape, From(-1))
	return ReshapeTo(s, x, Concat(s, []*Value{ProdKeep(s, outer, 0), last}, 0)), outer
}

// shapeOf returns the known part of the shapes of a variable's values.
func shapeOf(v *trackable.Variable) graph.PartialShape {
	if v.Unranked() {
		return graph.UnknownShape
	}
	return graph.Whole(v.ValueShape())
}
