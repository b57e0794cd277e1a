package data

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/philox"
)

// The kernels of ShuffleDataset, ShuffleAndRepeatDataset, their later versions,
// seed generators and dummy handles. The numbers and the places of elements in
// the buffer are TensorFlow's (shuffle_dataset_op.cc): they decide the order
// for a seed.

// seeds returns the seeds of iterators that shuffle: the same for all, or newly
// drawn ones. It is safe for concurrent use.
type seeds struct {
	a, b   uint64
	redraw bool // each iterator has different seeds

	mu    sync.Mutex
	drawn samples
}

// newSeeds returns the seeds for two numbers; zeros mean seeds that differ from
// run to run.
func newSeeds(a, b int64, redraw bool) *seeds {
	s := &seeds{a: uint64(a), b: uint64(b), redraw: redraw}
	if a == 0 && b == 0 {
		s.a, s.b = rand.Uint64(), rand.Uint64()
	}
	s.drawn = samples{g: philox.New(s.a, 0, s.b)}
	return s
}

// next returns the numbers of the next iterator.
func (s *seeds) next() samples {
	if !s.redraw {
		return samples{g: philox.New(s.a, 0, s.b)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.drawn.next()
	return samples{g: philox.New(uint64(a), 0, uint64(s.drawn.next()))}
}

// samples draws one number of 32 bits after the other.
type samples struct {
	g     philox.Generator
	block [4]uint32
	used  int // of the block; 0: there is none
}

func (s *samples) next() uint32 {
	if s.used == 0 {
		s.block = s.g.Block()
	}
	x := s.block[s.used]
	s.used = (s.used + 1) % len(s.block)
	return x
}

// wholeBuffer means a buffer of all elements.
const wholeBuffer = -2

// shuffled prepares the ops that shuffle. The seeds are in inputs seedAt and
// the one after, or in the generator of input from. An op may have both: the
// seeds count if the generator is only a placeholder. 0 means that there is no
// such input. roundsAt is the input with the number of repetitions of the
// dataset; 0: once.
func shuffled(seedAt, from, roundsAt int) func(*engine.Call) error {
	return func(c *engine.Call) error {
		in, err := datasetIn(c, 0)
		if err != nil {
			return err
		}
		size, err := intIn(c, 1, "the buffer's size")
		if err != nil {
			return err
		}
		if size < 1 && size != wholeBuffer {
			return fmt.Errorf("the buffer's size is %d, less than 1", size)
		}
		s, err := seedsIn(c, seedAt, from)
		if err != nil {
			return err
		}
		d := of(c, in.size, over(in, func(it iterator) iterator { return &shuffler{in: it, size: size, random: s.next()} }))
		if roundsAt > 0 {
			n, err := intIn(c, roundsAt, "the count")
			if err != nil {
				return err
			}
			if n == 0 {
				return fmt.Errorf("the count is 0: it must be positive, or -1 for no end")
			}
			d = repeat(c, d, n)
		}
		c.SetObject(0, d)
		return nil
	}
}

// seedsIn returns the seeds of an op, with the parameters of [shuffled].
func seedsIn(c *engine.Call, seedAt, from int) (*seeds, error) {
	if from > 0 {
		if from >= c.NumIn() {
			return nil, fmt.Errorf("needs an input %d, a seed generator", from)
		}
		if s, ok := c.Input(from).Object.(*seeds); ok {
			return s, nil
		}
		if seedAt == 0 {
			return nil, fmt.Errorf("input %d is no seed generator", from)
		}
	}
	return twoSeeds(c, seedAt, !c.Attrs().Has("reshuffle_each_iteration") || c.Attrs().Bool("reshuffle_each_iteration"))
}

// twoSeeds reads the seeds that begin at an input.
func twoSeeds(c *engine.Call, at int, redraw bool) (*seeds, error) {
	a, err := intIn(c, at, "the seed")
	if err != nil {
		return nil, err
	}
	b, err := intIn(c, at+1, "the second seed")
	if err != nil {
		return nil, err
	}
	return newSeeds(a, b, redraw), nil
}

// shuffler keeps a buffer of elements and returns one of them at random.
type shuffler struct {
	in     iterator
	size   int64
	random samples

	buffer []element
	bytes  int64
}

func (s *shuffler) next(c *engine.Call) (element, bool, error) {
	for s.size == wholeBuffer || int64(len(s.buffer)) < s.size {
		e, ok, err := pull(c, s.in)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			s.in = empty
			break
		}
		s.bytes += bytesOf(e)
		if err := c.Afford(s.bytes); err != nil {
			return nil, false, err
		}
		s.buffer = append(s.buffer, e)
	}
	if len(s.buffer) == 0 {
		return nil, false, nil
	}
	pick := int64(s.random.next()) % int64(len(s.buffer))
	e := s.buffer[pick]
	// The element that came first takes its place.
	s.buffer[pick], s.buffer[0] = s.buffer[0], nil
	s.buffer = s.buffer[1:]
	s.bytes -= bytesOf(e)
	return e, true, nil
}

// seedGenerator returns a handle of seeds, and one that deletes it.
func seedGenerator(withReshuffle bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		redraw := true
		if withReshuffle {
			var err error
			if redraw, err = boolIn(c, 2, "reshuffle"); err != nil {
				return err
			}
		}
		s, err := twoSeeds(c, 0, redraw)
		if err != nil {
			return err
		}
		c.SetObject(0, s)
		c.SetObject(1, deleter{})
		return nil
	}
}

// deleter is the variant that TensorFlow deletes a resource with; here the
// garbage collector does.
type deleter struct{}

// VariantName returns TensorFlow's name of the variant.
func (deleter) VariantName() string { return "tensorflow::ResourceDeleter" }

// Escape does nothing.
func (deleter) Escape() {}

// Free does nothing.
func (deleter) Free(*engine.Arena) {}

// dummy is a handle without an object: the op that takes it makes the object.
type dummy struct{}

func dummyHandle(c *engine.Call) error {
	c.SetObject(0, dummy{})
	return nil
}
