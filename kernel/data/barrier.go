package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of Barrier, BarrierInsertMany, BarrierTakeMany, BarrierClose,
// BarrierReadySize and BarrierIncompleteSize.

// barrier puts elements together of components that come one by one, by their keys.
// It is safe for use from many goroutines.
type barrier struct {
	waiting
	types  []tensor.DType
	shapes []graph.PartialShape

	next      int64 // the index of the next keys
	partial   map[string]*keyed
	ready     byPriority // complete, their indices and keys first
	bytes     int64
	closed    bool // no new keys
	cancelled bool // no components at all
}

// keyBytes is the approximate memory of a key, in bytes, besides its text and
// its components.
const keyBytes = 128

// keyed is an element under a key.
type keyed struct {
	key   string
	index int64 // how many insertions of new keys came before it
	element
}

func newBarrier(as graph.Attrs, what string) (*barrier, error) {
	b := &barrier{waiting: waiting{what: what}, types: as.Types("component_types"), shapes: as.Shapes("shapes"), next: math.MinInt64, partial: map[string]*keyed{}}
	if len(b.shapes) > 0 && len(b.shapes) != len(b.types) {
		return nil, fmt.Errorf("there are %d shapes for components of %d types", len(b.shapes), len(b.types))
	}
	for i, s := range b.shapes {
		if !s.Known() {
			return nil, fmt.Errorf("component %d has the shape %v, of which not all is known", i, s)
		}
	}
	return b, nil
}

// barriers returns the kernels of barriers.
func barriers() []engine.Kernel {
	check := func(b *barrier, as graph.Attrs) error {
		if types := as.Types("component_types"); !slices.Equal(types, b.types) {
			return fmt.Errorf("it holds %v, not %v", b.types, types)
		}
		return nil
	}
	return []engine.Kernel{
		{Op: "Barrier", Prepare: resourceOf("barrier", true, newBarrier, check)},
		{Op: "BarrierInsertMany", Run: insertMany},
		{Op: "BarrierTakeMany", Run: takeMany},
		{Op: "BarrierClose", Run: closeBarrier},
		{Op: "BarrierReadySize", Run: barrierSize(func(b *barrier) int { return len(b.ready) })},
		{Op: "BarrierIncompleteSize", Run: barrierSize(func(b *barrier) int { return len(b.partial) })},
	}
}

func barrierIn(c *engine.Call, n int) (*barrier, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	return engine.Object[*barrier](c, 0)
}

// insertMany adds one component to each key. After an error the keys before the
// bad one keep their components.
func insertMany(c *engine.Call) error {
	b, err := barrierIn(c, 3)
	if err != nil {
		return err
	}
	keys, err := stringsIn(c, 1, "the keys")
	if err != nil {
		return err
	}
	k := c.Attrs().Int("component_index", 0)
	if k < 0 || k >= int64(len(b.types)) {
		return fmt.Errorf("component %d is none of the %d of the %s", k, len(b.types), b.what)
	}
	values := own(c, 2)
	if s := shapeOf(values); len(s) == 0 || s[0] != len(keys) || values.DType() != b.types[k] {
		return fmt.Errorf("component %d is %v%v for %d keys, not %v", k, values.DType(), s, len(keys), b.types[k])
	} else if len(b.shapes) > 0 && !b.shapes[k].Accepts(s[1:]) {
		return fmt.Errorf("component %d has shape %v, not %v", k, s[1:], b.shapes[k])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancelled || b.closed && len(b.partial) == 0 {
		return fmt.Errorf("the %s takes no more components: %w", b.what, ErrQueueClosed)
	}
	// All new keys of one call have the same index
	grown := int64(0)
	defer func() { b.next += grown }()
	for i, key := range keys {
		x, added := b.partial[key], int64(0)
		if x == nil {
			if b.closed {
				return fmt.Errorf("the %s takes no more keys: %w", b.what, ErrQueueClosed)
			}
			x, grown = &keyed{key, b.next, make(element, len(b.types))}, 1
			added = int64(len(key)) + keyBytes
		}
		if present(x.element[k]) {
			return fmt.Errorf("component %d of key %q is there already", k, key)
		}
		v, err := row(values, i)
		if err != nil {
			return err
		}
		added += bytesOf(element{v})
		if err := c.Afford(b.bytes + added); err != nil {
			return err
		}
		b.bytes += added
		x.element[k] = v
		b.partial[key] = x
		if slices.IndexFunc(x.element, func(v engine.Value) bool { return !present(v) }) < 0 {
			delete(b.partial, key)
			b.ready.put(slices.Concat(element{engine.ValueOf(tensor.Scalar(x.index)), engine.ValueOf(tensor.Scalar(key))}, x.element))
		}
	}
	b.change()
	return nil
}

// takeMany returns complete elements, in the order in which their keys came
// first.
func takeMany(c *engine.Call) error {
	b, err := barrierIn(c, 2)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "the number of elements")
	if err != nil {
		return err
	}
	if n < 0 {
		return fmt.Errorf("%d elements are wanted", n)
	}
	as := c.Attrs()
	if types := as.Types("component_types"); !slices.Equal(types, b.types) {
		return fmt.Errorf("the %s holds %v, not %v", b.what, b.types, types)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for int64(len(b.ready)) < n {
		if ended := b.cancelled || b.closed && (len(b.partial) == 0 || !as.Bool("wait_for_incomplete")); ended || as.Bool("allow_small_batch") && b.closed && len(b.ready) > 0 {
			if as.Bool("allow_small_batch") && len(b.ready) > 0 {
				n = int64(len(b.ready))
				break
			}
			return fmt.Errorf("the %s has %d elements left where %d are wanted: %w", b.what, len(b.ready), n, ErrQueueClosed)
		}
		if err := b.wait(c.Context(), "has too few complete elements"); err != nil {
			return err
		}
	}
	es, taken := make([]element, n), int64(0)
	for i := range es {
		es[i] = b.ready.take()
		taken += bytesOf(es[i][2:]) + int64(len(es[i][1].Tensor.Strings()[0])) + keyBytes
	}
	var joined element
	if n > 0 {
		joined, err = stack(c, es)
	} else {
		joined, err = b.none()
	}
	if err != nil {
		b.ready.restore(es)
		return err
	}
	b.bytes -= taken
	b.change()
	return giveAll(c, joined)
}

// none returns the indices, keys and components of no elements.
func (b *barrier) none() (element, error) {
	out := element{engine.ValueOf(tensor.Vector[int64]()), engine.ValueOf(tensor.Vector[string]())}
	for i, d := range b.types {
		shape := tensor.Shape{0}
		if i < len(b.shapes) {
			shape = append(shape, b.shapes[i].Dims()...)
		}
		t, err := tensor.Zeros(d, shape...)
		if err != nil {
			return nil, err
		}
		out = append(out, engine.ValueOf(t))
	}
	return out, nil
}

// closeBarrier refuses new keys from now on. If pending elements are cancelled,
// it refuses components for them too.
func closeBarrier(c *engine.Call) error {
	b, err := barrierIn(c, 1)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if c.Attrs().Bool("cancel_pending_enqueues") {
		b.cancelled = true
		for key, x := range b.partial {
			b.bytes -= int64(len(key)) + keyBytes
			for _, v := range x.element {
				if present(v) {
					b.bytes -= bytesOf(element{v})
				}
			}
		}
		clear(b.partial)
	}
	b.change()
	return nil
}

func barrierSize(of func(*barrier) int) func(*engine.Call) error {
	return func(c *engine.Call) error {
		b, err := barrierIn(c, 1)
		if err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		c.Set(0, tensor.Scalar(int32(of(b))))
		return nil
	}
}
