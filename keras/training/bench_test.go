package training_test

import (
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/training"
	"github.com/cairnml/cairn/tensor"
)

// BenchmarkFit measures the steps of small models, with Fit's own time: an epoch of 50
// batches of 32 examples. testdata/time_fit.py measures tf_keras.
func BenchmarkFit(b *testing.B) {
	const batch, steps = 32, 50
	softmax := func() *layers.Dense { return &layers.Dense{Units: 10, Activation: activations.Softmax} }
	for _, c := range []struct {
		name  string
		shape []int
		model []keras.Callable
	}{
		{"mlp", []int{64}, []keras.Callable{&layers.Dense{Units: 64, Activation: activations.Relu}, softmax()}},
		{"cnn", []int{16, 16, 1}, []keras.Callable{&layers.Conv2D{Filters: 8, KernelSize: []int{3, 3}, Activation: activations.Relu}, &layers.MaxPooling2D{},
			&layers.Conv2D{Filters: 16, KernelSize: []int{3, 3}, Activation: activations.Relu}, &layers.Flatten{}, softmax()}},
		{"lstm", []int{20, 16}, []keras.Callable{&layers.LSTM{Units: 32}, softmax()}},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := tensor.Must(tensor.Zeros(tensor.Float32, append([]int{batch * steps}, c.shape...)...))
			for i, v := 0, tensor.Values[float32](x); i < len(v); i++ {
				v[i] = float32(i%13) / 13
			}
			y := tensor.Must(tensor.Zeros(tensor.Int64, batch*steps))
			for i, v := 0, tensor.Values[int64](y); i < len(v); i++ {
				v[i] = int64(i % 10)
			}
			adam := optimizers.NewAdam(0.001)
			trainer := compiled(b, keras.NewSequential(c.model...), &training.CompileOptions{Optimizer: adam, Loss: "sparse_categorical_crossentropy", Metrics: "accuracy"})
			data := &training.Examples{X: x, Y: y}
			fit := func() {
				_, err := trainer.Fit(ctx, data, &training.FitOptions{BatchSize: batch})
				must(b, err)
			}
			fit() // traces
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				fit()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*steps), "µs/step")
		})
	}
}
