package grad

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// sparseRules are the rules of ops on sparse tensors, given as indices, values
// and a shape: the values have gradients.
var sparseRules = map[string]Rule{
	"SparseReorder": func(s *ops.Scope, op *Op) {
		// The same op shows the destination of each value.
		n := ops.Size(s, op.In(1))
		moved := s.EmitN(2, "SparseReorder", nil, op.In(0), upTo(s, n), op.In(2))[1]
		giveValues(s, op, 1, 1, func(dy *ops.Value) *ops.Value { return ops.Gather(s, dy, ops.InvertPermutation(s, moved)) })
	},
	"SparseFillEmptyRows": func(s *ops.Scope, op *Op) {
		if dy := op.Grad(1); dy != nil {
			out := s.EmitN(2, "SparseFillEmptyRowsGrad", nil, op.Out(3), dy)
			op.Give(1, out[0])
			op.Give(3, out[1])
		}
	},
	"SparseSlice": func(s *ops.Scope, op *Op) {
		giveValues(s, op, 1, 1, func(dy *ops.Value) *ops.Value {
			// The op returns the values inside of the slice in their order.
			indices, start := op.In(0), op.In(3)
			below := ops.Less(s, indices, ops.ExpandDims(s, ops.Add(s, start, op.In(4)), 0))
			inside := ops.All(s, ops.And(s, below, ops.GreaterEqual(s, indices, ops.ExpandDims(s, start, 0))), 1)
			places := ops.Sub(s, ops.CumSum(s, ops.Cast(s, inside, tensor.Int32), 0), 1)
			return pickSegments(s, dy, ops.Where(s, inside, places, ops.Neg(s, ops.OnesLike(s, places))))
		})
	},
	"SparseToDense": func(s *ops.Scope, op *Op) {
		dy := op.Grad(0)
		at := s.Emit1("Reshape", nil, op.In(0), ops.Stack(s, []*ops.Value{ops.Const(s, int32(-1)), rankValue(s, dy)}))
		given := ops.GatherND(s, dy, at)
		op.Give(2, Unbroadcast(s, given, op.In(2)))
		if op.Needs(3) {
			op.Give(3, ops.Sub(s, sumAll(s, dy), sumAll(s, given)))
		}
	},
	"SparseTensorDenseMatMul": gradSparseMatMul,
	"SparseSegmentSum":        gradSparseSegment(nil),
	"SparseSegmentMean":       gradSparseSegment(ops.Reciprocal),
	"SparseSegmentSqrtN":      gradSparseSegment(ops.Rsqrt),

	"SparseSegmentSumWithNumSegments":   gradSparseSegment(nil),
	"SparseSegmentMeanWithNumSegments":  gradSparseSegment(ops.Reciprocal),
	"SparseSegmentSqrtNWithNumSegments": gradSparseSegment(ops.Rsqrt),
}

// giveValues adds f of an output's gradient to that of input i, if there is
// one.
func giveValues(s *ops.Scope, op *Op, i, output int, f func(dy *ops.Value) *ops.Value) {
	if dy := op.Grad(output); dy != nil && op.Needs(i) && s.Err() == nil {
		op.Give(i, f(dy))
	}
}

// gradSparseSegment returns the rule of sums of rows that indices pick. weight
// returns the factor of a row from the number of rows in its segment.
func gradSparseSegment(weight func(*ops.Scope, ops.Input) *ops.Value) Rule {
	return func(s *ops.Scope, op *Op) {
		x, indices, ids, dy := op.In(0), op.In(1), op.In(2), op.Grad(0)
		if weight != nil {
			d := dy.DType()
			if d != tensor.Float64 {
				d = tensor.Float32
			}
			ones := s.Emit1("Fill", nil, ops.Shape(s, ids), ops.ConstOf(s, d, 1))
			n := s.Emit1("UnsortedSegmentSum", nil, ones, ids, sizeAt(s, dy, ops.Const(s, int32(0))))
			w := ops.Cast(s, weight(s, ops.Maximum(s, n, ops.ConstOf(s, d, 1))), dy.DType())
			shape := joinVectors(s, tensor.Vector(int32(-1)), onesVector(s, ops.Sub(s, rankValue(s, dy), int32(1))))
			dy = ops.Mul(s, dy, s.Emit1("Reshape", nil, w, shape))
		}
		rows := ops.Gather(s, dy, ids)
		if op.Attrs().Bool("sparse_gradient") {
			op.Give(0, ops.IndexedSlices{Values: rows, Indices: indices, Shape: sizesOf(s, x)}.Value(s))
			return
		}
		op.Give(0, s.Emit1("UnsortedSegmentSum", nil, rows, indices, sizeAt(s, x, ops.Const(s, int32(0)))))
	}
}

// gradSparseMatMul computes the gradients of a product of a sparse matrix, of
// which only the places with values have one, and a dense matrix.
func gradSparseMatMul(s *ops.Scope, op *Op) {
	at, values, shape, b, dy := op.In(0), op.In(1), op.In(2), op.In(3), op.Grad(0)
	adjointA, adjointB := op.Attrs().Bool("adjoint_a"), op.Attrs().Bool("adjoint_b")
	if op.Needs(3) {
		db := s.Emit1("SparseTensorDenseMatMul", graph.Attrs{graph.Bool("adjoint_a", !adjointA)}, at, values, shape, dy)
		if adjointB {
			db = conj(s, ops.Transpose(s, db, 1, 0))
		}
		op.Give(3, db)
	}
	if !op.Needs(1) {
		return
	}
	rows, columns := ops.StridedSlice(s, at, ops.Whole(), ops.At(0)), ops.StridedSlice(s, at, ops.Whole(), ops.At(1))
	if adjointA {
		rows, columns = columns, rows
	}
	// The product is y[r] = Σ a[r,c]·b'[c], so that a[r,c] has the gradient
	// dy[r]·conj(b'[c]), conjugated once more if a was.
	factor := b
	if adjointB {
		factor = conj(s, ops.Transpose(s, b, 1, 0))
	}
	da := ops.Sum(s, ops.Mul(s, ops.Gather(s, dy, rows), conj(s, ops.Gather(s, factor, columns))), 1)
	if adjointA {
		da = conj(s, da)
	}
	op.Give(1, da)
}
