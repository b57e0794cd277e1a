package grad

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
)

// replayer emits the nodes of a function's body again.
type replayer struct {
	s      *ops.Scope
	values map[graph.Output]*ops.Value // by the outputs of the function's nodes
	flows  map[graph.Output]flowKind   // of arrays that have become lists
	depth  int                         // of the functions that called this one
	made   map[calledKey]*replayed     // functions with lists for arrays, of all depths

	first []*graph.Node               // nodes that are emitted whether a result needs them or not
	kept  map[graph.Output]*ops.Value // the values by the origins of the nodes; if several nodes are copies of one, that of the last
}

func newReplayer(s *ops.Scope) *replayer {
	return &replayer{s: s, values: map[graph.Output]*ops.Value{}, flows: map[graph.Output]flowKind{}, made: map[calledKey]*replayed{},
		kept: map[graph.Output]*ops.Value{}}
}

// replay emits the nodes of f's body and returns the results.
func (r *replayer) replay(f *graph.Function, args []*ops.Value) ([]*ops.Value, error) {
	nodes, err := bodyOf(f, r.first)
	if err != nil {
		return nil, err
	}
	for i, a := range f.Args {
		r.keep(a.Output(0), args[i])
	}
	for _, n := range nodes {
		if n.IsArg() {
			continue
		}
		outs, err := r.emit(n)
		if err == nil {
			err = r.s.Err()
		}
		if err != nil {
			return nil, err
		}
		for i, v := range outs {
			r.keep(n.Output(i), v)
		}
	}
	results := make([]*ops.Value, len(f.Results))
	for i, result := range f.Results {
		results[i] = r.values[result.Output]
	}
	return results, nil
}

func (r *replayer) emit(n *graph.Node) ([]*ops.Value, error) {
	if outs, ok := r.array(n); ok {
		return outs, nil
	}
	attrs, flows, err := r.flowsThrough(n)
	if err != nil {
		return nil, err
	}
	for i, kind := range flows {
		r.flows[n.Output(i)] = kind
	}
	ins := make([]ops.Input, len(n.In))
	for i, o := range n.In {
		ins[i] = r.values[o]
	}
	return r.s.Emit(n.Op, attrs, ins...), nil
}

func (r *replayer) keep(o graph.Output, v *ops.Value) { r.values[o], r.kept[original(o)] = v, v }

// original returns the output of the node that o's is a copy of.
func original(o graph.Output) graph.Output {
	return graph.Output{Node: o.Node.Origin(), Index: o.Index}
}

// bodyOf returns the nodes that a call of the function runs, each after those
// that it needs, and before them the ones in first, with their inputs.
func bodyOf(f *graph.Function, first []*graph.Node) ([]*graph.Node, error) {
	const entered, left = 1, 2
	state := map[*graph.Node]int{}
	var out, stack []*graph.Node
	push := func(n *graph.Node) error {
		switch state[n] {
		case 0:
			stack = append(stack, n)
		case entered:
			return fmt.Errorf("the function %s has a loop of nodes through %s, of which there is no gradient", f.Name, n.Name)
		}
		return nil
	}
	for _, c := range slices.Backward(f.Control) {
		stack = append(stack, c.Node)
	}
	for _, r := range slices.Backward(f.Results) {
		stack = append(stack, r.Output.Node)
	}
	for _, n := range slices.Backward(first) {
		stack = append(stack, n)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if state[n] != 0 {
			stack = stack[:len(stack)-1]
			if state[n] == entered {
				state[n] = left
				out = append(out, n)
			}
			continue
		}
		state[n] = entered
		for _, o := range slices.Backward(n.In) {
			if err := push(o.Node); err != nil {
				return nil, err
			}
		}
		for _, c := range n.Control {
			if err := push(c); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
