// Package losses has the losses of tf_keras.
//
//	loss := losses.SparseCategoricalCrossentropy{FromLogits: true}.Loss(s, labels, logits, nil)
//
// A loss is a function of each example, its method Call, and a [Reduction]. Its exported
// fields are its config; the zero value has tf_keras's defaults. [FunctionByName] returns
// tf_keras's functional forms, and [Get] makes a loss of a name or a config.
//
// A program's own loss is a [Func], or a type that implements [Loss] by calling [Reduce].
//
// Formulas, their constants and the order of operations are tf_keras's.
//
// # Masks
//
// Predictions carry the masks of layers; see [base.MaskOf]. Hidden examples count neither
// in the sum nor in the mean.
package losses
