// Package engine executes ops, one by one or as a [Plan] of prepared kernels,
// which [Compile] makes from a graph.Function.
//
// A [Kernel] has the name of an op of TensorFlow and a function over a [Call].
// A [KernelSet] is a value that maps op names to kernels; there is no global
// registry. kernel.All returns the built-in kernels, and [KernelSet.With] adds
// others:
//
//	set, err := kernel.All().With(engine.Kernel{Op: "MyOp", Run: runMyOp})
//
// A [Call] has the inputs, the attributes and the outputs of one execution. It
// also provides output buffers, which may be recycled when the step ends,
// workers ([Call.Parallel]), and the granted files ([Call.Reading],
// [Call.Writing]). A kernel can open no other files. [Call.Refs] has the
// counted references, for kernels that store values or call functions.
//
// Package passes has the rewrites of a function before it is compiled.
package engine
