package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
)

// InferFunction completes the attributes of the nodes of f and infers the facts
// of their outputs from those of the arguments. Each node must come after its
// inputs, as [graph.Function.Clone] sorts them.
//
// Outputs of an op without a definition or a rule stay unchanged. Inputs that
// can't be right are a *[graph.NodeError].
func (r *Rules) InferFunction(f *graph.Function) error {
	budget := maxNodes
	return r.inferFunction(f, 0, &budget)
}

// maxDepth is the largest depth of calls whose functions are inferred. The results
// of deeper calls stay unknown. The limit is Cairn's.
const maxDepth = 64

// maxNodes is the largest number of nodes of called functions that are inferred. If
// each of n functions calls the next one twice, there are 2^n calls. The results of
// calls beyond the limit stay unknown. The limit is Cairn's.
const maxNodes = 1 << 17

func (r *Rules) inferFunction(f *graph.Function, depth int, budget *int) error {
	call := r.caller(depth, budget)
	for _, n := range f.Graph.Nodes() {
		if n.IsArg() {
			continue
		}
		if err := r.inferNode(n, call); err != nil {
			return &graph.NodeError{Node: n.Name, Op: n.Op, Function: f.Name, Site: n.Site, Err: err}
		}
	}
	return nil
}

func (r *Rules) inferNode(n *graph.Node, call func(graph.Callee, []graph.Fact) ([]graph.Fact, error)) error {
	if n.Def == nil {
		n.Def = graph.LookupOp(n.Op)
	}
	in := make([]graph.Fact, len(n.In))
	for i, o := range n.In {
		in[i] = o.Fact()
		if in[i].Ref && (n.Def == nil || !n.Def.InputIsRef(n.Attrs, i)) {
			in[i].Ref = false
		}
	}
	if n.Def == nil {
		return nil
	}
	attrs, out, err := n.Def.Bind(n.Attrs, in)
	if err != nil {
		return err
	}
	c := &Inference{Op: n.Op, Attrs: attrs, In: in, Out: out, Call: call}
	if err := r.Infer(c); err != nil {
		return err
	}
	n.Attrs, n.Out = attrs, c.Out
	return nil
}

// Caller infers the results of functions for [Inference.Call].
func (r *Rules) Caller() func(graph.Callee, []graph.Fact) ([]graph.Fact, error) {
	budget := maxNodes
	return r.caller(0, &budget)
}

// caller infers the results of functions that are called, without changing
// them.
func (r *Rules) caller(depth int, budget *int) func(graph.Callee, []graph.Fact) ([]graph.Fact, error) {
	return func(callee graph.Callee, args []graph.Fact) ([]graph.Fact, error) {
		if callee.Function == nil {
			return nil, fmt.Errorf("the function %q is not known", callee.Name)
		}
		*budget -= 1 + callee.Function.Graph.Len()
		if depth >= maxDepth || *budget < 0 {
			return make([]graph.Fact, len(callee.Function.Results)), nil
		}
		f, err := callee.Function.Clone()
		if err != nil {
			return nil, err
		}
		if len(args) != len(f.Args) {
			return nil, fmt.Errorf("the function %s takes %d arguments, %d are given", f.Name, len(f.Args), len(args))
		}
		for i, a := range f.Args {
			if args[i].DType != a.Out[0].DType && args[i].DType != 0 && a.Out[0].DType != 0 {
				return nil, fmt.Errorf("argument %d (%s) of the function %s is %v, %v is given", i, a.Name, f.Name, a.Out[0].DType, args[i].DType)
			}
			a.Out[0] = args[i]
		}
		if err := f.Instantiate(callee.Attrs); err != nil {
			return nil, err
		}
		if err := r.inferFunction(f, depth+1, budget); err != nil {
			return nil, err
		}
		return f.ResultFacts(), nil
	}
}
