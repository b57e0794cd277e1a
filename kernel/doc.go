// Package kernel joins the built-in kernels, family by family, to one set.
//
// Each family is a package below this one with a table of TensorFlow op names:
// math (arithmetic and comparisons, element by element), matmul, reduce, array
// (shapes, slices, joins, gathers), nn (activations, losses), random, state
// (variables and optimizers), io (checkpoints), composite (functions of other ops). [All] is their union; nothing
// is registered elsewhere.
package kernel
