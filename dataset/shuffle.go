package dataset

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cairnml/cairn/internal/philox"
)

// ShuffleOptions are the options of [Dataset.Shuffle].
type ShuffleOptions struct {
	// Seed fixes the order: the same seed yields the same order in every program. 0
	// draws another order every time, but for TensorFlow it is a seed like others.
	Seed uint64
	// SameOrder uses the same order in every pass of a Repeat. False: each pass has
	// a different one.
	SameOrder bool
	// TensorFlow selects the order of tf.data's shuffle with this seed, less than 2³¹-1:
	// pass n is in the order of the dataset's iterator n. False: the order is Cairn's
	// own.
	TensorFlow bool
	// GlobalSeed is the seed that tf.random.set_seed sets, for TensorFlow, less than 2³¹-1.
	// Default: none, so TensorFlow's 87654321 is used.
	GlobalSeed *uint64
}

// Shuffle puts the elements in random order. It holds a buffer of that many
// elements and hands out a random one of them, so that an element can move
// forward by no more than the buffer's size; a buffer as long as the dataset
// shuffles perfectly.
func (d *Dataset[T]) Shuffle(buffer int, o *ShuffleOptions) *Dataset[T] {
	if o == nil {
		o = &ShuffleOptions{}
	}
	if buffer < 1 {
		return failed[T](errors.Join(d.err, fmt.Errorf("dataset: Shuffle: the buffer is %d, want 1 or more", buffer)))
	}
	seed, same := o.Seed, o.SameOrder
	step := fmt.Sprintf("shuffle(%d)", buffer)
	var global uint64
	if o.TensorFlow {
		if global = 87654321; o.GlobalSeed != nil {
			global = *o.GlobalSeed
		}
		if seed >= math.MaxInt32 || global >= math.MaxInt32 {
			return failed[T](errors.Join(d.err, fmt.Errorf("dataset: Shuffle in TensorFlow's order: the seeds are %d and %d, want less than %d", global, seed, math.MaxInt32)))
		}
		step = fmt.Sprintf("shuffle(%d,tensorflow %d)", buffer, global)
	}
	name := fnv.New64a()
	name.Write([]byte(d.pipeline))
	own := name.Sum64() // two shuffles of one pipeline have different orders
	shuffled := then(d, step, d.size, func(p pass) cursor[T] {
		c := &shuffle[T]{from: d.open(p), size: d.size, buffer: buffer, seed: seed, stream: p.n}
		c.global, c.same, c.tensorflow = global, same, o.TensorFlow
		if seed == 0 && !c.tensorflow {
			c.seed = p.seed ^ own
		}
		if same {
			c.stream = 0
		}
		var origin encoder
		c.from.save(&origin)
		c.origin = origin.buf
		return c
	})
	shuffled.seedless = shuffled.seedless || seed == 0 && !o.TensorFlow
	return shuffled
}

// shuffle is the buffer. Elements are numbered as they come; how the numbers
// move through the buffer depends on the seed, the stream and the number of
// elements alone, so a place is given by counts. Both orders must stay, Cairn's (rand.PCG and IntN) and
// TensorFlow's (ShuffleDatasetOp): a restore deals the same numbers again. Checkpoints also contain the
// text of the step and the numbers that save writes.
type shuffle[T any] struct {
	from         cursor[T]
	origin       []byte // from's place before the first element
	size         int64  // the number of the source's elements, negative if it isn't known
	buffer       int    // the most elements in the buffer
	seed, stream uint64 // the seed, and the number of the pass; 0 if the order is the same in all
	global       uint64 // TensorFlow's global seed
	tensorflow   bool   // TensorFlow's order
	same         bool   // the order is the same in every pass

	deck deck
	held map[int64]T // the buffer's elements by number
}

// deck moves the numbers of elements through the buffer. Dealing a number is removing a random one.
type deck struct {
	pick   func(n int) int // draws a place from 0 to n-1
	front  bool            // the first number takes the place of a dealt one; else the last does
	cards  []int64         // the numbers in the buffer
	pulled int64           // elements taken from the source
	dealt  int64           // elements handed out
	done   bool            // the source has ended, after pulled elements
}

// deal removes a random number from the buffer and returns it.
func (k *deck) deal() int64 {
	i := k.pick(len(k.cards))
	last := len(k.cards) - 1
	n := k.cards[i]
	if k.front {
		k.cards[i] = k.cards[0]
		k.cards = k.cards[1:]
	} else {
		k.cards[i] = k.cards[last]
		k.cards = k.cards[:last]
	}
	k.dealt++
	return n
}

func (c *shuffle[T]) start() {
	if c.held != nil {
		return
	}
	c.held = map[int64]T{}
	if c.tensorflow {
		draw := c.words()
		c.deck.pick, c.deck.front = func(n int) int { return int(uint64(draw()) % uint64(n)) }, true
	} else {
		c.deck.pick = rand.New(rand.NewPCG(c.seed, c.stream)).IntN
	}
}

// words returns the function that draws the numbers of tf.data's shuffle in this pass. The
// seeds of a pass are two numbers drawn from the dataset's seeds.
func (c *shuffle[T]) words() func() uint32 {
	a, b := c.global, c.seed
	if a == 0 && b == 0 {
		b = math.MaxInt32
	}
	if !c.same {
		seeds := philox.New(a, 0, b)
		seeds.Skip(c.stream / 2) // four numbers a block
		block := seeds.Block()
		a, b = uint64(block[c.stream%2*2]), uint64(block[c.stream%2*2+1])
	}
	g := philox.New(a, 0, b)
	var block [4]uint32
	used := 0
	return func() uint32 {
		if used == 0 {
			block = g.Block()
		}
		x := block[used]
		used = (used + 1) % len(block)
		return x
	}
}

func (c *shuffle[T]) next(ctx context.Context) (T, error) {
	c.start()
	var zero T
	for k := &c.deck; !k.done && len(k.cards) < c.buffer; {
		v, err := c.from.next(ctx)
		if errors.Is(err, io.EOF) {
			k.done = true
			break
		}
		if err != nil {
			return zero, err
		}
		k.cards = append(k.cards, k.pulled)
		c.held[k.pulled] = v
		k.pulled++
	}
	if len(c.deck.cards) == 0 {
		return zero, io.EOF
	}
	n := c.deck.deal()
	v := c.held[n]
	delete(c.held, n)
	return v, nil
}

func (c *shuffle[T]) save(e *encoder) {
	e.uint(c.seed)
	e.uint(c.stream)
	e.int(c.deck.pulled)
	e.int(c.deck.dealt)
	e.bool(c.deck.done)
	e.bytes(c.origin)
}

func (c *shuffle[T]) load(ctx context.Context, d *decoder) error {
	c.seed, c.stream = d.uint(), d.uint()
	pulled, dealt, done := d.int(), d.int(), d.bool()
	c.origin = d.bytes()
	if d.err != nil {
		return d.err
	}
	// This comes before the loop below, which a damaged place could make run for hours. If
	// the size isn't known, only the context ends such a loop.
	if dealt > pulled || c.size >= 0 && pulled > c.size {
		return fmt.Errorf("dataset: a shuffle of %d elements can't have returned %d of %d: %w", c.size, dealt, pulled, ErrState)
	}
	c.start()
	k := &c.deck
	// Deal the same numbers again, without elements.
	for k.dealt < dealt {
		if k.dealt%(1<<16) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for len(k.cards) < c.buffer && k.pulled < pulled {
			k.cards = append(k.cards, k.pulled)
			k.pulled++
		}
		if len(k.cards) == 0 {
			break
		}
		k.deal()
	}
	// A fill that failed half way has pulled more than was dealt for.
	for len(k.cards) < c.buffer && k.pulled < pulled {
		k.cards = append(k.cards, k.pulled)
		k.pulled++
	}
	if k.dealt != dealt || k.pulled != pulled {
		return fmt.Errorf("dataset: a shuffle can't have returned %d of %d elements: %w", dealt, pulled, ErrState)
	}
	k.done = done

	// Then fetch the elements that the buffer holds.
	from := decoder{buf: c.origin}
	if err := c.from.load(ctx, &from); err != nil {
		return err
	}
	if err := from.end(); err != nil {
		return err
	}
	at := int64(0)
	for _, n := range slices.Sorted(slices.Values(k.cards)) {
		if err := moved(skip(ctx, c.from, n-at), n); err != nil {
			return err
		}
		v, err := c.from.next(ctx)
		if err != nil {
			return moved(err, n)
		}
		c.held[n] = v
		at = n + 1
	}
	return moved(skip(ctx, c.from, pulled-at), pulled)
}
