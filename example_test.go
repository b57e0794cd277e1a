package cairn_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Save an object's variables, then look at the files as any tool may.
func Example() {
	dir, err := os.MkdirTemp("", "cairn")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	type Linear struct{ W, B *trackable.Variable }
	model := &Linear{
		W: trackable.NewVariable(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2))),
		B: trackable.NewVariable(tensor.Vector[float32](7, 8)),
	}
	ckpt, err := checkpoint.New(model, nil)
	if err != nil {
		log.Fatal(err)
	}
	path, err := ckpt.Save(ctx, filepath.Join(dir, "ckpt"))
	if err != nil {
		log.Fatal(err)
	}

	entries, err := cairn.List(ctx, dir) // the directory's latest checkpoint
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Name, e.DType, e.Shape)
	}
	b, err := cairn.Read(ctx, path, "b")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](b))
	// Output:
	// _CHECKPOINTABLE_OBJECT_GRAPH string []
	// b/.ATTRIBUTES/VARIABLE_VALUE float32 [2]
	// save_counter/.ATTRIBUTES/VARIABLE_VALUE int64 []
	// w/.ATTRIBUTES/VARIABLE_VALUE float32 [3,2]
	// [7 8]
}
