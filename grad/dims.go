package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Rules compute with shapes in two ways: by Go numbers if all needed sizes are
// known, as they always are when ops run at once, and otherwise by ops on the
// shapes as values.

// known returns a value's shape, and whether it is known as a whole.
func known(v *ops.Value) (tensor.Shape, bool) {
	if !v.IsSymbolic() {
		return v.Shape(), true
	}
	return v.Fact().Shape.Tensor()
}

// allKnown reports whether the shapes of all values are known.
func allKnown(vs ...*ops.Value) bool {
	for _, v := range vs {
		if _, ok := known(v); !ok {
			return false
		}
	}
	return true
}

// rankOf returns the number of dimensions, -1 for an unknown one.
func rankOf(v *ops.Value) int {
	if !v.IsSymbolic() {
		return len(v.Shape())
	}
	if f := v.Fact(); f.Shape.HasRank() {
		return f.Shape.Rank()
	}
	return -1
}

// alike reports whether two values are known to have one shape.
func alike(a, b *ops.Value) bool {
	if !a.IsSymbolic() && !b.IsSymbolic() {
		return a.Shape().Equal(b.Shape())
	}
	x, y := a.Fact().Shape, b.Fact().Shape
	if !x.HasRank() || !y.HasRank() || x.Rank() != y.Rank() {
		return false
	}
	for i, d := range x.Dims() {
		if !graph.SameDim(d, y.Dim(i)) {
			return false
		}
	}
	return true
}

// ints returns the elements of an integer value, and whether they are known.
func ints(v *ops.Value) ([]int, bool) {
	if !v.IsSymbolic() {
		t, err := v.Tensor()
		if err != nil {
			return nil, false
		}
		list, err := t.Int64s()
		if err != nil {
			return nil, false
		}
		out := make([]int, len(list))
		for i, x := range list {
			out[i] = int(x)
		}
		return out, true
	}
	elems, ok := v.Fact().Ints()
	if !ok {
		return nil, false
	}
	out := make([]int, len(elems))
	for i, e := range elems {
		x, ok := e.Int()
		if !ok {
			return nil, false
		}
		out[i] = int(x)
	}
	return out, true
}

// shapeAs returns x's shape as a vector of type d, int32 or int64: a constant
// if it is known.
func shapeAs(s *ops.Scope, x *ops.Value, d tensor.DType) ops.Input {
	shape, ok := known(x)
	if !ok {
		return s.Emit1("Shape", graph.Attrs{graph.Type("out_type", d)}, x)
	}
	if d == tensor.Int64 {
		v := make([]int64, len(shape))
		for i, n := range shape {
			v[i] = int64(n)
		}
		return tensor.Vector(v...)
	}
	v := make([]int32, len(shape))
	for i, n := range shape {
		v[i] = int32(n)
	}
	return tensor.Vector(v...)
}

// sizesOf returns x's shape as a value of int32.
func sizesOf(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Const(s, shapeAs(s, x, tensor.Int32))
}

// reshapeLike returns v in x's shape.
func reshapeLike(s *ops.Scope, v, x *ops.Value) *ops.Value {
	if shape, ok := known(x); ok {
		return ops.Reshape(s, v, shape...)
	}
	if s.Err() == nil && alike(v, x) {
		return v
	}
	return s.Emit1("Reshape", nil, v, ops.Shape(s, x))
}

// broadcastLike returns v stretched to x's shape.
func broadcastLike(s *ops.Scope, v, x *ops.Value) *ops.Value {
	if shape, ok := known(x); ok {
		return ops.BroadcastTo(s, v, shape...)
	}
	return s.Emit1("BroadcastTo", nil, v, ops.Shape(s, x))
}

// sumAll returns the sum of all elements.
func sumAll(s *ops.Scope, x *ops.Value) *ops.Value {
	if rankOf(x) >= 0 {
		return ops.Sum(s, x)
	}
	return s.Emit1("Sum", nil, x, upTo(s, ops.Rank(s, x)))
}

// upTo returns 0, 1, …, n-1.
func upTo(s *ops.Scope, n ops.Input) *ops.Value { return ops.Range(s, int32(0), n, int32(1)) }

// rankValue returns the number of dimensions as an int32.
func rankValue(s *ops.Scope, x *ops.Value) *ops.Value {
	if r := rankOf(x); r >= 0 {
		return ops.Const(s, int32(r))
	}
	return ops.Rank(s, x)
}

// sizeAt returns the size of x along an axis, which is an int32 scalar that is
// not negative.
func sizeAt(s *ops.Scope, x, axis *ops.Value) *ops.Value {
	return s.Emit1("GatherV2", nil, sizesOf(s, x), axis, int32(0))
}

// lastSize returns the size of x's last dimension as an int32.
func lastSize(s *ops.Scope, x *ops.Value) *ops.Value {
	if r := rankOf(x); r > 0 {
		if d := x.Shape()[r-1]; d >= 0 {
			return ops.Const(s, int32(d))
		}
	}
	return ops.StridedSlice(s, ops.Shape(s, x), ops.At(-1))
}

// productOf returns the product of a vector's elements, 1 for none.
func productOf(s *ops.Scope, v *ops.Value) *ops.Value { return s.Emit1("Prod", nil, v, int32(0)) }

// joinVectors concatenates vectors of int32.
func joinVectors(s *ops.Scope, vs ...ops.Input) *ops.Value {
	return s.Emit1("ConcatV2", nil, append(vs, int32(0))...)
}

// vector returns a scalar as a vector.
func vector(s *ops.Scope, v *ops.Value) *ops.Value { return ops.Reshape(s, v, 1) }

// onesVector returns n ones.
func onesVector(s *ops.Scope, n *ops.Value) *ops.Value {
	return s.Emit1("Fill", nil, vector(s, n), ops.Const(s, int32(1)))
}

// padTo returns v with zeros around it: begin before, and after as many as fill
// x's shape.
func padTo(s *ops.Scope, v, begin, x *ops.Value) *ops.Value {
	d := begin.DType()
	behind := ops.Sub(s, ops.Sub(s, shapeAs(s, x, d), shapeAs(s, v, d)), begin)
	return s.Emit1("Pad", nil, v, ops.Stack(s, []*ops.Value{begin, behind}, 1))
}
