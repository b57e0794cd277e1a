// Package elementwise drives the loops of package vec over whole tensors: it
// broadcasts, shares large work among the cores, and lets half precision run
// through float32. Many packages of kernels use it.
package elementwise
