package keras

import (
	"context"

	"github.com/cairnml/cairn/ops"
)

type trainingKey struct{}

// Training returns a context whose calls train: dropout drops. Give it to the
// call of a training step; without it layers behave as in inference.
//
//	loss, err := step.Call(keras.Training(ctx), batch)
func Training(ctx context.Context) context.Context {
	return context.WithValue(ctx, trainingKey{}, true)
}

// IsTraining reports whether s runs under a [Training] context.
func IsTraining(s *ops.Scope) bool {
	on, _ := s.Context().Value(trainingKey{}).(bool)
	return on
}
