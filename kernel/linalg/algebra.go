package linalg

import (
	"context"
	"math"
	"math/cmplx"
	"unsafe"

	"github.com/cairnml/cairn/kernel/internal/gemm"
	"github.com/cairnml/cairn/kernel/internal/vec"
)

// Vectors and products of matrices. Elements are float64 or complex128. Real vectors use
// package vec, and all products package gemm; loops over complex vectors are here.

// axpy adds a times x to dst.
func axpy[T scalar](dst []T, a T, x []T) {
	if a != 0 {
		addScaled(dst, a, x)
	}
}

// addScaled adds a times x to dst. If x has infinities or NaN, a zero a has an effect, too.
func addScaled[T scalar](dst []T, a T, x []T) {
	switch d := any(dst).(type) {
	case []float64:
		vec.AddScaled(d[:len(x)], any(x).([]float64), any(a).(float64))
	case []complex128:
		a, x := any(a).(complex128), any(x).([]complex128)
		d = d[:len(x)]
		re, im := real(a), imag(a)
		for i, v := range x {
			d[i] += complex(re*real(v)-im*imag(v), re*imag(v)+im*real(v))
		}
	}
}

// dot returns the sum of the products of elements.
func dot[T scalar](a, b []T) T {
	switch a := any(a).(type) {
	case []float64:
		return any(vec.Dot(a, any(b).([]float64))).(T)
	case []complex128:
		b := any(b).([]complex128)[:len(a)]
		var re, im float64
		for i, x := range a {
			y := b[i]
			re += real(x)*real(y) - imag(x)*imag(y)
			im += real(x)*imag(y) + imag(x)*real(y)
		}
		return any(complex(re, im)).(T)
	}
	return 0
}

// addAndSum adds a[i] times x to row i of v, and then the conjugate of z[i] times that row to sum, for
// all rows in turn. A row begins stride elements after the one before.
func addAndSum[T scalar](v []T, stride int, a, x, z, sum []T) {
	if v, ok := any(v).([]float64); ok {
		vec.UpdateAndSum(v, stride, any(a).([]float64), any(x).([]float64), any(z).([]float64), any(sum).([]float64))
		return
	}
	for i, a := range a {
		row := v[i*stride:][:len(x)]
		axpy(row, a, x)
		axpy(sum, conj(z[i]), row)
	}
}

// addAndDot adds a[i] times x to row i of v, and sets dots[i] to the sum of the products of that row's
// elements and y's, for all rows. A row begins stride elements after the one before.
func addAndDot[T scalar](v []T, stride int, a, x, y, dots []T) {
	if v, ok := any(v).([]float64); ok {
		vec.UpdateAndDot(v, stride, any(a).([]float64), any(x).([]float64), any(y).([]float64), any(dots).([]float64))
		return
	}
	for i, a := range a {
		row := v[i*stride:][:len(x)]
		axpy(row, a, x)
		dots[i] = dot(row, y)
	}
}

// norm2 returns the sum of the squares of magnitudes.
func norm2[T scalar](a []T) float64 {
	r := reals(a)
	return vec.Dot(r, r)
}

// scale multiplies the elements by a.
func scale[T scalar](x []T, a T) {
	for i := range x {
		x[i] *= a
	}
}

// conjugate conjugates the elements.
func conjugate[T scalar](x []T) {
	if x, ok := any(x).([]complex128); ok {
		for i, z := range x {
			x[i] = complex(real(z), -imag(z))
		}
	}
}

// conj returns the conjugate of a number.
func conj[T scalar](z T) T {
	if z, ok := any(z).(complex128); ok {
		return any(cmplx.Conj(z)).(T)
	}
	return z
}

// realOf returns the real part of a number.
func realOf[T scalar](z T) float64 {
	switch z := any(z).(type) {
	case float64:
		return z
	case complex128:
		return real(z)
	}
	return 0
}

// asScalar returns a real number as one of T.
func asScalar[T scalar](x float64) T {
	var z T
	switch p := any(&z).(type) {
	case *float64:
		*p = x
	case *complex128:
		*p = complex(x, 0)
	}
	return z
}

// magnitude returns the absolute value.
func magnitude[T scalar](z T) float64 {
	switch z := any(z).(type) {
	case float64:
		return math.Abs(z)
	case complex128:
		return cmplx.Abs(z)
	}
	return 0
}

// reals returns the same memory as real numbers; a complex number becomes two.
func reals[T scalar](x []T) []float64 {
	switch x := any(x).(type) {
	case []float64:
		return x
	case []complex128:
		return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	}
	return nil
}

// product returns a·b. If the context ends, the result is incomplete; in that
// case each reports the context's error.
func product[T scalar](ctx context.Context, a, b matrix[T]) matrix[T] {
	const most = 1 << 27 // multiplications between two checks of the context, some 50 ms
	out := newMatrix[T](a.rows, b.cols)
	rows := max(32, most/max(1, a.cols*b.cols))
	for from := 0; from < a.rows && ctx.Err() == nil; from += rows {
		m := min(rows, a.rows-from)
		addProduct(out.v[from*out.cols:], out.cols, a.v[from*a.cols:], a.cols, b.v, b.cols, m, b.cols, a.cols, 1)
	}
	return out
}

// addProduct adds sign times a·b to c; sign is 1 or -1. a is m by k, b is k by n. The rows of
// c, a and b begin ldc, lda and ldb elements after each other.
func addProduct[T scalar](c []T, ldc int, a []T, lda int, b []T, ldb int, m, n, k int, sign float64) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	switch c := any(c).(type) {
	case []float64:
		a, b := any(a).([]float64), any(b).([]float64)
		if sign < 0 {
			negative, free := gemm.Borrow[float64](m * k)
			defer free()
			for i := range m {
				for j, x := range a[i*lda:][:k] {
					negative[i*k+j] = -x
				}
			}
			a, lda = negative, k
		}
		gemm.F64(c, ldc, a, lda, false, b, ldb, false, m, n, k, true, nil)
	case []complex128:
		addComplexProduct(c, ldc, any(a).([]complex128), lda, any(b).([]complex128), ldb, m, n, k, sign)
	}
}

// addComplexProduct multiplies b by the real and by the imaginary parts of a,
// as real matrices, and adds both products to c.
func addComplexProduct(c []complex128, ldc int, a []complex128, lda int, b []complex128, ldb int, m, n, k int, sign float64) {
	parts, free := gemm.Borrow[float64](2 * m * k)
	defer free()
	products, freeProducts := gemm.Borrow[float64](4 * m * n)
	defer freeProducts()
	for i := range m {
		re, im := parts[i*k:][:k], parts[(m+i)*k:][:k]
		for j, z := range a[i*lda:][:k] {
			re[j], im[j] = sign*real(z), sign*imag(z)
		}
	}
	gemm.F64(products, 2*n, parts, k, false, reals(b), 2*ldb, false, 2*m, 2*n, k, false, nil)
	for i := range m {
		x, y := products[2*i*n:][:2*n], products[2*(m+i)*n:][:2*n]
		for j := range c[i*ldc:][:n] {
			c[i*ldc+j] += complex(x[2*j]-y[2*j+1], x[2*j+1]+y[2*j])
		}
	}
}
