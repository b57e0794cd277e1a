package grad

import (
	"errors"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// The gradient rules of Cholesky, Qr, SelfAdjointEigV2 and Svd, for matrices in the
// last two dimensions. They compute what linalg_grad.py computes.

// gradCholesky returns a self-adjoint gradient, as TensorFlow does, although the op
// reads the lower triangle only.
func gradCholesky(s *ops.Scope, op *Op) {
	l := op.Out(0)
	eye := ops.Diag(s, ops.OnesLike(s, ops.DiagPart(s, l)))
	inverse := s.Emit1("MatrixTriangularSolve", graph.Attrs{graph.Bool("lower", true)}, l, eye)
	middle := halfDiagonal(s, ops.BandPart(s, multiply(s, l, op.Grad(0), true, false), -1, 0))
	g := multiply(s, multiply(s, inverse, middle, true, false), inverse, false, false)
	op.Give(0, ops.Mul(s, ops.Add(s, g, transposed(s, g)), 0.5))
}

// halfDiagonal returns matrices with half of the diagonals' elements.
func halfDiagonal(s *ops.Scope, m *ops.Value) *ops.Value {
	return ops.Sub(s, m, ops.Mul(s, diagonalOf(s, m), 0.5))
}

// gradQR has no gradient of a full decomposition of matrices higher than wide,
// where the columns of q beyond the width of the matrix are arbitrary. A wider
// matrix is [x y] with x square: q depends on x alone, and the right part of r is
// q* y. So the gradient is that of x and of y.
func gradQR(s *ops.Scope, op *Op) {
	q, r := op.Out(0), op.Out(1)
	if d, ok := known(r); ok && d[len(d)-2] > d[len(d)-1] {
		s.Fail("Qr", errors.New("there is no gradient of full matrices that are higher than wide, as in TensorFlow: leave full_matrices out"))
		return
	}
	dq, dr := op.GradOrZero(0), op.GradOrZero(1)
	n := ops.StridedSlice(s, sizesOf(s, r), ops.At(-2))
	right := func(x *ops.Value) *ops.Value { return columnsFrom(s, x, n) }
	left := func(x *ops.Value) *ops.Value { return columnsTo(s, x, n) }
	y, dv := right(op.In(0)), right(dr)
	dx := gradThinQR(s, q, left(r), ops.Add(s, dq, multiply(s, y, dv, false, true)), left(dr))
	op.Give(0, ops.Concat(s, []*ops.Value{dx, multiply(s, q, dv, false, false)}, -1))
}

// columnsFrom returns the matrices' columns from n on.
func columnsFrom(s *ops.Scope, x, n *ops.Value) *ops.Value {
	attrs := graph.Attrs{graph.Int("ellipsis_mask", 1), graph.Int("end_mask", 2)}
	return s.Emit1("StridedSlice", attrs, x, ops.Stack(s, []ops.Input{int32(0), n}), []int32{0, 0}, []int32{1, 1})
}

// columnsTo returns the matrices' columns before n.
func columnsTo(s *ops.Scope, x, n *ops.Value) *ops.Value {
	attrs := graph.Attrs{graph.Int("ellipsis_mask", 1), graph.Int("begin_mask", 2)}
	return s.Emit1("StridedSlice", attrs, x, []int32{0, 0}, ops.Stack(s, []ops.Input{int32(0), n}), []int32{1, 1})
}

// gradThinQR returns the gradient of matrices that are no wider than high.
func gradThinQR(s *ops.Scope, q, r, dq, dr *ops.Value) *ops.Value {
	over := func(x *ops.Value) *ops.Value { // x (r*)^-1
		return transposed(s, s.Emit1("MatrixTriangularSolve", graph.Attrs{graph.Bool("lower", false)}, r, transposed(s, x)))
	}
	skew := func(x *ops.Value) *ops.Value { return ops.Sub(s, x, transposed(s, x)) }
	qdq, rdr := multiply(s, q, dq, true, false), multiply(s, r, dr, false, true)
	lower := ops.BandPart(s, ops.Add(s, skew(qdq), skew(rdr)), -1, 0)
	g := ops.Add(s, multiply(s, q, ops.Add(s, dr, over(lower)), false, false), over(ops.Sub(s, dq, multiply(s, q, qdq, false, false))))
	if q.DType().IsComplex() { // the diagonal of r is real
		m := diagonalOf(s, ops.Sub(s, rdr, transposed(s, qdq)))
		imaginary := ops.Mul(s, ops.Sub(s, m, ops.Conj(s, m)), 0.5)
		g = ops.Add(s, g, over(multiply(s, q, transposed(s, imaginary), false, false)))
	}
	return g
}

// gaps returns, for each two elements of the vectors x, the reciprocal of the
// second minus the first, and 0 for those that are equal.
func gaps(s *ops.Scope, x *ops.Value) *ops.Value {
	return safeReciprocal(s, ops.Sub(s, ops.ExpandDims(s, x, -2), ops.ExpandDims(s, x, -1)))
}

// safeReciprocal returns x/(x²+1e-20), TensorFlow's reciprocal that is 0 for 0.
func safeReciprocal(s *ops.Scope, x *ops.Value) *ops.Value {
	return ops.Div(s, x, ops.Add(s, ops.Square(s, x), 1e-20))
}

// gradSelfAdjointEig computes the gradient by the lower triangle, which the op
// reads.
func gradSelfAdjointEig(s *ops.Scope, op *Op) {
	e, v := op.Out(0), op.Out(1)
	middle := ops.Diag(s, op.GradOrZero(0))
	if !computes(op, "compute_v") {
		v = s.EmitN(2, "SelfAdjointEigV2", graph.Attrs{graph.Bool("compute_v", true)}, op.In(0))[1]
	} else if dv := op.Grad(1); dv != nil {
		middle = ops.Add(s, middle, ops.Mul(s, gaps(s, e), multiply(s, v, dv, true, false)))
	}
	g := multiply(s, v, multiply(s, middle, v, false, true), false, false)
	op.Give(0, halfDiagonal(s, ops.BandPart(s, ops.Add(s, g, transposed(s, g)), -1, 0)))
}

// computes reports whether an attribute whose default is true is set.
func computes(op *Op, attr string) bool { return !op.Attrs().Has(attr) || op.Attrs().Bool(attr) }

// gradSVD differentiates the thin decomposition: the first singular vectors, as
// many as there are values. Of a full one, the gradients of the other vectors
// contribute by the part that is orthogonal to the first ones. TensorFlow has no
// gradient of a full decomposition if height and width differ by more than 1.
func gradSVD(s *ops.Scope, op *Op) {
	a, values := op.In(0), op.Out(0)
	ds := op.GradOrZero(0)
	if ds.DType().IsComplex() { // the values are real
		re := realOf(s, ds)
		ds = complexOf(s, re, ops.ZerosLike(s, re))
	}
	middle := ops.Diag(s, ds)
	if !computes(op, "compute_uv") {
		out := s.EmitN(3, "Svd", graph.Attrs{graph.Bool("compute_uv", true)}, a)
		op.Give(0, multiply(s, out[1], multiply(s, middle, out[2], false, true), false, false))
		return
	}
	u, v := op.Out(1), op.Out(2)
	n := lastSize(s, values)
	first := func(x *ops.Value) *ops.Value { return columnsTo(s, x, n) }
	u1, v1, du, dv := first(u), first(v), op.Grad(1), op.Grad(2)
	row := ops.ExpandDims(s, values, -2)
	column := ops.ExpandDims(s, values, -1)
	f := gaps(s, ops.Square(s, values))
	inverse := safeReciprocal(s, values)
	both := func(x *ops.Value) *ops.Value { return ops.Add(s, x, transposed(s, x)) }
	if du != nil {
		middle = ops.Add(s, middle, ops.Mul(s, both(ops.Mul(s, f, multiply(s, u1, first(du), true, false))), row))
	}
	if dv != nil {
		turned := multiply(s, v1, first(dv), true, false)
		middle = ops.Add(s, middle, ops.Mul(s, column, both(ops.Mul(s, f, turned))))
		if a.DType().IsComplex() { // phases, which both vectors of a value share
			l := diagonalOf(s, turned)
			phase := ops.Mul(s, ops.Sub(s, ops.Conj(s, l), l), 0.5)
			middle = ops.Add(s, middle, ops.Mul(s, ops.ExpandDims(s, inverse, -1), phase))
		}
	}
	g := multiply(s, u1, multiply(s, middle, v1, false, true), false, false)
	// across returns the part of the vectors' gradient that is orthogonal to all
	// first ones.
	across := func(w, w1, dw *ops.Value) *ops.Value {
		d := first(dw)
		g := ops.Sub(s, d, multiply(s, w1, multiply(s, w1, d, true, false), false, false))
		if op.Attrs().Bool("full_matrices") {
			rest, drest := columnsFrom(s, w, n), columnsFrom(s, dw, n)
			g = ops.Sub(s, g, multiply(s, rest, multiply(s, drest, w1, true, false), false, false))
		}
		return ops.Mul(s, g, ops.ExpandDims(s, inverse, -2))
	}
	if du != nil {
		g = ops.Add(s, g, multiply(s, across(u, u1, du), v1, false, true))
	}
	if dv != nil {
		g = ops.Add(s, g, multiply(s, u1, across(v, v1, dv), false, true))
	}
	op.Give(0, g)
}
