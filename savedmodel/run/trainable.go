package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// withVariableArgs returns f with variables of TensorFlow 1 as further arguments, namely
// those that its nodes find by name in the model's instance. Code outside of
// the model can then differentiate f with regard to them. It returns f itself
// if there are none.
func (m *Model) withVariableArgs(f *graph.Function) (*graph.Function, []*trackable.Variable, error) {
	var feeds, named, fetches []graph.Output
	var vars []*trackable.Variable
	for _, a := range f.Args {
		feeds = append(feeds, a.Output(0))
	}
	for _, n := range f.Graph.Nodes() {
		if v := m.variableOf(n); v != nil {
			named, vars = append(named, n.Output(0)), append(vars, v)
		}
	}
	for _, inner := range f.Graph.Reachable() {
		for _, n := range inner.Graph.Nodes() {
			if m.variableOf(n) != nil {
				return nil, nil, fmt.Errorf("the loop or branch %s uses the variable %q of TensorFlow 1, which isn't an argument of it: %w", inner.Name, n.Name, errors.ErrUnsupported)
			}
		}
	}
	if len(named) == 0 {
		return f, nil, nil
	}
	for _, r := range f.Results {
		fetches = append(fetches, r.Output)
	}
	var targets []*graph.Node
	for _, c := range f.Control {
		targets = append(targets, c.Node)
	}
	own, err := graph.Prune(f.Graph, append(feeds, named...), fetches, targets)
	if err != nil {
		return nil, nil, err
	}
	for i, a := range f.Args {
		own.Args[i].Out[0] = a.Out[0]
	}
	own.Name = f.Name
	for i, o := range named {
		if o.Node.Op == "VarHandleOp" {
			own.Args[len(feeds)+i].Out[0] = o.Fact().WithoutValue()
		} else if err := byHandle(own, own.Args[len(feeds)+i], o.Node.Name, vars[i]); err != nil {
			return nil, nil, err
		}
	}
	return own, vars, nil
}

// variableOf returns the variable of the instance that a node finds by its name; nil
// for other nodes.
func (m *Model) variableOf(n *graph.Node) *trackable.Variable {
	switch n.Op {
	case "VarHandleOp", "VariableV2", "Variable":
		x, _ := m.instance.Lookup(engine.VariableKey(n.Attrs.String("container", ""), sharedName(n)))
		v, _ := x.(*trackable.Variable)
		return v
	}
	return nil
}

// byHandle makes an argument that was a reference to a variable of TensorFlow 1 the variable's handle. An
// op ReadVariableOp is added, and the argument's users take its result. A node that changes the
// variable by the reference is an error: gradients don't know such nodes. After an error f is unusable.
func byHandle(f *graph.Function, arg *graph.Node, name string, v *trackable.Variable) error {
	for _, n := range f.Graph.Nodes() {
		for i, in := range n.In {
			if in.Node == arg && n.Def != nil && n.Def.InputIsRef(n.Attrs, i) {
				return fmt.Errorf("the node %s (%s) changes the variable %q of TensorFlow 1 by a reference: %w", n.Name, n.Op, name, errors.ErrUnsupported)
			}
		}
	}
	value := arg.Out[0]
	read := &graph.Node{
		Name: f.Graph.UniqueName(name + "/read"), Op: "ReadVariableOp", Def: graph.LookupOp("ReadVariableOp"),
		Attrs: graph.Attrs{graph.Type("dtype", value.DType)}, Out: []graph.Fact{value},
	}
	users := slices.Clone(f.Graph.Nodes())
	read.In = []graph.Output{arg.Output(0)}
	if err := f.Graph.Add(read); err != nil {
		return err
	}
	for _, n := range users {
		for i, in := range n.In {
			if in.Node == arg {
				n.In[i] = read.Output(0)
			}
		}
	}
	for i, r := range f.Results {
		if r.Output.Node == arg {
			f.Results[i].Output = read.Output(0)
		}
	}
	arg.Attrs = arg.Attrs.Set(graph.Type("T", tensor.Resource))
	arg.Out[0] = graph.Fact{DType: tensor.Resource, Shape: graph.ShapeOf(), Handle: []graph.Content{{DType: value.DType, Shape: graph.Whole(v.Load().Shape())}}}
	return nil
}
