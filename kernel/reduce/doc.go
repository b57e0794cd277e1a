// Package reduce implements the kernels that reduce axes: sums, products, extremes,
// logic, arg-extremes, and running sums and products.
//
// An input's dimensions are joined into groups, alternately kept and reduced.
// The groups are reduced one after the other, the last one first. Sums of
// bfloat16 are computed in float32. Those of float16, and products of both, are
// rounded at every step, in TensorFlow's order of steps.
package reduce
