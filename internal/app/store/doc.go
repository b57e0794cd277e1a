// Package store opens files of named tensors, whatever their format: TensorFlow
// checkpoints, a SavedModel's variables, numpy's .npz and safetensors. The
// command's verbs are written against [Store] and [Sink], so that each works on
// every kind.
//
// A checkpoint in a safetensors file is stored under its own names; what the
// format lacks (strings and with them the object graph, narrow integers, the
// order of writing) stands in the file's metadata under "cairn.checkpoint", see
// [Layout]. Opened here, such a file shows what the checkpoint held.
package store
