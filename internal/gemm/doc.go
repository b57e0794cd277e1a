// Package gemm multiplies matrices of float32 and float64.
package gemm
