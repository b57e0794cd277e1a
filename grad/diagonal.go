package grad

import (
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// diagonalRules are the rules of ops on ranges of diagonals.
var diagonalRules = map[string]Rule{
	"MatrixDiagV2":     gradDiagonalMatrix,
	"MatrixDiagV3":     gradDiagonalMatrix,
	"MatrixDiagPartV2": gradDiagonalPart,
	"MatrixDiagPartV3": gradDiagonalPart,
	"MatrixSetDiag": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		op.Give(0, s.Emit1("MatrixSetDiag", nil, dy, ops.ZerosLike(s, op.In(1))))
		op.Give(1, ops.DiagPart(s, dy))
	},
	"MatrixSetDiagV2": gradSetDiagonal,
	"MatrixSetDiagV3": gradSetDiagonal,
}

// alignOf returns the attribute align with which an op of version 3 aligns
// diagonals as this op does.
func alignOf(op *Op) graph.Attrs {
	align := "LEFT_LEFT"
	if strings.HasSuffix(op.Name(), "V3") {
		align = op.Attrs().String("align", "RIGHT_LEFT")
	}
	return graph.Attrs{graph.String("align", align)}
}

// diagonalsOf returns the op's diagonals of a gradient, padded with zeros.
func diagonalsOf(s *ops.Scope, op *Op, k int) *ops.Value {
	dy := op.Grad(0)
	return s.Emit1("MatrixDiagPartV3", alignOf(op), dy, op.In(k), ops.ConstOf(s, dy.DType(), 0))
}

// gradDiagonalMatrix has no gradient for the padding, as in TensorFlow.
func gradDiagonalMatrix(s *ops.Scope, op *Op) {
	op.Give(0, reshapeLike(s, diagonalsOf(s, op, 1), op.In(0)))
}

func gradDiagonalPart(s *ops.Scope, op *Op) {
	op.Give(0, s.Emit1("MatrixSetDiagV3", alignOf(op), ops.ZerosLike(s, op.In(0)), op.Grad(0), op.In(1)))
}

func gradSetDiagonal(s *ops.Scope, op *Op) {
	op.Give(0, s.Emit1("MatrixSetDiagV3", alignOf(op), op.Grad(0), ops.ZerosLike(s, op.In(1)), op.In(2)))
	op.Give(1, reshapeLike(s, diagonalsOf(s, op, 2), op.In(1)))
}

// moveRules are the rules of further ops that move elements.
var moveRules = map[string]Rule{
	"Roll": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("Roll", nil, op.Grad(0), ops.Neg(s, op.In(1)), op.In(2)))
	},
	"Reverse": byInverse("Reverse"),
	"ConjugateTranspose": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("ConjugateTranspose", nil, op.Grad(0), ops.InvertPermutation(s, op.In(1))))
	},
	"Concat": gradConcat,
	"TopK":   gradTopK,
	"NthElement": func(s *ops.Scope, op *Op) {
		x, dy := op.In(0), op.Grad(0)
		hits := ops.Cast(s, ops.Equal(s, ops.ExpandDims(s, op.Out(0), -1), x), dy.DType())
		n := ops.ExpandDims(s, ops.Sum(s, hits, -1), -1)
		op.Give(0, ops.Mul(s, ops.Div(s, hits, n), ops.ExpandDims(s, dy, -1)))
	},
	"BiasAddV1": func(s *ops.Scope, op *Op) {
		op.Give(0, op.Grad(0))
		if op.Needs(1) {
			op.Give(1, s.Emit1("BiasAddGrad", nil, op.Grad(0)))
		}
	},
}
