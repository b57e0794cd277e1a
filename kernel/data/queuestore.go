package data

import (
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/philox"
	"github.com/cairnml/cairn/tensor"
)

// The orders of FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue and
// PriorityQueue, and the table of the kernels of queues. Each order is a store:
// take is called only if len isn't 0, and restore if a dequeue of several elements
// fails.

// fifo returns elements in the order in which they came.
type fifo []element

// newFIFO returns the maker of a fifo.
func newFIFO(graph.Attrs) func() store { return func() store { return new(fifo) } }

func (f *fifo) put(e element) { *f = append(*f, e) }
func (f *fifo) len() int64    { return int64(len(*f)) }

func (f *fifo) take() element {
	e := (*f)[0]
	(*f)[0] = nil
	*f = (*f)[1:]
	return e
}

// restore puts es before all other elements, in their order.
func (f *fifo) restore(es []element) { *f = append(slices.Clone(es), *f...) }

// bag returns an element at random. The seeds decide which, as in TensorFlow. The
// last element then replaces it, which decides the later ones.
type bag struct {
	random samples
	items  []element
}

// newBag returns the maker of a bag with the attributes' seeds. If both are 0, they are
// drawn at random.
func newBag(as graph.Attrs) func() store {
	a, b := as.Int("seed", 0), as.Int("seed2", 0)
	return func() store {
		s := newSeeds(a, b, false)
		return &bag{random: samples{g: philox.New(s.a, 0, s.b)}}
	}
}

func (b *bag) put(e element) { b.items = append(b.items, e) }
func (b *bag) len() int64    { return int64(len(b.items)) }

func (b *bag) take() element {
	i, last := int(int64(b.random.next())%b.len()), len(b.items)-1
	e := b.items[i]
	b.items[i], b.items[last] = b.items[last], nil
	b.items = b.items[:last]
	return e
}

// restore puts es after the elements that are there. So after a dequeue that
// failed, the draws differ from those without it.
func (b *bag) restore(es []element) { b.items = append(b.items, es...) }

// byPriority returns the element whose first component, an int64 scalar, is least. The
// order of equals follows from the heap, which is that of C++'s standard
// library.
type byPriority []element

// newByPriority returns the maker of a byPriority.
func newByPriority(graph.Attrs) func() store { return func() store { return new(byPriority) } }

func (h *byPriority) len() int64 { return int64(len(*h)) }

// priority returns the number by which elements are ordered.
func priority(e element) int64 { return tensor.Values[int64](e[0].Tensor)[0] }

func (h *byPriority) put(e element) {
	*h = append(*h, nil)
	h.rise(len(*h)-1, e)
}

// rise puts an element into the hole at i, or above.
func (h *byPriority) rise(i int, e element) {
	for s := *h; i > 0; {
		up := (i - 1) / 2
		if priority(s[up]) <= priority(e) {
			break
		}
		s[i], i = s[up], up
	}
	(*h)[i] = e
}

func (h *byPriority) take() element {
	s := *h
	top, e, n := s[0], s[len(s)-1], len(s)-1
	s[n] = nil
	*h = s[:n]
	if n == 0 {
		return top
	}
	i := 0 // the hole sinks to the bottom
	for 2*i+2 < n {
		child := 2*i + 2
		if priority(s[child]) > priority(s[child-1]) {
			child--
		}
		s[i], i = s[child], child
	}
	if 2*i+2 == n {
		s[i], i = s[n-1], n-1
	}
	h.rise(i, e)
	return top
}

// restore puts es back, the last one first.
func (h *byPriority) restore(es []element) {
	for _, e := range slices.Backward(es) {
		h.put(e)
	}
}

// queues returns the kernels of queues, each twice. The op V2 has a resource as its
// handle, the other one a reference, as in TensorFlow 1.
func queues() (table []engine.Kernel) {
	for _, k := range []struct {
		kind  string
		store func(graph.Attrs) func() store
	}{{"FIFOQueue", newFIFO}, {"PaddingFIFOQueue", newFIFO}, {"RandomShuffleQueue", newBag}, {"PriorityQueue", newByPriority}} {
		table = append(table, engine.Kernel{Op: k.kind, Prepare: queue(k.kind, true, k.store)},
			engine.Kernel{Op: k.kind + "V2", Prepare: queue(k.kind, false, k.store)})
	}
	for _, k := range []engine.Kernel{
		{Op: "QueueEnqueue", Run: enqueue}, {Op: "QueueEnqueueMany", Run: enqueueMany}, {Op: "QueueDequeue", Run: dequeue},
		{Op: "QueueDequeueMany", Run: dequeueMany(false)}, {Op: "QueueDequeueUpTo", Run: dequeueMany(true)},
		{Op: "QueueClose", Run: closeQueue}, {Op: "QueueSize", Run: queueSize}, {Op: "QueueIsClosed", Run: queueClosed},
	} {
		table = append(table, k, engine.Kernel{Op: k.Op + "V2", Run: k.Run})
	}
	return table
}
