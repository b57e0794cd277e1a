package grad

import (
	"github.com/cairnml/cairn/ops"
)

// The rules of TridiagonalMatMul and TridiagonalSolve, over batches of matrices [..., rows, cols].

// shifted returns matrices whose rows are moved one up, or down: the new row is
// zero.
func shifted(s *ops.Scope, x *ops.Value, up bool) *ops.Value {
	row := ops.ExpandDims(s, ops.StridedSlice(s, ops.ZerosLike(s, x), ops.Ellipsis(), ops.At(0)), -2)
	return shiftedBy(s, x, row, up)
}

// shiftedBy does the work of shifted. row has the shape of one of x's rows, and is
// zero.
func shiftedBy(s *ops.Scope, x, row *ops.Value, up bool) *ops.Value {
	ones := ops.OnesLike(s, row)
	if up {
		return s.Emit1("TridiagonalMatMul", nil, ones, row, row, x)
	}
	return s.Emit1("TridiagonalMatMul", nil, row, row, ones, x)
}

// sumLast returns the sums along the last axis.
func sumLast(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Sum(s, x, -1) }

func gradTridiagonalMatMul(s *ops.Scope, op *Op) {
	dy, x := op.Grad(0), conj(s, op.In(3))
	diagonal := func(x *ops.Value) *ops.Value {
		return ops.ExpandDims(s, sumLast(s, ops.Mul(s, x, dy)), -2)
	}
	if op.Needs(0) {
		op.Give(0, diagonal(shifted(s, x, true)))
	}
	if op.Needs(1) {
		op.Give(1, diagonal(x))
	}
	if op.Needs(2) {
		op.Give(2, diagonal(shifted(s, x, false)))
	}
	if op.Needs(3) {
		by := func(i int) *ops.Value { return ops.Mul(s, transposed(s, op.In(i)), dy) }
		op.Give(3, ops.Add(s, ops.Add(s, shifted(s, by(0), false), by(1)), shifted(s, by(2), true)))
	}
}

func gradTridiagonalSolve(s *ops.Scope, op *Op) {
	d := conj(s, op.In(0))
	row := func(i int) *ops.Value { return ops.StridedSlice(s, d, ops.Ellipsis(), ops.At(i), ops.Whole()) }
	moved := func(i int, up bool) *ops.Value {
		return ops.Squeeze(s, shifted(s, ops.ExpandDims(s, row(i), -1), up), -1)
	}
	adjoint := ops.Stack(s, []*ops.Value{moved(2, true), row(1), moved(0, false)}, -2)
	dx := s.Emit1("TridiagonalSolve", op.Attrs(), adjoint, op.Grad(0))
	if op.Needs(1) {
		op.Give(1, dx)
	}
	if op.Needs(0) {
		y := conj(s, op.Out(0))
		part := func(y *ops.Value) *ops.Value { return sumLast(s, ops.Mul(s, dx, y)) }
		op.Give(0, ops.Neg(s, ops.Stack(s, []*ops.Value{part(shifted(s, y, true)), part(y), part(shifted(s, y, false))}, -2)))
	}
}
