// Package draws keeps the random states of stateful ops: each node has one, and
// the next call goes on where the one before has stopped, as TensorFlow's do.
package draws

import (
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
)

// State is the random state of a node. It is safe for use from many goroutines.
type State struct {
	mu sync.Mutex
	g  philox.Generator
}

// Reserve returns the generator as it is now; it is moved on by n blocks.
func (s *State) Reserve(n uint64) philox.Generator {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.g
	s.g.Skip(n)
	return g
}

// New returns the state in which a node begins, by its attributes seed and seed2.
// Seeds that are both zero stand for a state that differs from run to run.
func New(n *engine.Node) *State {
	a, b := uint64(n.Attrs.Int("seed", 0)), uint64(n.Attrs.Int("seed2", 0))
	if a == 0 && b == 0 {
		return &State{g: philox.New(rand.Uint64(), 0, rand.Uint64())}
	}
	return &State{g: philox.New(a, 0, b)}
}

// Of returns what finds the state of the call's node.
func Of(n *engine.Node) func(*engine.Call) *State {
	create := func() any { return New(n) }
	return func(c *engine.Call) *State { return c.NodeState(create).(*State) }
}
