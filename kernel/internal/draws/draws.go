// Package draws keeps the random states of stateful ops: each node has one, and
// the next call goes on where the one before has stopped, as TensorFlow's do.
package draws

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/philox"
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
	return func(c *engine.Call) *State { return c.Instance().NodeState(c.Node(), create).(*State) }
}

// Stream gives a generator's words one by one.
type Stream struct {
	g     philox.Generator
	block [4]uint32
	left  int
}

// NewStream returns the words of g.
func NewStream(g philox.Generator) *Stream { return &Stream{g: g} }

// Next returns the next word.
func (s *Stream) Next() uint32 {
	if s.left == 0 {
		s.block, s.left = s.g.Block(), 4
	}
	s.left--
	return s.block[3-s.left]
}

// Float32 returns a number evenly spread over [0, 1).
func (s *Stream) Float32() float32 { return philox.Float32(s.Next()) }

// Float64 returns a number evenly spread over [0, 1).
func (s *Stream) Float64() float64 {
	x := s.Next()
	return philox.Float64(x, s.Next())
}

// Below returns a whole number evenly spread over [0, n), n being at least 1.
func (s *Stream) Below(n uint32) uint32 {
	if n&(n-1) == 0 {
		return s.Next() & (n - 1)
	}
	last := math.MaxUint32 - (math.MaxUint32%n + 1) // of the range that n divides
	for {
		if x := s.Next(); x <= last {
			return x % n
		}
	}
}
