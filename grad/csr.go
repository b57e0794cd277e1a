package grad

import (
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// csrRules are the rules of sparse matrices that are variants. The gradient of
// a matrix is a matrix with values at the same places.
var csrRules = map[string]Rule{
	"SparseTensorToCSRSparseMatrix": func(s *ops.Scope, op *Op) {
		op.Give(1, csrParts(s, op.Grad(0), op.In(1).DType())[1])
	},
	"CSRSparseMatrixToSparseTensor": func(s *ops.Scope, op *Op) {
		if dy := op.Grad(1); dy != nil {
			op.Give(0, s.Emit1("SparseTensorToCSRSparseMatrix", nil, op.Out(0), dy, op.Out(2)))
		}
	},
	"DenseToCSRSparseMatrix": func(s *ops.Scope, op *Op) {
		op.Give(0, s.Emit1("CSRSparseMatrixToDense", graph.Attrs{graph.Type("type", op.In(0).DType())}, op.Grad(0)))
	},
	"CSRSparseMatrixToDense": func(s *ops.Scope, op *Op) {
		m := csrParts(s, op.In(0), op.Out(0).DType())
		op.Give(0, s.Emit1("SparseTensorToCSRSparseMatrix", nil, m[0], ops.GatherND(s, op.Grad(0), m[0]), m[2]))
	},
	"SparseMatrixTranspose": func(s *ops.Scope, op *Op) {
		attrs := graph.Attrs{graph.Type("type", csrType(op)), graph.Bool("conjugate", op.Attrs().Bool("conjugate"))}
		op.Give(0, s.Emit1("SparseMatrixTranspose", attrs, op.Grad(0)))
	},
	"SparseMatrixNNZ":          none,
	"SparseMatrixMatMul":       gradCSRMatMul,
	"SparseMatrixSparseMatMul": gradCSRProduct,
}

// csrType returns the type that an op on sparse matrices names.
func csrType(op *Op) tensor.DType { return op.Attrs().Type("type", tensor.Invalid) }

// csrParts returns the indices, values and shape of a sparse matrix.
func csrParts(s *ops.Scope, m *ops.Value, d tensor.DType) []*ops.Value {
	return s.EmitN(3, "CSRSparseMatrixToSparseTensor", graph.Attrs{graph.Type("type", d)}, m)
}

// form is the form in which a product takes an operand: itself, transposed or adjoint, by the op's attributes.
type form struct{ transpose, adjoint bool }

func formOf(op *Op, name string) form {
	return form{op.Attrs().Bool("transpose_" + name), op.Attrs().Bool("adjoint_" + name)}
}

func (f form) transposed() bool { return f.transpose || f.adjoint }

// flipped returns the transposes of matrices, not conjugated.
func flipped(s *ops.Scope, x *ops.Value) *ops.Value { return conj(s, transposed(s, x)) }

// of returns the operand in the form.
func (f form) of(s *ops.Scope, x *ops.Value) *ops.Value {
	switch {
	case f.adjoint:
		return transposed(s, x)
	case f.transpose:
		return flipped(s, x)
	}
	return x
}

// gradCSRMatMul computes the gradients of products of a sparse and a dense matrix: of y =
// a'·b', where a' and b' are a and b in their forms, a' has the gradient dy·adjoint(b') and
// b' the gradient adjoint(a')·dy.
func gradCSRMatMul(s *ops.Scope, op *Op) {
	a, b, dy := op.In(0), op.In(1), op.Grad(0)
	fa, fb := formOf(op, "a"), formOf(op, "b")
	if op.Attrs().Bool("conjugate_output") {
		dy = conj(s, dy)
	}
	if op.Attrs().Bool("transpose_output") {
		dy = flipped(s, dy)
	}
	if op.Needs(1) {
		x, attrs := dy, graph.Attrs{}
		switch {
		case fa.transpose: // adjoint(a') is a, conjugated: the product's conjugate has a as it is
			x = conj(s, dy)
		case !fa.adjoint:
			attrs = append(attrs, graph.Bool("adjoint_a", true))
		}
		db := s.Emit1("SparseMatrixMatMul", attrs, a, x)
		if fa.transpose {
			db = conj(s, db)
		}
		op.Give(1, fb.of(s, db)) // a form undoes itself
	}
	if !op.Needs(0) || s.Err() != nil {
		return
	}
	m := csrParts(s, a, b.DType())
	// The value at [i, j] of a' has the gradient dy[i]·conj(b'[j]).
	other := fb.of(s, b)
	// Indices without the last one, or without the last but one.
	n := ops.Sub(s, ops.Size(s, m[2]), int32(1))
	axes := s.Emit1("Range", nil, ops.Const(s, int32(0)), n, ops.Const(s, int32(1)))
	batch := s.Emit1("Range", nil, ops.Const(s, int32(0)), ops.Sub(s, n, int32(1)), ops.Const(s, int32(1)))
	row := s.Emit1("GatherV2", nil, m[0], axes, ops.Const(s, int32(1)))
	col := s.Emit1("GatherV2", nil, m[0], joinVectors(s, batch, vector(s, n)), ops.Const(s, int32(1)))
	if fa.transposed() {
		row, col = col, row
	}
	values := ops.Sum(s, ops.Mul(s, ops.GatherND(s, dy, row), conj(s, ops.GatherND(s, other, col))), 1)
	if fa.adjoint {
		values = conj(s, values)
	}
	op.Give(0, s.Emit1("SparseTensorToCSRSparseMatrix", nil, m[0], values, m[2]))
}

// gradCSRProduct computes the gradients of products of two sparse matrices.
func gradCSRProduct(s *ops.Scope, op *Op) {
	d := csrType(op)
	dy := op.Grad(0)
	product := func(a *ops.Value, fa form, b *ops.Value, fb form) *ops.Value {
		return s.Emit1("SparseMatrixSparseMatMul", graph.Attrs{graph.Type("type", d), graph.Bool("transpose_a", fa.transpose), graph.Bool("adjoint_a", fa.adjoint),
			graph.Bool("transpose_b", fb.transpose), graph.Bool("adjoint_b", fb.adjoint)}, a, b)
	}
	turn := func(x *ops.Value, conjugate bool) *ops.Value {
		return s.Emit1("SparseMatrixTranspose", graph.Attrs{graph.Type("type", d), graph.Bool("conjugate", conjugate)}, x)
	}
	// adjoint returns the adjoint of an operand's form, and in which form to take it.
	adjoint := func(x *ops.Value, f form) (*ops.Value, form) {
		switch {
		case f.adjoint:
			return x, form{}
		case f.transpose:
			return turn(x, false), form{adjoint: true}
		}
		return x, form{adjoint: true}
	}
	// give adds the gradient g of operand i's form, at the places that the operand has.
	give := func(i int, g *ops.Value, f form) {
		if f.transposed() {
			g = turn(g, f.adjoint)
		}
		op.Give(i, pruned(s, g, op.In(i), d))
	}
	fa, fb := formOf(op, "a"), formOf(op, "b")
	if op.Needs(0) {
		b, f := adjoint(op.In(1), fb)
		give(0, product(dy, form{}, b, f), fa)
	}
	if op.Needs(1) && s.Err() == nil {
		a, f := adjoint(op.In(0), fa)
		give(1, product(a, f, dy, form{}), fb)
	}
}

// pruned returns the elements of the sparse matrix x at the places of pattern's values.
func pruned(s *ops.Scope, x, pattern *ops.Value, d tensor.DType) *ops.Value {
	have, want := csrParts(s, x, d), csrParts(s, pattern, d)
	strides := s.Emit1("Cumprod", graph.Attrs{graph.Bool("exclusive", true), graph.Bool("reverse", true)}, want[2], ops.Const(s, int32(0)))
	places := func(at *ops.Value) *ops.Value { return ops.Sum(s, ops.Mul(s, at, strides), 1) }
	// A place after all others, whose value is zero, so that one is always found.
	end := tensor.Vector[int64](math.MaxInt64)
	from := joinVectors(s, places(have[0]), end)
	values := ops.Concat(s, []*ops.Value{have[1], ops.Reshape(s, ops.ConstOf(s, d, 0), 1)}, 0)
	to := places(want[0])
	at := ops.Reshape(s, s.Emit1("LowerBound", nil, ops.Reshape(s, from, 1, -1), ops.Reshape(s, to, 1, -1)), -1)
	found := s.Emit1("Equal", nil, ops.Gather(s, from, at), to)
	picked := ops.Gather(s, values, at)
	return s.Emit1("SparseTensorToCSRSparseMatrix", nil, want[0], s.Emit1("SelectV2", nil, found, picked, s.Emit1("ZerosLike", nil, picked)), want[2])
}
