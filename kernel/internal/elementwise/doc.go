// Package elementwise drives the loops of package vec over whole tensors: it
// broadcasts, shares large work among the cores, and computes half precision in
// float32. Kernels of most families use it. Each element's operations and
// roundings must stay, for any number of cores.
package elementwise
