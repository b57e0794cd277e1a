// Package keras3 translates the configurations of models between Keras 2 (tf_keras) and Keras 3, as parsed
// JSON.
//
// A table has an entry for each class: its name in the other version, and the options that differ. An option
// is renamed, converted, or missing in the other version. A missing option is dropped if it has the value that
// the other version behaves as, and if it changes no result; otherwise the translation fails. So nothing is
// lost without an error or a note.
//
//	Keras 2                                    Keras 3
//	"dtype": "float32"                         {"class_name": "DTypePolicy", …}
//	"batch_input_shape" of an InputLayer       "batch_shape"
//	[["x", 0, 0, {"mask": null}]]              {"args": [{"class_name": "__keras_tensor__", …}], "kwargs": {…}}
//	TFOpLambda with "function": "math.add"     the operation keras.src.ops.numpy.Add
package keras3
