package function

import (
	"context"

	"github.com/cairnml/cairn/engine"
)

type tracerKey struct{}

// WithTracer returns a context in which t is notified of each op that a call of a traced
// function runs. Eager ops aren't reported. If t is nil, the context is ctx, with the tracer
// that it may have. Training sets the tracer of a callback this way. Models of package
// savedmodel/run have an option instead.
func WithTracer(ctx context.Context, t engine.Tracer) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

// tracerOf returns the tracer of a context, or nil. A function's call passes it to the plan.
func tracerOf(ctx context.Context) engine.Tracer {
	t, _ := ctx.Value(tracerKey{}).(engine.Tracer)
	return t
}
