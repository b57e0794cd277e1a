package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type Training struct {
	Step      *trackable.Scalar[int64] // edge "step"
	Layer     *layers.Dense            // edge "layer", its children "kernel" and "bias"
	Optimizer *optimizers.SGD          // edge "optimizer"
}

// fit moves the layer towards y = 2x - 1 at three points, and returns the loss.
func (t *Training) fit(s *ops.Scope, x *ops.Value) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Mean(s, ops.Square(s, ops.Sub(s, t.Layer.Call(s, x), ops.Sub(s, ops.Mul(s, x, 2), 1))))
	})
	t.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(t.Layer)))
	return loss
}

func main() {
	ctx := context.Background()
	t := &Training{trackable.NewScalar[int64](0), &layers.Dense{Units: 1}, optimizers.NewSGD(0.1)}
	manager, err := checkpoint.Resume(ctx, t, "run2", &checkpoint.ManagerOptions{MaxToKeep: 3})
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close()
	fit, x := function.New(t.fit), ops.ValueOf(tensor.Must(tensor.New([]float32{0, 1, 2}, 3, 1)))
	for range 30 {
		loss, err := fit.Call(ctx, x)
		if err != nil {
			log.Fatal(err)
		}
		if step := t.Step.Add(1); step%10 == 0 {
			path, err := manager.Save(ctx)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("step %d: loss %.4f, %s\n", step, loss, path)
		}
	}
}
