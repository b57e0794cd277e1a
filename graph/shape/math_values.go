package shape

import (
	"math"

	"github.com/cairnml/cairn/graph"
)

// arithmetic computes an element of a result from one of each input.
type arithmetic func(a, b graph.Elem) graph.Elem

// arithmeticRules returns the rules of the ops that programs compute shapes
// with: they broadcast, and carry elements that are known.
func arithmeticRules() map[string]Rule {
	table := map[string]arithmetic{
		"Add": addElems, "AddV2": addElems, "Sub": subElems, "Mul": mulElems, "FloorDiv": divElems, "TruncateDiv": truncateElems,
		"FloorMod": modElems, "TruncateMod": remainderElems, "Mod": remainderElems, "Maximum": maxElems, "Minimum": minElems,
	}
	out := map[string]Rule{}
	for op, f := range table {
		out[op] = func(c *Inference) error {
			if err := binary(c); err != nil || len(c.Out) == 0 {
				return err
			}
			c.combine(f)
			return nil
		}
	}
	return out
}

// combine computes output 0, an integer scalar or vector, element by element.
func (c *Inference) combine(f arithmetic) {
	if !isInteger(c.In[0].DType) || c.Out[0].Shape.Rank() < 0 || c.Out[0].Shape.Rank() > 1 {
		return
	}
	a, aok := c.In[0].Ints()
	b, bok := c.In[1].Ints()
	if !aok || !bok {
		return
	}
	n, ok := c.Out[0].Shape.NumElements()
	if !ok {
		return
	}
	out := make([]graph.Elem, n)
	for i := range out {
		out[i] = fits(f(stretched(a, i), stretched(b, i)), c.In[0].DType)
	}
	c.setElems(0, out)
}

func stretched(e []graph.Elem, i int) graph.Elem {
	if len(e) == 1 {
		return e[0]
	}
	return e[i]
}

// atLeast0 reports whether an element is known not to be negative.
func atLeast0(e graph.Elem) bool {
	d, ok := e.Size()
	return ok && d != -1
}

// sizeIf returns an unknown element. If yes, it is a size with a new identity.
func sizeIf(yes bool) graph.Elem {
	if yes {
		return graph.SizeElem(graph.NewDim())
	}
	return graph.UnknownElem()
}

// is reports whether e is the known number n.
func is(e graph.Elem, n int64) bool {
	v, ok := e.Int()
	return ok && v == n
}

// same reports whether both are one number, known or not.
func same(a, b graph.Elem) bool { return a == b && a != graph.UnknownElem() }

func addElems(a, b graph.Elem) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case xok && yok:
		if s := x + y; (s > x) == (y > 0) {
			return graph.ElemOf(s)
		}
		return graph.UnknownElem()
	case is(a, 0):
		return b
	case is(b, 0):
		return a
	}
	return sizeIf(atLeast0(a) && atLeast0(b))
}

func subElems(a, b graph.Elem) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case xok && yok:
		if s := x - y; (s < x) == (y > 0) {
			return graph.ElemOf(s)
		}
	case is(b, 0):
		return a
	case same(a, b):
		return graph.ElemOf(0)
	}
	return graph.UnknownElem()
}

func mulElems(a, b graph.Elem) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case xok && yok:
		if p := x * y; x == 0 || p/x == y && !(x == -1 && y == math.MinInt64) {
			return graph.ElemOf(p)
		}
		return graph.UnknownElem()
	case is(a, 0), is(b, 0):
		return graph.ElemOf(0)
	case is(a, 1):
		return b
	case is(b, 1):
		return a
	}
	return sizeIf(atLeast0(a) && atLeast0(b))
}

func divElems(a, b graph.Elem) graph.Elem { return quotient(a, b, true) }

func truncateElems(a, b graph.Elem) graph.Elem { return quotient(a, b, false) }

func quotient(a, b graph.Elem, floor bool) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case yok && y == 0, y == -1 && x == math.MinInt64:
		return graph.UnknownElem() // the kernel refuses it
	case xok && yok:
		q := x / y
		if floor && q*y != x && (x < 0) != (y < 0) {
			q--
		}
		return graph.ElemOf(q)
	case is(b, 1):
		return a
	}
	return sizeIf(atLeast0(a) && atLeast0(b))
}

func modElems(a, b graph.Elem) graph.Elem { return remainder(a, b, true) }

func remainderElems(a, b graph.Elem) graph.Elem { return remainder(a, b, false) }

func remainder(a, b graph.Elem, floor bool) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case yok && y == 0:
		return graph.UnknownElem() // the kernel refuses it
	case is(b, 1), is(b, -1):
		return graph.ElemOf(0)
	case xok && yok:
		r := x % y
		if floor && r != 0 && (r < 0) != (y < 0) {
			r += y
		}
		return graph.ElemOf(r)
	}
	return sizeIf(atLeast0(a) && atLeast0(b))
}

func maxElems(a, b graph.Elem) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case xok && yok:
		return graph.ElemOf(max(x, y))
	case same(a, b), yok && y <= 0 && atLeast0(a):
		return a
	case xok && x <= 0 && atLeast0(b):
		return b
	}
	return sizeIf(atLeast0(a) || atLeast0(b))
}

func minElems(a, b graph.Elem) graph.Elem {
	x, xok := a.Int()
	y, yok := b.Int()
	switch {
	case xok && yok:
		return graph.ElemOf(min(x, y))
	case same(a, b), xok && x <= 0 && atLeast0(b):
		return a
	case yok && y <= 0 && atLeast0(a):
		return b
	}
	return sizeIf(atLeast0(a) && atLeast0(b))
}

// folds are the reductions that elements are followed through.
var folds = map[string]struct {
	f     arithmetic
	empty int64 // the result over no elements
	none  bool  // there is no result over no elements
}{
	"Prod": {f: mulElems, empty: 1},
	"Sum":  {f: addElems},
	"Max":  {f: maxElems, none: true},
	"Min":  {f: minElems, none: true},
}

// fold computes output 0, a scalar or a vector of one element, from all elements
// of input 0.
func (c *Inference) fold() {
	r, ok := folds[c.Op]
	if !ok || len(c.Out) == 0 || !isInteger(c.In[0].DType) || c.shape(0).Rank() != 1 {
		return
	}
	e, ok := c.In[0].Ints()
	if !ok || len(e) == 0 && r.none {
		return
	}
	sum := graph.ElemOf(r.empty)
	for i, x := range e {
		if i == 0 {
			sum = x
			continue
		}
		sum = fits(r.f(sum, x), c.In[0].DType)
	}
	c.setElems(0, []graph.Elem{sum})
}
