// Package run loads and calls SavedModels.
//
// [Load] makes a [Model] of a MetaGraph. It has weights that never change,
// plans that are compiled once, and its own state: variables, tables, random
// numbers. [Model.Instantiate] makes another model that shares the weights.
//
//	model, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
//	sig, err := model.Signature("serving_default")
//	out, err := sig.Call(ctx, map[string]*tensor.Tensor{"x": x})
//
// Functions anywhere in the object graph are called by their path:
//
//	f, err := model.Function("keras_api/call_and_return_conditional_losses")
//	y, err := f.Call(ctx, []any{x, false}, nil)
//
// [LoadOptions].Objects loads a part of the object graph with all that it
// needs.
//
// This package links no kernel: the options supply the kernels. Ops read only
// the files that [LoadOptions].Files grants, and the model's own assets.
package run
