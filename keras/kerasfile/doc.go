// Package kerasfile reads and writes the files in which Keras 2 (tf_keras) and Keras 3 store models
// and weights, as containers: named weights, the configuration as JSON, assets. It knows no layers:
// package keras/saving makes models of the contents.
//
// [Open] determines the [Format] of a file. It reads names, types and shapes; each [Weight] is read
// when it is asked for. [Write] writes [Contents] in any format that can hold them.
//
// # Archives (.keras)
//
// A zip whose members are stored without compression:
//
//	metadata.json      {"keras_version": "3.15.1", "date_saved": "2026-11-26@17:50:58"}
//	config.json        the model's serialized object
//	model.weights.h5   the weights, as in the next section
//	assets/…           files of layers, such as vocabularies
//
// # Weights (.weights.h5)
//
// An HDF5 file. The group of each object is found by the path to it from the model: attributes, and
// for lists the class names of their members, so "layers/dense_1" is the second Dense of the list
// layers. The variables of an object are the datasets of its group "vars", numbered in their order;
// objects that save themselves choose other names. Keras 3 adds the object's name as the attribute
// "name" of "vars".
//
//	/layers/dense/vars         name = "dense"
//	/layers/dense/vars/0       float32 [3,4]
//	/layers/dense/vars/1       float32 [4]
//	/optimizer/vars/0          int64
//
// A bfloat16 variable is opaque bytes with the attribute dtype = "bfloat16".
//
// # Models and weights of old (.h5)
//
// An HDF5 file with the layers in their order, and each layer's weights in theirs. A file of weights
// alone has the contents of model_weights at its root.
//
//	/                           keras_version, backend, model_config, training_config
//	/model_weights              layer_names, backend, keras_version
//	/model_weights/dense        weight_names = "dense/kernel:0", "dense/bias:0"
//	/model_weights/dense/dense/kernel:0
//	/model_weights/top_level_model_weights
//	/optimizer_weights          weight_names = "iteration:0", …
//
// A list of names of more than 64,512 bytes is divided among the attributes layer_names0,
// layer_names1 and so on.
//
// # Refused files
//
// Members of an archive whose paths lead out of it, members with one name or in each other's bytes,
// and members that take more memory than [Options] allow are errors, and so is all that package hdf5
// refuses. Weights in .npz (a pickle) and in several files are named by an [UnsupportedError].
package kerasfile
