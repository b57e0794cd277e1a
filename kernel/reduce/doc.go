// Package reduce holds the kernels that reduce axes: sums, products, extremes,
// logic, arg-extremes, and running sums and products.
//
// An input's dimensions are joined to groups that are kept or reduced in turn;
// the groups are reduced one after the other, the last one first. Sums of bfloat16
// are made in float32; those of float16, and products of both, are rounded at every
// step, in TensorFlow's order of steps.
package reduce
