// Package linalg implements the kernels of linear algebra: factorizations, solvers and
// decompositions of batches of matrices. All compute in double precision, real
// or complex, and round once at the end. Large matrices are computed in blocks,
// which package gemm multiplies. Other loops go over rows, with package vec.
package linalg

import (
	"fmt"
	"unsafe"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Matrices, batches and results, which all files of this package use. A matrix is the last two
// dimensions of a tensor, and batch dimensions are before. Inputs and results are in the Call's
// scratch memory. Single matrices are made with make, and input reserves their memory in advance.

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	all := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128}
	halves := append(all[:4:4], tensor.Float16)
	of := func(op string, types []tensor.DType, run func(*engine.Call) error) engine.Kernel {
		return engine.Kernel{Op: op, Run: run, Types: engine.Types{"T": types}, Precision: engine.Accumulated}
	}
	var (
		inverse         = either(inverse[float64], inverse[complex128])
		solve           = either(solve[float64], solve[complex128])
		solveLs         = either(solveLs[float64], solveLs[complex128])
		triangularSolve = either(triangularSolve[float64], triangularSolve[complex128])
		bandedSolve     = either(bandedSolve[float64], bandedSolve[complex128])
		determinant     = either(determinant[float64], determinant[complex128])
		cholesky        = either(cholesky[float64], cholesky[complex128])
		selfAdjointEig  = either(selfAdjointEig[float64], selfAdjointEig[complex128])
		svd             = either(svd[float64], svd[complex128])
	)
	return []engine.Kernel{
		of("Cholesky", all, cholesky), of("BatchCholesky", all[:2], cholesky),
		of("MatrixInverse", halves, inverse), of("BatchMatrixInverse", append(all[:2:2], tensor.Float16), inverse),
		of("MatrixDeterminant", all, determinant), of("BatchMatrixDeterminant", all, determinant),
		of("LogMatrixDeterminant", all, either(logDeterminant[float64], logDeterminant[complex128])),
		of("MatrixSolve", all, solve), of("BatchMatrixSolve", all, solve),
		of("MatrixTriangularSolve", all, triangularSolve), of("BatchMatrixTriangularSolve", all, triangularSolve),
		of("Lu", all, either(lu[float64], lu[complex128])), of("Qr", halves, either(qr[float64], qr[complex128])),
		of("SelfAdjointEigV2", all, selfAdjointEig), of("BatchSelfAdjointEigV2", all, selfAdjointEig),
		of("Svd", all, svd), of("BatchSvd", all, svd),
		of("SelfAdjointEig", all[:2], selfAdjointEigV1), of("BatchSelfAdjointEig", all[:2], selfAdjointEigV1),
		of("CholeskyGrad", all[:2], choleskyGrad), of("BatchCholeskyGrad", all[:2], choleskyGrad),
		of("Eig", all, eig), of("MatrixExponential", all, either(matrixFunction(exponential[float64]), matrixFunction(exponential[complex128]))),
		of("MatrixLogarithm", all[2:], matrixFunction(throughSchur(triangleLog))), of("MatrixSquareRoot", all, squareRoot),
		of("MatrixSolveLs", all, solveLs), of("BatchMatrixSolveLs", all[:2], solveLs), of("BandedTriangularSolve", all, bandedSolve),
		of("TridiagonalMatMul", all, either(tridiagonalMatMul[float64], tridiagonalMatMul[complex128])),
		of("TridiagonalSolve", all, either(tridiagonalSolve[float64], tridiagonalSolve[complex128])),
	}
}

// either returns a kernel that runs the real or the complex function, by input
// 0's type.
func either(real, complex func(*engine.Call) error) func(*engine.Call) error {
	return func(c *engine.Call) error {
		if c.NumIn() > 0 && c.In(0) != nil && c.In(0).DType().IsComplex() {
			return complex(c)
		}
		return real(c)
	}
}

// scalar has the types in which elements are computed.
type scalar interface{ float64 | complex128 }

// matrix is a matrix in row-major order. v has rows·cols elements.
type matrix[T scalar] struct {
	rows, cols int
	v          []T
}

func newMatrix[T scalar](rows, cols int) matrix[T] {
	return matrix[T]{rows, cols, make([]T, rows*cols)}
}

func identity[T scalar](n int) matrix[T] {
	m := newMatrix[T](n, n)
	for i := range n {
		m.v[i*n+i] = 1
	}
	return m
}

func (m matrix[T]) row(i int) []T { return m.v[i*m.cols : (i+1)*m.cols] }

func (m matrix[T]) clone() matrix[T] {
	m.v = append([]T(nil), m.v...)
	return m
}

// transpose returns the transpose.
func (m matrix[T]) transpose() matrix[T] {
	t := newMatrix[T](m.cols, m.rows)
	for i := range m.rows {
		for j, z := range m.row(i) {
			t.v[j*m.rows+i] = z
		}
	}
	return t
}

// adjoint returns the conjugate transpose.
func (m matrix[T]) adjoint() matrix[T] {
	t := m.transpose()
	conjugate(t.v)
	return t
}

// batch is a tensor viewed as matrices. outer is the shape of the batch, without the matrices.
type batch[T scalar] struct {
	outer      tensor.Shape
	rows, cols int
	v          []T
}

func (b batch[T]) len() int { return shapes.Count(b.outer) }

// at returns matrix i, which the caller may change.
func (b batch[T]) at(i int) matrix[T] {
	n := b.rows * b.cols
	return matrix[T]{b.rows, b.cols, b.v[i*n : (i+1)*n]}
}

// input reads input i, into memory that lasts until the kernel returns. If square is set, other
// matrices are an error.
func input[T scalar](c *engine.Call, i int, square bool) (batch[T], error) {
	x := c.In(i)
	s := x.Shape()
	if len(s) < 2 {
		return batch[T]{}, fmt.Errorf("input %d has shape %v, of fewer than 2 dimensions", i, s)
	}
	b := batch[T]{outer: s[:len(s)-2], rows: s[len(s)-2], cols: s[len(s)-1]}
	if square && b.rows != b.cols {
		return batch[T]{}, fmt.Errorf("input %d has matrices of %d rows and %d columns, which aren't square", i, b.rows, b.cols)
	}
	b.v, _ = engine.Scratch[T](c, x.Len())
	// Algorithms make more matrices on each worker, about four of this size.
	var zero T
	c.Reserve(4 * int(unsafe.Sizeof(zero)) * b.rows * b.cols * min(b.len(), c.Workers().Count()))
	return b, widen(c, b.v, x)
}

// widen sets v to the elements of a tensor. It checks the context between parts.
func widen[T scalar](c *engine.Call, v []T, x *tensor.Tensor) error {
	switch v := any(v).(type) {
	case []float64:
		if x.DType() == tensor.Float32 {
			inParts(c, v, tensor.Values[float32](x), func(dst []float64, src []float32) {
				for i, e := range src {
					dst[i] = float64(e)
				}
			})
			return nil
		}
	case []complex128:
		if x.DType() == tensor.Complex64 {
			inParts(c, v, tensor.Values[complex64](x), func(dst []complex128, src []complex64) {
				for i, e := range src {
					dst[i] = complex128(e)
				}
			})
			return nil
		}
	}
	wide, err := tensor.Cast(x, tensor.TypeOf[T]()) // x itself if it has the type
	if err == nil {
		inParts(c, v, tensor.Values[T](wide), func(dst, src []T) { copy(dst, src) })
	}
	return err
}

// inParts calls f for parts of two slices. It checks the context before each.
func inParts[T, S any](c *engine.Call, dst []T, src []S, f func(dst []T, src []S)) {
	const part = 1 << 18
	for at := 0; at < len(src); at += part {
		c.Check()
		f(dst[at:], src[at:min(at+part, len(src))])
	}
}

// result has memory for the elements of an output. dims is the whole shape of the output.
type result[T scalar] struct {
	dims tensor.Shape
	v    []T
}

// newResult returns a result whose memory lasts until the kernel returns.
func newResult[T scalar](c *engine.Call, outer tensor.Shape, dims ...int) *result[T] {
	c.Check() // zeroing the memory of several results takes a while
	s := append(outer.Clone(), dims...)
	v, _ := engine.Scratch[T](c, shapes.Count(s))
	clear(v)
	return &result[T]{s, v}
}

// at returns part i of the result, whose last two dimensions are a matrix.
func (r *result[T]) at(i int) matrix[T] {
	rows, cols := r.dims[len(r.dims)-2], r.dims[len(r.dims)-1]
	return matrix[T]{rows, cols, r.v[i*rows*cols : (i+1)*rows*cols]}
}

// put stores part k of the result. Part k has the length of v.
func (r *result[T]) put(k int, v []T) { copy(r.v[k*len(v):], v) }

// putTransposed stores the transpose of a matrix as part k.
func (r *result[T]) putTransposed(k int, m matrix[T]) {
	to := r.at(k)
	for i := range m.rows {
		for j, z := range m.row(i) {
			to.v[j*to.cols+i] = z
		}
	}
}

// setOutput stores the result as output i, in input 0's type.
func (r *result[T]) setOutput(c *engine.Call, i int) error {
	return r.setOutputAs(c, i, c.In(0).DType())
}

func (r *result[T]) setOutputAs(c *engine.Call, i int, d tensor.DType) error {
	out, err := c.Alloc(i, d, r.dims)
	if err != nil {
		return err
	}
	switch v := any(r.v).(type) {
	case []float64:
		if d == tensor.Float32 {
			to := tensor.Values[float32](out)
			for k, x := range v {
				to[k] = float32(x)
			}
			return nil
		}
	case []complex128:
		if d == tensor.Complex64 {
			to := tensor.Values[complex64](out)
			for k, x := range v {
				to[k] = complex64(x)
			}
			return nil
		}
	}
	t, err := tensor.New(r.v, r.dims...)
	if err != nil {
		return err
	}
	if t, err = tensor.Cast(t, d); err == nil {
		copy(out.Bytes(), t.Bytes())
	}
	return err
}

// cube returns n³, about the number of multiplications of most algorithms for a matrix of n rows.
// The argument ns of each is a multiple of it.
func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }
