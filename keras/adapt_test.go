package keras_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cairnml/cairn/dataset"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/tensor"
)

// TestAdaptToADataset finds boundaries in the batches of a dataset.
func TestAdaptToADataset(t *testing.T) {
	ctx := context.Background()
	ages := make([]float32, 100)
	for i := range ages {
		ages[i] = float32(99 - i)
	}
	data := dataset.FromSlices(tensor.Must(tensor.New(ages, 100))).Batch(30, nil)
	bins := &layers.Discretization{NumBins: new(4)}
	if err := keras.Adapt(ctx, bins, data.All(ctx)); err != nil {
		t.Fatal(err)
	}
	s := function.Eager(ctx)
	out, err := bins.Call(s, []float32{10, 30, 60, 90}).Tensor()
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[int64](out); !slices.Equal(got, []int64{0, 1, 2, 3}) {
		t.Errorf("the bins are %v, want 0 to 3", got)
	}
	broken := errors.New("broken")
	if err := keras.Adapt(ctx, bins, func(yield func(*tensor.Tensor, error) bool) { yield(nil, broken) }); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want the batches' one", err)
	}
}
