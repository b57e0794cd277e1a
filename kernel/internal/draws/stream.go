package draws

import (
	"math/bits"

	"github.com/cairnml/cairn/internal/philox"
)

// Stream returns a generator's words one by one.
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

// Next64 returns the next two words, the first one in the low bits.
func (s *Stream) Next64() uint64 {
	lo := uint64(s.Next())
	return lo | uint64(s.Next())<<32
}

// Float32 returns a uniformly distributed number in [0, 1).
func (s *Stream) Float32() float32 { return philox.Float32(s.Next()) }

// Float64 returns a uniformly distributed number in [0, 1).
func (s *Stream) Float64() float64 {
	x := s.Next()
	return philox.Float64(x, s.Next())
}

// Below32 returns a whole number below n, each with the same probability. If n
// is 0, it returns any number.
func (s *Stream) Below32(n uint32) uint32 {
	return uint32(below(uint64(n), 32, func() uint64 { return uint64(s.Next()) }))
}

// Below64 returns a number as [Stream.Below32] does, for numbers of 64 bits.
func (s *Stream) Below64(n uint64) uint64 { return below(n, 64, s.Next64) }

// below draws as TensorFlow's SimplePhilox::Uniform does
// (tensorflow/core/lib/random/simple_philox.cc).
func below(n uint64, width int, next func() uint64) uint64 {
	if n == 0 || bits.OnesCount64(n) == 1 {
		return next() & (n - 1) // of n 0, whose words are drawn nevertheless, any number
	}
	most := ^uint64(0) >> (64 - width)
	rest := most%n + 1 // how many of the first words would make some numbers likelier
	for {
		if x := next(); x >= rest {
			return x % n
		}
	}
}
