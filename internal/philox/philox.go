// Package philox is the Philox 4x32-10 counter-based generator of random
// numbers, with TensorFlow's conversions of its bits to floats and integers
// (tensorflow/core/lib/random): the same key and counter produce the same
// numbers. Many packages use it. Every bit must stay, TensorFlow's oddities included.
package philox

import "math"

// Generator is a key and the counter of the next block of four words.
type Generator struct {
	Key     [2]uint32
	Counter [4]uint32
}

// New makes a generator from a key and a 128-bit counter, low half first.
func New(key uint64, lo, hi uint64) Generator {
	return Generator{
		Key:     [2]uint32{uint32(key), uint32(key >> 32)},
		Counter: [4]uint32{uint32(lo), uint32(lo >> 32), uint32(hi), uint32(hi >> 32)},
	}
}

// FromSeed returns a generator for two seeds as TensorFlow's stateless ops do:
// the seeds are scrambled, so that similar ones produce unrelated numbers.
func FromSeed(a, b uint64) Generator {
	g := Generator{Key: [2]uint32{0x3ec8f720, 0x02461e29}}
	g.Counter = [4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)}
	mix := g.Block()
	return Generator{Key: [2]uint32{mix[0], mix[1]}, Counter: [4]uint32{0, 0, mix[2], mix[3]}}
}

// Words returns the key and the halves of the counter, as [New] takes them.
func (g *Generator) Words() (key, lo, hi uint64) {
	return uint64(g.Key[0]) | uint64(g.Key[1])<<32,
		uint64(g.Counter[0]) | uint64(g.Counter[1])<<32,
		uint64(g.Counter[2]) | uint64(g.Counter[3])<<32
}

// Skip advances the counter by n blocks. As in TensorFlow, the carry from the
// upper half of n is lost if the lower half's carry makes it zero. A negative
// delta of TensorFlow's ops, converted to uint64, is added the same way.
func (g *Generator) Skip(n uint64) {
	lo, hi := uint32(n), uint32(n>>32)
	if g.Counter[0] += lo; g.Counter[0] < lo {
		hi++
	}
	if g.Counter[1] += hi; g.Counter[1] < hi {
		if g.Counter[2]++; g.Counter[2] == 0 {
			g.Counter[3]++
		}
	}
}

// The multipliers of a round and the steps of the key.
const (
	mulA, mulB = 0xD2511F53, 0xCD9E8D57
	keyA, keyB = 0x9E3779B9, 0xBB67AE85
)

// Block returns the next four words.
func (g *Generator) Block() [4]uint32 {
	c, k := g.Counter, g.Key
	for range 10 {
		p0, p1 := uint64(mulA)*uint64(c[0]), uint64(mulB)*uint64(c[2])
		c = [4]uint32{uint32(p1>>32) ^ c[1] ^ k[0], uint32(p1), uint32(p0>>32) ^ c[3] ^ k[1], uint32(p0)}
		k[0] += keyA
		k[1] += keyB
	}
	g.Skip(1)
	return c
}

// Float32 returns a number evenly spread over [0, 1), in steps of 2^-23.
func Float32(x uint32) float32 { return math.Float32frombits(127<<23|x&0x7fffff) - 1 }

// Float64 returns a number evenly spread over [0, 1), in steps of 2^-52.
func Float64(x0, x1 uint32) float64 {
	return math.Float64frombits(1023<<52|uint64(x0&0xfffff)<<32|uint64(x1)) - 1
}

// Normal32 makes two normally distributed numbers of two words (Box and Muller), as BoxMullerFloat of
// TensorFlow's random_distributions_utils.h: the least u is 1e-7, and each step is rounded to float32.
func Normal32(x0, x1 uint32) (a, b float32) {
	u := max(Float32(x0), 1e-7)
	v := float32(2 * math.Pi * float64(Float32(x1)))
	r := float32(math.Sqrt(float64(-2 * float32(math.Log(float64(u))))))
	sin, cos := math.Sincos(float64(v))
	return float32(sin) * r, float32(cos) * r
}

// Normal64 makes two normally distributed numbers of four words (BoxMullerDouble).
func Normal64(x [4]uint32) (a, b float64) {
	u := max(Float64(x[0], x[1]), 1e-7)
	v := 2 * math.Pi * Float64(x[2], x[3])
	r := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(v)
	return sin * r, cos * r
}

// Reserved is the number of words that a number may use in a distribution that
// draws again, so that each number has a fixed place in the stream.
const Reserved = 256

// Truncated32 fills dst with the numbers of group: normal ones, drawn again if
// they are more than two standard deviations off. A group has four.
func (g Generator) Truncated32(group uint64, dst *[4]float32) {
	g.Skip(group * Reserved)
	n := 0
	for {
		b := g.Block()
		for i := 0; i < 4; i += 2 {
			x, y := Normal32(b[i], b[i+1])
			for _, v := range [2]float32{x, y} {
				if v < 2 && v > -2 {
					if dst[n] = v; n == 3 {
						return
					}
					n++
				}
			}
		}
	}
}

// Truncated64 works like Truncated32, for float64; a group has two numbers.
func (g Generator) Truncated64(group uint64, dst *[2]float64) {
	g.Skip(group * Reserved / 2)
	n := 0
	for {
		x, y := Normal64(g.Block())
		for _, v := range [2]float64{x, y} {
			if v < 2 && v > -2 {
				if dst[n] = v; n == 1 {
					return
				}
				n++
			}
		}
	}
}
