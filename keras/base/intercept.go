package base

import "github.com/cairnml/cairn/ops"

type interceptKey struct{}

// Interceptor computes the outputs of a layer in the layer's place, without their masks and
// the loss of its activity regularizer. The inputs have the layer's compute type. If done is
// false, the layer computes them.
type Interceptor func(s *ops.Scope, self any, c *Invocation) (out []*ops.Value, done bool)

// InterceptCalls returns a scope of the same call on which f sees each call of a layer or a
// model that has a Compute or ComputeAll, the inner ones too. keras/models uses it when it saves:
// to record the calls, and to replace them by calls of shared functions.
func InterceptCalls(s *ops.Scope, f Interceptor) *ops.Scope {
	return s.With(interceptKey{}, f)
}

func intercept(s *ops.Scope, self any, c *Invocation) (out []*ops.Value, done bool) {
	if f, ok := s.Value(interceptKey{}).(Interceptor); ok {
		return f(s, self, c)
	}
	return nil, false
}
