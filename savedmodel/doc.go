// Package savedmodel reads and writes TensorFlow's SavedModels, of any version
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
// Package run makes a model of a MetaGraph, whose signatures and functions can be
// called. This package links no engine and no kernel.
package savedmodel
