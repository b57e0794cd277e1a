package run

import (
	"errors"

	"github.com/cairnml/cairn/savedmodel"
)

// errExcluded reports that LoadOptions.Objects excludes an object. Every use of an excluded object
// returns it; loading never does. The text follows the object's name.
var errExcluded = errors.New("it was not loaded; LoadOptions.Objects leaves it out")

// choose returns the objects that [LoadOptions].Objects names, with all objects
// that they need: children, captures of their functions, dependencies, and the slot
// variables that chosen optimizers have for chosen variables. It returns nil if paths is
// nil, which means all objects. A path that leads to no object is an error.
func choose(g *savedmodel.MetaGraph, paths []string) (map[*savedmodel.Object]bool, error) {
	if paths == nil {
		return nil, nil
	}
	chosen := map[*savedmodel.Object]bool{}
	var stack []*savedmodel.Object
	need := func(o *savedmodel.Object) {
		if o != nil && !chosen[o] {
			chosen[o] = true
			stack = append(stack, o)
		}
	}
	for _, path := range paths {
		o, err := g.Object(path)
		if err != nil {
			return nil, err
		}
		need(o)
	}
	var optimizers []*savedmodel.Object // chosen objects with slots
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, e := range o.Children {
			need(e.Object)
		}
		for _, e := range o.Dependencies {
			need(e.Object)
		}
		if len(o.Slots) > 0 {
			optimizers = append(optimizers, o)
		}
		if o.Function != nil {
			for _, c := range o.Function.Concrete {
				for _, x := range c.Captures {
					need(x)
				}
			}
		}
		if len(stack) > 0 {
			continue
		}
		// A slot belongs to its variable, which may be chosen after the optimizer. A slot
		// whose variable isn't chosen is left out.
		for _, o := range optimizers {
			for _, s := range o.Slots {
				if chosen[s.Original] {
					need(s.Slot)
				}
			}
		}
	}
	return chosen, nil
}

// excluded reports whether LoadOptions.Objects excludes an object.
func (p *program) excluded(o *savedmodel.Object) bool { return p.chosen != nil && !p.chosen[o] }
