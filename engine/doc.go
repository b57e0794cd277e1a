// Package engine runs ops, one by one or as a plan: it holds what a kernel is,
// where kernels are looked up, what a kernel may use while it runs, and how a
// graph.Function is compiled to a [Plan] of prepared kernels.
//
// A [Kernel] is TensorFlow's op name and a function over a [Call]. A
// [KernelSet] is a value that maps op names to kernels; nothing is registered
// behind anyone's back. kernel.All lists the built-in ones, and
// [KernelSet.With] adds a user's own:
//
//	set, err := kernel.All().With(engine.Kernel{Op: "MyOp", Run: runMyOp})
//
// A [Call] carries the inputs, the attributes and the outputs of one
// execution. It also hands out what is scarce: output buffers (which may be
// recycled when the step ends), workers ([Call.Parallel]), and the file grant
// ([Call.Reading], [Call.Writing]), without which no kernel reaches a disk.
package engine
