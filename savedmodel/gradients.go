package savedmodel

import "github.com/cairnml/cairn/graph"

// bindGradients sets the captures of the custom gradients in a library. They
// are values of functions that are running when the gradient is, and the object
// graph lists them. A gradient with an unknown capture has none, and
// differentiating it is an error.
func (g *MetaGraph) bindGradients(lib *graph.Library) {
	if lib == nil || len(lib.Registered) == 0 {
		return
	}
	calls := callsOf(lib)
	for i := range lib.Registered {
		r := &lib.Registered[i]
		c := g.concretes[r.Gradient.FuncName()]
		if c == nil { // the object graph doesn't list the gradient's captures: it stays as the library has it
			continue
		}
		r.Captures, r.Gives = nil, given(c.Out)
		for _, o := range c.Captures {
			out, ok := g.captured(lib, calls, r.Type, o)
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
// gradient of the function's nodes captures it.
func (g *MetaGraph) captured(lib *graph.Library, calls calls, gradient string, o *Object) (graph.Output, bool) {
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
	// A variable is an argument of the function that has the nodes, or of the closest
	// one that calls it.
	for _, f := range calls.around(gradient) {
		c := g.concretes[f.Name]
		if c == nil || len(c.Captures) > len(f.Args) {
			continue
		}
		for k, x := range c.Captures {
			if x == o {
				return f.Args[len(f.Args)-len(c.Captures)+k].Output(0), true
			}
		}
	}
	return graph.Output{}, false
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

// around returns the functions with nodes that name the gradient and those that call
// them, the closest first.
func (c calls) around(gradient string) []*graph.Function {
	var out []*graph.Function
	seen := map[*graph.Function]bool{}
	for todo := c.naming[gradient]; len(todo) > 0; todo = todo[1:] {
		f := todo[0]
		if seen[f] {
			continue
		}
		seen[f] = true
		out = append(out, f)
		todo = append(todo[:len(todo):len(todo)], c.callers[f]...)
	}
	return out
}
