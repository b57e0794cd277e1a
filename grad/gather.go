package grad

import (
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The rule of GatherV2, and pickSegments, which the rules of reductions over segments share (segment.go,
// sparse.go). TensorFlow's rule is _GatherV2Grad in array_grad.py.

// gradGather adds up the rows of the gradient at the rows that they came from.
// Along the first axis they are slices of the gradient, which need no addition.
func gradGather(s *ops.Scope, op *Op) {
	x, indices, dy := op.In(0), op.In(1), op.Grad(0)
	axes, ok := ints(op.In(2))
	if ok && axes[0] == 0 && op.Attrs().Int("batch_dims", 0) == 0 && rankOf(x) != 0 {
		op.Give(0, slicesOf(s, dy, indices, sizesOf(s, x)))
		return
	}
	if !ok || op.Attrs().Int("batch_dims", 0) != 0 || !allKnown(x, indices, dy) {
		op.Give(0, gatherGrouped(s, op))
		return
	}
	shape, is, axis := x.Shape(), indices.Shape(), axes[0]
	if axis < 0 {
		axis += len(shape)
	}
	// dy is [outer…, indices…, inner…]: the indices go first, then the rows are
	// summed by index, then the axis goes back.
	k := len(is)
	perm := make([]int, 0, len(dy.Shape()))
	for i := range k {
		perm = append(perm, axis+i)
	}
	for i := range dy.Shape() {
		if i < axis || i >= axis+k {
			perm = append(perm, i)
		}
	}
	if axis > 0 {
		dy = ops.Transpose(s, dy, perm...)
	}
	dx := ops.UnsortedSegmentSum(s, dy, indices, shape[axis])
	if axis > 0 {
		back := make([]int, len(shape))
		for i := range back {
			switch {
			case i < axis:
				back[i] = i + 1
			case i == axis:
				back[i] = 0
			default:
				back[i] = i
			}
		}
		dx = ops.Transpose(s, dx, back...)
	}
	op.Give(0, dx)
}

// gatherGrouped returns the gradient of a gather of any shapes. It groups the
// dimensions: x becomes [batch, outer, n, inner], dy [batch, outer, k, inner]. It
// moves the indices of each batch to a separate range.
func gatherGrouped(s *ops.Scope, op *Op) *ops.Value {
	x, indices, dy := op.In(0), op.In(1), op.Grad(0)
	sizes := sizesOf(s, x)
	axis := axisOf(s, op.In(2), x)
	batches := ops.Const(s, int32(op.Attrs().Int("batch_dims", 0)))
	if op.Attrs().Int("batch_dims", 0) < 0 {
		batches = ops.Add(s, batches, rankValue(s, indices))
	}
	part := func(from, to *ops.Value) *ops.Value { // the product of x's sizes between two dimensions
		return productOf(s, s.Emit1("Slice", nil, sizes, vector(s, from), vector(s, ops.Sub(s, to, from))))
	}
	zero, one := ops.Const(s, int32(0)), int32(1)
	batch, outer := part(zero, batches), part(batches, axis)
	n := sizeAt(s, x, axis)
	inner := part(ops.Add(s, axis, one), rankValue(s, x))
	indexSizes := sizesOf(s, indices)
	k := productOf(s, s.Emit1("Slice", nil, indexSizes, vector(s, batches), vector(s, ops.Sub(s, rankValue(s, indices), batches))))

	rows := ops.Transpose(s, s.Emit1("Reshape", nil, dy, ops.Stack(s, []*ops.Value{batch, outer, k, inner})), 0, 2, 1, 3)
	rows = s.Emit1("Reshape", nil, rows, ops.Stack(s, []*ops.Value{ops.Mul(s, batch, k), outer, inner}))
	d := indices.DType()
	first := ops.Mul(s, upTo(s, batch), n)
	if d != tensor.Int32 {
		first = ops.Cast(s, first, d)
	}
	ids := ops.Add(s, s.Emit1("Reshape", nil, indices, ops.Stack(s, []*ops.Value{batch, k})), ops.ExpandDims(s, first, -1))
	sum := s.Emit1("UnsortedSegmentSum", nil, rows, ops.Reshape(s, ids, -1), ops.Mul(s, batch, n))
	sum = s.Emit1("Reshape", nil, sum, ops.Stack(s, []*ops.Value{batch, n, outer, inner}))
	return reshapeLike(s, ops.Transpose(s, sum, 0, 2, 1, 3), x)
}

// pickSegments returns the gradient of each row's segment, and zeros for rows
// that were left out.
func pickSegments(s *ops.Scope, dy, ids *ops.Value) *ops.Value {
	zero := ops.ZerosLike(s, ids)
	dx := ops.Gather(s, dy, ops.Maximum(s, ids, zero))
	kept := ops.GreaterEqual(s, ids, zero)
	if s.Err() != nil {
		return nil
	}
	if shape, ok := known(kept); ok && rankOf(dx) >= 0 {
		dims := shape.Clone()
		for len(dims) < rankOf(dx) {
			dims = append(dims, 1)
		}
		kept = ops.Reshape(s, kept, dims...)
	} else {
		ones := onesVector(s, ops.Sub(s, rankValue(s, dx), rankValue(s, kept)))
		kept = s.Emit1("Reshape", nil, kept, joinVectors(s, sizesOf(s, kept), ones))
	}
	return ops.Where(s, kept, dx, ops.ZerosLike(s, dx))
}
