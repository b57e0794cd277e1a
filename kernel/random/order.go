package random

import (
	"fmt"
	"math"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/kernel/internal/draws"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of RandomShuffle, StatelessShuffle, RandomCrop and RandomIndexShuffle. The words of
// each draw are TensorFlow's and must stay, because a seed decides the order.

// orders are the ops that draw classes, permutations and positions.
var orders = []engine.Kernel{
	{Op: "Multinomial", Prepare: prepareMultinomial},
	{Op: "StatelessMultinomial", Types: engine.Types{"T": elementwise.Floating()}, Run: statelessMultinomial},
	{Op: "RandomShuffle", Prepare: prepareShuffle},
	{Op: "StatelessShuffle", Run: statelessShuffle},
	{Op: "RandomIndexShuffle", Run: indexShuffle},
	{Op: "SobolSample", Types: engine.Types{"dtype": {tensor.Float32, tensor.Float64}}, Run: sobolSample},
	{Op: "RandomCrop", Prepare: prepareCrop},
	{Op: "KMC2ChainInitialization", Run: chain},
	{Op: "KmeansPlusPlusInitialization", Run: spread},
}

// prepareShuffle shuffles rows by the state of a node.
func prepareShuffle(n *engine.Node) (func(*engine.Call) error, error) {
	find := draws.Of(n)
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		return shuffle(c, func(blocks uint64) philox.Generator { return find(c).Reserve(blocks) })
	}, nil
}

// statelessShuffle shuffles rows by a key.
func statelessShuffle(c *engine.Call) error {
	if err := c.Need(4); err != nil {
		return err
	}
	g, err := keyed(c, 1)
	if err != nil {
		return err
	}
	return shuffle(c, func(uint64) philox.Generator { return g })
}

// shuffle copies the rows of a tensor in a random order.
func shuffle(c *engine.Call, reserve func(blocks uint64) philox.Generator) error {
	x := c.In(0)
	s := x.Shape()
	if x.Len() <= 1 || len(s) == 0 || s[0] <= 1 {
		c.Pass(0, 0)
		return nil
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil {
		return err
	}
	order := engine.Zeroed[int](c, s[0]) // before the state advances, because memory may be refused
	words := draws.NewStream(reserve(uint64(s[0]-1+3) / 4))
	for i := range order {
		order[i] = i
	}
	for i := range len(order) - 1 {
		c.Step(i)
		k := i + int(words.Next()%uint32(len(order)-i))
		order[i], order[k] = order[k], order[i]
	}
	size := shapes.Count(s[1:])
	for i, from := range order {
		c.Step(i)
		if !x.DType().Fixed() {
			copy(out.Strings()[i*size:(i+1)*size], x.Strings()[from*size:])
			continue
		}
		w := size * x.DType().Size()
		copy(out.Bytes()[i*w:(i+1)*w], x.Bytes()[from*w:])
	}
	return nil
}

// prepareCrop copies a window at a random position of an image.
func prepareCrop(n *engine.Node) (func(*engine.Call) error, error) {
	find := draws.Of(n)
	return func(c *engine.Call) error {
		if err := c.Need(2); err != nil {
			return err
		}
		x := c.In(0)
		s := x.Shape()
		if len(s) != 3 || !x.DType().Fixed() {
			return fmt.Errorf("takes an image of three dimensions, not %v%v", x.DType(), s)
		}
		size, err := shapes.Dims(c.In(1), "the size", 0)
		if err != nil {
			return err
		}
		if len(size) != 2 || size[0] > s[0] || size[1] > s[1] {
			return fmt.Errorf("a window of %v doesn't fit an image of shape %v", size, s)
		}
		out, err := c.Alloc(0, x.DType(), tensor.Shape{size[0], size[1], s[2]})
		if err != nil {
			return err
		}
		words := draws.NewStream(find(c).Reserve(1))
		var top, left int
		if free := s[1] - size[1]; free > 0 {
			left = int(words.Next() % uint32(free+1))
		}
		if free := s[0] - size[0]; free > 0 {
			top = int(words.Next() % uint32(free+1))
		}
		pixel := s[2] * x.DType().Size()
		row := size[1] * pixel
		for y := range size[0] {
			copy(out.Bytes()[y*row:(y+1)*row], x.Bytes()[((top+y)*s[1]+left)*pixel:])
		}
		return nil
	}, nil
}

// indexShuffle returns the new index of each number in a permutation of 0 to a
// largest number. The permutation depends on a seed of three words.
func indexShuffle(c *engine.Call) error {
	if err := c.Need(3); err != nil {
		return err
	}
	index, seed, most := c.In(0), c.In(1), c.In(2)
	d := index.DType()
	rounds := c.Attrs().Int("rounds", 4)
	if rounds < 4 || rounds > 1<<10 || rounds%2 != 0 {
		return fmt.Errorf("%d rounds aren't an even number from 4 to 1024", rounds)
	}
	n := max(index.Len(), most.Len(), seed.Len()/3)
	vector := func(t *tensor.Tensor) bool {
		return t.DType() == d && (len(t.Shape()) == 0 || len(t.Shape()) == 1 && t.Len() == n)
	}
	s := seed.Shape()
	if !vector(index) || !vector(most) || len(s) < 1 || len(s) > 2 || s[len(s)-1] != 3 || len(s) == 2 && s[0] != n {
		return fmt.Errorf("indices %v%v, seeds %v and largest indices %v%v don't go together", d, index.Shape(), s, most.DType(), most.Shape())
	}
	shape := tensor.Shape{n}
	if len(index.Shape()) == 0 && len(most.Shape()) == 0 && len(s) == 1 {
		shape = nil
	}
	from, err := words64(index)
	if err != nil {
		return err
	}
	seeds, err := words64(seed)
	if err != nil {
		return err
	}
	last, err := words64(most)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, d, shape)
	if err != nil {
		return err
	}
	signed := d == tensor.Int32 || d == tensor.Int64
	p := permutation{c: c, rounds: int(rounds)}
	for i := range n {
		c.Step(i)
		at, end, key := from[i%len(from)], last[i%len(last)], seeds[i*3%len(seeds):]
		if signed && (int64(at) < 0 || int64(end) < 0) || at > end {
			return fmt.Errorf("index %d isn't from 0 to %d", int64(at), int64(end))
		}
		to := p.index(at, end, [3]uint32{uint32(key[0]), uint32(key[1]), uint32(key[2])})
		switch d {
		case tensor.Int32:
			tensor.Values[int32](out)[i] = int32(to)
		case tensor.Uint32:
			tensor.Values[uint32](out)[i] = uint32(to)
		case tensor.Int64:
			tensor.Values[int64](out)[i] = int64(to)
		case tensor.Uint64:
			tensor.Values[uint64](out)[i] = to
		default:
			return fmt.Errorf("isn't defined for %v", d)
		}
	}
	return nil
}

// words64 returns the elements of a tensor of integers.
func words64(t *tensor.Tensor) ([]uint64, error) {
	if t.DType() == tensor.Uint64 {
		return tensor.Values[uint64](t), nil
	}
	v, err := shapes.AllInts(t, "an input")
	out := make([]uint64, len(v))
	for i, x := range v {
		out[i] = uint64(x)
	}
	return out, err
}

// permutation computes indices in permutations. The last one's keys are kept, because the
// next index often has the same.
type permutation struct {
	c      *engine.Call
	rounds int
	key    [3]uint32
	cipher simon
	looked int // encryptions since the last check of the context
}

// index returns the index of a number in a permutation of 0 to last. It encrypts the number by
// Simon, with words half as wide as last needs, until the result is at most last. For a small
// last, tens of thousands of encryptions may be necessary.
func (p *permutation) index(x, last uint64, key [3]uint32) uint64 {
	if last == 0 {
		return 0
	}
	block := int(math.Ceil(math.Log2(float64(last))))
	width := uint(max(block+block%2, 16) / 2)
	if p.cipher.width != width || p.key != key {
		p.cipher.width, p.cipher.mask, p.key = width, 1<<width-1, key
		p.cipher.schedule(key, p.rounds)
	}
	for {
		if p.looked++; p.looked*p.rounds >= 1<<14 {
			p.c.Check()
			p.looked = 0
		}
		if x = p.cipher.encrypt(x); x <= last {
			return x
		}
	}
}

// simon is the Simon cipher with words of any width.
type simon struct {
	width uint
	mask  uint64
	keys  []uint64
}

// left rotates a word to the left.
func (s *simon) left(x uint64, by uint) uint64 { return (x<<by | x>>(s.width-by)) & s.mask }

// schedule derives the keys of all rounds. The constants are those of TensorFlow's
// random_index_shuffle.cc.
func (s *simon) schedule(key [3]uint32, rounds int) {
	z := 0x7369f885192c0ef5 & s.mask
	s.keys = append(s.keys[:0], uint64(key[0])&s.mask, uint64(key[1])&s.mask, uint64(key[2])&s.mask)
	for i := 3; i < rounds; i++ {
		k := s.keys[i-1]
		s.keys = append(s.keys, 0xfffffffc&s.mask^z&1^s.keys[i-3]^s.left(k, s.width-3)^s.left(k, s.width-4))
		z >>= 1
	}
}

// round mixes a word.
func (s *simon) round(x uint64) uint64 { return s.left(x, 1)&s.left(x, 8) ^ s.left(x, 2) }

// encrypt encrypts a block of two words.
func (s *simon) encrypt(v uint64) uint64 {
	left, right := v>>s.width&s.mask, v&s.mask
	for i := 0; i+1 < len(s.keys); i += 2 {
		left ^= s.round(right) ^ s.keys[i]
		right ^= s.round(left) ^ s.keys[i+1]
	}
	return left<<s.width | right
}
