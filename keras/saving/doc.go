// Package saving moves Keras models and their weights between Go and the files of
// Keras 2 (tf_keras) and Keras 3.
//
// [SaveWeights] and [LoadWeights] exchange the weights of a model with
// "NAME.weights.h5" and with the older "NAME.h5". LoadWeights also reads the weights of
// a whole model: a .keras archive or a .h5 file. TensorFlow's checkpoints are those of
// package checkpoint.
//
// [LoadModel] makes a model of a .keras archive or a .h5 file of Keras 2: the layers by
// their classes, their weights, and the optimizer with its state. [SaveModel] writes one.
//
// # Places of weights
//
// A .weights.h5 file and an archive name an object by the attributes that lead to it.
// A sequential or functional model has its layers in the list "layers", whose members
// are named by their classes:
//
//	layers/dense/vars/0              the kernel of the first Dense
//	layers/bidirectional/forward_layer/cell/vars/0
//	layers/dense_1/vars/1            the bias of the second Dense
//
// A model that is a struct has its layers on their edges and in "layers". tf_keras
// takes attributes in reverse alphabetical order, so an edge "o" comes before "layers"
// and an edge "d" after it: the layer on "d" is found in "layers". Keras 3 takes them in
// alphabetical order, those that begin with "_" last.
//
// An older .h5 file has a group for each layer of the model, by the layer's name. Its
// weights are in the order of the layer's trainable weights and then the others,
// whatever objects below the layer hold them. They are loaded by the order of the
// layers, or by their names ([LoadOptions.ByName]).
package saving
