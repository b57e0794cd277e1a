package gemm

//go:generate sh -c "cd _asm && go run . avx2 && go run . avx512"

import (
	"fmt"
	"unsafe"
)

// Parallel is a budget of workers that a product may borrow from.
// *engine.Workers is one. Run calls fn over pieces that cover [0, n), on
// several goroutines at once or on none but the caller's. nsEach is the
// approximate time for one index, in nanoseconds. Run returns when all pieces
// are done. Count returns the largest number of goroutines. The interface keeps
// this package free of package engine.
type Parallel interface {
	Run(n int, nsEach float64, fn func(lo, hi int))
	Count() int
}

// checker is a Parallel whose caller may leave a product before its end: Check then
// panics. Tasks call it between parts of their work.
type checker interface{ Check() }

// checkOf returns par's Check; nil if it has none.
func checkOf(par Parallel) checker {
	c, _ := par.(checker)
	return c
}

// F32 computes C = op(A)·op(B), or C += op(A)·op(B) if accumulate is set, of
// row-major matrices:
//
//	for i in [0, m), j in [0, n):
//		c[i*ldc+j] = Σ over p in [0, k) of op(A)[i, p]·op(B)[p, j]
//
// op(A) is m×k: a contains it row by row, lda elements apart (lda ≥ k), or,
// with transA, its transpose, k rows lda elements apart (lda ≥ m). op(B) is
// k×n: ldb ≥ n, or, with transB, n rows of k with ldb ≥ k. C is m×n, ldc ≥ n;
// elements between its rows stay unchanged. C must not overlap A or B.
//
// If k is 0 the sum is empty: C is zeroed, or kept when accumulating. A nil par
// runs everything on the caller's goroutine. A result does not depend on par;
// the package comment lists more that it does not depend on. A slice too short
// for its dimensions, or a negative dimension, is a panic: callers check
// shapes, because they can name the op in an error.
func F32(c []float32, ldc int, a []float32, lda int, transA bool, b []float32, ldb int, transB bool, m, n, k int, accumulate bool, par Parallel) {
	mul(c, ldc, a, lda, transA, b, ldb, transB, m, n, k, accumulate, par)
}

// F64 multiplies as [F32] does, for float64.
func F64(c []float64, ldc int, a []float64, lda int, transA bool, b []float64, ldb int, transB bool, m, n, k int, accumulate bool, par Parallel) {
	mul(c, ldc, a, lda, transA, b, ldb, transB, m, n, k, accumulate, par)
}

type float interface{ float32 | float64 }

func mul[T float](c []T, ldc int, a []T, lda int, transA bool, b []T, ldb int, transB bool, m, n, k int, accumulate bool, par Parallel) {
	check("C", len(c), ldc, m, n, false)
	check("A", len(a), lda, m, k, transA)
	check("B", len(b), ldb, k, n, transB)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		if !accumulate {
			for i := range m {
				clear(c[i*ldc : i*ldc+n])
			}
		}
		return
	}
	size := unsafe.Sizeof(T(0))
	p := product{
		a: unsafe.Pointer(unsafe.SliceData(a)), aRow: uintptr(lda) * size, aCol: size,
		b: unsafe.Pointer(unsafe.SliceData(b)), bRow: uintptr(ldb) * size, bCol: size,
		c: unsafe.Pointer(unsafe.SliceData(c)), cRow: uintptr(ldc) * size,
		m: m, n: n, k: k,
		size: int(size),
		add:  accumulate,
		path: Path(current.Load()),
	}
	if transA {
		p.aRow, p.aCol = p.aCol, p.aRow
	}
	if transB {
		p.bRow, p.bCol = p.bCol, p.bRow
	}
	p.geometry = &geometries[p.path][p.size/8]
	if n == 1 {
		// One column may as well be contiguous; and many rows of one column
		// are better computed as one row, of the product of the transposes.
		p.bCol = size
		if p.cRow == size && m > p.rows {
			p.a, p.b = p.b, p.a
			p.aRow, p.aCol, p.bRow, p.bCol = size, p.bRow, p.aCol, p.aRow
			p.m, p.n = 1, m
			p.cRow = uintptr(m) * size
		}
	}
	p.run(par)
}

// check panics unless a slice of length have holds rows × cols elements (or,
// transposed, cols × rows), ld apart.
func check(name string, have, ld, rows, cols int, trans bool) {
	if trans {
		rows, cols = cols, rows
	}
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("BUG: gemm: %s has dimensions %d×%d", name, rows, cols))
	}
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols || have < cols || (have-cols)/ld < rows-1 {
		panic(fmt.Sprintf("BUG: gemm: %s of %d×%d, rows %d apart, does not fit %d elements", name, rows, cols, ld, have))
	}
}
