package savedmodel

import "github.com/cairnml/cairn/graph"

// bindGradients tells the custom gradients of a library what they capture: values
// of the functions that they differentiate, which the graph of objects knows. One
// that can't be told is left alone; whoever differentiates gets an error.
func (g *MetaGraph) bindGradients(lib *graph.Library) {
	if lib == nil {
		return
	}
	for i := range lib.Registered {
		r := &lib.Registered[i]
		c := g.concretes[r.Gradient.FuncName()]
		if c == nil {
			continue
		}
		r.Captures = nil
		for _, o := range c.Captures {
			out, ok := g.captured(lib, r.Type, o)
			if !ok {
				r.Captures = nil
				break
			}
			r.Captures = append(r.Captures, out)
		}
	}
}

// captured returns the value of a function that an object stands for in the gradient
// of its nodes.
func (g *MetaGraph) captured(lib *graph.Library, gradient string, o *Object) (graph.Output, bool) {
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
	// A variable is an argument of the function.
	for _, f := range lib.Functions() {
		c := g.concretes[f.Name]
		if c == nil || len(c.Captures) > len(f.Args) || !names(f, gradient) {
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

// names reports whether a node of the function names the gradient.
func names(f *graph.Function, gradient string) bool {
	for _, n := range f.Graph.Nodes() {
		if n.Attrs.String("_gradient_op_type", "") == gradient {
			return true
		}
	}
	return false
}
