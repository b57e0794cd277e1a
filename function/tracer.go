package function

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

type tracerKey struct{}

// WithTracer returns a context in which t is notified of the ops of traced functions
// that are called; nil disables that.
func WithTracer(ctx context.Context, t engine.Tracer) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

func tracerOf(ctx context.Context) engine.Tracer {
	t, _ := ctx.Value(tracerKey{}).(engine.Tracer)
	return t
}
