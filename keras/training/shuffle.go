package training

import (
	"math"
	"math/rand/v2"

	"github.com/cairnml/cairn/internal/philox"
)

// shuffler draws the orders of examples that tf_keras's fit draws: those of TensorFlow's
// RandomShuffle with the global seed.
type shuffler struct{ g philox.Generator }

// newShuffler returns a shuffler. With a nil seed the order differs each time.
func newShuffler(seed *uint64) *shuffler {
	a, b := rand.Uint64(), rand.Uint64()
	if seed != nil {
		if a, b = *seed, 0; a == 0 {
			b = math.MaxInt32 // TensorFlow takes two zeros for no seed
		}
	}
	return &shuffler{philox.New(a, 0, b)}
}

// next returns the next order of the numbers from 0 to n-1. Each word of a block is one draw, as in
// the kernel of TensorFlow's RandomShuffle; the rest of the last block is dropped.
func (s *shuffler) next(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var block [4]uint32
	for i := range max(n-1, 0) {
		if i%4 == 0 {
			block = s.g.Block()
		}
		k := i + int(block[i%4]%uint32(n-i))
		order[i], order[k] = order[k], order[i]
	}
	return order
}
