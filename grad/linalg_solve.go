package grad

import (
	"errors"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The rules of BandedTriangularSolve, Eig, MatrixSolveLs and MatrixSquareRoot, over batches of matrices [...,
// rows, cols].

// gradBandedSolve solves with the adjoint triangles, and keeps the diagonals that
// the op reads.
func gradBandedSolve(s *ops.Scope, op *Op) {
	adjoint, lower := op.Attrs().Bool("adjoint"), isLower(op)
	x := op.Out(0)
	db := s.Emit1("BandedTriangularSolve", graph.Attrs{graph.Bool("adjoint", !adjoint), graph.Bool("lower", lower)}, op.In(0), op.Grad(0))
	giveAt(s, op, 0, func() *ops.Value {
		g := multiply(s, db, x, false, true)
		if adjoint {
			g = multiply(s, x, db, false, true)
		}
		bands := ops.StridedSlice(s, sizesOf(s, op.In(0)), ops.From(-2))
		outer := ops.StridedSlice(s, sizesOf(s, g), ops.To(-2))
		beside := ops.Sub(s, ops.StridedSlice(s, bands, ops.At(0)), int32(1))
		k := ops.Stack(s, []ops.Input{int32(0), beside})
		if lower {
			k = ops.Stack(s, []ops.Input{ops.Neg(s, beside), int32(0)})
		}
		align := graph.Attrs{graph.String("align", "LEFT_RIGHT")}
		diagonals := s.Emit1("MatrixDiagPartV3", align, ops.Neg(s, g), k, ops.ConstOf(s, g.DType(), 0))
		return ops.ReshapeTo(s, diagonals, joinVectors(s, outer, bands)) // a single one comes as a vector
	})
	giveAt(s, op, 1, func() *ops.Value { return db })
}

// gradEig computes the gradient for eigenvalues that differ, as TensorFlow does.
// Where two are equal, it isn't the derivative.
func gradEig(s *ops.Scope, op *Op) {
	e := op.Out(0)
	middle := ops.Diag(s, op.GradOrZero(0))
	var v *ops.Value
	if computes(op, "compute_v") {
		v = op.Out(1)
		if dv := op.Grad(1); dv != nil {
			f := ops.Conj(s, gaps(s, e))
			turned := multiply(s, v, dv, true, false)
			re := realOf(s, ops.DiagPart(s, turned))
			lengths := multiply(s, multiply(s, v, v, true, false), ops.Diag(s, complexOf(s, re, ops.ZerosLike(s, re))), false, false)
			middle = ops.Add(s, middle, ops.Mul(s, f, ops.Sub(s, turned, lengths)))
		}
	} else {
		v = s.EmitN(2, "Eig", graph.Attrs{graph.Bool("compute_v", true), graph.Type("Tout", e.DType())}, op.In(0))[1]
	}
	adjoint := transposed(s, v)
	g := s.Emit1("MatrixSolve", nil, adjoint, multiply(s, middle, adjoint, false, false))
	if d := op.In(0).DType(); !d.IsComplex() {
		g = ops.Cast(s, realOf(s, g), d)
	}
	op.Give(0, g)
}

// gradSolveLs differentiates the solution of the normal equations. If the matrices a
// are no wider than high, it is inverse(a* a + c) a* b, otherwise a* inverse(a a* + c) b.
// c is the identity times the regularizer, input 2.
func gradSolveLs(s *ops.Scope, op *Op) {
	if !computes(op, "fast") {
		s.Fail("MatrixSolveLs", errors.New("there is no gradient where fast is false, as in TensorFlow"))
		return
	}
	d := op.In(0).DType()
	byFormula(s, op, 2, func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		gram := func(s *ops.Scope, x, y bool) *ops.Value {
			g := multiply(s, in[0], in[0], x, y)
			small := ops.Cast(s, op.In(2), d)
			return ops.Add(s, g, ops.Mul(s, small, ops.Diag(s, ops.OnesLike(s, ops.DiagPart(s, g)))))
		}
		high := func(s *ops.Scope) *ops.Value {
			return s.Emit1("MatrixSolve", nil, gram(s, true, false), multiply(s, in[0], in[1], true, false))
		}
		wide := func(s *ops.Scope) *ops.Value {
			return multiply(s, in[0], s.Emit1("MatrixSolve", nil, gram(s, false, true), in[1]), true, false)
		}
		if shape, ok := known(in[0]); ok {
			if shape[len(shape)-2] >= shape[len(shape)-1] {
				return []*ops.Value{high(s)}
			}
			return []*ops.Value{wide(s)}
		}
		shape := ops.Shape(s, in[0])
		isHigh := ops.GreaterEqual(s, ops.StridedSlice(s, shape, ops.At(-2)), ops.StridedSlice(s, shape, ops.At(-1)))
		return []*ops.Value{ops.If(s, isHigh, high, wide)}
	})
}

// gradSquareRoot solves Sylvester's equation r* x + x r* = dr, as a linear one of
// all elements.
func gradSquareRoot(s *ops.Scope, op *Op) {
	r, dr := op.Out(0), op.Grad(0)
	eye := ops.Diag(s, ops.OnesLike(s, ops.DiagPart(s, r)))
	sizes := ops.Cast(s, sizesOf(s, r), tensor.Int64)
	outer, n := ops.StridedSlice(s, sizes, ops.To(-2)), ops.StridedSlice(s, sizes, ops.From(-1))
	all := ops.Square(s, n)
	square := joinVectors(s, outer, all, all)
	kronecker := func(a, b *ops.Value) *ops.Value {
		a = ops.ExpandDims(s, ops.ExpandDims(s, a, -1), -3)
		b = ops.ExpandDims(s, ops.ExpandDims(s, b, -3), -2)
		return ops.ReshapeTo(s, ops.Mul(s, a, b), square)
	}
	m := ops.Add(s, kronecker(transposed(s, r), eye), kronecker(eye, conj(s, r)))
	x := s.Emit1("MatrixSolve", nil, m, ops.ReshapeTo(s, dr, joinVectors(s, outer, all, tensor.Vector[int64](1))))
	op.Give(0, reshapeLike(s, x, r))
}
