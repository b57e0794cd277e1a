// Guide is TensorFlow's checkpoint guide ("Training checkpoints") in Go: it
// trains a linear model on a toy dataset, saves every ten steps, and resumes
// when it is run again.
//
//	go run ./examples/guide            # Initializing from scratch. …
//	go run ./examples/guide            # Restored from tf_ckpts/ckpt-5 …
//
// The files in the directory are TensorFlow's: tf.train.load_checkpoint reads
// them, and this program resumes a run that the guide's Python program began.
// The names of the fields are the guide's, so they must stay.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Net is a simple linear model.
type Net struct {
	keras.Model
	L1 *layers.Dense // edge "l1"
}

// Call computes the model's output.
func (n *Net) Call(s *ops.Scope, x ops.Input) *ops.Value { return n.L1.Call(s, x) }

// Example is a batch of the training data: X is [2, 1], Y [2, 5]. In the guide it
// is a dict with the keys "x" and "y". Checkpoints don't contain it.
type Example struct{ X, Y *ops.Value }

// toyDataset has ten inputs x, with 5x to 5x+4 as y. It repeats them ten times,
// in batches of two: 50 steps.
func toyDataset() *dataset.Dataset[Example] {
	x, y := make([]float32, 10), make([]float32, 50)
	for i := range x {
		x[i] = float32(i)
		for j := range 5 {
			y[5*i+j] = 5*x[i] + float32(j)
		}
	}
	return dataset.FromSlices(Example{
		X: ops.ValueOf(tensor.Must(tensor.New(x, 10, 1))),
		Y: ops.ValueOf(tensor.Must(tensor.New(y, 10, 5))),
	}).Repeat(10).Batch(2, nil)
}

// Training is the root of the checkpoints: tf.train.Checkpoint(step=…,
// optimizer=…, net=…). The names of its fields are edges, so they must stay.
type Training struct {
	Step      *trackable.Scalar[int32]
	Optimizer *optimizers.Adam
	Net       *Net
}

// step trains the net on one batch and returns its mean absolute error.
func (t *Training) step(s *ops.Scope, ex Example) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { // one scope in sight: no term can miss the tape
		return ops.Mean(s, ops.Abs(s, ops.Sub(s, t.Net.Call(s, ex.X), ex.Y)))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Net)))
	return loss
}

// train trains for 50 steps, from the latest checkpoint in dir on if there is one, and reports
// on w.
func train(ctx context.Context, w io.Writer, dir string, net *Net) error {
	t := &Training{trackable.NewScalar[int32](1), optimizers.NewAdam(0.1), net}
	ckpt, err := checkpoint.New(t, nil) // one walk: an unexported layer or a clashing edge is an error here
	if err != nil {
		return err
	}
	manager, err := checkpoint.NewManager(ckpt, dir, &checkpoint.ManagerOptions{MaxToKeep: 3})
	if err != nil {
		return err
	}
	defer manager.Close() // releases the directory's lock

	switch report, err := manager.RestoreOrInitialize(ctx); {
	case err != nil:
		return err
	case report.Path == "":
		fmt.Fprintln(w, "Initializing from scratch.")
	default:
		fmt.Fprintln(w, "Restored from", report.Path) // report.Deferred: l1/kernel …
	}
	step := function.New(t.step)
	for ex, err := range toyDataset().All(ctx) {
		if err != nil {
			return err
		}
		loss, err := step.Call(ctx, ex) // the one place where a failed op comes out
		if err != nil {
			return err
		}
		if n := t.Step.Add(1); n%10 == 0 {
			path, err := manager.Save(ctx)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "Saved checkpoint for step %d: %s\nloss %1.2f\n", n, path, loss) // Value is a fmt.Formatter
		}
	}
	return nil
}

func main() {
	dir := flag.String("dir", "tf_ckpts", "directory of the checkpoints")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := train(ctx, os.Stdout, *dir, &Net{L1: &layers.Dense{Units: 5}}); err != nil {
		log.Fatal(err)
	}
}
