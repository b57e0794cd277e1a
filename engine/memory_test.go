package engine_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/tensor"
)

func TestMoreThanTheMachinesMemoryIsAnErrorWithoutAnOption(t *testing.T) {
	for _, fill := range []any{float32(1), "s"} {
		s := function.Eager(context.Background())
		s.Emit1("Fill", nil, tensor.Vector[int64](1<<14, 1<<14, 1<<14), fill)
		if s.Err() == nil {
			t.Errorf("2⁴² elements of %T fit", fill)
		}
	}
}
