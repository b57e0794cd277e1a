package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The rules of ops that move elements: Slice, Concat, ConcatV2, Tile, Pad, MatrixDiagPart, TopK and others.
// Outputs that are indices have no gradient.

func gradSlice(s *ops.Scope, op *Op) {
	x, dy := op.In(0), op.Grad(0)
	begin, ok := ints(op.In(1))
	if !ok || !allKnown(x, dy) {
		op.Give(0, padTo(s, dy, op.In(1), x))
		return
	}
	in, out := x.Shape(), dy.Shape()
	pads := make([][2]int, len(in))
	for i := range in {
		pads[i] = [2]int{begin[i], in[i] - begin[i] - out[i]}
	}
	op.Give(0, ops.Pad(s, dy, pads...))
}

func gradConcat(s *ops.Scope, op *Op) {
	n, axisAt, first := concatInputs(op)
	axes, ok := ints(op.In(axisAt))
	for i := range n {
		ok = ok && allKnown(op.In(first+i))
	}
	if !ok {
		splitConcat(s, op)
		return
	}
	axis := axes[0]
	if axis < 0 {
		axis += len(op.In(first).Shape())
	}
	begin := make([]int, len(op.In(first).Shape()))
	for i := range n {
		size := op.In(first + i).Shape()
		if op.Needs(first + i) {
			op.Give(first+i, ops.SliceOf(s, op.Grad(0), begin, size))
		}
		begin[axis] += size[axis]
	}
}

// splitConcat cuts the gradient at sizes that are values.
func splitConcat(s *ops.Scope, op *Op) {
	n, axisAt, first := concatInputs(op)
	axis := axisOf(s, op.In(axisAt), op.In(first))
	sizes := make([]*ops.Value, n)
	for i := range n {
		sizes[i] = sizeAt(s, op.In(first+i), axis)
	}
	parts := s.EmitN(n, "SplitV", graph.Attrs{graph.Int("num_split", int64(n))}, op.Grad(0), ops.Stack(s, sizes), axis)
	for i, part := range parts {
		op.Give(first+i, part)
	}
}

// concatInputs returns how many tensors an op joins, and which inputs are the
// axis and the first of them.
func concatInputs(op *Op) (n, axis, first int) {
	n = op.NumIn() - 1
	if op.Name() == "Concat" {
		return n, 0, 1
	}
	return n, n, 0
}

// axisOf returns an axis of x, which may be negative, as an int32 that isn't.
func axisOf(s *ops.Scope, axis, x *ops.Value) *ops.Value {
	if a, ok := ints(axis); ok && len(a) == 1 && (a[0] >= 0 || rankOf(x) >= 0) {
		if a[0] < 0 {
			a[0] += rankOf(x)
		}
		return ops.Const(s, int32(a[0]))
	}
	if axis.DType() != tensor.Int32 {
		axis = ops.Cast(s, axis, tensor.Int32)
	}
	return ops.Mod(s, axis, rankValue(s, x))
}

func gradTile(s *ops.Scope, op *Op) {
	x := op.In(0)
	times, ok := ints(op.In(1))
	if rankOf(x) == 0 {
		op.Give(0, op.Grad(0))
		return
	}
	if !ok || !allKnown(x) {
		d := op.In(1).DType()
		both := ops.Stack(s, []ops.Input{op.In(1), shapeAs(s, x, d)}, 1)
		axes := ops.Range(s, int32(0), ops.Mul(s, rankValue(s, x), int32(2)), int32(2))
		sum := s.Emit1("Sum", nil, s.Emit1("Reshape", nil, op.Grad(0), ops.Reshape(s, both, -1)), axes)
		op.Give(0, reshapeLike(s, sum, x))
		return
	}
	shape := x.Shape()
	split, axes := make([]int, 0, 2*len(shape)), make([]int, 0, len(shape))
	for i := range shape {
		axes = append(axes, len(split))
		split = append(split, times[i], shape[i])
	}
	op.Give(0, ops.Sum(s, ops.Reshape(s, op.Grad(0), split...), axes...))
}

func gradPad(s *ops.Scope, op *Op) {
	if !op.Needs(0) {
		return
	}
	x := op.In(0)
	pads, ok := ints(op.In(1))
	if !ok || !allKnown(x) {
		begin := ops.StridedSlice(s, op.In(1), ops.Whole(), ops.At(0))
		op.Give(0, s.Emit1("Slice", nil, op.Grad(0), begin, shapeAs(s, x, begin.DType())))
		return
	}
	begin := make([]int, len(pads)/2)
	for i := range begin {
		begin[i] = pads[2*i]
	}
	op.Give(0, ops.SliceOf(s, op.Grad(0), begin, x.Shape()))
}

func gradDiagPart(s *ops.Scope, op *Op) {
	x := op.In(0)
	d := ops.Diag(s, op.Grad(0))
	if s.Err() != nil {
		return
	}
	if !allKnown(x, d) {
		if !alike(x, d) {
			d = padTo(s, d, ops.ZerosLike(s, sizesOf(s, x)), x)
		}
		op.Give(0, d)
		return
	}
	shape := x.Shape()
	rows, cols := shape[len(shape)-2], shape[len(shape)-1]
	if n := min(rows, cols); rows != cols {
		pads := make([][2]int, len(shape))
		pads[len(shape)-2][1], pads[len(shape)-1][1] = rows-n, cols-n
		d = ops.Pad(s, d, pads...)
	}
	op.Give(0, d)
}

func gradTopK(s *ops.Scope, op *Op) {
	dy := op.Grad(0)
	if dy == nil {
		return
	}
	at := op.Out(1)
	if at.DType() == tensor.Int16 { // which OneHot doesn't take
		at = ops.Cast(s, at, tensor.Int32)
	}
	hot := oneHot(s, at, lastSize(s, op.In(0)), dy.DType()) // […, k, n]
	op.Give(0, reshapeLike(s, ops.Sum(s, ops.Mul(s, ops.ExpandDims(s, dy, -1), hot), -2), op.In(0)))
}

// oneHot returns the same as ops.OneHot, with a depth that is a value.
func oneHot(s *ops.Scope, indices ops.Input, depth *ops.Value, d tensor.DType) *ops.Value {
	return s.Emit1("OneHot", nil, indices, depth, ops.ConstOf(s, d, 1), ops.ConstOf(s, d, 0))
}
