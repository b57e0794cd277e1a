package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// linalgRules are the rules of inverses, determinants, solvers and
// decompositions.
var linalgRules = map[string]Rule{
	"BandedTriangularSolve": gradBandedSolve,
	"Cholesky":              gradCholesky,
	"Eig":                   gradEig,
	"MatrixSolveLs":         gradSolveLs,
	"MatrixSquareRoot":      gradSquareRoot,
	"Qr":                    gradQR,
	"SelfAdjointEigV2":      gradSelfAdjointEig,
	"Svd":                   gradSVD,
	"TridiagonalMatMul":     gradTridiagonalMatMul,
	"TridiagonalSolve":      gradTridiagonalSolve,
	"MatrixInverse": func(s *ops.Scope, op *Op) {
		y, dy := op.Out(0), op.Grad(0)
		if op.Attrs().Bool("adjoint") {
			op.Give(0, ops.Neg(s, multiply(s, y, multiply(s, dy, y, true, false), false, false)))
			return
		}
		op.Give(0, ops.Neg(s, multiply(s, y, multiply(s, dy, y, false, true), true, false)))
	},
	"MatrixDeterminant": func(s *ops.Scope, op *Op) {
		op.Give(0, scaledInverse(s, op, ops.Mul(s, op.Grad(0), conj(s, op.Out(0)))))
	},
	"LogMatrixDeterminant": func(s *ops.Scope, op *Op) {
		dy := op.Grad(1) // the sign is constant
		if dy == nil {
			return
		}
		if dy.DType().IsComplex() { // the logarithm is real
			re := realOf(s, dy)
			dy = complexOf(s, re, ops.ZerosLike(s, re))
		}
		op.Give(0, scaledInverse(s, op, dy))
	},
	"MatrixSolve": func(s *ops.Scope, op *Op) {
		gradSolve(s, op, func(m *ops.Value) *ops.Value { return m })
	},
	"MatrixTriangularSolve": func(s *ops.Scope, op *Op) {
		below, above := int64(0), int64(-1)
		if isLower(op) {
			below, above = -1, 0
		}
		gradSolve(s, op, func(m *ops.Value) *ops.Value {
			return s.Emit1("MatrixBandPart", nil, m, ops.Const(s, below), ops.Const(s, above))
		})
	},
}

// transposed returns the conjugate transposes of the matrices in x's last two
// dimensions.
func transposed(s *ops.Scope, x *ops.Value) *ops.Value {
	op := "Transpose"
	if x.DType().IsComplex() {
		op = "ConjugateTranspose"
	}
	if r := rankOf(x); r >= 2 {
		perm := make([]int32, r)
		for i := range perm {
			perm[i] = int32(i)
		}
		perm[r-1], perm[r-2] = perm[r-2], perm[r-1]
		return s.Emit1(op, nil, x, perm)
	}
	r := ops.Rank(s, x)
	last := ops.Stack(s, []*ops.Value{ops.Sub(s, r, int32(1)), ops.Sub(s, r, int32(2))})
	return s.Emit1(op, nil, x, joinVectors(s, upTo(s, ops.Sub(s, r, int32(2))), last))
}

// diagonalOf returns matrices with x's diagonals, and zeros elsewhere.
func diagonalOf(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Diag(s, ops.DiagPart(s, x)) }

// isLower reports whether the op reads the lower triangles, its default.
func isLower(op *Op) bool { return !op.Attrs().Has("lower") || op.Attrs().Bool("lower") }

// multiply returns the product of batches of matrices, of which each may be
// adjoint.
func multiply(s *ops.Scope, a, b *ops.Value, adjointA, adjointB bool) *ops.Value {
	return s.Emit1("BatchMatMulV2", graph.Attrs{graph.Bool("adj_x", adjointA), graph.Bool("adj_y", adjointB)}, a, b)
}

// scaledInverse returns the adjoint inverses of input 0, times a number each.
func scaledInverse(s *ops.Scope, op *Op, by *ops.Value) *ops.Value {
	inverse := s.Emit1("MatrixInverse", graph.Attrs{graph.Bool("adjoint", true)}, op.In(0))
	return ops.Mul(s, ops.ExpandDims(s, ops.ExpandDims(s, by, -1), -1), inverse)
}

// gradSolve solves for the gradient with the adjoint matrices; part keeps the
// part of a matrix that the op reads.
func gradSolve(s *ops.Scope, op *Op, part func(*ops.Value) *ops.Value) {
	adjoint := op.Attrs().Bool("adjoint")
	attrs := graph.Attrs{graph.Bool("adjoint", !adjoint)}
	if op.Name() == "MatrixTriangularSolve" {
		attrs = append(attrs, graph.Bool("lower", isLower(op)))
	}
	x := op.Out(0)
	db := s.Emit1(op.Name(), attrs, op.In(0), op.Grad(0))
	giveAt(s, op, 0, func() *ops.Value {
		if adjoint {
			return part(ops.Neg(s, multiply(s, x, db, false, true)))
		}
		return part(ops.Neg(s, multiply(s, db, x, false, true)))
	})
	giveAt(s, op, 1, func() *ops.Value { return db })
}
