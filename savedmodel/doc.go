// Package savedmodel reads and runs TensorFlow's SavedModels, of any version
// since 1.0: a directory with the graph (saved_model.pb, its text form or the chunked
// saved_model.cpb), the weights (variables/) and other files (assets/).
//
// # Looking
//
// [Read] reads the file and nothing else. A [SavedModel] has one [MetaGraph] or
// several, distinguished by their tags; a MetaGraph has signatures, a graph with a
// library of functions, and, where TensorFlow 2 wrote it, a graph of objects.
//
//	SavedModel ── MetaGraphs ── Signatures: inputs and outputs by name
//	                         ── Graph: the nodes and functions
//	                         ── Objects: variables, functions, assets … by path
//	                         ── Assets, Collections, Versions
//
// # Running
//
// [Load] makes a [Model] of a MetaGraph: weights that never change, plans
// compiled once, and a state of its own: variables, tables, random numbers.
// [Model.Instantiate] makes another one over the same weights.
//
//	model, err := savedmodel.Load(ctx, os.DirFS(dir), &savedmodel.LoadOptions{Kernels: kernel.All()})
//	sig, err := model.Signature("serving_default")
//	out, err := sig.Call(ctx, map[string]*tensor.Tensor{"x": x})
//
// Functions that hang anywhere in the object graph are called by their path:
//
//	f, err := model.Function("keras_api/call_and_return_conditional_losses")
//	y, err := f.Call(ctx, []any{x, false}, nil)
//
// [LoadOptions].Objects loads a part of the graph of objects alone, with what it
// needs.
//
// This package links no kernel: the options bring them. Ops reach files only
// through what [LoadOptions].Files grants, and the model's own assets.
package savedmodel
