package math

import (
	stdmath "math"
	"math/cmplx"

	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of ComplexAbs, Real, Imag, Angle and Complex, by element type.

var complexAbs = elementwise.ByType{
	tensor.Complex64: elementwise.Unary(func(dst []float32, x []complex64) {
		for i, z := range x {
			dst[i] = float32(cmplx.Abs(complex128(z)))
		}
	}, 5),
	tensor.Complex128: elementwise.Unary(func(dst []float64, x []complex128) {
		for i, z := range x {
			dst[i] = cmplx.Abs(z)
		}
	}, 5),
}

var realPart = elementwise.ByType{
	tensor.Complex64: elementwise.Unary(func(dst []float32, x []complex64) {
		for i, z := range x {
			dst[i] = real(z)
		}
	}, 1),
	tensor.Complex128: elementwise.Unary(func(dst []float64, x []complex128) {
		for i, z := range x {
			dst[i] = real(z)
		}
	}, 1),
}

var imagPart = elementwise.ByType{
	tensor.Complex64: elementwise.Unary(func(dst []float32, x []complex64) {
		for i, z := range x {
			dst[i] = imag(z)
		}
	}, 1),
	tensor.Complex128: elementwise.Unary(func(dst []float64, x []complex128) {
		for i, z := range x {
			dst[i] = imag(z)
		}
	}, 1),
}

var angle = elementwise.ByType{
	tensor.Complex64: elementwise.Unary(func(dst []float32, x []complex64) {
		for i, z := range x {
			dst[i] = float32(stdmath.Atan2(float64(imag(z)), float64(real(z))))
		}
	}, 15),
	tensor.Complex128: elementwise.Unary(func(dst []float64, x []complex128) {
		for i, z := range x {
			dst[i] = stdmath.Atan2(imag(z), real(z))
		}
	}, 15),
}

var makeComplex = elementwise.ByType{
	tensor.Float32: elementwise.Binary(
		func(dst []complex64, a, b []float32) {
			for i := range dst {
				dst[i] = complex(a[i], b[i])
			}
		},
		func(dst []complex64, a []float32, b float32) {
			for i := range dst {
				dst[i] = complex(a[i], b)
			}
		},
		func(dst []complex64, a float32, b []float32) {
			for i := range dst {
				dst[i] = complex(a, b[i])
			}
		}, 1),
	tensor.Float64: elementwise.Binary(
		func(dst []complex128, a, b []float64) {
			for i := range dst {
				dst[i] = complex(a[i], b[i])
			}
		},
		func(dst []complex128, a []float64, b float64) {
			for i := range dst {
				dst[i] = complex(a[i], b)
			}
		},
		func(dst []complex128, a float64, b []float64) {
			for i := range dst {
				dst[i] = complex(a, b[i])
			}
		}, 1),
}
