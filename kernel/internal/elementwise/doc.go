// Package elementwise drives the loops of package vec over whole tensors: it
// broadcasts, shares large work among the cores, and computes half precision in
// float32, rounding each result of a loop. Kernels of most families use it. Each
// element's operations and roundings must stay in their order, for any number of
// cores: they decide the last bit.
package elementwise
