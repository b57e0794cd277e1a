// Trainstep saves a model with its training step as a SavedModel, and the losses of 20
// steps next to it, for TensorFlow to run the same steps.
//
//	trainstep DIR
//
// It writes DIR/model, with the signatures serving_default and train, and DIR/losses.npz
// with the arrays x, y and losses. These names must stay: peer/trainstep.py reads them.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Example is a batch.
type Example struct{ X, Y *ops.Value }

// Layers are the layers of the model.
type Layers struct{ Hidden, Out *layers.Dense }

// Training is a model with its optimizer and a count of its steps.
type Training struct {
	Step      *trackable.Scalar[int32]
	Optimizer *optimizers.Adam
	Layers    *Layers
	Train     *function.Func[Example, *ops.Value]
	Predict   *function.Func[*ops.Value, *ops.Value]
}

// newTraining returns a model that isn't built.
func newTraining() *Training {
	t := &Training{Step: trackable.NewScalar[int32](0), Optimizer: optimizers.NewAdam(0.05),
		Layers: &Layers{Hidden: &layers.Dense{Units: 8, Activation: activations.Tanh}, Out: &layers.Dense{Units: 1}}}
	t.Predict = function.New(t.predict)
	t.Train = function.New(t.train)
	return t
}

// predict returns the model's output.
func (t *Training) predict(s *ops.Scope, x *ops.Value) *ops.Value {
	return t.Layers.Out.Call(s, t.Layers.Hidden.Call(s, x))
}

// train makes one step of training and returns the loss.
func (t *Training) train(s *ops.Scope, ex Example) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Mean(s, ops.Square(s, ops.Sub(s, t.predict(s, ex.X), ex.Y)))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Layers)))
	ops.AssignAdd(s, t.Step, ops.Const(s, int32(1)))
	return loss
}

// run writes the files. The first step comes before the save, so TensorFlow's first loss is that
// of the second step here.
func run(ctx context.Context, dir string) error {
	t := newTraining()
	x := make([]float32, 16*3)
	y := make([]float32, 16)
	for i := range x {
		x[i] = float32(i%7)/7 - 0.4
	}
	for i := range y {
		y[i] = x[3*i] - 2*x[3*i+1]*x[3*i+2]
	}
	xs, ys := tensor.Must(tensor.New(x, 16, 3)), tensor.Must(tensor.New(y, 16, 1))
	example := Example{ops.ValueOf(xs), ops.ValueOf(ys)}
	if _, err := t.Train.Call(ctx, example); err != nil { // makes the variables
		return err
	}
	step, err := t.Train.Trace(Example{ops.Spec(tensor.Float32, -1, 3), ops.Spec(tensor.Float32, -1, 1)})
	if err != nil {
		return err
	}
	serve, err := t.Predict.Trace(ops.Spec(tensor.Float32, -1, 3))
	if err != nil {
		return err
	}
	err = savedmodel.Save(ctx, t, filepath.Join(dir, "model"), &savedmodel.SaveOptions{
		Signatures: map[string]*function.Concrete{"serving_default": serve, "train": step},
	})
	if err != nil {
		return err
	}
	var losses []float32
	for range 20 {
		loss, err := t.Train.Call(ctx, example)
		if err != nil {
			return err
		}
		v, err := loss.Tensor()
		if err != nil {
			return err
		}
		losses = append(losses, tensor.Values[float32](v)[0])
	}
	f, err := os.Create(filepath.Join(dir, "losses.npz"))
	if err != nil {
		return err
	}
	w := tensor.NewNPZWriter(f, nil)
	for name, v := range map[string]*tensor.Tensor{"x": xs, "y": ys, "losses": tensor.Vector(losses...)} {
		if err := w.Add(name, v); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: trainstep DIR")
	}
	if err := os.MkdirAll(os.Args[1], 0o777); err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", os.Args[1])
}
