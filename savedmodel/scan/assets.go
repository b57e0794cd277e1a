package scan

import (
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// assets finds the values of a graph that are the paths of the model's own assets. An op that reads only
// these is a Note, not a Warning. If it isn't certain where a value comes from, it is no asset: a mistake
// must not hide a read of another file.
type assets struct {
	tensors   map[graph.Output]bool                    // the graph's tensors that take a path
	objects   map[*graph.Function][]*savedmodel.Object // the objects that a function's last arguments capture
	callers   map[*graph.Function][]*graph.Node        // the nodes that call a function
	owner     map[*graph.Node]*graph.Function          // of a function's arguments
	variables map[string]*stringVariable               // by the name under which nodes share it
}

// assetsOf finds the assets of a MetaGraph. It also records how their paths
// reach functions: by calls, and by captures in the object graph.
func assetsOf(g *savedmodel.MetaGraph, gr *graph.Graph) *assets {
	a := &assets{
		tensors: map[graph.Output]bool{}, objects: map[*graph.Function][]*savedmodel.Object{},
		callers: map[*graph.Function][]*graph.Node{}, owner: map[*graph.Node]*graph.Function{},
		variables: map[string]*stringVariable{},
	}
	for _, x := range g.Assets {
		if o, err := gr.Find(x.Tensor); x.Tensor != "" && err == nil {
			a.tensors[o] = true
		}
	}
	a.uses(gr)
	lib := gr.Library
	if lib == nil {
		return a
	}
	a.calls(gr, lib)
	for _, f := range lib.Functions() {
		for _, arg := range f.Args {
			a.owner[arg] = f
		}
		a.calls(f.Graph, lib)
		a.uses(f.Graph)
	}
	for _, o := range g.Objects {
		if o.Function == nil {
			continue
		}
		for _, c := range o.Function.Concrete {
			if f := lib.Lookup(c.Name); f != nil && len(c.Captures) <= len(f.Args) {
				a.objects[f] = c.Captures
			}
		}
	}
	return a
}

// calls notes the nodes that call functions with their inputs as arguments.
func (a *assets) calls(g *graph.Graph, lib *graph.Library) {
	for _, n := range g.Nodes() {
		if f := lib.Lookup(n.Op); f != nil {
			a.callers[f] = append(a.callers[f], n)
			continue
		}
		if n.Op != "PartitionedCall" && n.Op != "StatefulPartitionedCall" {
			continue
		}
		if c, ok := n.Attrs.Func("f"); ok && c.Function != nil {
			a.callers[c.Function] = append(a.callers[c.Function], n)
		}
	}
}

// all reports whether all references to files are assets of the model.
func (a *assets) all(refs []graph.Reference) bool {
	if a == nil || len(refs) == 0 {
		return false
	}
	return !slices.ContainsFunc(refs, func(r graph.Reference) bool {
		return r.Attr || r.Input.Node == nil || !a.is(r.Input)
	})
}

// maxSources bounds the values that are examined for one reference; with more it is no asset. The number is
// Cairn's and may change.
const maxSources = 1000

// is reports whether every value that an output can have is the path of an
// asset.
func (a *assets) is(o graph.Output) bool {
	seen := map[graph.Output]bool{}
	stack := []graph.Output{o}
	for len(stack) > 0 {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[o] || a.tensors[o] {
			continue
		}
		if seen[o] = true; len(seen) > maxSources {
			return false
		}
		n := o.Node
		switch {
		case n.IsArg():
			more, ok := a.given(n)
			if !ok {
				return false
			}
			if len(seen)+len(stack)+len(more) > maxSources {
				return false
			}
			stack = append(stack, more...)
		case n.Op == "Identity" && len(n.In) == 1:
			stack = append(stack, n.In[0])
		case n.Op == "ReadVariableOp" && len(n.In) == 1:
			name, ok := variableOf(n.In[0].Node)
			v := a.variables[name]
			if !ok || v == nil || v.escapes || len(v.assigned) == 0 {
				return false
			}
			if len(seen)+len(stack)+len(v.assigned) > maxSources {
				return false
			}
			stack = append(stack, v.assigned...)
		default:
			return false
		}
	}
	return true
}

// stringVariable records the uses of a variable of strings.
type stringVariable struct {
	assigned []graph.Output // the values that nodes assign to it
	escapes  bool           // whether another op than a read or an assignment takes its handle
}

// variableOf returns the variable that a node is the handle of.
func variableOf(n *graph.Node) (name string, ok bool) {
	if n.Op != "VarHandleOp" || n.Attrs.Type("dtype", tensor.Invalid) != tensor.String {
		return "", false
	}
	if name = n.Attrs.String("shared_name", ""); name == "" {
		name = n.Name
	}
	return name, true
}

// uses records the uses of variables of strings in a graph.
func (a *assets) uses(g *graph.Graph) {
	for _, n := range g.Nodes() {
		for i, in := range n.In {
			name, ok := variableOf(in.Node)
			if !ok {
				continue
			}
			v := a.variables[name]
			if v == nil {
				v = &stringVariable{}
				a.variables[name] = v
			}
			switch {
			case n.Op == "AssignVariableOp" && i == 0 && len(n.In) == 2:
				v.assigned = append(v.assigned, n.In[1])
			case n.Op != "ReadVariableOp" && n.Op != "VarIsInitializedOp":
				v.escapes = true
			}
		}
	}
}

// given returns the values that calls pass for a function's argument. ok is
// false if the argument is a capture other than an asset, or if no node calls
// the function.
func (a *assets) given(arg *graph.Node) (list []graph.Output, ok bool) {
	f := a.owner[arg]
	if f == nil {
		return nil, false
	}
	i := slices.Index(f.Args, arg)
	captures := a.objects[f]
	if k := i - (len(f.Args) - len(captures)); captures != nil && k >= 0 {
		if captures[k] == nil || captures[k].Kind != savedmodel.AssetObject {
			return nil, false
		}
		ok = true
	} else if captures != nil {
		return nil, false // it is an argument of the program that calls the function
	}
	if len(a.callers[f]) > maxSources {
		return nil, false
	}
	for _, n := range a.callers[f] {
		if i >= len(n.In) {
			return nil, false
		}
		list, ok = append(list, n.In[i]), true
	}
	return list, ok
}
