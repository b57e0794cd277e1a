package grad

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// The rules of Einsum and XlaEinsum. A term of an equation is a list of labels, a rune each.

// dots is the ellipsis in a term of an equation.
const dots = rune(0)

// term returns the labels of a term of an einsum equation.
func term(s string) []rune {
	return []rune(strings.ReplaceAll(strings.TrimSpace(s), "...", string(dots)))
}

func termText(t []rune) string { return strings.ReplaceAll(string(t), string(dots), "...") }

// gradEinsum computes the gradients of an einsum: einsums themselves, of the
// output's gradient and the other input.
func gradEinsum(s *ops.Scope, op *Op) {
	left, right, ok := strings.Cut(op.Attrs().String("equation", ""), "->")
	terms := strings.Split(left, ",")
	if !ok || len(terms) != op.NumIn() || len(terms) > 2 {
		s.Fail("Einsum", fmt.Errorf("the equation %q has no gradient", op.Attrs().String("equation", "")))
		return
	}
	for i := range terms {
		if op.Needs(i) {
			op.Give(i, einsumBack(s, op, i, terms, term(right)))
		}
	}
}

func einsumBack(s *ops.Scope, op *Op, i int, terms []string, out []rune) *ops.Value {
	own := term(terms[i])
	known := slices.Clone(out)
	from, in := termText(out), []ops.Input{op.Grad(0)}
	if len(terms) == 2 {
		other := term(terms[1-i])
		known = append(known, other...)
		from += "," + termText(other)
		in = append(in, conj(s, op.In(1-i)))
	}
	// Labels that only this input has were summed over: the gradient is the same
	// for all their elements. The ellipsis goes first, so that its broadcast
	// dimensions can be summed.
	var kept, summed []rune
	hasDots := slices.Contains(own, dots)
	for _, l := range own {
		switch {
		case l == dots || slices.Contains(kept, l) || slices.Contains(summed, l):
		case slices.Contains(known, l):
			kept = append(kept, l)
		default:
			summed = append(summed, l)
		}
	}
	x := op.In(i)
	shared := hasDots && slices.Contains(known, dots)   // else the ellipsis was summed over as well
	stretched := !hasDots && slices.Contains(out, dots) // along the other input's ellipsis
	to := string(kept)
	if shared || stretched {
		to = "..." + to
	}
	g := s.Emit1("Einsum", equationAttr(from+"->"+to), in...)
	switch {
	case stretched:
		axes := ops.Range(s, 0, ops.Sub(s, ops.Rank(s, g), len(kept)), 1)
		g = s.Emit1("Sum", nil, g, axes)
	case shared:
		g = Unbroadcast(s, g, s.Emit1("Einsum", equationAttr(termText(own)+"->"+to), x))
	}
	if hasDots || len(summed) > 0 {
		order := string(summed) + string(kept)
		if hasDots {
			order = "..." + order
		}
		for range summed {
			g = ops.ExpandDims(s, g, -1-len(kept))
		}
		g = broadcastLike(s, g, s.Emit1("Einsum", equationAttr(termText(own)+"->"+order), x))
		return s.Emit1("Einsum", equationAttr(order+"->"+termText(own)), g)
	}
	if slices.Equal(kept, own) {
		return g
	}
	return s.Emit1("Einsum", equationAttr(string(kept)+"->"+termText(own)), g)
}

func equationAttr(equation string) graph.Attrs {
	return graph.Attrs{graph.String("equation", equation)}
}
