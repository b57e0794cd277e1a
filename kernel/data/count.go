package data

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of TakeDataset, SkipDataset, RepeatDataset, ShardDataset,
// AssertCardinalityDataset, UnbatchDataset and DatasetCardinality, and that of
// the ops that only set options. Sizes are as in [Dataset]: infinite and
// unknown are below zero.

// counted runs an op on a dataset and a count.
func counted(make func(c *engine.Call, in *Dataset, n int64) (*Dataset, error)) func(*engine.Call) error {
	return func(c *engine.Call) error {
		in, err := datasetIn(c, 0)
		if err != nil {
			return err
		}
		n, err := intIn(c, 1, "the count")
		if err != nil {
			return err
		}
		d, err := make(c, in, n)
		if err == nil {
			c.SetObject(0, d)
		}
		return err
	}
}

// taken returns the first elements; a negative number takes all.
var taken = counted(func(c *engine.Call, in *Dataset, n int64) (*Dataset, error) {
	size := in.size
	switch {
	case n < 0:
		return in, nil
	case size == infinite || size > n:
		size = n
	}
	return of(c, size, over(in, func(it iterator) iterator {
		left := n
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			if left == 0 {
				it = empty
			} else {
				left--
			}
			return pull(c, it)
		})
	})), nil
})

// skipped leaves the first elements out; a negative number leaves all out.
var skipped = counted(func(c *engine.Call, in *Dataset, n int64) (*Dataset, error) {
	size := in.size
	switch {
	case n < 0:
		return of(c, 0, list{}), nil
	case size >= 0:
		size = max(size-n, 0)
	}
	return of(c, size, over(in, func(it iterator) iterator {
		left := n
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for ; left > 0; left-- {
				if _, ok, err := pull(c, it); err != nil || !ok {
					return nil, false, err
				}
			}
			return pull(c, it)
		})
	})), nil
})

// repeated repeats all elements so many times, or without end for a negative
// number.
var repeated = counted(func(c *engine.Call, in *Dataset, n int64) (*Dataset, error) { return repeat(c, in, n), nil })

func repeat(c *engine.Call, in *Dataset, n int64) *Dataset {
	size := in.size
	switch {
	case n == 0 || size == 0:
		size = 0
	case n < 0:
		size = infinite
	case size >= 0:
		size = times(size, n)
	}
	return of(c, size, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		return &repeater{in: in, depth: depth, left: n}, nil
	}))
}

// times returns the product of two sizes, infinite beyond 63 bits.
func times(a, b int64) int64 {
	if a != 0 && b > (1<<63-1)/a {
		return infinite
	}
	return a * b
}

type repeater struct {
	in    *Dataset
	depth int
	left  int64 // rounds that are to begin; negative: no end
	it    iterator
	any   bool // this round had an element
}

func (r *repeater) next(c *engine.Call) (element, bool, error) {
	for {
		if r.it == nil {
			if r.left == 0 {
				return nil, false, nil
			}
			if r.left > 0 {
				r.left--
			}
			var err error
			if r.it, err = r.in.iterate(c, r.depth); err != nil {
				return nil, false, err
			}
			r.any = false
		}
		e, ok, err := pull(c, r.it)
		if err != nil {
			return nil, false, err
		}
		if ok {
			r.any = true
			return e, true, nil
		}
		if r.it = nil; r.left < 0 && !r.any {
			r.left = 0 // an empty dataset repeated without end is empty
		}
	}
}

// sharded returns every element whose number modulo the number of shards is the
// index.
func sharded(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "the number of shards")
	if err != nil {
		return err
	}
	index, err := intIn(c, 2, "the index")
	switch {
	case err != nil:
		return err
	case n < 1:
		return fmt.Errorf("the number of shards is %d, less than 1", n)
	case index < 0 || index >= n:
		return fmt.Errorf("the index %d is not in [0, %d)", index, n)
	}
	size := in.size
	if size >= 0 {
		left := size % n
		if size /= n; index < left {
			size++
		}
	}
	mustHave := c.Attrs().Bool("require_non_empty")
	c.SetObject(0, of(c, size, over(in, func(it iterator) iterator {
		skip, first := index, true
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for ; skip > 0; skip-- {
				if _, ok, err := pull(c, it); err != nil {
					return nil, false, err
				} else if !ok {
					return nil, false, noneFor(mustHave && first, index)
				}
			}
			e, ok, err := pull(c, it)
			if err == nil && !ok {
				err = noneFor(mustHave && first, index)
			}
			skip, first = n-1, false
			return e, ok, err
		})
	})))
	return nil
}

func noneFor(bad bool, index int64) error {
	if bad {
		return fmt.Errorf("there is no element for the shard %d", index)
	}
	return nil
}

// same returns its dataset: the op's options for making elements don't change
// them.
func same(c *engine.Call) error {
	if _, err := datasetIn(c, 0); err != nil {
		return err
	}
	c.Pass(0, 0)
	return nil
}

// assertSize checks how many elements there are.
func assertSize(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	want, err := intIn(c, 1, "the number of elements")
	if err != nil {
		return err
	}
	c.SetObject(0, of(c, want, over(in, func(it iterator) iterator {
		n := int64(0)
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			e, ok, err := pull(c, it)
			if err != nil {
				return nil, false, err
			}
			if ok {
				n++
			}
			if want == infinite && !ok || want != infinite && (n > want || !ok && n < want) {
				return nil, false, fmt.Errorf("the input has %s elements, not %s", amount(n, ok), amount(want, false))
			}
			return e, ok, nil
		})
	})))
	return nil
}

// amount returns "at least 3" if there may be more.
func amount(n int64, more bool) string {
	switch {
	case n == infinite:
		return "infinitely many"
	case more:
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// unbatched returns the rows of each element.
func unbatched(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	size := unknown
	if in.size == infinite || in.size == 0 {
		size = in.size
	} else if len(in.shapes) > 0 && in.shapes[0].Rank() > 0 && in.size > 0 {
		for _, s := range in.shapes {
			if s.Rank() > 0 && s.Dim(0) >= 0 {
				size = times(in.size, int64(s.Dim(0)))
				break
			}
		}
	}
	c.SetObject(0, of(c, size, over(in, func(it iterator) iterator {
		var rows iterator = empty
		return iteratorFunc(func(c *engine.Call) (element, bool, error) {
			for {
				if e, ok, err := pull(c, rows); ok || err != nil {
					return e, ok, err
				}
				e, ok, err := pull(c, it)
				if err != nil || !ok {
					return nil, false, err
				}
				n, err := rowsOf(e)
				if err != nil {
					return nil, false, err
				}
				if rows, err = slicesOf(e, n).iterate(c, 0); err != nil {
					return nil, false, err
				}
			}
		})
	})))
	return nil
}

// cardinality returns the number of elements, -1 for infinitely many and -2 if
// it is unknown.
func cardinality(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err == nil {
		c.Set(0, tensor.Scalar(in.size))
	}
	return err
}
