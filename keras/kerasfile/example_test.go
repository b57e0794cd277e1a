package kerasfile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/keras/kerasfile"
	"github.com/cairnml/cairn/tensor"
)

// Write the weights of a layer as Keras 3's save_weights does, and list them.
func Example() {
	ctx := context.Background()
	contents := &kerasfile.Contents{Groups: []kerasfile.Group{{
		Path: "layers/dense",
		Name: "dense",
		Weights: []kerasfile.Weight{
			kerasfile.Value("0", tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2))),
			kerasfile.Value("1", tensor.Vector[float32](0, 0)),
		},
	}}}
	var file bytes.Buffer
	if err := kerasfile.Write(ctx, &file, kerasfile.Weights, contents); err != nil {
		log.Fatal(err)
	}

	f, err := kerasfile.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range f.Groups {
		for _, w := range g.Weights {
			fmt.Println(g.Path, w.Name, w.DType, w.Shape)
		}
	}
	// Output:
	// layers/dense 0 float32 [3,2]
	// layers/dense 1 float32 [2]
}
