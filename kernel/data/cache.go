package data

import (
	"fmt"
	"sync"

	"github.com/cairnml/cairn/engine"
)

// The kernels of CacheDataset, CacheDatasetV2 and AnonymousMemoryCache. As in
// TensorFlow, only an iterator that reaches the end fills the cache.

// memory holds the elements that a first iterator went through. It is safe for use
// from many goroutines.
type memory struct {
	mu    sync.Mutex
	full  bool
	items list
}

// get returns the elements, and whether they are there.
func (m *memory) get() (list, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.items, m.full
}

// put stores all elements, unless the cache is already full.
func (m *memory) put(items list) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.full {
		m.full, m.items = true, items
	}
}

// newMemory returns a handle of an empty cache, and one that deletes it.
func newMemory(c *engine.Call) error {
	c.SetObject(0, new(memory))
	c.SetObject(1, deleter{})
	return nil
}

// cached keeps the elements of its input in memory. A cache in input 2 is shared by
// all its users.
func cached(c *engine.Call) error {
	in, err := datasetIn(c, 0)
	if err != nil {
		return err
	}
	names, err := stringsIn(c, 1, "the file's name")
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("takes one file name (got %d)", len(names))
	}
	if names[0] != "" {
		return fmt.Errorf("a cache in the file %.100q is not supported: an empty name keeps the elements in memory", names[0])
	}
	m := new(memory)
	if c.NumIn() > 2 {
		if given, ok := c.Input(2).Object.(*memory); ok {
			m = given
		}
	}
	c.SetObject(0, of(c, in.size, sourceFunc(func(c *engine.Call, depth int) (iterator, error) {
		return &cacher{in: in, depth: depth, to: m}, nil
	})))
	return nil
}

// cacher reads the elements of a cache, or of its input. It stores the elements of
// the input in the cache if it reaches the end.
type cacher struct {
	in    *Dataset
	depth int // of the iterator, for the limit of nesting
	to    *memory

	it    iterator
	fills bool // the elements come from the input
	items list
	bytes int64
}

func (x *cacher) next(c *engine.Call) (element, bool, error) {
	if x.it == nil {
		items, full := x.to.get()
		var err error
		if full {
			x.it, err = items.iterate(c, x.depth)
		} else {
			x.it, err = x.in.iterate(c, x.depth)
		}
		if err != nil {
			return nil, false, err
		}
		x.fills = !full
	}
	e, ok, err := pull(c, x.it)
	switch {
	case err != nil || !x.fills:
		return e, ok, err
	case !ok:
		x.to.put(x.items)
		x.fills, x.items = false, nil
		return nil, false, nil
	}
	x.bytes += bytesOf(e)
	x.items = append(x.items, e)
	return e, true, c.Afford(x.bytes)
}
