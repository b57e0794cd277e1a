package ops

import "strings"

// scopeState is the state that a scope passes to its ops besides the call. A
// scope made from another one inherits it; changes stay in the new scope.
type scopeState struct {
	name     string // prefix of the names of nodes: "net/dense"
	training bool
	values   map[any]any
}

// child returns a scope of the same call with the same recorders, whose state
// can be changed.
func (s *Scope) child() *Scope {
	c := *s
	return &c
}

// WithName returns a scope of the same call whose ops have names below name:
// "dense/MatMul" instead of "MatMul". Names matter in traces only.
func (s *Scope) WithName(name string) *Scope {
	c := s.child()
	name = strings.Trim(cleanName(name), "/")
	if c.state.name != "" {
		name = c.state.name + "/" + name
	}
	c.state.name = name
	return c
}

// WithTraining returns a scope of the same call in which layers behave as in
// training, or as in inference. The default is inference.
func (s *Scope) WithTraining(on bool) *Scope {
	c := s.child()
	c.state.training = on
	return c
}

// Training reports whether layers behave as in training.
func (s *Scope) Training() bool { return s.state.training }

// With returns a scope of the same call that carries value under key, for the
// packages that build on this one: a random seed, gradient rules. Keys are
// compared as those of a context are.
func (s *Scope) With(key, value any) *Scope {
	c := s.child()
	c.state.values = make(map[any]any, len(s.state.values)+1)
	for k, v := range s.state.values {
		c.state.values[k] = v
	}
	c.state.values[key] = value
	return c
}

// Value returns the value that [Scope.With] stored under key, nil if there is
// none.
func (s *Scope) Value(key any) any { return s.state.values[key] }

// nodeName returns the name of a node for op, before it is made unique.
func (s *Scope) nodeName(op string) string {
	if s.state.name == "" {
		return op
	}
	return s.state.name + "/" + op
}
