// Package training trains, evaluates and runs models as tf_keras's compile, fit, evaluate
// and predict do, with equal numbers.
//
//	trainer, err := training.Compile(model, &training.CompileOptions{
//		Optimizer: "adam", Loss: "sparse_categorical_crossentropy", Metrics: "accuracy",
//	})
//	history, err := trainer.Fit(ctx, &training.Examples{X: images, Y: labels}, &training.FitOptions{
//		Epochs: 5, ValidationSplit: 0.1, Output: os.Stdout,
//	})
//
// A model is anything with the method Call: a sequential or functional model, and a
// program's own struct that embeds keras.Model. A [Trainer] traces one training step, one
// test step and one prediction, and runs them for each batch. The state between steps is in
// variables.
//
// # Structures
//
// The inputs of a model, its outputs, truths, weights, losses and metrics are single
// objects, lists or maps. A list has an element for each output. A map has the names of
// outputs as keys: those of a functional model, else output_1, output_2 and so on.
package training
