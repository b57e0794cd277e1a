package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
)

// Einsum computes the sum of products that an equation such as "bij,bjk->bik"
// describes. It takes any number of inputs. The ellipsis "..." means dimensions that
// broadcast. Three or more inputs are multiplied two at a time, in Cairn's
// order: see [cheapest]. tf.einsum's order and operands may differ, so the last bits may too.
func Einsum(s *Scope, equation string, inputs ...Input) *Value {
	if len(inputs) <= 2 {
		return einsum(s, equation, inputs...)
	}
	left, right, ok := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	terms := strings.Split(left, ",")
	if !ok || len(terms) != len(inputs) {
		return s.Fail("Einsum", fmt.Errorf("the equation %q needs one -> and a term for each input (got %d terms, %d inputs)", equation, len(terms), len(inputs)))
	}
	factors := make([]factor, len(terms))
	for i, t := range terms {
		factors[i] = factor{labelsOf(t), Const(s, inputs[i])}
	}
	out := labelsOf(right)
	sizes, err := s.sizesOf(factors)
	if err != nil {
		return s.Fail("Einsum", fmt.Errorf("the equation %q: %w", equation, err))
	}
	for len(factors) > 2 && s.alive() {
		i, k := cheapest(factors, out, sizes)
		a, b := factors[i], factors[k]
		factors = slices.Delete(factors, k, k+1)
		factors = slices.Delete(factors, i, i+1)
		kept := keptOf(a, b, factors, out)
		y := einsum(s, a.labels.text()+","+b.labels.text()+"->"+kept.text(), a.value, b.value)
		factors = append(factors, factor{kept, y})
	}
	if !s.alive() {
		return s.failed()
	}
	return einsum(s, factors[0].labels.text()+","+factors[1].labels.text()+"->"+out.text(), factors[0].value, factors[1].value)
}

func einsum(s *Scope, equation string, inputs ...Input) *Value {
	return s.Emit1("Einsum", graph.Attrs{graph.String("equation", equation)}, inputs...)
}

// labels are the letters of a term of an equation; [dots] is an ellipsis.
type labels []rune

const dots = rune(0)

func labelsOf(term string) labels { return labels(strings.ReplaceAll(term, "...", string(dots))) }

func (l labels) text() string { return strings.ReplaceAll(string(l), string(dots), "...") }

// factor is an input of an einsum with its term.
type factor struct {
	labels labels
	value  *Value
}

// sizesOf returns the sizes of the labels that are known.
func (s *Scope) sizesOf(factors []factor) (map[rune]int, error) {
	sizes := map[rune]int{}
	for i, f := range factors {
		shape, at := f.value.Fact().Shape, slices.Index(f.labels, dots)
		if !shape.HasRank() || !s.alive() {
			continue
		}
		letters := len(f.labels)
		if at >= 0 {
			letters--
		}
		if shape.Rank() < letters || at < 0 && shape.Rank() != letters {
			return nil, fmt.Errorf("the term %q fits no input of shape %v (input %d)", f.labels.text(), shape, i)
		}
		for k, l := range f.labels {
			d := k
			switch {
			case l == dots:
				continue
			case at >= 0 && k > at:
				d = shape.Rank() - len(f.labels) + k
			}
			if n := shape.Dim(d); n >= 0 {
				if old, ok := sizes[l]; ok && old != n {
					return nil, fmt.Errorf("the label %q has two sizes, %d and %d", l, old, n)
				}
				sizes[l] = n
			}
		}
	}
	return sizes, nil
}

// keptOf returns the labels of the product of a and b: those that the output or another
// factor has.
func keptOf(a, b factor, others []factor, out labels) labels {
	var kept labels
	for _, l := range append(slices.Clone(a.labels), b.labels...) {
		wanted := slices.Contains(out, l) || slices.ContainsFunc(others, func(f factor) bool { return slices.Contains(f.labels, l) })
		if l == dots || wanted {
			if !slices.Contains(kept, l) {
				kept = append(kept, l)
			}
		}
	}
	return kept
}

// cheapest returns the first pair of factors with the least cost: the product's elements less
// those of the two. Sizes that aren't known, and "...", count as 1. tf.einsum has the same
// cost, but first multiplies factors with equal labels, and leaves factors without a common
// label to the end.
func cheapest(factors []factor, out labels, sizes map[rune]int) (first, second int) {
	count := func(l labels) float64 {
		n := 1.0
		for _, l := range l {
			if d, ok := sizes[l]; ok {
				n *= float64(d)
			}
		}
		return n
	}
	best := 0.0
	second = -1
	for i := range factors {
		for k := i + 1; k < len(factors); k++ {
			others := slices.Concat(factors[:i], factors[i+1:k], factors[k+1:])
			cost := count(keptOf(factors[i], factors[k], others, out)) - count(factors[i].labels) - count(factors[k].labels)
			if second < 0 || cost < best {
				best, first, second = cost, i, k
			}
		}
	}
	return first, second
}
