package dataset_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/tensor"
)

func ExampleFromSlices() {
	type Example struct{ X, Y *tensor.Tensor }
	ds := dataset.FromSlices(Example{
		X: tensor.Must(tensor.New([]float32{0, 1, 2, 3, 4, 5}, 3, 2)),
		Y: tensor.Vector("a", "b", "c"),
	}).Batch(2, nil)
	for ex, err := range ds.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(ex.X.Shape(), tensor.Values[string](ex.Y))
	}
	// Output:
	// [2,2] [a b]
	// [1,2] [c]
}

func ExampleFromSlices_goSlices() {
	type Example struct {
		X [][]float32
		Y []string
	}
	ds := dataset.FromSlices(Example{
		X: [][]float32{{0, 1}, {2, 3}, {4, 5}},
		Y: []string{"a", "b", "c"},
	}).Batch(2, nil)
	for ex, err := range ds.All(context.Background()) {
		if err != nil {
			panic(err)
		}
		fmt.Println(ex.X, ex.Y)
	}
	// Output:
	// [[0 1] [2 3]] [a b]
	// [[4 5]] [c]
}

func ExampleDataset_Epoch() {
	ds := dataset.FromSlices(tensor.Vector[int32](0, 1, 2, 3, 4, 5)).
		Shuffle(6, &dataset.ShuffleOptions{Seed: 1}).
		Batch(6, nil)
	for epoch := range 2 {
		for v, err := range ds.Epoch(epoch).All(context.Background()) {
			if err != nil {
				panic(err)
			}
			fmt.Println(epoch, tensor.Values[int32](v))
		}
	}
	// Output:
	// 0 [3 0 2 4 5 1]
	// 1 [5 0 4 2 1 3]
}

func ExampleIterator() {
	ctx := context.Background()
	ds := dataset.FromSlices(tensor.Vector("a", "b", "c", "d")).Repeat(-1)
	it := ds.Iterator()
	for range 3 {
		if _, err := it.Next(ctx); err != nil {
			panic(err)
		}
	}
	// A Checkpoint does this for an Iterator in a field.
	attrs, err := it.SerializeToTensors()
	if err != nil {
		panic(err)
	}
	later := ds.Iterator()
	if err := later.RestoreFromTensors(map[string]*tensor.Tensor{attrs[0].Name: attrs[0].Tensor}); err != nil {
		panic(err)
	}
	v, err := later.Next(ctx)
	if err != nil {
		panic(err)
	}
	s, err := tensor.Item[string](v)
	fmt.Println(s, err)
	// Output: d <nil>
}
