// Package vec contains the inner loops of the kernels: one function per loop,
// over slices of equal length, with no broadcasting and no checks. Many
// packages of kernels use it.
//
// The loops of zz_binary.go and zz_unary.go are generated from the expressions
// in gen.go; each is generic over the element type, which the compiler turns
// into one concrete loop per type. None takes a function, because a call per
// element would make such loops slow.
//
// Names end in the kinds of their operands: V a slice, S one element. AddVS
// adds a scalar to every element of a slice.
package vec

//go:generate go run gen.go
