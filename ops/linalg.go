package ops

import (
	"math"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The functions of this file work on matrices in the last two dimensions; those before are a
// batch.

// Cholesky returns the lower triangular matrix L with x = L Lᴴ. x is Hermitian and positive
// definite; only its lower part is read. An x that isn't positive definite is an error.
func Cholesky(s *Scope, x Input) *Value { return s.Emit1("Cholesky", nil, x) }

// CholeskySolve solves a X = b, given [Cholesky] of a.
func CholeskySolve(s *Scope, cholesky, b Input) *Value {
	l := Const(s, cholesky)
	y := TriangularSolve(s, l, b)
	return TriangularSolve(s, l, y, &TriangularSolveOptions{Adjoint: true})
}

// SolveOptions are the settings of [Solve] and [Inverse].
type SolveOptions struct {
	// Adjoint takes the conjugate transpose of the matrix. Default false.
	Adjoint bool
}

func (o *SolveOptions) attrs() graph.Attrs { return graph.Attrs{graph.Bool("adjoint", o.Adjoint)} }

// Inverse returns the inverses of square matrices. A singular matrix is an error.
func Inverse(s *Scope, x Input, o ...*SolveOptions) *Value {
	return s.Emit1("MatrixInverse", last(o).attrs(), x)
}

// Solve returns the X of a X = b, for a matrix b. A singular a is an error.
func Solve(s *Scope, a, b Input, o ...*SolveOptions) *Value {
	return s.Emit1("MatrixSolve", last(o).attrs(), a, b)
}

// TriangularSolveOptions are the settings of [TriangularSolve].
type TriangularSolveOptions struct {
	// Upper means that the matrix is upper triangular. Default: lower.
	Upper bool
	// Adjoint takes the conjugate transpose of the matrix. Default false.
	Adjoint bool
}

// TriangularSolve returns the X of a X = b for a triangular a. The other triangle of a is not
// read.
func TriangularSolve(s *Scope, a, b Input, o ...*TriangularSolveOptions) *Value {
	opts := last(o)
	return s.Emit1("MatrixTriangularSolve", graph.Attrs{graph.Bool("lower", !opts.Upper), graph.Bool("adjoint", opts.Adjoint)}, a, b)
}

// LeastSquaresOptions are the settings of [LeastSquares].
type LeastSquaresOptions struct {
	// Regularizer is the factor of the sum of the squares of X, which is added to what is
	// minimized. Default 0.
	Regularizer float64
	// Complete computes by a complete orthogonal decomposition, which a matrix of incomplete
	// rank needs, and ignores Regularizer. Default: by a Cholesky decomposition.
	Complete bool
}

// LeastSquares returns the X that makes the sum of the squares of a X - b least; if several do,
// the one with the smallest norm.
func LeastSquares(s *Scope, a, b Input, o ...*LeastSquaresOptions) *Value {
	opts := last(o)
	return s.Emit1("MatrixSolveLs", graph.Attrs{graph.Bool("fast", !opts.Complete)}, a, b, ConstOf(s, tensor.Float64, opts.Regularizer))
}

// Det returns the determinants of square matrices.
func Det(s *Scope, x Input) *Value { return s.Emit1("MatrixDeterminant", nil, x) }

// SLogDet returns the signs of determinants, and the logarithms of their absolute values. The
// sign of a complex determinant is a number of absolute value 1.
func SLogDet(s *Scope, x Input) (sign, logAbs *Value) {
	out := s.EmitN(2, "LogMatrixDeterminant", nil, x)
	return out[0], out[1]
}

// LogDet returns the logarithms of the determinants of Hermitian positive definite matrices.
func LogDet(s *Scope, x Input) *Value {
	diagonal := OffDiagPart(s, Cholesky(s, x), 0)
	if diagonal.DType().IsComplex() {
		diagonal = Real(s, diagonal)
	}
	return Mul(s, 2, Sum(s, Log(s, diagonal), -1))
}

// FullOptions are the settings of [QR] and [SVD].
type FullOptions struct {
	// Full makes the orthogonal matrices square. Default: they have min(rows, columns) columns.
	Full bool
}

// QR returns an orthogonal q and an upper triangular r with x = q r.
func QR(s *Scope, x Input, o ...*FullOptions) (q, r *Value) {
	out := s.EmitN(2, "Qr", graph.Attrs{graph.Bool("full_matrices", last(o).Full)}, x)
	return out[0], out[1]
}

// SVD returns the singular values in falling order, and the u and v with x = u diag(values) vᴴ.
func SVD(s *Scope, x Input, o ...*FullOptions) (values, u, v *Value) {
	out := s.EmitN(3, "Svd", graph.Attrs{graph.Bool("compute_uv", true), graph.Bool("full_matrices", last(o).Full)}, x)
	return out[0], out[1], out[2]
}

// SingularValues returns the singular values of x in falling order.
func SingularValues(s *Scope, x Input) *Value {
	return s.EmitN(3, "Svd", graph.Attrs{graph.Bool("compute_uv", false)}, x)[0]
}

// Eigh returns the eigenvalues of Hermitian matrices in rising order, and the eigenvectors as the
// columns of a matrix. Only the lower part of x is read.
func Eigh(s *Scope, x Input) (values, vectors *Value) {
	out := s.EmitN(2, "SelfAdjointEigV2", graph.Attrs{graph.Bool("compute_v", true)}, x)
	return out[0], out[1]
}

// EighValues returns the eigenvalues of Hermitian matrices in rising order.
func EighValues(s *Scope, x Input) *Value {
	return s.EmitN(2, "SelfAdjointEigV2", graph.Attrs{graph.Bool("compute_v", false)}, x)[0]
}

// complexOf returns the complex type for the eigenvalues of matrices of type d.
func complexOf(d tensor.DType) tensor.DType {
	if d == tensor.Float64 || d == tensor.Complex128 {
		return tensor.Complex128
	}
	return tensor.Complex64
}

// Eig returns the eigenvalues of square matrices as complex numbers, and the eigenvectors as the
// columns of a matrix.
func Eig(s *Scope, x Input) (values, vectors *Value) {
	v := Const(s, x)
	out := s.EmitN(2, "Eig", graph.Attrs{graph.Bool("compute_v", true), graph.Type("Tout", complexOf(v.DType()))}, v)
	return out[0], out[1]
}

// EigValues returns the eigenvalues of square matrices as complex numbers.
func EigValues(s *Scope, x Input) *Value {
	v := Const(s, x)
	return s.EmitN(2, "Eig", graph.Attrs{graph.Bool("compute_v", false), graph.Type("Tout", complexOf(v.DType()))}, v)[0]
}

// LU returns the decomposition p x = l u. lu has u on and above the diagonal, and l below it
// without its diagonal of ones. p is an int32 permutation of the rows of x.
func LU(s *Scope, x Input) (lu, p *Value) {
	out := s.EmitN(2, "Lu", nil, x)
	return out[0], out[1]
}

// Logm returns the logarithms of square complex matrices.
func Logm(s *Scope, x Input) *Value { return s.Emit1("MatrixLogarithm", nil, x) }

// Sqrtm returns the principal square roots of square matrices: the Y with Y Y = x. They are NaN
// for a real matrix whose principal root isn't real.
func Sqrtm(s *Scope, x Input) *Value { return s.Emit1("MatrixSquareRoot", nil, x) }

// Pinv returns the pseudo-inverses of float32 or float64 matrices. Singular values of at most
// cutoff times the largest count as 0. A cutoff of 0 means TensorFlow's default: 10 times the
// matrix's larger size times the type's epsilon. So TensorFlow's rcond=0 can't be chosen.
func Pinv(s *Scope, x Input, cutoff float64) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	d := v.DType()
	limit := ConstOf(s, d, cutoff)
	if cutoff == 0 {
		epsilon := math.Nextafter(1, 2) - 1
		if d == tensor.Float32 {
			epsilon = float64(math.Nextafter32(1, 2) - 1)
		}
		if m, n, ok := s.matrixSize(v); ok {
			limit = ConstOf(s, d, 10*float64(max(m, n))*epsilon)
		} else {
			larger := Cast(s, Maximum(s, s.dim(v, -2), s.dim(v, -1)), d)
			limit = Mul(s, Mul(s, 10, larger), epsilon)
		}
	}
	values, left, right := SVD(s, v)
	least := ExpandDims(s, Mul(s, limit, Max(s, values, -1)), -1)
	inverse := Where(s, Greater(s, values, least), values, ConstOf(s, d, math.Inf(1)))
	return MatMul(s, Div(s, right, ExpandDims(s, inverse, -2)), left, &MatMulOptions{TransposeB: true})
}

// matrixSize returns the last two sizes of x, if both are known.
func (s *Scope) matrixSize(x *Value) (rows, cols int, ok bool) {
	shape := s.shapeOf(x)
	if !shape.HasRank() || shape.Rank() < 2 {
		return 0, 0, false
	}
	rows, cols = shape.Dim(-2), shape.Dim(-1)
	return rows, cols, rows >= 0 && cols >= 0
}

// MatVec returns the product of matrices and vectors.
func MatVec(s *Scope, a, x Input, o ...*MatMulOptions) *Value {
	return Squeeze(s, MatMul(s, a, ExpandDims(s, x, -1), o...), -1)
}

// MatrixTranspose swaps the last two dimensions.
func MatrixTranspose(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	return s.Emit1("Transpose", nil, v, s.lastSwapped(v))
}

// lastSwapped returns the permutation that swaps the last two dimensions of x.
func (s *Scope) lastSwapped(x *Value) *Value {
	if known := s.shapeOf(x); known.HasRank() && known.Rank() >= 2 {
		perm := make([]int, known.Rank())
		for i := range perm {
			perm[i] = i
		}
		n := len(perm)
		perm[n-1], perm[n-2] = n-2, n-1
		return s.vec32(perm...)
	}
	rank := Rank(s, x)
	outer := Range(s, 0, Sub(s, rank, 2), 1)
	return Concat(s, []*Value{outer, Stack(s, []*Value{Sub(s, rank, 1), Sub(s, rank, 2)})}, 0)
}

// Adjoint returns the conjugate transposes of matrices.
func Adjoint(s *Scope, x Input) *Value {
	v := Const(s, x)
	if !s.alive() {
		return s.failed()
	}
	op := "Transpose"
	if v.DType().IsComplex() {
		op = "ConjugateTranspose"
	}
	return s.Emit1(op, nil, v, s.lastSwapped(v))
}

// MatrixTrace returns the sums of the matrices' diagonals.
func MatrixTrace(s *Scope, x Input) *Value { return Sum(s, OffDiagPart(s, x, 0), -1) }

// SetDiag returns x with its diagonals replaced. k chooses another diagonal than the main one:
// above it for k > 0, below it for k < 0.
func SetDiag(s *Scope, x, diagonal Input, k ...int) *Value {
	return s.Emit1("MatrixSetDiagV3", nil, x, diagonal, s.scalar32(first(k)))
}

// first returns the first number of a list, 0 if there is none.
func first(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// OffDiag returns the smallest square matrices with the vectors x as their diagonal k: above the
// main one for k > 0, below it for k < 0.
func OffDiag(s *Scope, x Input, k int) *Value {
	v := Const(s, x)
	return s.Emit1("MatrixDiagV3", nil, v, s.scalar32(k), s.scalar32(-1), s.scalar32(-1), ConstOf(s, v.DType(), 0))
}

// OffDiagPart returns diagonal k of matrices.
func OffDiagPart(s *Scope, x Input, k int) *Value {
	v := Const(s, x)
	return s.Emit1("MatrixDiagPartV3", nil, v, s.scalar32(k), ConstOf(s, v.DType(), 0))
}

// TridiagonalSolveOptions are the settings of [TridiagonalSolve].
type TridiagonalSolveOptions struct {
	// NoPivoting keeps the order of rows, which is quicker and fails for more matrices.
	// Default false.
	NoPivoting bool
}

// TridiagonalSolve solves a X = b for a tridiagonal a. Its superdiagonal, diagonal and subdiagonal
// are the three rows of diagonals; the last element of the first row and the first of the last are
// not read.
func TridiagonalSolve(s *Scope, diagonals, b Input, o ...*TridiagonalSolveOptions) *Value {
	return s.Emit1("TridiagonalSolve", graph.Attrs{graph.Bool("partial_pivoting", !last(o).NoPivoting)}, diagonals, b)
}

// TridiagonalMatMul multiplies a tridiagonal matrix, given as for [TridiagonalSolve], by b.
func TridiagonalMatMul(s *Scope, diagonals, b Input) *Value {
	d := Const(s, diagonals)
	row := func(i int) *Value { return ExpandDims(s, StridedSlice(s, d, Ellipsis(), At(i), Whole()), -2) }
	return s.Emit1("TridiagonalMatMul", nil, row(0), row(1), row(2), b)
}

// BandedTriangularSolve solves a X = b for a triangular a, whose diagonals are the rows of bands:
// the main one is first for a lower triangle, last for an upper one. Elements of a row that are
// outside of the matrix are not read.
func BandedTriangularSolve(s *Scope, bands, b Input, o ...*TriangularSolveOptions) *Value {
	opts := last(o)
	return s.Emit1("BandedTriangularSolve", graph.Attrs{graph.Bool("lower", !opts.Upper), graph.Bool("adjoint", opts.Adjoint)}, bands, b)
}

// Cross returns the cross products of vectors of 3 elements.
func Cross(s *Scope, a, b Input) *Value { return s.Emit1("Cross", nil, a, b) }

// NormOf returns the p-norm over the axes, of all elements if there are none:
// the p-th root of the sum of |x|ᵖ, and the largest |x| for p = math.Inf(1). For p = 2 it is
// [Norm]. tf.norm keeps the axes and removes them by Squeeze.
func NormOf(s *Scope, x Input, p float64, axes ...int) *Value {
	if p == 2 {
		return Norm(s, x, axes...)
	}
	abs := Abs(s, x)
	switch {
	case math.IsInf(p, 1):
		return Max(s, abs, axes...)
	case p == 1:
		return Sum(s, abs, axes...)
	}
	return Pow(s, Sum(s, Pow(s, abs, p), axes...), 1/p)
}

// MatrixNormOrder chooses a norm of matrices.
type MatrixNormOrder int

// The norms of matrices.
const (
	FrobeniusNorm MatrixNormOrder = iota // the root of the sum of squares
	OneNorm                              // the largest sum of a column
	SpectralNorm                         // the largest singular value
	InfinityNorm                         // the largest sum of a row
)

// MatrixNorm returns norms of matrices. The Frobenius norm of complex matrices is complex, as
// that of [Norm]. tf.norm keeps the axes and removes them by Squeeze, and for the spectral norm
// it moves the axes to the end.
func MatrixNorm(s *Scope, x Input, order MatrixNormOrder) *Value {
	switch order {
	case OneNorm:
		return Max(s, Sum(s, Abs(s, x), -2), -1)
	case SpectralNorm:
		return Max(s, SingularValues(s, x), -1)
	case InfinityNorm:
		return Max(s, Sum(s, Abs(s, x), -1), -1)
	}
	return Norm(s, x, -2, -1)
}
