package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// The sizes of the work, which are in peer/tf_fit.py too.
const (
	fitBatch, fitSteps, fitEpochs = 32, 50, 4
	tableRows                     = 10_000
)

// fits are the rows about Keras's fit and predict; peer/tf_fit.py has the same verbs and
// models.
var fits = []step{
	{words: "fit of an MLP 64-64-10, batch 32, a step", verb: "mlp", count: fitSteps * fitEpochs, make: func() verb { return fitVerb(smallMLP(), 64) }},
	{words: "fit of a CNN of 2 convolutions, 16×16, batch 32, a step", verb: "cnn", count: fitSteps * fitEpochs, make: func() verb { return fitVerb(smallCNN(), 16, 16, 1) }},
	{words: "fit of an LSTM of 32 units, 20 steps, batch 32, a step", verb: "lstm", count: fitSteps * fitEpochs, make: func() verb { return fitVerb(smallLSTM(), 20, 16) }},
	{words: "predict of 10,000 rows of a table with lookups, batch 32", verb: "table32", count: 1, make: func() verb { return tableVerb(32) }},
	{words: "predict of 10,000 rows of a table with lookups, batch 1,024", verb: "table1024", count: 1, make: func() verb { return tableVerb(1024) }},
}

// fit measures the fits and predictions, against tf_keras.
func (b *bench) fit(ctx context.Context) error {
	if !slices.ContainsFunc(fits, b.wanted) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours, err := b.startPeer(ctx, self, "-peer", "fit")
	if err != nil {
		return err
	}
	theirs, err := b.startPeer(ctx, b.python, filepath.Join("bench", "peer", "tf_fit.py"))
	if err != nil {
		return err
	}
	peers := map[string]*process{cairn: ours, tensorflow: theirs}
	for group := range groups(fits) {
		if err := b.together(group, peers); err != nil {
			return err
		}
	}
	return nil
}

// classes returns the last layer of a classifier.
func classes(n int) *layers.Dense { return &layers.Dense{Units: n, Activation: activations.Softmax} }

func smallMLP() keras.Callable {
	return keras.NewSequential(&layers.Dense{Units: 64, Activation: activations.Relu}, classes(10))
}

func smallCNN() keras.Callable {
	return keras.NewSequential(
		&layers.Conv2D{Filters: 8, KernelSize: []int{3, 3}, Activation: activations.Relu}, &layers.MaxPooling2D{},
		&layers.Conv2D{Filters: 16, KernelSize: []int{3, 3}, Activation: activations.Relu}, &layers.Flatten{}, classes(10))
}

func smallLSTM() keras.Callable { return keras.NewSequential(&layers.LSTM{Units: 32}, classes(10)) }

// fitVerb returns a verb that fits a model to examples of a shape, and their classes.
func fitVerb(model keras.Callable, shape ...int) verb {
	x := tensor.Must(tensor.Zeros(tensor.Float32, slices.Concat([]int{fitBatch * fitSteps}, shape)...))
	for i, v := 0, tensor.Values[float32](x); i < len(v); i++ {
		v[i] = float32(i%13) / 13
	}
	y := make([]int64, fitBatch*fitSteps)
	for i := range y {
		y[i] = int64(i % 10)
	}
	trainer, err := training.Compile(model, &training.CompileOptions{Optimizer: "adam", Loss: "sparse_categorical_crossentropy", Metrics: "accuracy"})
	if err != nil {
		panic(err) // the options are fixed
	}
	data := &training.Examples{X: x, Y: tensor.Vector(y...)}
	return func(ctx context.Context) error {
		_, err := trainer.Fit(ctx, data, &training.FitOptions{BatchSize: fitBatch, Epochs: fitEpochs})
		return err
	}
}

// tableVerb returns a verb that predicts from a table with columns of strings, integers and
// numbers, by batches of that size.
func tableVerb(batch int) verb {
	trainer, err := training.Compile(tableModel(), nil)
	if err != nil {
		panic(err) // the options are fixed
	}
	data := tableData()
	return func(ctx context.Context) error {
		out, err := trainer.Predict(ctx, data, &training.EvaluateOptions{BatchSize: batch})
		if err == nil && out.Shape()[0] != tableRows {
			err = fmt.Errorf("there are %d predictions", out.Shape()[0])
		}
		return err
	}
}

// words returns n different words that begin with kind.
func words(kind string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s_%d", kind, i)
	}
	return list
}

// tableModel returns a model with lookups of the table's columns.
func tableModel() keras.Callable {
	s := keras.Symbolic(context.Background())
	column := func(name string, d tensor.DType, size int) *ops.Value {
		return keras.Input(s, tensor.Shape{size}, &keras.InputOptions{Name: name, DType: d})
	}
	city, color, age, wage := column("city", tensor.String, 1), column("color", tensor.String, 1), column("age", tensor.Int64, 1), column("wage", tensor.Float32, 8)
	ids := (&layers.StringLookup{Vocabulary: words("city", 1000)}).Call(s, city)
	years := make([]int64, 80)
	for i := range years {
		years[i] = int64(i)
	}
	joined := (&layers.Concatenate{}).Call(s, []*ops.Value{
		(&layers.Flatten{}).Call(s, (&layers.Embedding{InputDim: 1001, OutputDim: 16}).Call(s, ids)),
		(&layers.StringLookup{Vocabulary: words("color", 20), OutputMode: layers.OutputOneHot}).Call(s, color),
		(&layers.IntegerLookup{Vocabulary: years, OutputMode: layers.OutputOneHot}).Call(s, age),
		(&layers.Normalization{Mean: layers.Numbers{2}, Variance: layers.Numbers{3}}).Call(s, wage),
	})
	hidden := (&layers.Dense{Units: 64, Activation: activations.Relu}).Call(s, joined)
	m, err := keras.NewModel([]*ops.Value{city, color, age, wage}, (&layers.Dense{Units: 1}).Call(s, hidden), nil)
	if err != nil {
		panic(err) // the model is fixed
	}
	return m
}

// tableData returns the table, in which some words and years are unknown to the lookups.
func tableData() *training.Examples {
	cities, colors := make([]string, tableRows), make([]string, tableRows)
	ages := make([]int64, tableRows)
	wages := make([]float32, 8*tableRows)
	for i := range tableRows {
		cities[i], colors[i], ages[i] = fmt.Sprintf("city_%d", i*7%1100), fmt.Sprintf("color_%d", i%23), int64(i%90)
	}
	for i := range wages {
		wages[i] = float32(i%13) / 13
	}
	column := func(t *tensor.Tensor) *tensor.Tensor { return tensor.Must(t.Reshape(tableRows, 1)) }
	return &training.Examples{X: []*tensor.Tensor{
		column(tensor.Vector(cities...)), column(tensor.Vector(colors...)), column(tensor.Vector(ages...)), tensor.Must(tensor.New(wages, tableRows, 8)),
	}}
}
