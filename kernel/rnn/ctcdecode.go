package rnn

import (
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of CTCGreedyDecoder and CTCBeamSearchDecoder, for logits [time, batch, classes]. The
// paths depend on the order in which the beam is visited. It follows TensorFlow's
// ctc_beam_search.h, so it must stay.

// decoded writes the lists of labels of each path and sequence, as one sparse
// matrix a path.
func decoded(c *engine.Call, paths [][][]int) error {
	for p, list := range paths {
		n, longest := 0, 0
		for _, labels := range list {
			n += len(labels)
			longest = max(longest, len(labels))
		}
		index, err := c.Alloc(p, tensor.Int64, tensor.Shape{n, 2})
		if err != nil {
			return err
		}
		values, err := c.Alloc(len(paths)+p, tensor.Int64, tensor.Shape{n})
		if err != nil {
			return err
		}
		shape, err := c.Alloc(2*len(paths)+p, tensor.Int64, tensor.Shape{2})
		if err != nil {
			return err
		}
		i := 0
		for b, labels := range list {
			for t, l := range labels {
				tensor.Values[int64](index)[2*i], tensor.Values[int64](index)[2*i+1] = int64(b), int64(t)
				tensor.Values[int64](values)[i] = int64(l)
				i++
			}
		}
		copy(tensor.Values[int64](shape), []int64{int64(len(list)), int64(longest)})
	}
	return nil
}

// ctcGreedy runs CTCGreedyDecoder for the logits' type.
func ctcGreedy(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if c.In(0).DType() == tensor.Float64 {
		return greedy[float64](c)
	}
	return greedy[float32](c)
}

// greedy takes the most likely class of each step.
func greedy[T float](c *engine.Call) error {
	q, err := newSequences(c, 1)
	if err != nil {
		return err
	}
	blank := c.Attrs().Int("blank_index", -1)
	if blank < 0 {
		blank += int64(q.classes)
	}
	if blank < 0 || blank >= int64(q.classes) {
		return fmt.Errorf("blank_index expected to be between %d and %d but was %d", -q.classes, q.classes-1, c.Attrs().Int("blank_index", -1))
	}
	scores, _, err := output[T](c, 3, c.In(0).DType(), q.batch, 1)
	if err != nil {
		return err
	}
	x, merge := values[T](c, c.In(0)), c.Attrs().Bool("merge_repeated")
	list := make([][]int, q.batch)
	for b := range list {
		before := -1
		for t := range max(0, int(q.lengths[b])) {
			row := x[(t*q.batch+b)*q.classes:][:q.classes]
			best := 0
			for i, v := range row {
				if v > row[best] {
					best = i
				}
			}
			scores[b] -= row[best]
			if best != int(blank) && !(merge && best == before) {
				list[b] = append(list[b], best)
			}
			before = best
		}
	}
	return decoded(c, [][][]int{list})
}

// ctcBeam runs CTCBeamSearchDecoder for the logits' type.
func ctcBeam(c *engine.Call) error {
	if err := c.Need(2); err != nil {
		return err
	}
	if c.In(0).DType() == tensor.Float64 {
		return beamSearch[float64](c)
	}
	return beamSearch[float32](c)
}

// chance has logarithms of a prefix's probability: of all alignments, of those
// that end in a blank, and of those that end in its last label.
type chance[T float] struct{ total, blank, label T }

// never returns the chance of a prefix that isn't in the beam.
func never[T float]() chance[T] {
	none := T(math.Inf(-1))
	return chance[T]{none, none, none}
}

// prefix is a sequence of labels that the search has visited: a node of a tree.
type prefix[T float] struct {
	parent   *prefix[T]
	label    int
	children map[int]*prefix[T]
	before   chance[T]
	now      chance[T]
}

// active reports whether the prefix is in the beam.
func (p *prefix[T]) active() bool { return !math.IsInf(float64(p.now.total), -1) }

// tree counts the prefixes that a search has visited.
type tree struct {
	c *engine.Call
	n int
}

// prefixBytes is about the memory of a prefix and of its entry in a map.
const prefixBytes = 160

// add counts another prefix. It checks now and then that all of them fit the call's memory.
func (t *tree) add() {
	if t.n++; t.n%4096 == 0 {
		t.c.Fits(t.n, prefixBytes)
	}
}

// child returns the prefix with one more label, and makes it on the first call.
func (p *prefix[T]) child(label int, t *tree) *prefix[T] {
	if p.children == nil {
		p.children = map[int]*prefix[T]{}
	}
	q := p.children[label]
	if q == nil {
		t.add()
		q = &prefix[T]{parent: p, label: label, before: never[T](), now: never[T]()}
		p.children[label] = q
	}
	return q
}

// labels returns the sequence. If merge is set, equal labels in a row count as
// one.
func (p *prefix[T]) labels(merge bool) []int {
	var out []int
	before := -1
	for ; p.parent != nil; p = p.parent {
		if !merge || p.label != before {
			out = append(out, p.label)
		}
		before = p.label
	}
	slices.Reverse(out)
	return out
}

// beam is a heap of prefixes, the least likely on top.
type beam[T float] []*prefix[T]

func (h beam[T]) Len() int           { return len(h) }
func (h beam[T]) Less(i, j int) bool { return h[i].now.total < h[j].now.total }
func (h beam[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *beam[T]) Push(x any)        { *h = append(*h, x.(*prefix[T])) }
func (h *beam[T]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// best returns the prefixes, the most likely first.
func (h beam[T]) best(c *engine.Call) []*prefix[T] {
	out := slices.Clone(h)
	compared := 0
	slices.SortStableFunc(out, func(a, b *prefix[T]) int {
		c.Step(compared)
		compared++
		switch {
		case a.now.total > b.now.total:
			return -1
		case a.now.total < b.now.total:
			return 1
		}
		return 0
	})
	return out
}

// takes reports whether a prefix with such a chance enters a beam of a width.
func (h beam[T]) takes(p chance[T], width int) bool {
	return !math.IsInf(float64(p.total), -1) && (len(h) < width || p.total > h[0].now.total)
}

// step extends the prefixes by the logits of one time; the last class is the
// blank.
func (h *beam[T]) step(tree *tree, x []T, width int) {
	c := tree.c
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	var sum T
	for _, v := range x {
		sum += T(math.Exp(float64(v - most)))
	}
	norm := most + T(math.Log(float64(sum)))
	list, blank := h.best(c), len(x)-1
	for _, p := range list {
		p.before = p.now
	}
	for _, p := range list {
		if q := p.parent; q != nil {
			if q.active() {
				from := q.before.total
				if p.label == q.label {
					from = q.before.blank
				}
				p.now.label = logSum(p.now.label, from)
			}
			p.now.label += x[p.label] - norm
		}
		p.now.blank = p.before.total + x[blank] - norm
		p.now.total = logSum(p.now.blank, p.now.label)
	}
	heap.Init(h)
	tried := 0
	for _, p := range list {
		if !h.takes(p.before, width) {
			continue
		}
		for label, v := range x[:blank] {
			c.Step(tried)
			tried++
			q := p.child(label, tree)
			if q.active() {
				continue
			}
			from := p.before.total
			if label == p.label {
				from = p.before.blank
			}
			q.now = chance[T]{blank: T(math.Inf(-1)), label: v - norm + from}
			q.now.total = q.now.label
			if !h.takes(q.now, width) {
				q.before, q.now = never[T](), never[T]()
				continue
			}
			if len(*h) == width {
				heap.Pop(h).(*prefix[T]).now = never[T]()
			}
			heap.Push(h, q)
		}
	}
}

// beamSearch returns the top_paths most likely paths of each sequence.
func beamSearch[T float](c *engine.Call) error {
	q, err := newSequences(c, 1)
	if err != nil {
		return err
	}
	width, top := int(c.Attrs().Int("beam_width", 1)), int(c.Attrs().Int("top_paths", 1))
	if width < 1 || top < 1 {
		return fmt.Errorf("beam_width is %d and top_paths %d; both have to be 1 or more", width, top)
	}
	if top > width {
		return fmt.Errorf("requested more paths than the beam width: %d of %d", top, width)
	}
	scores, _, err := output[T](c, 3*top, c.In(0).DType(), q.batch, top)
	if err != nil {
		return err
	}
	x := values[T](c, c.In(0))
	merge := true
	if c.Attrs().Has("merge_repeated") {
		merge = c.Attrs().Bool("merge_repeated")
	}
	c.Fits(top, 24)
	paths := make([][][]int, top)
	for b := range q.batch {
		root := &prefix[T]{label: -1, before: never[T](), now: chance[T]{label: T(math.Inf(-1))}}
		h, visited := beam[T]{root}, &tree{c: c}
		for t := range max(0, int(q.lengths[b])) {
			if err := c.Context().Err(); err != nil {
				return err
			}
			h.step(visited, x[(t*q.batch+b)*q.classes:][:q.classes], width)
		}
		if len(h) < top {
			return fmt.Errorf("less leaves in the beam search than requested: %d, top_paths is %d", len(h), top)
		}
		for i, p := range h.best(c)[:top] {
			paths[i] = append(paths[i], p.labels(merge))
			scores[b*top+i] = p.now.total
		}
	}
	return decoded(c, paths)
}
