// Package savedmodel reads and writes TensorFlow's SavedModels, of any version
// since 1.0. A SavedModel is a directory with the graph (saved_model.pb, its
// text form or the chunked saved_model.cpb), the weights (variables/) and other
// files (assets/).
//
// # Reading
//
// [Read] reads the graph's file and nothing else. A [SavedModel] has one
// [MetaGraph] or several, distinguished by their tags. A MetaGraph has
// signatures, a graph with a function library, and, if TensorFlow 2 wrote
// it, an object graph.
//
//	SavedModel ── MetaGraphs ── Signatures: inputs and outputs by name
//	                         ── Graph: the nodes and functions
//	                         ── Objects: variables, functions, assets … by path
//	                         ── Assets, Collections, Versions
//
// Package run makes a model of a MetaGraph, whose signatures and functions can
// be called. This package links no engine and no kernel.
//
// # Writing
//
// [Save] writes a Go object with all that it reaches: variables, functions that
// were traced, assets, objects of loaded models.
//
//	serve, err := m.Predict.Trace(Features{X: ops.Spec(tensor.Float32, -1, 4)})
//	err = savedmodel.Save(ctx, m, dir, &savedmodel.SaveOptions{
//		Signatures: map[string]*function.Concrete{"serving_default": serve},
//	})
//
// The files of the directory:
//
//	saved_model.pb               SavedModel ── MetaGraphDef
//	                               meta_info_def     tags, ops, aliases
//	                               graph_def         the main graph, which sessions run; the function library
//	                               signature_def     the calls, by name
//	                               saver_def         the ops that save and restore
//	                               object_graph_def  nodes, edges, and the traces' types
//	                               asset_file_def    the files in assets/
//	variables/variables.index    the checkpoint of the same object graph (package bundle)
//	variables/variables.data-*   its values
//	assets/                      the files that the model reads
//	fingerprint.pb               hashes of the parts above
//
// [Restore] makes live objects of a model, which can be changed and saved
// again.
//
// # Classes
//
// A program registers its classes ([Register]) and saves and loads with a
// [Serializer] of their package. A package is the prefix of a class's identifier,
// not a Go package. A class decides which data its objects save
// ([SaveSpec]), with a version and metadata, and makes objects of saved data
// ([LoadSpec]). Objects of classes that a program doesn't know are generic ones
// ([TrackableObject]), which keep the file's data.
package savedmodel
