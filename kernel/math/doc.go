// Package math implements the kernels that work element by element: arithmetic,
// comparisons, logic, choice, casts, and the activations and gradients that are
// such functions. The table of most of them is generated from gen.go over the
// loops of package vec.
package math

//go:generate go run gen.go
