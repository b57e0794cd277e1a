package main

import (
	"math/rand/v2"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// mlp returns the model of that name in peer/tf_steps.py, which must be the same.
func mlp() keras.Callable {
	return keras.NewSequential(
		&layers.Dense{Units: 512, Activation: activations.Relu},
		&layers.Dense{Units: 256, Activation: activations.Relu},
		&layers.Dense{Units: 10})
}

// mlpProducts are the multiply-adds of a step with 128 examples: of each layer's outputs, of
// the gradients of its weights and, but for the first, of those of its inputs.
const mlpProducts = 128 * (2*784*512 + 3*512*256 + 3*256*10)

// cnn returns the model of that name in peer/tf_steps.py, which must be the same.
func cnn() keras.Callable {
	return keras.NewSequential(
		&conv{filters: 32}, new(maxPool), &conv{filters: 64}, new(maxPool), new(layers.Flatten),
		&layers.Dense{Units: 128, Activation: activations.Relu},
		&layers.Dense{Units: 10})
}

// conv is a layer: a convolution of 3 by 3 with a bias and relu.
type conv struct {
	keras.Layer
	Kernel, Bias *trackable.Variable
	filters      int
}

func (l *conv) build(s *ops.Scope, in tensor.Shape) error {
	if err := l.AddWeight(s, &l.Kernel, "kernel", keras.Weight{Shape: tensor.Shape{3, 3, in[len(in)-1], l.filters}}); err != nil {
		return err
	}
	return l.AddWeight(s, &l.Bias, "bias", keras.Weight{Shape: tensor.Shape{l.filters}, Init: initializers.Zeros{}})
}

func (l *conv) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := l.Prepare(s, x, l.build)
	if !ok {
		return v
	}
	return ops.Relu(s, ops.BiasAdd(s, ops.Conv2D(s, v, l.Kernel), l.Bias))
}

// maxPool is a layer: the maximum of windows of 2 by 2.
type maxPool struct{ keras.Layer }

func (*maxPool) Call(s *ops.Scope, x ops.Input) *ops.Value {
	return ops.MaxPool(s, x, []int{2, 2})
}

// classifierVerb returns a verb that makes n steps of training of a classifier with 10
// classes, on noise of a shape, the batch first.
func classifierVerb(model keras.Callable, n int, shape ...int) verb {
	r := rand.New(rand.NewPCG(1, 2))
	x := tensor.Must(tensor.Zeros(tensor.Float32, shape...))
	for i := range tensor.Values[float32](x) {
		tensor.Values[float32](x)[i] = r.Float32()
	}
	labels := make([]int64, shape[0])
	for i := range labels {
		labels[i] = r.Int64N(10)
	}
	entropy := losses.SparseCategoricalCrossentropy{FromLogits: true}
	adam := optimizers.NewAdam(1e-3)
	if err := adam.SetLayout(optimizers.NewLayout); err != nil {
		panic(err) // it is new
	}
	step := function.New(func(s *ops.Scope, ex example) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return entropy.Loss(s, ex.Y, model.Call(s, ex.X), nil)
		})
		adam.Apply(s, tape.Gradient(loss, keras.Trainable(model)))
		return loss
	}, &function.Options{Mode: function.Traced})
	return repeat(step, example{X: ops.ValueOf(x), Y: ops.ValueOf(tensor.Vector(labels...))}, n)
}
