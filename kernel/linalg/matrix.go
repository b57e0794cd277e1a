// Package linalg holds the kernels of linear algebra: factorizations, solvers
// and decompositions of batches of matrices. All compute in double precision, on
// complex numbers, and round once.
package linalg

import (
	"fmt"
	"math/cmplx"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// Kernels returns the family's table.
func Kernels() []engine.Kernel {
	all := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128}
	halves := append(all[:4:4], tensor.Float16)
	of := func(op string, types []tensor.DType, run func(*engine.Call) error) engine.Kernel {
		return engine.Kernel{Op: op, Run: run, Types: engine.Types{"T": types}, Precision: engine.Accumulated}
	}
	return []engine.Kernel{
		of("Cholesky", all, cholesky), of("BatchCholesky", all[:2], cholesky),
		of("MatrixInverse", halves, inverse), of("BatchMatrixInverse", append(all[:2:2], tensor.Float16), inverse),
		of("MatrixDeterminant", all, determinant), of("BatchMatrixDeterminant", all, determinant),
		of("LogMatrixDeterminant", all, logDeterminant),
		of("MatrixSolve", all, solve), of("BatchMatrixSolve", all, solve),
		of("MatrixTriangularSolve", all, triangularSolve), of("BatchMatrixTriangularSolve", all, triangularSolve),
		of("Lu", all, lu), of("Qr", halves, qr),
		of("SelfAdjointEigV2", all, selfAdjointEig), of("BatchSelfAdjointEigV2", all, selfAdjointEig),
		of("Svd", all, svd), of("BatchSvd", all, svd),
		of("SelfAdjointEig", all[:2], selfAdjointEigV1), of("BatchSelfAdjointEig", all[:2], selfAdjointEigV1),
		of("CholeskyGrad", all[:2], choleskyGrad), of("BatchCholeskyGrad", all[:2], choleskyGrad),
		of("Eig", all, eig), of("MatrixExponential", all, function(exponential)),
		of("MatrixLogarithm", all[2:], function(throughSchur(triangleLog))), of("MatrixSquareRoot", all, squareRoot),
		of("MatrixSolveLs", all, solveLs), of("BatchMatrixSolveLs", all[:2], solveLs), of("BandedTriangularSolve", all, bandedSolve),
		of("TridiagonalMatMul", all, tridiagonalMatMul), of("TridiagonalSolve", all, tridiagonalSolve),
	}
}

// matrix is a matrix in row-major order.
type matrix struct {
	rows, cols int
	v          []complex128
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]complex128, rows*cols)} }

func identity(n int) matrix {
	m := newMatrix(n, n)
	for i := range n {
		m.v[i*n+i] = 1
	}
	return m
}

func (m matrix) row(i int) []complex128 { return m.v[i*m.cols : (i+1)*m.cols] }

func (m matrix) clone() matrix {
	m.v = append([]complex128(nil), m.v...)
	return m
}

// adjoint returns the conjugate transpose.
func (m matrix) adjoint() matrix {
	t := newMatrix(m.cols, m.rows)
	for i := range m.rows {
		for j, z := range m.row(i) {
			t.v[j*m.rows+i] = cmplx.Conj(z)
		}
	}
	return t
}

// batch is a tensor as matrices.
type batch struct {
	outer      tensor.Shape
	rows, cols int
	v          []complex128
}

func (b batch) len() int { return shapes.Count(b.outer) }

// at returns a copy of matrix i.
func (b batch) at(i int) matrix {
	n := b.rows * b.cols
	return matrix{b.rows, b.cols, b.v[i*n : (i+1)*n]}.clone()
}

// input reads input i.
func input(c *engine.Call, i int, square bool) (batch, error) {
	x := c.In(i)
	s := x.Shape()
	if len(s) < 2 {
		return batch{}, fmt.Errorf("input %d has shape %v, of fewer than 2 dimensions", i, s)
	}
	b := batch{outer: s[:len(s)-2], rows: s[len(s)-2], cols: s[len(s)-1]}
	if square && b.rows != b.cols {
		return batch{}, fmt.Errorf("input %d has matrices of %d rows and %d columns, which aren't square", i, b.rows, b.cols)
	}
	wide, err := tensor.Cast(x, tensor.Complex128)
	if err != nil {
		return batch{}, err
	}
	b.v = tensor.Values[complex128](wide)
	return b, nil
}

// result has room for what becomes output i.
type result struct {
	dims tensor.Shape
	v    []complex128
}

func newResult(outer tensor.Shape, dims ...int) *result {
	s := append(outer.Clone(), dims...)
	return &result{s, make([]complex128, shapes.Count(s))}
}

// put stores part k of the result.
func (r *result) put(k int, v []complex128) { copy(r.v[k*len(v):], v) }

// give makes output i of the result, of input 0's type.
func (r *result) give(c *engine.Call, i int) error { return r.giveAs(c, i, c.In(0).DType()) }

func (r *result) giveAs(c *engine.Call, i int, d tensor.DType) error {
	t, err := tensor.New(r.v, r.dims...)
	if err != nil {
		return err
	}
	if !d.IsComplex() { // all imaginary parts are zero
		re := make([]float64, len(r.v))
		for k, z := range r.v {
			re[k] = real(z)
		}
		t = tensor.Must(tensor.New(re, r.dims...))
	}
	if t, err = tensor.Cast(t, d); err == nil {
		c.Set(i, t)
	}
	return err
}

// each calls f for each matrix of a batch, on all cores; the first error is
// returned. ns is roughly what a call takes.
func each(c *engine.Call, n int, ns float64, f func(i int) error) error {
	errs := make([]error, n)
	c.Parallel(n, ns, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.Context().Err() != nil {
				errs[i] = c.Context().Err()
				return
			}
			errs[i] = f(i)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) * 2 }
