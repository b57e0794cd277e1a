package models_test

import (
	"context"
	"fmt"
	"os"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

func ExampleSave() {
	ctx := context.Background()
	s := keras.Symbolic(ctx)
	x := keras.Input(s, tensor.Shape{4}, &keras.InputOptions{Name: "x"})
	model, err := keras.NewModel(x, (&layers.Dense{Units: 2}).Call(s, x), nil)
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := models.Save(ctx, model, dir, nil); err != nil {
		panic(err)
	}
	saved, err := savedmodel.Read(ctx, os.DirFS(dir), nil)
	if err != nil {
		panic(err)
	}
	objects, err := saved.MetaGraphs[0].Keras()
	if err != nil {
		panic(err)
	}
	for _, o := range objects {
		fmt.Println(o.Path, o.Class, o.Name)
	}
	// Output:
	// root Functional model
	// root.layer-0 InputLayer x
	// root.layer_with_weights-0 Dense dense
}
