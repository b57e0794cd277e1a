package ops

import (
	"errors"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Shape returns x's shape as an int32 vector.
func Shape(s *Scope, x Input) *Value { return s.Emit1("Shape", nil, x) }

// Size returns the number of x's elements as an int32.
func Size(s *Scope, x Input) *Value { return s.Emit1("Size", nil, x) }

// Rank returns the number of x's dimensions as an int32.
func Rank(s *Scope, x Input) *Value { return s.Emit1("Rank", nil, x) }

// Reshape returns x with another shape of as many elements; one size may be -1
// and is inferred. No element moves.
func Reshape(s *Scope, x Input, dims ...int) *Value {
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("Reshape", nil, x, s.vec32(dims...))
}

// ReshapeTo reshapes x as [Reshape], to a shape that is a value: an int32 or
// int64 vector.
func ReshapeTo(s *Scope, x, shape Input) *Value {
	return s.Emit1("Reshape", nil, x, shape)
}

// Transpose moves x's dimensions: dimension i of the result is dimension
// perm[i] of x. No perm reverses them.
func Transpose(s *Scope, x Input, perm ...int) *Value {
	if !s.alive() {
		return s.failed()
	}
	if len(perm) == 0 {
		shape := s.shapeOf(x)
		if !shape.HasRank() {
			rank := Rank(s, x)
			return s.Emit1("Transpose", nil, x, Sub(s, Sub(s, rank, 1), Range(s, 0, rank, 1)))
		}
		for i := shape.Rank() - 1; i >= 0; i-- {
			perm = append(perm, i)
		}
	}
	return s.Emit1("Transpose", nil, x, s.vec32(perm...))
}

// ExpandDims inserts a dimension of size 1 at axis; -1 is after the last one.
func ExpandDims(s *Scope, x Input, axis int) *Value {
	return s.Emit1("ExpandDims", nil, x, s.scalar32(axis))
}

// Squeeze removes the dimensions of size 1 at the axes; none means all of that
// size.
func Squeeze(s *Scope, x Input, axes ...int) *Value {
	var attrs graph.Attrs
	if len(axes) > 0 {
		attrs = graph.Attrs{graph.Ints("squeeze_dims", ints64(axes)...)}
	}
	return s.Emit1("Squeeze", attrs, x)
}

func ints64(x []int) []int64 {
	out := make([]int64, len(x))
	for i, e := range x {
		out[i] = int64(e)
	}
	return out
}

// Concat joins the inputs of a list along an axis.
func Concat(s *Scope, xs Input, axis int) *Value {
	l, ok := s.list(xs)
	if !ok || len(l) == 0 {
		return s.Fail("ConcatV2", errors.New("takes a list of at least one input"))
	}
	if len(l) == 1 {
		return Identity(s, l[0])
	}
	l = append(l, s.scalar32(axis))
	s.step.args = l
	return s.Emit1("ConcatV2", nil, l...)
}

// Split cuts x into n parts of equal size along an axis. More than 65536 parts, or a negative number of
// them, are a failure that returns no values.
func Split(s *Scope, x Input, n, axis int) []*Value {
	return s.emitParts(n, "Split", graph.Attrs{graph.Int("num_split", int64(n))}, s.scalar32(axis), x)
}

// SplitSizes cuts x into parts of the given sizes along an axis; one size may
// be -1 and is worked out.
func SplitSizes(s *Scope, x Input, sizes []int, axis int) []*Value {
	return s.EmitN(len(sizes), "SplitV", graph.Attrs{graph.Int("num_split", int64(len(sizes)))},
		x, s.vec32(sizes...), s.scalar32(axis))
}

// Stack joins the inputs of a list, which have one shape, along a new axis;
// the default axis is 0. A list is a slice of values, variables or structs that
// embed variables.
func Stack(s *Scope, xs Input, axis ...int) *Value {
	l, ok := s.list(xs)
	if !ok || len(l) == 0 {
		return s.Fail("Pack", errors.New("takes a list of at least one input"))
	}
	return s.Emit1("Pack", axisAttr(axis), l...)
}

// Unstack cuts x into n parts along an axis, which goes away; the default axis
// is 0. n must be the axis's size. More than 65536 parts, or a negative number of them, are a failure that
// returns no values.
func Unstack(s *Scope, x Input, n int, axis ...int) []*Value {
	attrs := append(graph.Attrs{graph.Int("num", int64(n))}, axisAttr(axis)...)
	return s.emitParts(n, "Unpack", attrs, x)
}

func axisAttr(axis []int) graph.Attrs {
	if len(axis) == 0 || axis[0] == 0 {
		return nil
	}
	return graph.Attrs{graph.Int("axis", int64(axis[0]))}
}

// SliceOf returns the block of x that starts at begin; a size of -1 means to
// the end.
func SliceOf(s *Scope, x Input, begin, size []int) *Value {
	return s.Emit1("Slice", nil, x, s.vec32(begin...), s.vec32(size...))
}

// Index is one term of a [StridedSlice]: use [At], [From], [To], [Span],
// [Whole], [NewAxis] or [Ellipsis].
type Index struct {
	begin, end, stride       int
	openBegin, openEnd       bool
	shrink, newAxis, ellipse bool
}

// At picks one position of an axis, which goes away; negative ones count from
// the end.
func At(i int) Index { return Index{begin: i, end: i + 1, stride: 1, shrink: true} }

// From takes x[begin:] along an axis.
func From(begin int) Index { return Index{begin: begin, stride: 1, openEnd: true} }

// To takes x[:end] along an axis.
func To(end int) Index { return Index{end: end, stride: 1, openBegin: true} }

// Span takes x[begin:end] along an axis; negative ones count from the end.
func Span(begin, end int) Index { return Index{begin: begin, end: end, stride: 1} }

// Whole takes x[:] along an axis.
func Whole() Index { return Index{stride: 1, openBegin: true, openEnd: true} }

// NewAxis puts an axis of size 1 there.
func NewAxis() Index { return Index{stride: 1, newAxis: true} }

// Ellipsis returns the index of all axes that the other terms don't name.
func Ellipsis() Index { return Index{stride: 1, ellipse: true} }

// Step takes every n-th position of the span; a negative n runs backwards.
func (i Index) Step(n int) Index {
	i.stride = n
	return i
}

// StridedSlice indexes x as Python indexes arrays, one term for an axis:
//
//	ops.StridedSlice(s, x, ops.Whole(), ops.Span(1, -1), ops.At(0)) // x[:, 1:-1, 0]
func StridedSlice(s *Scope, x Input, terms ...Index) *Value {
	if !s.alive() {
		return s.failed()
	}
	var room [3][8]int
	begin, end, stride := room[0][:0], room[1][:0], room[2][:0]
	var masks masks
	set := func(mask, i int, on bool) {
		if on {
			masks[mask] |= 1 << i
		}
	}
	for i := range terms {
		t := &terms[i]
		to := t.end
		if t.shrink && t.begin == -1 {
			to = 0 // one past -1; the mask makes it "the end"
		}
		begin, end, stride = append(begin, t.begin), append(end, to), append(stride, t.stride)
		set(0, i, t.openBegin)
		set(1, i, t.openEnd)
		set(2, i, t.ellipse)
		set(3, i, t.newAxis)
		set(4, i, t.shrink)
	}
	return s.Emit1("StridedSlice", s.step.strided(masks), x, s.vec32(begin...), s.vec32(end...), s.vec32(stride...))
}

// Gather picks the slices of x at the indices along an axis; the default axis
// is 0. An index out of range is an error.
func Gather(s *Scope, x, indices Input, axis ...int) *Value {
	a := 0
	if len(axis) > 0 {
		a = axis[0]
	}
	return s.Emit1("GatherV2", nil, x, Const(s, indices), s.scalar32(a))
}

// GatherND picks the slices of x at the index vectors in the last dimension of
// indices.
func GatherND(s *Scope, x, indices Input) *Value {
	return s.Emit1("GatherNd", nil, x, Const(s, indices))
}

// ScatterND makes a tensor of the given shape with updates added at the index
// vectors, and zero elsewhere.
func ScatterND(s *Scope, indices, updates Input, dims ...int) *Value {
	return s.Emit1("ScatterNd", nil, Const(s, indices), updates, s.vec32(dims...))
}

// UnsortedSegmentSum returns n rows: row i is the sum of the rows of x whose id
// is i. Negative ids are left out.
func UnsortedSegmentSum(s *Scope, x, ids Input, n int) *Value {
	return s.Emit1("UnsortedSegmentSum", nil, x, Const(s, ids), s.scalar32(n))
}

// Unique returns the elements of a vector, each once and in the order of their
// first occurrences. The second result is the place of each element among them,
// an int32.
func Unique(s *Scope, x Input) (values, places *Value) {
	out := s.EmitN(2, "Unique", nil, x)
	return out[0], out[1]
}

// OneHotOptions are the options of [OneHot].
type OneHotOptions struct {
	// On and Off are the two values. The defaults, nil, are 1 and 0; for bool, true and
	// false.
	On, Off Input
	// Axis is the new dimension's place among those of the result; -1 is the last
	// one. The default, nil, is that.
	Axis *int
}

// OneHot turns each index into a vector of the given depth that is On at the
// index and Off elsewhere; an index out of range means Off everywhere. d is the
// result's type.
func OneHot(s *Scope, indices Input, depth int, d tensor.DType, o ...*OneHotOptions) *Value {
	return s.oneHot(indices, s.scalar32(depth), d, o)
}

func (s *Scope) oneHot(indices Input, depth *Value, d tensor.DType, o []*OneHotOptions) *Value {
	var on, off Input = 1, 0
	if d == tensor.Bool {
		on, off = true, false
	}
	axis := -1
	for _, o := range o {
		if o == nil {
			continue
		}
		if o.On != nil {
			on = o.On
		}
		if o.Off != nil {
			off = o.Off
		}
		if o.Axis != nil {
			axis = *o.Axis
		}
	}
	return s.Emit1("OneHot", graph.Attrs{graph.Int("axis", int64(axis))},
		Const(s, indices), depth, s.cast(on, d), s.cast(off, d))
}

// cast returns a Go number as a constant of type d, and any other input unchanged.
func (s *Scope) cast(x Input, d tensor.DType) Input {
	if _, weak, err := s.peek(x); weak && err == nil {
		return ConstOf(s, d, x)
	}
	return x
}

// Tile repeats x the given number of times along each axis.
func Tile(s *Scope, x Input, multiples ...int) *Value {
	return s.Emit1("Tile", nil, x, s.vec32(multiples...))
}

// BroadcastTo stretches x to the given shape.
func BroadcastTo(s *Scope, x Input, dims ...int) *Value {
	return s.Emit1("BroadcastTo", nil, x, s.vec32(dims...))
}

func (s *Scope) paddings(paddings [][2]int) *Value {
	v := make([]int32, 0, 2*len(paddings))
	for _, p := range paddings {
		v = append(v, int32(p[0]), int32(p[1]))
	}
	t, err := tensor.New(v, len(paddings), 2)
	if err != nil {
		return s.Fail("Pad", err)
	}
	return s.sizes(t)
}

// Pad puts zeros around x: paddings[i] are the numbers before and after axis i.
func Pad(s *Scope, x Input, paddings ...[2]int) *Value {
	return s.Emit1("Pad", nil, x, s.paddings(paddings))
}

// PadWith pads x as [Pad], with another value than zero.
func PadWith(s *Scope, x, value Input, paddings ...[2]int) *Value {
	return s.Emit1("PadV2", nil, x, s.paddings(paddings), s.cast(value, s.typeOf(x)))
}

// MirrorMode is the position of the mirror of [MirrorPad].
type MirrorMode string

// The modes, by TensorFlow's names: the elements at the border aren't repeated, or
// are.
const (
	Reflect   MirrorMode = "REFLECT"   // 1 2 3 becomes 3 2 1 2 3 2 1
	Symmetric MirrorMode = "SYMMETRIC" // 1 2 3 becomes 2 1 1 2 3 3 2
)

// MirrorPad puts x's own elements around it, mirrored at the border: paddings[i]
// are the numbers before and after axis i.
func MirrorPad(s *Scope, x Input, mode MirrorMode, paddings ...[2]int) *Value {
	return s.Emit1("MirrorPad", graph.Attrs{graph.String("mode", string(mode))}, x, s.paddings(paddings))
}

// Reverse turns x around along the axes.
func Reverse(s *Scope, x Input, axes ...int) *Value {
	return s.Emit1("ReverseV2", nil, x, s.vec32(axes...))
}

// Range returns start, start+delta, … up to but not including limit.
func Range(s *Scope, start, limit, delta Input) *Value {
	return s.Emit1("Range", nil, start, limit, delta)
}

// LinSpace returns n evenly spaced values from start to stop, both included.
func LinSpace(s *Scope, start, stop Input, n int) *Value {
	return s.Emit1("LinSpace", nil, start, stop, s.sizes(tensor.Scalar(int32(n))))
}

// Fill returns a tensor of the given shape that holds x everywhere.
func Fill(s *Scope, x Input, dims ...int) *Value {
	return s.Emit1("Fill", nil, s.vec32(dims...), Const(s, x))
}

// Zeros returns a tensor of zeros.
func Zeros(s *Scope, d tensor.DType, dims ...int) *Value {
	if !s.alive() {
		return s.failed()
	}
	if n, err := tensor.Shape(dims).NumElements(); err == nil && n > maxConst && s.IsTracing() {
		// A function has the size of many zeros, not the zeros: as a constant they
		// would be a capture.
		return s.Emit1("Fill", nil, s.vec32(dims...), s.newValue(tensor.Must(tensor.Zeros(d))))
	}
	t, err := tensor.Zeros(d, dims...)
	if err != nil {
		return s.Fail("Zeros", err)
	}
	return s.newValue(t)
}

// Ones returns a tensor of ones.
func Ones(s *Scope, d tensor.DType, dims ...int) *Value {
	var one Input = true
	if d != tensor.Bool {
		one = s.cast(1, d)
	}
	return s.Emit1("Fill", nil, s.vec32(dims...), one)
}

// ZerosLike returns zeros of x's type and shape.
func ZerosLike(s *Scope, x Input) *Value { return s.Emit1("ZerosLike", nil, x) }

// OnesLike returns ones of x's type and shape.
func OnesLike(s *Scope, x Input) *Value { return s.Emit1("OnesLike", nil, x) }

// Eye returns the identity matrix of n rows.
func Eye(s *Scope, d tensor.DType, n int) *Value {
	return Diag(s, Ones(s, d, n))
}

// Diag returns the square matrix with x, a vector, on its diagonal; for a batch
// of vectors, a batch of matrices.
func Diag(s *Scope, x Input) *Value { return s.Emit1("MatrixDiag", nil, x) }

// DiagPart returns the diagonal of a matrix or of a batch of matrices.
func DiagPart(s *Scope, x Input) *Value { return s.Emit1("MatrixDiagPart", nil, x) }

// BandPart keeps lower sub-diagonals and upper super-diagonals of matrices and
// sets the rest to zero; -1 keeps all on that side.
func BandPart(s *Scope, x Input, lower, upper int) *Value {
	return s.Emit1("MatrixBandPart", nil, x, s.scalar32(lower), s.scalar32(upper))
}

// TopK returns the k largest elements along the last axis, in falling order,
// and their indices as int32.
func TopK(s *Scope, x Input, k int) (values, indices *Value) {
	return s.topK(x, s.scalar32(k))
}

func (s *Scope) topK(x Input, k *Value) (values, indices *Value) {
	out := s.EmitN(2, "TopKV2", nil, x, k)
	return out[0], out[1]
}

// Sort puts x in rising order along the last axis. Equal elements keep their order, and
// so do their gradients.
func Sort(s *Scope, x Input) *Value {
	x = Const(s, x)
	if shape := s.shapeOf(x); shape.HasRank() && shape.Rank() == 0 {
		return s.Fail("Sort", errors.New("needs an input of at least one dimension"))
	}
	// TensorFlow sorts in the same way: it takes the largest elements of the negated x.
	turned := func(x Input) *Value { return Neg(s, x) }
	switch d := s.typeOf(x); d {
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		most := ConstOf(s, d, uint64(1)<<(8*d.Size()-1)*2-1)
		turned = func(x Input) *Value { return Sub(s, most, x) }
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64: // the smallest has no negative
		turned = func(x Input) *Value { return Sub(s, Neg(s, x), 1) }
	}
	values, _ := s.topK(turned(x), s.dim(x, -1))
	return turned(values)
}

// Identity returns x.
func Identity(s *Scope, x Input) *Value { return s.Emit1("Identity", nil, x) }

// StopGradient returns x as a value through which no gradient flows back.
func StopGradient(s *Scope, x Input) *Value { return s.Emit1("StopGradient", nil, x) }

// EnsureShape returns x and fails unless x has the given shape; -1 accepts any
// size.
func EnsureShape(s *Scope, x Input, dims ...int) *Value {
	return s.Emit1("EnsureShape", graph.Attrs{graph.Shape("shape", graph.Whole(tensor.Shape(dims).Clone()))}, x)
}

// InvertPermutation returns the permutation that undoes x.
func InvertPermutation(s *Scope, x Input) *Value { return s.Emit1("InvertPermutation", nil, x) }

// WhereIndices returns the index vectors of the elements that aren't zero (or
// are true), as an int64 matrix in row-major order.
func WhereIndices(s *Scope, x Input) *Value { return s.Emit1("Where", nil, x) }
