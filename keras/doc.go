// Package keras has the models of Keras 2, with its variables' places and names in a
// checkpoint. Layers, losses, metrics and optimizers are in other packages.
//
//	type Net struct {
//		keras.Model
//		L1 *layers.Dense // edge "l1"
//	}
//
//	func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }
//
// Files follow tf_keras 2.21 (the Keras 2 that is maintained for TensorFlow 2.21,
// whose own tf.keras is Keras 3): the same program in Python writes the same bytes.
// examples/guide is TensorFlow's checkpoint guide.
//
// # Layers and models
//
// A layer makes its variables at its first call, from the input's shape. If a
// checkpoint was restored before that, the variable is made with its value. [Layer]
// and [Model] are embedded by a program's own types; no type has to be registered. A
// struct's exported fields are its edges, in order.
//
// The full name of a variable, which files contain in addition to its key, is built
// from the names of the models and layers above it: net/dense/kernel. Automatic names
// are the type's in snake case, numbered in the order of fields, depth first (dense,
// dense_1). In Python they are numbered in the order of construction, over the whole
// process. A program that makes its layers in another order than that of their fields
// sets names. Sequential and functional models add no name and drop those above them.
//
// # Optimizers
//
// Package [github.com/cairnml/cairn/keras/optimizers] has them, and documents the
// places of their variables in a checkpoint.
//
// # Random numbers
//
// First values and dropout masks differ from run to run unless seeds are set: an
// initializer's or layer's own, or [WithSeed] for all of a scope. First values are
// tf_keras's for the same seed; dropout masks aren't.
package keras
