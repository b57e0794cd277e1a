package random

import (
	"math/bits"

	"github.com/cairnml/cairn/kernel/internal/philox"
)

// stream gives a generator's words one by one.
type stream struct {
	g     philox.Generator
	block [4]uint32
	left  int
}

func (s *stream) next() uint32 {
	if s.left == 0 {
		s.block, s.left = s.g.Block(), 4
	}
	s.left--
	return s.block[3-s.left]
}

func (s *stream) next64() uint64 {
	lo := uint64(s.next())
	return lo | uint64(s.next())<<32
}

// double returns a number evenly spread over [0, 1).
func (s *stream) double() float64 {
	x := s.next()
	return philox.Float64(x, s.next())
}

// below returns a whole number below n, each as likely as any other.
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

func (s *stream) below32(n uint32) uint32 {
	return uint32(below(uint64(n), 32, func() uint64 { return uint64(s.next()) }))
}

func (s *stream) below64(n uint64) uint64 { return below(n, 64, s.next64) }
