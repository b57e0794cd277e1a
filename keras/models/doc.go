// Package models saves Keras models as SavedModels, which tf_keras opens as the real
// classes, and opens those of tf_keras.
//
//	err := models.Save(ctx, model, "saved", nil)
//	loaded, err := models.Load(ctx, os.DirFS("saved"), nil)
//
// In Python, tf_keras.models.load_model("saved") returns the model with its classes,
// configs and weights. TensorFlow's other loaders call its functions and signature.
//
// # Saved objects
//
// Each layer, model and metric is a node of the object graph. The node has its own edges,
// and these, which Keras reads:
//
//	variables, trainable_variables           lists of variables
//	regularization_losses                    a list of functions without arguments
//	keras_api                                an object with the parts that only Keras needs:
//	  non_trainable_variables, layers, metrics, layer_regularization_losses, layer_metrics,
//	  and the attributes of the node again; call_and_return_conditional_losses
//	__call__                                 the outputs for some inputs
//	call_and_return_all_conditional_losses   the outputs, and a list of losses
//
// A layer's ops are stored once for each kind of inputs: the functions of the models and
// layers that call it call a function of the layer.
//
// The file keras_metadata.pb has an entry for each of these nodes: its number, its path,
// its identifier such as _tf_keras_layer, and JSON with its name, class, config and the
// shape for which it was built.
//
// A layer of a program adds its own attributes and properties; see [AttributeSaver].
//
// # Compile state
//
// With SaveOptions.Trainer the root's JSON has training_config, and the checkpoint in
// variables/ has the optimizer below the edge "optimizer" of the root. saved_model.pb does
// not have that edge: tf_keras restores an optimizer when it is made only then.
//
// The package uses only the exported interface of package savedmodel: a class for each
// identifier, whose Save lists the edges.
package models
