package passes

import (
	"slices"

	"github.com/cairnml/cairn/graph"
)

// cell finds out which cell the body computes.
func (l *recurrence) cell() bool {
	if l.c >= 0 {
		return l.lstm()
	}
	return l.gru()
}

// operands returns the operands of a node of two, if its op is one of these.
func operands(o graph.Output, ops ...string) (a, b graph.Output, ok bool) {
	if n := o.Node; slices.Contains(ops, n.Op) && len(n.In) == 2 {
		return n.In[0], n.In[1], true
	}
	return a, b, false
}

// either calls try with two operands in both orders until it holds.
func either(a, b graph.Output, try func(a, b graph.Output) bool) bool { return try(a, b) || try(b, a) }

// gate is a part of a Split along the second dimension.
type gate struct {
	split *graph.Node
	index int
}

func gateOf(o graph.Output, parts int) (gate, bool) {
	n := o.Node
	if n.Op != "Split" || n.Attrs.Int("num_split", 0) != int64(parts) {
		return gate{}, false
	}
	axis, ok := intOf(n.In[0])
	return gate{n, o.Index}, ok && (axis == 1 || axis == -1)
}

// lstm matches h = o·tanh(c) with c = f·c + i·g.
func (l *recurrence) lstm() bool {
	var in, forget, fresh, out gate
	sigmoid := func(o graph.Output, g *gate) bool {
		if o.Node.Op != "Sigmoid" {
			return false
		}
		var ok bool
		*g, ok = gateOf(o.Node.In[0], 4)
		return ok
	}
	forgets := func(o graph.Output) bool {
		if sigmoid(o, &forget) {
			l.forget = 0
			return true
		}
		if o.Node.Op != "Sigmoid" {
			return false
		}
		a, b, ok := operands(o.Node.In[0], "AddV2", "Add")
		return ok && either(a, b, func(a, b graph.Output) (ok bool) {
			if l.forget, ok = numberOf(b); ok {
				forget, ok = gateOf(a, 4)
			}
			return ok
		})
	}
	c := l.result(l.c)
	a, b, ok := operands(l.result(l.h), "Mul")
	if !ok || !either(a, b, func(a, b graph.Output) bool { return sigmoid(a, &out) && b.Node.Op == "Tanh" && b.Node.In[0] == c }) {
		return false
	}
	kept := func(o graph.Output) bool {
		a, b, ok := operands(o, "Mul")
		return ok && either(a, b, func(a, b graph.Output) bool { return l.arg(b) == l.c && forgets(a) })
	}
	added := func(o graph.Output) bool {
		a, b, ok := operands(o, "Mul")
		return ok && either(a, b, func(a, b graph.Output) (ok bool) {
			if b.Node.Op == "Tanh" && sigmoid(a, &in) {
				fresh, ok = gateOf(b.Node.In[0], 4)
			}
			return ok
		})
	}
	a, b, ok = operands(c, "AddV2", "Add")
	if !ok || !either(a, b, func(a, b graph.Output) bool { return kept(a) && added(b) }) {
		return false
	}
	if !l.order(in, forget, fresh, out) {
		return false
	}
	return l.terms(in.split.In[1], true, true, &l.biases)
}

// order records the positions of the gates, which must be the outputs of one
// Split.
func (l *recurrence) order(gates ...gate) bool {
	l.gates = nil
	for _, g := range gates {
		if g.split != gates[0].split || slices.Contains(l.gates, int64(g.index)) {
			return false
		}
		l.gates = append(l.gates, int64(g.index))
	}
	return true
}

// terms matches a sum of biases, of the product of the input if input is set,
// and of the product of the state if state is set.
func (l *recurrence) terms(o graph.Output, input, state bool, biases *[]graph.Output) bool {
	sum := []graph.Output{o}
	*biases = nil
	for i := 0; i < len(sum); i++ {
		if a, b, ok := operands(sum[i], "AddV2", "Add", "BiasAdd"); ok && len(sum) < 16 {
			sum = append(sum, a, b)
			continue
		}
		n := sum[i].Node
		switch k := l.arg(sum[i]); {
		case n.Op == "MatMul" && !n.Attrs.Bool("transpose_a") && !n.Attrs.Bool("transpose_b"):
			w := l.arg(n.In[1])
			if !l.fixed(w) {
				return false
			}
			switch {
			case state && l.arg(n.In[0]) == l.h:
				state, l.right = false, w
			case input && n.In[0].Node.Op == "TensorListGetItem":
				input, l.left = false, w
			default:
				return false
			}
		case l.fixed(k):
			*biases = append(*biases, l.loop.In[k])
		default:
			return false
		}
	}
	return !input && !state
}

// gru matches h = z·h + (1-z)·tanh(x + r·s), where x is a part of the input's
// product and s one of the state's.
func (l *recurrence) gru() bool {
	var update, reset, fresh, updateS, resetS, freshS gate
	sigmoid := func(o graph.Output, x, s *gate) bool {
		if o.Node.Op != "Sigmoid" {
			return false
		}
		a, b, ok := operands(o.Node.In[0], "AddV2", "Add")
		return ok && either(a, b, func(a, b graph.Output) bool {
			g, ok := gateOf(a, 3)
			h, fine := gateOf(b, 3)
			*x, *s = g, h
			return ok && fine && l.takesState(h.split) && !l.takesState(g.split)
		})
	}
	var z graph.Output
	kept := func(o graph.Output) bool {
		a, b, ok := operands(o, "Mul")
		return ok && either(a, b, func(a, b graph.Output) bool { z = a; return l.arg(b) == l.h && sigmoid(a, &update, &updateS) })
	}
	candidate := func(o graph.Output) bool {
		if o.Node.Op != "Tanh" {
			return false
		}
		a, b, ok := operands(o.Node.In[0], "AddV2", "Add")
		return ok && either(a, b, func(a, b graph.Output) bool {
			g, ok := gateOf(a, 3)
			fresh = g
			p, q, isMul := operands(b, "Mul")
			return ok && isMul && either(p, q, func(p, q graph.Output) (ok bool) {
				freshS, ok = gateOf(q, 3)
				return ok && sigmoid(p, &reset, &resetS)
			})
		})
	}
	added := func(o graph.Output) bool {
		a, b, ok := operands(o, "Mul")
		return ok && either(a, b, func(a, b graph.Output) bool {
			one, y, ok := operands(a, "Sub")
			if !ok || y != z {
				return false
			}
			v, ok := numberOf(one)
			return ok && v == 1 && candidate(b)
		})
	}
	a, b, ok := operands(l.result(l.h), "AddV2", "Add")
	if !ok || !either(a, b, func(a, b graph.Output) bool { return kept(a) && added(b) }) {
		return false
	}
	if !l.order(updateS, resetS, freshS) {
		return false
	}
	other := slices.Clone(l.gates)
	if !l.order(update, reset, fresh) || !slices.Equal(other, l.gates) {
		return false
	}
	return l.terms(update.split.In[1], true, false, &l.biases) && l.terms(updateS.split.In[1], false, true, &l.stateBiases)
}

// takesState reports whether the input of the Split is a product of the state.
func (l *recurrence) takesState(split *graph.Node) bool {
	var biases []graph.Output
	right := l.right
	ok := l.terms(split.In[1], false, true, &biases)
	l.right = right
	return ok
}
