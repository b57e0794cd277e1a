// Package draws keeps the random states of stateful ops. Each node has one. A
// call continues the sequence of the call before, as in TensorFlow. Packages
// kernel/conv, kernel/image and kernel/random use it.
package draws

import (
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
)

// State is the random state of a node. It is safe for concurrent use.
type State struct {
	mu sync.Mutex
	g  philox.Generator
}

// Reserve returns a copy of the generator, and advances the state by n blocks.
// A block is four words of 32 bits.
func (s *State) Reserve(n uint64) philox.Generator {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.g
	s.g.Skip(n)
	return g
}

// New returns the first state of a node, by its attributes seed and seed2: seed is
// the generator's key and seed2 the upper half of its counter, as in TensorFlow. If
// both are zero, each New draws another state.
func New(n *engine.Node) *State {
	a, b := uint64(n.Attrs.Int("seed", 0)), uint64(n.Attrs.Int("seed2", 0))
	if a == 0 && b == 0 {
		return &State{g: philox.New(rand.Uint64(), 0, rand.Uint64())}
	}
	return &State{g: philox.New(a, 0, b)}
}

// Of returns a function that finds the state of the call's node. The first call
// makes the state with [New]; eager calls have a new one each time.
func Of(n *engine.Node) func(*engine.Call) *State {
	create := func() any { return New(n) }
	return func(c *engine.Call) *State { return c.NodeState(create).(*State) }
}
