package keras_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/losses"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

type batch struct{ X, Y *ops.Value }

// line returns y = 2x - 1 at four points.
func line() batch {
	return batch{
		ops.ValueOf(tensor.Must(tensor.New([]float32{-1, 0, 1, 2}, 4, 1))),
		ops.ValueOf(tensor.Must(tensor.New([]float32{-3, -1, 1, 3}, 4, 1))),
	}
}

func Example() {
	model := &layers.Dense{Units: 1, KernelInitializer: initializers.Zeros{}}
	optimizer := optimizers.NewSGD(0.1)
	optimizer.Momentum = 0.5
	step := function.New(func(s *ops.Scope, b batch) *ops.Value {
		s = s.WithTraining(true) // layers such as Dropout behave differently
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return losses.MeanSquaredError{}.Loss(s, b.Y, model.Call(s, b.X), nil)
		})
		optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(model)))
		return loss
	})
	for i := range 101 {
		loss, err := step.Call(context.Background(), line())
		if err != nil {
			panic(err)
		}
		if i%50 == 0 {
			fmt.Printf("step %d: loss %.4f\n", i, loss)
		}
	}
	fmt.Printf("y = %.2fx %+.2f\n", tensor.Values[float32](model.Kernel.Load())[0], tensor.Values[float32](model.Bias.Load())[0])
	// Output:
	// step 0: loss 5.0000
	// step 50: loss 0.0000
	// step 100: loss 0.0000
	// y = 2.00x -1.00
}

func ExampleNewSequential() {
	model := keras.NewSequential(
		&layers.Flatten{},
		&layers.Dense{Units: 8, Activation: activations.Relu, KernelInitializer: initializers.HeNormal{Seed: new(1)}},
		&layers.Dropout{Rate: 0.2},
		&layers.Dense{Units: 3},
	)
	s := function.Eager(context.Background())
	images, err := tensor.Zeros(tensor.Float32, 2, 4, 4)
	if err != nil {
		panic(err)
	}
	logits := model.Call(s, images)
	if err := s.Err(); err != nil {
		panic(err)
	}
	fmt.Println(logits.Shape())
	for _, v := range keras.Variables(model) {
		fmt.Println(v.Shape())
	}
	// Output:
	// [2,3]
	// [16,8]
	// [8]
	// [8,3]
	// [3]
}

// Scale is a layer of a program's own: each feature times a weight.
type Scale struct {
	keras.Layer
	Weight *trackable.Variable // edge "weight"
}

func (l *Scale) build(s *ops.Scope, in tensor.Shape) error {
	if len(in) == 0 {
		return errors.New("Scale: the input is a scalar")
	}
	return l.AddWeight(s, &l.Weight, "weight", keras.Weight{Shape: in[len(in)-1:], Init: initializers.Ones{}})
}

func (l *Scale) Call(s *ops.Scope, x ops.Input) *ops.Value {
	v, ok := l.Prepare(s, x, l.build)
	if !ok {
		return v
	}
	return ops.Mul(s, v, l.Weight)
}

func ExampleNewModel() {
	s := keras.Symbolic(context.Background())
	age := keras.Input(s, tensor.Shape{1}, &keras.InputOptions{Name: "age"})
	words := keras.Input(s, tensor.Shape{8}, &keras.InputOptions{Name: "words"})
	text := (&layers.Dense{Units: 4, Activation: activations.Relu}).Call(s, words)
	all := (&layers.Concatenate{}).Call(s, []*ops.Value{ops.Mul(s, age, 0.01), text})
	model, err := keras.NewModel([]*ops.Value{age, words}, (&layers.Dense{Units: 1}).Call(s, all), nil)
	if err != nil {
		panic(err)
	}
	for _, l := range model.Layers() {
		fmt.Println(l.(base.LayerLike).AsLayer().Name)
	}
	// Output:
	// age
	// words
	// tf.math.multiply
	// dense
	// concatenate
	// dense_1
}

func ExampleLayer() {
	model := keras.NewSequential(&Scale{}, &Scale{})
	s := function.Eager(context.Background())
	y := model.Call(s, tensor.Must(tensor.New([]float32{1, 2, 3}, 1, 3)))
	if err := s.Err(); err != nil {
		panic(err)
	}
	fmt.Printf("%v\n", y)

	graph, err := trackable.Walk(model, nil)
	if err != nil {
		panic(err)
	}
	for _, n := range graph.Nodes {
		if n.Variable() != nil {
			fmt.Println(n.Path, n.FullName)
		}
	}
	// Output:
	// [[1. 2. 3.]]
	// layer_with_weights-0/weight scale/weight
	// layer_with_weights-1/weight scale_1/weight
}

// A layer that isn't built yet takes its values when it is.
func Example_deferredRestore() {
	ctx := context.Background()
	dir := vfs.MemDir()
	x := tensor.Must(tensor.New([]float32{1, 1}, 1, 2))

	old := &layers.Dense{Units: 1, KernelInitializer: initializers.Constant{Value: 2}}
	old.Call(function.Eager(ctx), x)
	ckpt, err := checkpoint.New(&struct{ Layer *layers.Dense }{old}, nil)
	if err != nil {
		panic(err)
	}
	if err := ckpt.WriteTo(ctx, dir, "model"); err != nil {
		panic(err)
	}

	fresh := &layers.Dense{Units: 1}
	ckpt, err = checkpoint.New(&struct{ Layer *layers.Dense }{fresh}, nil)
	if err != nil {
		panic(err)
	}
	report, err := ckpt.ReadFS(ctx, dir, "model", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("waiting:", len(report.Deferred))
	fmt.Printf("%v\n", fresh.Call(function.Eager(ctx), x))
	fmt.Println("all used:", report.AssertConsumed() == nil)
	// Output:
	// waiting: 2
	// [[4.]]
	// all used: true
}

func ExampleWithSeed() {
	build := func() *trackable.Variable {
		layer := &layers.Dense{Units: 2}
		s := keras.WithSeed(function.Eager(context.Background()), 1)
		layer.Call(s, tensor.Must(tensor.New([]float32{1}, 1, 1)))
		return layer.Kernel
	}
	fmt.Println(build().Load().Equal(build().Load()))
	// Output: true
}

func Example_activation() {
	relu, err := activations.ByName("relu")
	if err != nil {
		panic(err)
	}
	s := function.Eager(context.Background())
	fmt.Printf("%v\n", relu.Call(s, tensor.Vector[float32](-1, 2)))
	// Output: [0. 2.]
}
