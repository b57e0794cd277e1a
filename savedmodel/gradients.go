package savedmodel

import (
	"iter"
	"slices"

	"github.com/cairnml/cairn/graph"
)

// bindGradients sets the captures of the custom gradients in a library. They
// are values of functions that are running when the gradient is, and the object
// graph lists them. A gradient with an unknown capture has none, and
// differentiating it is an error.
func (g *MetaGraph) bindGradients(lib *graph.Library) {
	if lib == nil || len(lib.Registered) == 0 {
		return
	}
	search := &captureSearch{g: g, calls: callsOf(lib), left: maxCaptureSearch}
	for i := range lib.Registered {
		r := &lib.Registered[i]
		c := g.concretes[r.Gradient.FuncName()]
		if c == nil { // the object graph doesn't list the gradient's captures: it stays as the library has it
			continue
		}
		r.Captures, r.Gives = nil, given(c.Out)
		variables := search.arguments(r.Type, c.Captures)
		for _, o := range c.Captures {
			out, ok := captured(lib, variables, o)
			if !ok {
				r.Captures = nil
				break
			}
			r.Captures = append(r.Captures, out)
		}
	}
}

// given returns the indices of the inputs for which a gradient function returns
// gradients: the places of tensors among the results of the Python function. It
// returns nil if the file lacks them.
func given(out *graph.Structure) []int {
	if out == nil || out.Kind != graph.TupleStructure && out.Kind != graph.ListStructure {
		return nil
	}
	gives := []int{}
	for i, e := range out.Elems {
		switch e.Kind {
		case graph.TensorStructure:
			gives = append(gives, i)
		case graph.NoneStructure:
		default:
			return nil
		}
	}
	return gives
}

// captured returns the output in a function that an object means when the
// gradient of the function's nodes captures it. variables are the arguments found.
func captured(lib *graph.Library, variables map[*Object]graph.Output, o *Object) (graph.Output, bool) {
	if o == nil {
		return graph.Output{}, false
	}
	if o.Kind == CapturedTensor {
		f := lib.Lookup(o.InFunction)
		if f == nil {
			return graph.Output{}, false
		}
		out, err := f.Graph.Find(o.Tensor)
		return out, err == nil
	}
	out, ok := variables[o]
	return out, ok
}

// captureSearch finds the arguments that are the variables of gradients.
type captureSearch struct {
	g     *MetaGraph
	calls calls
	left  int // the functions and variables that may still be looked up

	places map[*ConcreteFunction]map[*Object]int // the first index of each capture
}

// maxCaptureSearch bounds the functions and variables that are looked up for all gradients, since hostile functions call
// each other in long chains. The captures of gradients after that are unknown. The number may change.
const maxCaptureSearch = 1 << 20

// placesOf returns the first index of each capture of a function.
func (s *captureSearch) placesOf(c *ConcreteFunction) map[*Object]int {
	places, ok := s.places[c]
	if !ok {
		if s.places == nil {
			s.places = map[*ConcreteFunction]map[*Object]int{}
		}
		places = make(map[*Object]int, len(c.Captures))
		for k, o := range slices.Backward(c.Captures) {
			places[o] = k
		}
		s.places[c] = places
	}
	return places
}

// arguments returns the arguments of functions that the variables among captures are. A variable is an argument of the
// function that has the gradient's nodes, or of the closest one that calls it.
func (s *captureSearch) arguments(gradient string, captures []*Object) map[*Object]graph.Output {
	missing := map[*Object]bool{}
	for _, o := range captures {
		if o != nil && o.Kind != CapturedTensor {
			missing[o] = true
		}
	}
	out := make(map[*Object]graph.Output, len(missing))
	for f := range s.calls.around(gradient) {
		if s.left--; len(missing) == 0 || s.left < 0 {
			break
		}
		c := s.g.concretes[f.Name]
		if c == nil || len(c.Captures) > len(f.Args) {
			continue
		}
		places := s.placesOf(c)
		s.left -= len(missing)
		for o := range missing {
			if k, ok := places[o]; ok {
				out[o] = f.Args[len(f.Args)-len(c.Captures)+k].Output(0)
				delete(missing, o)
			}
		}
	}
	return out
}

// calls records which functions of a library call which, and which have nodes
// that name a gradient.
type calls struct {
	callers map[*graph.Function][]*graph.Function // of each function
	naming  map[string][]*graph.Function          // by the gradient's name, the attribute _gradient_op_type
}

func callsOf(lib *graph.Library) calls {
	c := calls{map[*graph.Function][]*graph.Function{}, map[string][]*graph.Function{}}
	for _, f := range lib.Functions() {
		for _, callee := range f.Graph.Callees() {
			c.callers[callee] = append(c.callers[callee], f)
		}
		named := map[string]bool{}
		for _, n := range f.Graph.Nodes() {
			if name := n.Attrs.String("_gradient_op_type", ""); name != "" && !named[name] {
				named[name] = true
				c.naming[name] = append(c.naming[name], f)
			}
		}
	}
	return c
}

// around yields the functions with nodes that name the gradient and those that call
// them, the closest first.
func (c calls) around(gradient string) iter.Seq[*graph.Function] {
	return func(yield func(*graph.Function) bool) {
		seen := map[*graph.Function]bool{}
		var todo []*graph.Function
		add := func(list []*graph.Function) {
			for _, f := range list {
				if !seen[f] {
					seen[f] = true
					todo = append(todo, f)
				}
			}
		}
		for add(c.naming[gradient]); len(todo) > 0; todo = todo[1:] {
			if !yield(todo[0]) {
				return
			}
			add(c.callers[todo[0]])
		}
	}
}
