package training_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/callbacks"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
)

func Example() {
	model := keras.NewSequential(
		&layers.Dense{Units: 8, Activation: activations.Tanh},
		&layers.Dense{Units: 1, Activation: activations.Sigmoid},
	)
	trainer, err := training.Compile(model, &training.CompileOptions{
		Optimizer: optimizers.NewAdam(0.1), Loss: "binary_crossentropy", Metrics: "accuracy", Seed: new(uint64(3)),
	})
	if err != nil {
		panic(err)
	}
	xor := &training.Examples{
		X: [][]float32{{0, 0}, {0, 1}, {1, 0}, {1, 1}},
		Y: [][]float32{{0}, {1}, {1}, {0}},
	}
	history, err := trainer.Fit(context.Background(), xor, &training.FitOptions{
		Epochs:    200,
		Callbacks: []callbacks.Callback{&callbacks.EarlyStopping{Monitor: "loss", MinDelta: 0.001, Patience: 10}},
	})
	if err != nil {
		panic(err)
	}
	losses := history.History["loss"]
	fmt.Printf("the loss falls from %.1f to %.1f\n", losses[0], losses[len(losses)-1])
	logs, err := trainer.Evaluate(context.Background(), xor, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("accuracy", logs["accuracy"])
	// Output:
	// the loss falls from 0.7 to 0.0
	// accuracy 1
}

func ExampleBatches() {
	type example struct {
		X [][]float32
		Y []float32
	}
	line := dataset.FromSlices(example{X: [][]float32{{0}, {1}, {2}, {3}}, Y: []float32{1, 3, 5, 7}}).Batch(2, nil)

	model := &layers.Dense{Units: 1}
	trainer, err := training.Compile(model, &training.CompileOptions{Optimizer: optimizers.NewSGD(0.1), Loss: "mse"})
	if err != nil {
		panic(err)
	}
	if _, err := trainer.Fit(context.Background(), training.Batches(line), &training.FitOptions{Epochs: 100}); err != nil {
		panic(err)
	}
	y, err := trainer.Predict(context.Background(), &training.Examples{X: [][]float32{{10}}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.1f\n", tensor.Values[float32](y))
	// Output:
	// [21.0]
}
