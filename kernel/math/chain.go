package math

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/tensor"
)

// The op _Elementwise: a chain of elementwise ops, run tile by tile. Its bits
// must be those of the single ops. update.go extends it to variables.

// chainDef defines the op that a plan makes of several elementwise ones. ops
// are their names in the order in which they run. operands has two numbers for
// each op: each is the number of an input, or the number of inputs plus that of
// an earlier op, for its result. The second is -1 for an op of one operand. The
// output is the last op's result.
var chainDef = &graph.OpDef{
	Name:    passes.ElementwiseOp,
	Inputs:  []graph.ArgDef{{Name: "inputs", TypeAttr: "T", NumberAttr: "N"}},
	Outputs: []graph.ArgDef{{Name: "output", TypeAttr: "T"}},
	Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: chainTypes},
		{Name: "N", Kind: graph.AttrInt, HasMinimum: true, Minimum: 1},
		{Name: "ops", Kind: graph.AttrStrings},
		{Name: "operands", Kind: graph.AttrInts},
	},
}

var chainTypes = []tensor.DType{tensor.Float32, tensor.Float64}

// chainOps lists the ops that chains are made of.
func chainOps() []string { return slices.Sorted(maps.Keys(chains32)) }

// tile is the number of elements that run through a chain at a time. Several
// arrays of this length fit in the L1 cache. It changes no bits.
const tile = 2048

// link is one op of a chain.
type link[T float32 | float64] struct {
	chainLoop[T]
	a, b int // operands; b is -1 for an op of one operand
	to   int // the buffer for the result; -1: the output; -2 and below: a variable
}

// variable returns the number of the variable that takes the result, -1 for none.
func (l *link[T]) variable() int { return max(-2-l.to, -1) }

// chain is a node of elementwise ops.
type chain[T float32 | float64] struct {
	inputs    int // number of operands that aren't results
	variables int // number of inputs that are values of variables; they come last
	links     []link[T]
	place     []int     // the buffer of each link's result
	buffers   int       // number of buffers that a tile needs for results
	whole     *whole[T] // a loop that does all ops; nil if none exists
	late      []late    // variables that are written after a tile
	ns        float64
	pool      sync.Pool              // of *tileState[T]
	walks     []atomic.Pointer[walk] // of inputs that the last call broadcast
}

// late is a result that can't be written to its variable at once, because a
// later op reads the old value.
type late struct{ op, variable int }

// walk is the broadcast of an input to the output's shape.
type walk struct {
	from, to tensor.Shape
	*elementwise.Broadcast
}

// walk returns the broadcast of input i from one shape to another.
func (h *chain[T]) walk(i int, from, to tensor.Shape) *elementwise.Broadcast {
	if w := h.walks[i].Load(); w != nil && w.from.Equal(from) && w.to.Equal(to) {
		return w.Broadcast
	}
	w := &walk{slices.Clone(from), slices.Clone(to), elementwise.NewBroadcast(to, from, to)}
	h.walks[i].Store(w)
	return w.Broadcast
}

// prepareChain prepares the op for its element type. With fast arithmetic, some
// loops of float32 are other ones.
func prepareChain(n *engine.Node) (func(*engine.Call) error, error) {
	switch d := n.Attrs.Type("T", tensor.Invalid); d {
	case tensor.Float32:
		if n.Attrs.Bool(passes.FastAttr) {
			return newChain(n, quick32)
		}
		return newChain(n, chains32)
	case tensor.Float64:
		return newChain(n, chains64)
	default:
		return nil, &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: chainTypes}
	}
}

func newChain[T float32 | float64](n *engine.Node, loops map[string]chainLoop[T]) (func(*engine.Call) error, error) {
	h, err := newProgram(n, loops, nil, 0)
	if err != nil {
		return nil, err
	}
	return h.run, nil
}

// newProgram returns the chain of a node. Its last inputs are variables. stores
// has for each op the number of the variable that its result goes to, or -1;
// nil stores none.
func newProgram[T float32 | float64](n *engine.Node, loops map[string]chainLoop[T], stores []int64, variables int) (*chain[T], error) {
	ops, operands := n.Attrs.Strings("ops"), n.Attrs.Ints("operands")
	if len(ops) == 0 || len(operands) != 2*len(ops) {
		return nil, fmt.Errorf("%d ops with %d operands", len(ops), len(operands))
	}
	h := &chain[T]{inputs: len(n.In), variables: variables, walks: make([]atomic.Pointer[walk], len(n.In))}
	last := make([]int, len(ops)) // the last op that reads a result
	data := h.inputs - variables
	initial := make([]int, variables) // the last op that reads a variable's old value
	for i, op := range ops {
		l, ok := loops[op]
		a, b := int(operands[2*i]), int(operands[2*i+1])
		known := h.inputs + i // number of operands that exist before this op
		switch {
		case !ok:
			return nil, fmt.Errorf("no loop for %q", op)
		case a < 0 || a >= known || b >= known || (l.unary == nil) != (b >= 0):
			return nil, fmt.Errorf("op %d, %s, has the operands %d and %d", i, op, a, b)
		}
		h.links = append(h.links, link[T]{chainLoop: l, a: a, b: b})
		h.ns += l.ns
		for _, x := range []int{a, b} {
			if x >= h.inputs {
				last[x-h.inputs] = i
			} else if x >= data {
				initial[x-data] = i
			}
		}
	}
	for i, s := range stores {
		if s >= 0 && initial[s] > i {
			h.late = append(h.late, late{i, int(s)})
			last[i] = len(ops)
		}
	}
	// A result keeps its buffer until its last use; the op of that use may
	// overwrite it.
	var idle []int
	h.place = make([]int, len(ops))
	for i := range h.links {
		l := &h.links[i]
		for k, x := range []int{l.a, l.b} {
			if x >= h.inputs && last[x-h.inputs] == i && h.place[x-h.inputs] >= 0 && (k == 0 || l.a != l.b) {
				idle = append(idle, h.place[x-h.inputs])
			}
		}
		if l.to = -1; stores != nil && stores[i] >= 0 && initial[stores[i]] <= i {
			l.to = int(-2 - stores[i])
		} else if i < len(h.links)-1 || stores != nil {
			if len(idle) == 0 {
				idle = append(idle, h.buffers)
				h.buffers++
			}
			l.to = idle[len(idle)-1]
			idle = idle[:len(idle)-1]
		}
		h.place[i] = l.to
	}
	return h, nil
}

// source is an input of a call.
type source[T float32 | float64] struct {
	data   []T
	kind   sourceKind
	buffer int                    // of a broadcast input
	walk   *elementwise.Broadcast // of a broadcast input
}

type sourceKind uint8

const (
	entire    sourceKind = iota // has as many elements as the output
	single                      // has one element
	repeated                    // data repeats the elements as often as a tile needs
	stretched                   // is broadcast to a buffer tile by tile
)

// tileState is the memory of one worker.
type tileState[T float32 | float64] struct {
	memory  []T
	values  [][]T // operands of the current tile
	sources []source[T]
}

func (h *chain[T]) run(c *engine.Call) error {
	if err := c.Need(h.inputs); err != nil {
		return err
	}
	d := tensor.TypeOf[T]()
	dims := c.In(0).Shape()
	for i := range h.inputs {
		x := c.In(i)
		if x.DType() != d {
			return fmt.Errorf("input %d is %v, not %v", i, x.DType(), d)
		}
		if s := x.Shape(); !s.Equal(dims) {
			var err error
			if dims, err = shape.Broadcast(dims, s); err != nil {
				return err
			}
		}
	}
	out, err := h.output(c, d, dims)
	if err != nil || out.Len() == 0 {
		return err
	}
	dst := tensor.Values[T](out)
	h.compute(c, dst, dims, len(dst), tile, nil)
	return nil
}

// state returns the memory of a worker; the caller puts it back into the pool.
func (h *chain[T]) state() *tileState[T] {
	if st, ok := h.pool.Get().(*tileState[T]); ok {
		return st
	}
	return new(tileState[T])
}

// compute runs the chain over the n elements of dims, at most tile of them at a
// time. The last op's result goes to dst. Results that are stored go to
// variables, the values of the last inputs.
func (h *chain[T]) compute(c *engine.Call, dst []T, dims tensor.Shape, n, tile int, variables []*tensor.Tensor) {
	plan := h.state()
	defer func() {
		clear(plan.sources)
		h.pool.Put(plan)
	}()
	size, buffers := h.sources(c, plan, dims, n, tile, variables)
	h.spread(c, plan, dst, n, size, buffers)
}

// spread runs the chain over n elements, on all cores if there are enough
// elements.
func (h *chain[T]) spread(c *engine.Call, plan *tileState[T], dst []T, n, size, buffers int) {
	sources := plan.sources
	tiles := (n + size - 1) / size
	each := h.ns*float64(size) + 50
	if !c.Large(tiles, each) {
		h.tiles(plan, sources, dst, n, size, buffers, 0, tiles)
		return
	}
	loop := engine.Share[spreading[T]]()
	loop.State = spreading[T]{h, sources, dst, n, size, buffers}
	loop.Parallel(c, tiles, each)
	loop.State = spreading[T]{}
	loop.Free()
}

// spreading is a run of a chain over n elements, whose tiles are shared among
// workers.
type spreading[T float32 | float64] struct {
	*chain[T]
	sources          []source[T]
	dst              []T
	n, size, buffers int
}

// Piece runs the chain over tiles lo to hi.
func (w *spreading[T]) Piece(lo, hi int) {
	st := w.state()
	w.tiles(st, w.sources, w.dst, w.n, w.size, w.buffers, lo, hi)
	w.pool.Put(st)
}

// output makes the output, in the memory of an input if possible.
func (h *chain[T]) output(c *engine.Call, d tensor.DType, dims tensor.Shape) (*tensor.Tensor, error) {
	for i := range h.inputs {
		if c.Refs().Owned(i) && c.In(i).Shape().Equal(dims) {
			return c.AllocOver(0, i, d, dims)
		}
	}
	return c.Alloc(0, d, dims)
}

// sources finds out how each input broadcasts, and returns the size of a tile
// and the number of buffers that it needs. Variables follow the tensors among
// the inputs.
func (h *chain[T]) sources(c *engine.Call, p *tileState[T], dims tensor.Shape, n, tile int, variables []*tensor.Tensor) (size, buffers int) {
	p.sources = slices.Grow(p.sources[:0], h.inputs)[:h.inputs]
	size, buffers = tile, h.buffers
	period := 1
	for i := range p.sources {
		x := c.In(i)
		if k := i - (h.inputs - len(variables)); k >= 0 {
			x = variables[k]
		}
		s := source[T]{data: tensor.Values[T](x)}
		switch {
		case len(s.data) == n:
		case len(s.data) == 1:
			s.kind = single
		case len(s.data) <= tile && isSuffix(x.Shape(), dims):
			s.kind = repeated
			period = max(period, len(s.data)) // a multiple of all others
		default:
			s.kind, s.buffer, s.walk = stretched, buffers, h.walk(i, x.Shape(), dims)
			buffers++
		}
		p.sources[i] = s
	}
	size = min(tile/period*period, (n+period-1)/period*period)
	for i := range p.sources {
		if s := &p.sources[i]; s.kind == repeated {
			all, _ := engine.Scratch[T](c, size)
			for at := 0; at < size; at += copy(all[at:], s.data) {
			}
			s.data = all
		}
	}
	return size, buffers
}

// isSuffix reports whether s, without the ones that it begins with, is the end of
// dims.
func isSuffix(s, dims tensor.Shape) bool {
	for len(s) > 0 && s[0] == 1 {
		s = s[1:]
	}
	return len(s) <= len(dims) && slices.Equal(s, dims[len(dims)-len(s):])
}

// tiles runs the chain over tiles lo to hi.
func (h *chain[T]) tiles(st *tileState[T], sources []source[T], dst []T, count, size, buffers, lo, hi int) {
	if h.whole != nil && h.whole.takes(sources, h.variables) {
		h.whole.over(st, sources, lo*size, min(hi*size, count)-lo*size)
		return
	}
	if len(st.memory) < buffers*size {
		st.memory = make([]T, buffers*size)
	}
	st.values = slices.Grow(st.values[:0], h.inputs+len(h.links))[:h.inputs+len(h.links)]
	defer clear(st.values)
	for t := lo; t < hi; t++ {
		at := t * size
		n := min(size, count-at)
		for i := range sources {
			s := &sources[i]
			switch s.kind {
			case entire:
				st.values[i] = s.data[at : at+n]
			case single:
				st.values[i] = s.data
			case repeated:
				st.values[i] = s.data[:n]
			case stretched:
				b := st.memory[s.buffer*size:][:n]
				stretch(b, s, at)
				st.values[i] = b
			}
		}
		for i := range h.links {
			l := &h.links[i]
			var to []T
			switch v := l.variable(); {
			case v >= 0:
				to = sources[h.inputs-h.variables+v].data[at : at+n]
			case l.to >= 0:
				to = st.memory[l.to*size:][:n]
			default:
				to = dst[at : at+n]
			}
			a := st.values[l.a]
			isSingle := l.a < h.inputs && sources[l.a].kind == single
			switch {
			case l.unary != nil && isSingle:
				l.unary(to[:1], a)
				fill(to[1:], to[0])
			case l.unary != nil:
				l.unary(to, a)
			case l.b < h.inputs && sources[l.b].kind == single:
				if b := st.values[l.b][0]; isSingle {
					l.binary.VS(to[:1], a, b)
					fill(to[1:], to[0])
				} else {
					l.binary.VS(to, a, b)
				}
			case isSingle:
				l.binary.SV(to, a[0], st.values[l.b])
			default:
				l.binary.VV(to, a, st.values[l.b])
			}
			st.values[h.inputs+i] = to
		}
		for _, l := range h.late {
			copy(sources[h.inputs-h.variables+l.variable].data[at:at+n], st.values[h.inputs+l.op])
		}
	}
}

func fill[T any](dst []T, x T) {
	for i := range dst {
		dst[i] = x
	}
}

// stretch writes an input's elements, broadcast to the output, beginning with
// output element at.
func stretch[T float32 | float64](dst []T, s *source[T], at int) {
	w := s.walk
	row, off := at/w.Inner, at%w.Inner
	place := w.At(row)
	for len(dst) > 0 {
		n := min(len(dst), w.Inner-off)
		if w.StepA == 0 {
			fill(dst[:n], s.data[place.A])
		} else {
			copy(dst[:n], s.data[place.A+off:place.A+off+n])
		}
		dst, off = dst[n:], 0
		place.Next(w)
	}
}
