package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
)

// The kernels of FlatMapDataset, InterleaveDataset and the parallel forms of
// that one. The parallel ones, too, return elements in the order of the
// sequential op.

// dataset returns the dataset that f makes.
func (f *closure) dataset(c *engine.Call, in ...element) (*Dataset, error) {
	out, err := f.call(c, in...)
	if err != nil {
		return nil, err
	}
	if len(out) != 1 {
		return nil, fmt.Errorf("the function returns %d values, not one dataset", len(out))
	}
	d, ok := out[0].Object.(*Dataset)
	if !ok {
		return nil, fmt.Errorf("the function returns %v, not a dataset", out[0].DType())
	}
	return d, nil
}

// flatMapped prepares FlatMapDataset: the elements of the datasets that a function
// makes, one after the other.
var flatMapped = withFunction("f", "Targuments", 1, func(c *engine.Call, f *closure, _ int) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, unknown, interleaving(in, f, 1, 1)))
	return nil
})

// autotune is the cycle length with which a graph leaves the choice to TensorFlow.
const autotune = -1

// cycleDefault is the number of interleaved datasets for autotune. TensorFlow's
// number depends on its machine; this one is Cairn's. It decides the order of
// elements.
const cycleDefault = 10

// interleaved prepares InterleaveDataset and its parallel forms: blocks of
// elements of several datasets in turn.
var interleaved = withFunction("f", "Targuments", 1, func(c *engine.Call, f *closure, next int) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	cycle, err := intIn(c, next, "the cycle length")
	if err != nil {
		return err
	}
	if cycle == autotune {
		cycle = cycleDefault
	}
	block, err := intIn(c, next+1, "the block length")
	switch {
	case err != nil:
		return err
	case cycle < 1 || block < 1:
		return fmt.Errorf("the cycle length is %d and the block length %d; both must be at least 1", cycle, block)
	}
	c.SetObject(0, of(c, unknown, interleaving(in, f, cycle, block)))
	return nil
})

func interleaving(in *Dataset, f *closure, cycle, block int64) source {
	return sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		it, err := in.iterate(c, depth)
		if err != nil {
			return nil, err
		}
		return &interleave{in: it, f: f, depth: depth, cycle: cycle, block: block}, nil
	})
}

type interleave struct {
	in           iterator
	f            *closure
	depth        int
	cycle, block int64

	open  []iterator // by index in the cycle; nil for an empty place
	live  int
	at    int64 // the place in the cycle
	given int64 // elements of its block so far
	ended bool  // the input has no more elements
}

func (x *interleave) next(c *engine.Call) (element, bool, error) {
	for {
		if x.at < int64(len(x.open)) && x.open[x.at] != nil {
			e, ok, err := pull(c, x.open[x.at])
			if err != nil {
				return nil, false, err
			}
			if ok {
				if x.given++; x.given == x.block {
					x.advance()
				}
				return e, true, nil
			}
			x.open[x.at] = nil
			x.live--
			x.advance()
			continue
		}
		if x.ended {
			if x.live == 0 {
				return nil, false, nil
			}
			x.advance()
			continue
		}
		e, ok, err := pull(c, x.in)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			x.ended = true
			continue
		}
		d, err := x.f.dataset(c, e)
		if err != nil {
			return nil, false, err
		}
		it, err := d.iterate(c, x.depth)
		if err != nil {
			return nil, false, err
		}
		// Places are filled in order, so that a long cycle takes no memory before
		// there are datasets for it.
		if x.at == int64(len(x.open)) {
			x.open = append(x.open, it)
		} else {
			x.open[x.at] = it
		}
		x.live++
	}
}

// advance moves to the next place of the cycle. Places that were never filled
// stay empty once the input has ended.
func (x *interleave) advance() {
	x.given = 0
	n := x.cycle
	if x.ended {
		n = max(int64(len(x.open)), 1)
	}
	if x.at++; x.at >= n {
		x.at = 0
	}
}
