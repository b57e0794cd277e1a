package data

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of the ops on queues. Those that make queues are in
// queuestore.go. An operation that has to wait does so only if the call's
// context can end.

// Queue is the object of a queue's handle. It is safe for concurrent use.
type Queue struct {
	kind     string // "FIFOQueue"
	name     string
	types    []tensor.DType
	shapes   []graph.PartialShape // nil: elements may have any
	capacity int64                // most elements; negative: no limit
	least    int64                // elements that stay in the queue until it is closed
	seeds    [2]int64             // those of the attributes

	mu      sync.Mutex
	items   store
	bytes   int64
	closed  bool
	refused bool          // enqueues that wait fail, too
	changed chan struct{} // closed, and another one made, when anything above changes
}

// store is the order of a queue's elements.
type store interface {
	put(element)
	take() element // must not be empty
	len() int64
	// restore puts back the elements that take has returned, the last one
	// first.
	restore([]element)
}

// ErrQueueClosed reports that a queue takes no more elements, or has no more.
var ErrQueueClosed = fmt.Errorf("the queue is closed: %w", ErrEndOfSequence)

// queue prepares an op that finds the queue of its shared name in the instance,
// or makes it there; one without a name belongs to its node. With byRef, the
// handle is a reference, as in TensorFlow 1.
func queue(kind string, byRef bool, newStore func(graph.Attrs) func() store) func(*engine.Node) (func(*engine.Call) error, error) {
	return func(n *engine.Node) (func(*engine.Call) error, error) {
		as := n.Attrs
		types, shapes := as.Types("component_types"), as.Shapes("shapes")
		if kind == "PriorityQueue" {
			types = append([]tensor.DType{tensor.Int64}, types...)
			shapes = append([]graph.PartialShape{graph.ShapeOf()}, shapes...)
		}
		if len(shapes) == 0 {
			shapes = nil
		}
		if shapes != nil && len(shapes) != len(types) {
			return nil, fmt.Errorf("there are %d shapes for components of %d types", len(shapes), len(types))
		}
		name, container := as.String("shared_name", ""), as.String("container", "")
		empty, seeds := newStore(as), [2]int64{as.Int("seed", 0), as.Int("seed2", 0)}
		create := func() any {
			q := &Queue{kind: kind, name: name, types: types, shapes: shapes, capacity: as.Int("capacity", -1),
				least: as.Int("min_after_dequeue", 0), seeds: seeds, items: empty(), changed: make(chan struct{})}
			if name == "" {
				q.name = n.Name
			}
			return q
		}
		return func(c *engine.Call) error {
			var o any
			if name == "" {
				o = c.NodeState(create)
			} else {
				var err error
				if o, err = c.Instance().Resource(engine.ResourceKey{Kind: "queue", Container: container, Name: name}, func() (any, error) { return create(), nil }); err != nil {
					return err
				}
			}
			q := o.(*Queue)
			if q.kind != kind || !slices.Equal(q.types, types) || q.capacity != as.Int("capacity", -1) {
				return fmt.Errorf("the queue %q is a %s of %v with room for %d, not a %s of %v with room for %d", name, q.kind, q.types, q.capacity, kind, types, as.Int("capacity", -1))
			}
			same := graph.PartialShape.Equal
			if kind == "PaddingFIFOQueue" {
				same = graph.PartialShape.Compatible
			}
			if !slices.EqualFunc(q.shapes, shapes, same) {
				return fmt.Errorf("the queue %q holds elements of shapes %v, not %v", name, q.shapes, shapes)
			}
			free := seeds == [2]int64{} // without seeds, those of the queue fit
			if least := as.Int("min_after_dequeue", 0); q.least != least || !free && q.seeds != seeds {
				return fmt.Errorf("the queue %q keeps %d elements and has the seeds %v, not %d and %v", name, q.least, q.seeds, least, seeds)
			}
			c.Refs().Output(0, engine.Value{Object: q, Ref: byRef})
			return nil
		}, nil
	}
}

// change wakes the waiting calls after a change of the queue; the caller holds
// the lock.
func (q *Queue) change() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// wait releases the lock until the queue changes. If the context never ends, so
// that the call might wait forever, it fails at once.
func (q *Queue) wait(ctx context.Context, why string) error {
	changed := q.changed
	q.mu.Unlock()
	defer q.mu.Lock()
	if ctx.Done() == nil {
		return fmt.Errorf("the %s %q %s, and the call may not wait for another one that changes that: a context that ends, as of context.WithTimeout, lets it", q.kind, q.name, why)
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the %s %q %s: %w", q.kind, q.name, why, context.Cause(ctx))
	}
}

// accepts checks that the queue takes an element.
func (q *Queue) accepts(e element) error {
	if len(e) != len(q.types) {
		return fmt.Errorf("the %s %q takes %d components, %d were given", q.kind, q.name, len(q.types), len(e))
	}
	return check(e, q.types, q.shapes)
}

// put adds an element as soon as there is room.
func (q *Queue) put(c *engine.Call, e element) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	closed := q.closed
	for {
		switch {
		case closed || q.refused:
			return fmt.Errorf("the %s %q takes no more elements: %w", q.kind, q.name, ErrQueueClosed)
		case q.capacity < 0 || q.items.len() < q.capacity:
			if err := c.Afford(q.bytes + bytesOf(e)); err != nil {
				return err
			}
			q.bytes += bytesOf(e)
			q.items.put(e)
			q.change()
			return nil
		}
		if err := q.wait(c.Context(), "is full"); err != nil {
			return err
		}
	}
}

// get takes n elements as they come. From a closed queue it may take fewer if
// that is allowed, but at least one, unless n is 0. An error puts the elements
// back.
func (q *Queue) get(c *engine.Call, n int64, fewer bool) (out []element, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer func() {
		if err != nil && len(out) > 0 {
			q.items.restore(out)
			for _, e := range out {
				q.bytes += bytesOf(e)
			}
			q.change()
			out = nil
		}
	}()
	for {
		least := q.least
		if q.closed {
			least = 0
		}
		for int64(len(out)) < n && q.items.len() > least {
			e := q.items.take()
			q.bytes -= bytesOf(e)
			out = append(out, e)
			q.change()
		}
		switch {
		case int64(len(out)) == n, q.closed && fewer && len(out) > 0:
			return out, nil
		case q.closed:
			return out, fmt.Errorf("the %s %q has %d elements left where %d are wanted: %w", q.kind, q.name, len(out), n, ErrQueueClosed)
		}
		if err := q.wait(c.Context(), "is empty, or has too few elements"); err != nil {
			return out, err
		}
	}
}

// queueIn returns the queue in input 0 and checks the number of inputs.
func queueIn(c *engine.Call, n int) (*Queue, error) {
	if n >= 0 && c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	return engine.Object[*Queue](c, 0)
}

func enqueue(c *engine.Call) error {
	q, err := queueIn(c, -1)
	if err != nil {
		return err
	}
	e := owned(c, 1, c.NumIn())
	if err := q.accepts(e); err != nil {
		return err
	}
	return q.put(c, e)
}

// enqueueMany adds an element for each row of its inputs.
func enqueueMany(c *engine.Call) error {
	q, err := queueIn(c, -1)
	if err != nil {
		return err
	}
	all := owned(c, 1, c.NumIn())
	n, err := rowsOf(all)
	if err != nil {
		return err
	}
	rows, err := slicesOf(all, n).iterate(c, 0)
	if err != nil {
		return err
	}
	for {
		e, ok, err := pull(c, rows)
		if err != nil || !ok {
			return err
		}
		if err := q.accepts(e); err != nil {
			return err
		}
		if err := q.put(c, e); err != nil {
			return err
		}
	}
}

func dequeue(c *engine.Call) error {
	q, err := queueIn(c, 1)
	if err != nil {
		return err
	}
	es, err := q.get(c, 1, false)
	if err != nil {
		return err
	}
	return q.give(c, es[0])
}

// give sets the outputs to the components.
func (q *Queue) give(c *engine.Call, e element) error {
	if want := c.Attrs().Types("component_types"); !slices.Equal(want, q.types) {
		return fmt.Errorf("the %s %q has components of %v, not %v", q.kind, q.name, q.types, want)
	}
	for i, v := range e {
		c.Refs().Output(i, v)
	}
	return nil
}

// dequeueMany takes so many elements as one batch; with fewer, a closed queue
// may have fewer.
func dequeueMany(fewer bool) func(*engine.Call) error {
	return func(c *engine.Call) error {
		q, err := queueIn(c, 2)
		if err != nil {
			return err
		}
		n, err := intIn(c, 1, "the number of elements")
		if err != nil {
			return err
		}
		pads := q.kind == "PaddingFIFOQueue"
		for _, s := range q.shapes {
			if !s.Known() && !pads {
				return fmt.Errorf("the %s %q has elements of unknown shapes, which can't be in one batch", q.kind, q.name)
			}
		}
		if n < 0 || q.shapes == nil {
			return fmt.Errorf("%d elements of the %s %q can't be one batch: they must be 0 or more and have the same shapes, which the queue was not given", n, q.kind, q.name)
		}
		es, err := q.get(c, n, fewer)
		if err != nil {
			return err
		}
		if len(es) == 0 {
			return q.give(c, q.none())
		}
		join := stack
		if pads {
			join = q.padding().stack
		}
		e, err := join(c, es)
		if err != nil {
			return err
		}
		return q.give(c, e)
	}
}

// none returns a batch without elements.
func (q *Queue) none() element {
	var e element
	for i, s := range q.shapes {
		shape := make(tensor.Shape, 1+s.Rank())
		for k := range s.Rank() {
			shape[k+1] = max(s.Dim(k), 0)
		}
		e = append(e, engine.ValueOf(tensor.Must(tensor.Zeros(q.types[i], shape...))))
	}
	return e
}

// padding returns how elements are made one shape: with zeros.
func (q *Queue) padding() *padding {
	p := &padding{shapes: q.shapes}
	for _, d := range q.types {
		p.values = append(p.values, engine.ValueOf(tensor.Must(tensor.Zeros(d))))
	}
	return p
}

func closeQueue(c *engine.Call) error {
	q, err := queueIn(c, 1)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.refused = q.refused || c.Attrs().Bool("cancel_pending_enqueues")
	q.change()
	return nil
}

func queueSize(c *engine.Call) error {
	q, err := queueIn(c, 1)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c.Set(0, tensor.Scalar(int32(q.items.len())))
	return nil
}

func queueClosed(c *engine.Call) error {
	q, err := queueIn(c, 1)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	c.Set(0, tensor.Scalar(q.closed))
	return nil
}
