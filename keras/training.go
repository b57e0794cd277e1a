package keras

import (
	fit "github.com/cairnml/cairn/keras/training"
)

// The parts of package training that programs use.
type (
	// Trainer trains, evaluates and runs a model: see [fit.Trainer].
	Trainer = fit.Trainer
	// CompileOptions are the options of [Compile]: see [fit.CompileOptions].
	CompileOptions = fit.CompileOptions
	// Examples are the data that a model is trained with: see [fit.Examples].
	Examples = fit.Examples
	// FitOptions are the options of the method Fit of a [Trainer]: see [fit.FitOptions].
	FitOptions = fit.FitOptions
	// EvaluateOptions are the options of Evaluate and Predict: see
	// [fit.EvaluateOptions].
	EvaluateOptions = fit.EvaluateOptions
)

// Compile returns a Trainer of a model: see [fit.Compile].
//
//	trainer, err := keras.Compile(model, &keras.CompileOptions{Optimizer: "adam", Loss: "mse"})
//	history, err := trainer.Fit(ctx, &keras.Examples{X: x, Y: y}, &keras.FitOptions{Epochs: 5})
func Compile(model Callable, opts *CompileOptions) (*Trainer, error) {
	return fit.Compile(model, opts)
}
