package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// The rule of Einsum and XlaEinsum, and the equation as their kernels read it.

// Label names a dimension in an einsum equation: a character. Labels below zero are
// the dimensions of an ellipsis, -1 is the last of them.
type Label int

// EllipsisLabel is the label of an ellipsis in a term.
const EllipsisLabel Label = 0

// Equation is an einsum equation of one or two terms, such as "ij,jk->ik".
type Equation struct {
	// In has a term for each input.
	In [][]Label
	// Out is the term of the output.
	Out []Label
}

// ParseEquation returns the equation of an einsum of so many inputs. TensorFlow's
// Einsum takes one or two inputs. An output label that no input has is an error.
func ParseEquation(equation string, inputs int) (*Equation, error) {
	left, right, ok := strings.Cut(equation, "->")
	if !ok || strings.Contains(right, "->") {
		return nil, fmt.Errorf("the equation %q needs exactly one ->", equation)
	}
	terms := strings.Split(left, ",")
	if len(terms) > 2 {
		return nil, fmt.Errorf("the equation %q has %d terms; Einsum takes one or two", equation, len(terms))
	}
	if len(terms) != inputs {
		return nil, fmt.Errorf("the equation %q has %d terms for %d inputs", equation, len(terms), inputs)
	}
	e := &Equation{}
	for _, t := range terms {
		term, err := parseTerm(t)
		if err != nil {
			return nil, err
		}
		e.In = append(e.In, term)
	}
	var err error
	if e.Out, err = parseTerm(right); err != nil {
		return nil, err
	}
	for _, l := range e.Out {
		if l != EllipsisLabel && !slices.ContainsFunc(e.In, func(t []Label) bool { return slices.Contains(t, l) }) {
			return nil, fmt.Errorf("the output of the equation %q has the label %q, which no input has", equation, rune(l))
		}
	}
	return e, nil
}

func parseTerm(s string) ([]Label, error) {
	s = strings.ReplaceAll(s, " ", "")
	before, after, more := strings.Cut(s, "...")
	var out []Label
	for i, part := range []string{before, after} {
		if i == 1 && more {
			out = append(out, EllipsisLabel)
		}
		for _, r := range part {
			switch r {
			case '.':
				return nil, fmt.Errorf("the term %q has periods besides one ellipsis (...)", s)
			case ',', '-', '>', 0:
				return nil, fmt.Errorf("the term %q has %q, which is no label", s, r)
			}
			out = append(out, Label(r))
		}
	}
	return out, nil
}

// ExpandLabels returns the term with n labels in the place of its ellipsis.
func ExpandLabels(term []Label, n int) []Label {
	out := make([]Label, 0, len(term)+n)
	for _, l := range term {
		if l != EllipsisLabel {
			out = append(out, l)
			continue
		}
		for i := n; i > 0; i-- {
			out = append(out, Label(-i))
		}
	}
	return out
}

// Shape returns the shape of the output for inputs of these shapes.
func (e *Equation) Shape(in ...graph.PartialShape) (graph.PartialShape, error) {
	sizes, rest := map[Label]int{}, graph.ShapeOf()
	for i, term := range e.In {
		s := in[i]
		dots := slices.Index(term, EllipsisLabel)
		n := len(term)
		if dots >= 0 {
			n--
		}
		if !s.HasRank() {
			if dots >= 0 {
				rest = graph.PartialShape{}
			}
			continue
		}
		switch {
		case dots < 0 && s.Rank() != n:
			return s, fmt.Errorf("input %d needs %d dimensions, one for each label of its term (got shape %v)", i, n, s)
		case s.Rank() < n:
			return s, fmt.Errorf("input %d needs at least %d dimensions, one for each label of its term (got shape %v)", i, n, s)
		}
		for d, l := range ExpandLabels(term, s.Rank()-n) {
			if l < 0 {
				continue
			}
			size := s.Dim(d)
			if old, ok := sizes[l]; ok {
				m, ok := graph.MergeDim(old, size)
				if !ok {
					return s, fmt.Errorf("the label %q has two sizes, %d and %d", rune(l), old, size)
				}
				size = m
			}
			sizes[l] = size
		}
		if dots >= 0 {
			middle, err := s.From(dots, dots+s.Rank()-n)
			if err != nil {
				return s, err
			}
			if rest, err = BroadcastShapes(rest, middle); err != nil {
				return s, fmt.Errorf("the dimensions of the ellipsis: %w", err)
			}
		}
	}
	out := graph.ShapeOf()
	dots := false
	for _, l := range e.Out {
		if l == EllipsisLabel {
			out, dots = out.Concat(rest), true
			continue
		}
		d, ok := sizes[l]
		if !ok {
			d = graph.NewDim()
			sizes[l] = d
		}
		out = out.Concat(graph.ShapeOf(d))
	}
	if !dots && rest.HasRank() && rest.Rank() > 0 {
		return out, fmt.Errorf("the output needs an ellipsis (...), because those of the inputs have %d dimensions", rest.Rank())
	}
	return out, nil
}

// Check returns an error for inputs whose shapes don't fit the equation.
func (e *Equation) Check(in []tensor.Shape) error {
	shapes := make([]graph.PartialShape, len(in))
	for i, s := range in {
		shapes[i] = graph.Whole(s)
	}
	_, err := e.Shape(shapes...)
	return err
}

func einsum(c *Inference) error {
	e, err := ParseEquation(c.Attrs.String("equation", ""), len(c.In))
	if err != nil {
		return err
	}
	in := make([]graph.PartialShape, len(c.In))
	for i := range in {
		in[i] = c.shape(i)
	}
	out, err := e.Shape(in...)
	if err != nil {
		return err
	}
	c.set(0, out)
	return nil
}
