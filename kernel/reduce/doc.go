// Package reduce holds the kernels that reduce axes: sums, products, extremes,
// logic, arg-extremes, and running sums and products.
//
// An input's dimensions are joined to groups that are kept or reduced in turn;
// the groups are reduced one after the other, the last one first. Half precision
// is summed in float32.
package reduce
