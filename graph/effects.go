package graph

import "sync"

// Effects are the effects of functions, and which of them call themselves. It keeps
// those of every function that it reaches, so asking for every function of a library
// takes time in proportion to the library. The zero value is ready. It is safe for
// concurrent use. The functions that it has reached must not change afterwards.
type Effects struct {
	effects  summary[Effect]
	stateful summary[bool]
	loops    recursion
}

// Of returns [Function.Effect] of f.
func (e *Effects) Of(f *Function) Effect {
	return e.effects.of(f, (*Function).ownEffect, func(a, b Effect) Effect { return a | b })
}

// OfNode returns [Node.Effect] of n.
func (e *Effects) OfNode(n *Node) Effect {
	own, callees := n.parts(nil)
	return own | e.ofAll(callees)
}

func (e *Effects) ofAll(list []*Function) (all Effect) {
	for _, f := range list {
		all |= e.Of(f)
	}
	return all
}

// Stateful returns [Function.Stateful] of f.
func (e *Effects) Stateful(f *Function) bool {
	return e.stateful.of(f, (*Function).ownState, func(a, b bool) bool { return a || b })
}

// Recursive reports whether f calls itself, directly or through others.
func (e *Effects) Recursive(f *Function) bool { return e.loops.of(f) }

// KeepEffects makes e keep the effects of the functions that the nodes of g, and those of
// its copies, call. Without it, [Node.Effect] and [Function.Inline] walk through all of
// these functions each time.
func (g *Graph) KeepEffects(e *Effects) { g.effects = e }

// kept returns where effects of functions are kept, or an empty place.
func (g *Graph) kept() *Effects {
	if g == nil || g.effects == nil {
		return new(Effects)
	}
	return g.effects
}

// summary keeps for each function what it and the functions that it reaches have
// together.
type summary[T any] struct {
	mu    sync.Mutex
	known map[*Function]T
}

// of returns the summary of f. own returns that of a function alone and the functions
// that it reaches directly. join joins two.
func (s *summary[T]) of(f *Function, own func(*Function) (T, []*Function), join func(a, b T) T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.known[f]; ok {
		return v
	}
	if s.known == nil {
		s.known = map[*Function]T{}
	}
	type part struct {
		own     T
		callees []*Function
	}
	open := map[*Function]part{} // functions whose set isn't complete
	components(f, func(f *Function) []*Function {
		v, callees := own(f)
		open[f] = part{v, callees}
		return callees
	}, func(f *Function) bool { _, known := s.known[f]; return known },
		func(list []*Function, _ bool) {
			var all T
			for _, f := range list {
				p := open[f]
				delete(open, f)
				all = join(all, p.own)
				for _, c := range p.callees {
					all = join(all, s.known[c]) // nothing for those of the set
				}
			}
			for _, f := range list {
				s.known[f] = all
			}
		})
	return s.known[f]
}
