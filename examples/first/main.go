package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type Training struct {
	Step    *trackable.Scalar[int64] // edge "step"
	Weights *trackable.Variable      // edge "weights"
}

func run(ctx context.Context, dir string) error {
	t := &Training{trackable.NewScalar[int64](0), trackable.NewVariable(tensor.Vector[float32](1, 2, 3))}
	ckpt, err := checkpoint.New(t, nil)
	if err != nil {
		return err
	}
	manager, err := checkpoint.NewManager(ckpt, dir, &checkpoint.ManagerOptions{MaxToKeep: 3})
	if err != nil {
		return err
	}
	defer manager.Close()
	if _, err := manager.RestoreOrInitialize(ctx); err != nil { // strict: refused before anything has changed, or whole
		return err
	}
	t.Step.Add(1)                  // here a program trains
	path, err := manager.Save(ctx) // crash-safe; tf.train.load_checkpoint(path) reads it
	if err == nil {
		fmt.Println("step", t.Step.Get(), "saved as", path)
	}
	return err
}

func main() {
	if err := run(context.Background(), "run1"); err != nil {
		log.Fatal(err)
	}
}
