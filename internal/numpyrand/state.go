// Package numpyrand has numpy's legacy generator, RandomState, and Python's, so that orders
// and seeds which tf_keras makes from a seed can be made again. Packages dataset and keras/base use it.
package numpyrand

import (
	"fmt"
	"math/bits"
)

const (
	words = 624 // of the Mersenne twister's state
	ahead = 397 // the distance of the words that a twist combines
)

// State is numpy.random.RandomState: the Mersenne twister MT19937. It belongs to one
// goroutine.
type State struct {
	key [words]uint32
	pos int // the next word of key; words means that a twist is due
}

// New returns the state that numpy.random.RandomState(seed) begins with. seed is at most
// 2³²-1.
func New(seed uint64) (*State, error) {
	if seed>>32 != 0 {
		return nil, fmt.Errorf("numpyrand: the seed %d is out of range, want 0 to 4294967295", seed)
	}
	s := &State{pos: words}
	x := uint32(seed)
	for i := range s.key {
		s.key[i] = x
		x = 1812433253*(x^x>>30) + uint32(i) + 1
	}
	return s, nil
}

// Python returns the state that random.Random(seed) begins with in Python.
func Python(seed uint64) *State {
	s, _ := New(19650218)
	key := []uint32{uint32(seed), uint32(seed >> 32)}
	if key[1] == 0 {
		key = key[:1]
	}
	i := 1
	step := func(factor, add uint32, sign bool) {
		mixed := s.key[i] ^ (s.key[i-1]^s.key[i-1]>>30)*factor
		if sign {
			mixed -= add
		} else {
			mixed += add
		}
		s.key[i] = mixed
		if i++; i == words {
			s.key[0], i = s.key[words-1], 1
		}
	}
	for k := range max(words, len(key)) {
		j := k % len(key)
		step(1664525, key[j]+uint32(j), false)
	}
	for range words - 1 {
		step(1566083941, uint32(i), true)
	}
	s.key[0] = 0x80000000
	return s
}

// Uint64 returns the next 32 bits in its upper half, and bits computed from them in the lower
// one. It makes State a rand.Source, as rand.New in keras/base needs. NumPy has no such
// function: the lower half is Cairn's own.
func (s *State) Uint64() uint64 {
	x := uint64(s.Uint32())
	low := x * 0xd6e8feb86659fd93 // SplitMix's way to spread bits
	low = (low ^ low>>32) * 0xd6e8feb86659fd93
	return x<<32 | low>>32
}

// Uint32 returns the next 32 bits.
func (s *State) Uint32() uint32 {
	if s.pos == words {
		s.twist()
	}
	y := s.key[s.pos]
	s.pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// twist computes the next words of the state.
func (s *State) twist() {
	for i := range s.key {
		y := s.key[i]&0x80000000 | s.key[(i+1)%words]&0x7fffffff
		s.key[i] = s.key[(i+ahead)%words] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	s.pos = 0
}

// interval returns an evenly distributed number from 0 to limit, as numpy's legacy random_interval does:
// draws above limit are dropped.
func (s *State) interval(limit uint64) uint64 {
	if limit == 0 {
		return 0
	}
	mask := uint64(1)<<bits.Len64(limit) - 1
	for {
		value := uint64(s.Uint32())
		if limit > 0xffffffff {
			value = value<<32 | uint64(s.Uint32())
		}
		if value &= mask; value <= limit {
			return value
		}
	}
}

// Shuffle puts the elements of x in the order that RandomState.shuffle makes of them.
func Shuffle[T any](s *State, x []T) {
	for i := len(x) - 1; i > 0; i-- {
		j := s.interval(uint64(i))
		x[i], x[j] = x[j], x[i]
	}
}
