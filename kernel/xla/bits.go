package xla

import (
	"fmt"
	"math/bits"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernel of XlaRngBitGenerator. The bits and the states are XLA's and must stay.

// The numbers of the algorithms of XlaRngBitGenerator. On the CPU the default is Philox.
const (
	philoxBits   = 1
	threeFryBits = 2
	defaultBits  = 3
)

// rngBitGenerator draws random bits. The state is a key and a counter: one word for ThreeFry, one
// or two words, low half first, for Philox. The first output is the state after the draw.
func rngBitGenerator(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	algorithm, err := shapes.Int(c.In(0), "the algorithm")
	if err != nil {
		return err
	}
	state := c.In(1)
	if state.DType() != tensor.Uint64 || len(state.Shape()) != 1 {
		return fmt.Errorf("the state is %v%v (want a vector of uint64)", state.DType(), state.Shape())
	}
	dims, err := shapes.Dims(c.In(2), "the shape", 0)
	if err != nil {
		return err
	}
	words := tensor.Values[uint64](state)
	switch {
	case algorithm != philoxBits && algorithm != threeFryBits && algorithm != defaultBits:
		return fmt.Errorf("algorithm %d is unknown (want 1 for Philox, 2 for ThreeFry or 3 for the default)", algorithm)
	case algorithm == threeFryBits && len(words) != 2:
		return fmt.Errorf("the state has %d words (want 2 for ThreeFry: a key and a counter)", len(words))
	case len(words) != 2 && len(words) != 3:
		return fmt.Errorf("the state has %d words (want 2 or 3 for Philox: a key and a counter)", len(words))
	}
	after, err := c.Alloc(0, tensor.Uint64, state.Shape())
	if err != nil {
		return err
	}
	out, err := c.Alloc(1, c.Attrs().Type("dtype", tensor.Uint64), dims)
	if err != nil {
		return err
	}
	next := tensor.Values[uint64](after)
	copy(next, words)
	if out.Len() == 0 {
		return nil
	}
	if algorithm == threeFryBits {
		next[1] += threeFryFill(c, out, words[0], words[1])
		return nil
	}
	high := words[0] // XLA repeats the key as the counter's high half
	if len(words) == 3 {
		high = words[2]
	}
	blocks := philoxFill(c, out, words[0], words[1], high)
	var carry uint64
	next[1], carry = bits.Add64(words[1], blocks, 0)
	if len(words) == 3 {
		next[2] += carry
	}
	return nil
}

// philoxFill fills a tensor with the words of consecutive blocks, and returns
// the number of blocks. A 64-bit element has two words, a narrower one the low
// bits of one word.
func philoxFill(c *engine.Call, out *tensor.Tensor, key, low, high uint64) uint64 {
	each := 4 // elements in a block
	if out.DType() == tensor.Uint64 {
		each = 2
	}
	n := out.Len()
	blocks := (n + each - 1) / each
	c.Parallel(blocks, 20, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			l, carry := bits.Add64(low, uint64(b), 0)
			g := philox.New(key, l, high+carry)
			w := g.Block()
			first, last := b*each, min(n, (b+1)*each)
			switch out.DType() {
			case tensor.Uint64:
				for i := first; i < last; i++ {
					tensor.Values[uint64](out)[i] = pair(w[2*(i-first)], w[2*(i-first)+1])
				}
			case tensor.Uint32:
				copy(tensor.Values[uint32](out)[first:last], w[:])
			default:
				for i := first; i < last; i++ {
					out.Bytes()[i] = byte(w[i-first])
				}
			}
		}
	})
	return uint64(blocks)
}

// pair joins two words of 32 bits, the low one first.
func pair(low, high uint32) uint64 { return uint64(low) | uint64(high)<<32 }

// threeFryFill fills a tensor with the results of consecutive counters, and
// returns the number of counters. The two words of a result are a 64-bit
// element. Otherwise they are neighbours along one dimension: the first of even
// size, or the largest if all are odd. The counters number the tensor whose
// size in this dimension is half as large.
func threeFryFill(c *engine.Call, out *tensor.Tensor, key, counter uint64) uint64 {
	if out.DType() == tensor.Uint64 {
		v := tensor.Values[uint64](out)
		c.Parallel(len(v), 10, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				v[i] = pair(threeFry(key, counter+uint64(i)))
			}
		})
		return uint64(len(v))
	}
	put := func(i int, w uint32) { out.Bytes()[i] = byte(w) }
	if out.DType() == tensor.Uint32 {
		v := tensor.Values[uint32](out)
		put = func(i int, w uint32) { v[i] = w }
	}
	outer, size, inner := halved(out.Shape())
	half := (size + 1) / 2
	n := outer * half * inner
	c.Parallel(n, 12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			a, b := threeFry(key, counter+uint64(i))
			at := i/(half*inner)*size + i/inner%half*2 // the row of inner elements
			put(at*inner+i%inner, a)
			if i/inner%half*2+1 < size {
				put((at+1)*inner+i%inner, b)
			}
		}
	})
	return uint64(n)
}

// halved returns the size of the dimension with the pairs of words, and the
// numbers of elements before and after it.
func halved(s tensor.Shape) (outer, size, inner int) {
	at := 0
	for d, n := range s {
		if n%2 == 0 {
			at = d
			break
		}
		if n > s[at] {
			at = d
		}
	}
	outer, size, inner = 1, 1, 1
	for d, n := range s {
		switch {
		case d < at:
			outer *= n
		case d == at:
			size = n
		default:
			inner *= n
		}
	}
	return outer, size, inner
}

// threeFry returns the two words of the ThreeFry 2x32 function of 20 rounds (Salmon and others,
// 2011).
func threeFry(key, counter uint64) (a, b uint32) {
	turns := [8]int{13, 15, 26, 6, 17, 29, 16, 24}
	k := [3]uint32{uint32(key), uint32(key >> 32), 0x1BD11BDA ^ uint32(key) ^ uint32(key>>32)}
	a, b = uint32(counter)+k[0], uint32(counter>>32)+k[1]
	for group := range 5 {
		for _, t := range turns[group%2*4 : group%2*4+4] {
			a += b
			b = bits.RotateLeft32(b, t) ^ a
		}
		a += k[(group+1)%3]
		b += k[(group+2)%3] + uint32(group+1)
	}
	return a, b
}
