package graph

import (
	"context"
	"fmt"
)

// Assembler makes the function library of some functions and of all functions
// that they need, such as the gradients that their nodes name. [Assemble] is one
// without gradients.
type Assembler func(ctx context.Context, roots ...*Function) (*Library, error)

// Inherit adds the gradients of functions and nodes from the libraries from
// which the functions were read, with all functions that these gradients call.
// Two gradients of one op type are an error: they come from two files, and one
// must be renamed.
func (l *Library) Inherit() error {
	have := map[string]*Function{}
	for _, g := range l.Registered {
		have[g.Type] = g.Gradient.Function
	}
	pairs := map[*Function]bool{}
	for _, g := range l.Gradients {
		pairs[g.Function.Function] = true
	}
	l.assemble(nil)
	held := l.held()
	sources := map[*Library]*gradientIndex{}
	for done := 0; done < len(l.order); done++ {
		f := l.functions[l.order[done]]
		from := f.Graph.Library
		if from == nil || from == l {
			continue
		}
		index := sources[from]
		if index == nil {
			index = from.gradientIndex()
			sources[from] = index
		}
		for _, n := range f.Graph.nodes {
			name := l.GradientOf(n)
			if name == "" {
				continue
			}
			for _, at := range index.types[name] {
				g := from.Registered[at]
				if other, ok := have[name]; ok {
					if other != g.Gradient.Function {
						return fmt.Errorf("graph: two different gradients are registered for %q, by functions %s and %s", name, other.Name, g.Gradient.Function.Name)
					}
					continue
				}
				have[name] = g.Gradient.Function
				l.Registered = append(l.Registered, g)
				l.extend(held, []*Function{g.Gradient.Function})
			}
		}
		if at, ok := index.functions[f]; ok && !pairs[f] {
			g := from.Gradients[at]
			pairs[f] = true
			l.Gradients = append(l.Gradients, g)
			l.extend(held, []*Function{g.Gradient.Function})
		}
	}
	return nil
}

// gradientIndex has the places of a library's gradients that have a function.
type gradientIndex struct {
	types     map[string][]int  // in Registered
	functions map[*Function]int // in Gradients, the first of each function
}

func (l *Library) gradientIndex() *gradientIndex {
	x := &gradientIndex{map[string][]int{}, map[*Function]int{}}
	for i, g := range l.Registered {
		if g.Gradient.Function != nil {
			x.types[g.Type] = append(x.types[g.Type], i)
		}
	}
	for i, g := range l.Gradients {
		f := g.Function.Function
		if _, have := x.functions[f]; !have && g.Gradient.Function != nil {
			x.functions[f] = i
		}
	}
	return x
}

// Rename changes the names under which the library writes functions. The new
// names must differ from each other and from the names of all other functions.
func (l *Library) Rename(names map[*Function]string) error {
	functions := make(map[string]*Function, len(l.order))
	order := make([]string, 0, len(l.order))
	renamed := map[*Function]string{}
	for _, old := range l.order {
		f := l.functions[old]
		name, ok := names[f]
		if !ok {
			name = old
		}
		if functions[name] != nil {
			return fmt.Errorf("graph: two functions would be called %q", name)
		}
		functions[name] = f
		order = append(order, name)
		if name != f.Name {
			renamed[f] = name
		}
	}
	l.functions, l.order, l.names = functions, order, renamed
	return nil
}
