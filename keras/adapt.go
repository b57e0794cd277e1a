package keras

import (
	"context"
	"fmt"
	"iter"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Adapt lets a layer learn its state from batches of data, before the training:
//
//	bins := &layers.Discretization{NumBins: new(10)}
//	err := keras.Adapt(ctx, bins, ages.Batch(100, nil).All(ctx))
//
// The layers are Normalization, Discretization, StringLookup, IntegerLookup and
// TextVectorization. Adapt replaces the state that the layer had learned before. An
// error of the batches ends Adapt; the layer may then have learned from those before it.
func Adapt(ctx context.Context, layer base.Adapter, batches iter.Seq2[*tensor.Tensor, error]) error {
	var failed error
	s := function.Eager(ctx)
	layer.Adapt(s, func(yield func(*ops.Value) bool) {
		for t, err := range batches {
			if err != nil {
				failed = fmt.Errorf("keras: adapt: %w", err)
				return
			}
			if !yield(ops.ValueOf(t)) {
				return
			}
		}
	})
	if failed != nil {
		return failed
	}
	return s.Err()
}
