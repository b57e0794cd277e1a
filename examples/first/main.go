package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/trackable"
)

func main() {
	t := &struct{ Step *trackable.Scalar[int64] }{trackable.NewScalar[int64](0)}
	manager, err := checkpoint.Resume(context.Background(), t, "run1", nil) // the latest checkpoint, or a new run
	if err != nil {
		log.Fatal(err)
	}
	defer manager.Close()
	t.Step.Add(1)                                      // here a program trains
	path, err := manager.Save(context.Background())    // crash-safe; tf.train.load_checkpoint(path) reads it
	fmt.Println("step", t.Step.Get(), "in", path, err) // run it again: step 2
}
