package run

import (
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
)

// findHandles finds the object of each resource handle in the graph, and stores it in objectOf. The file
// doesn't record which object a handle means. A call of a function has the function's captures as its last
// inputs, and the file has the objects of captures. Handles that no call has are found by the variable's
// name.
func (r *runnable) findHandles(g *savedmodel.MetaGraph) {
	r.objectOf = map[*graph.Node]*savedmodel.Object{}
	byName := map[string]*savedmodel.Object{}
	for _, o := range g.Objects {
		if o.Kind != savedmodel.VariableObject {
			continue
		}
		if _, twice := byName[o.Variable.Name]; twice {
			byName[o.Variable.Name] = nil // the name says nothing: Keras gives it to several
		} else {
			byName[o.Variable.Name] = o
		}
	}
	called := map[*savedmodel.Object]*graph.Node{}
	for _, n := range r.Nodes() {
		f, ok := n.Attrs.Func("f")
		if !ok || n.Op != graph.CallOp && n.Op != graph.StatefulCallOp {
			continue
		}
		c := g.ConcreteFunction(f.FuncName())
		if c == nil || len(c.Captures) > len(n.In) { // a function that no object has, or a damaged call, which fails when it runs
			continue
		}
		first := len(n.In) - len(c.Captures)
		for i, o := range c.Captures {
			from := n.In[first+i].Node
			switch {
			case o == nil || from.Op == "Placeholder": // a capture that TensorFlow couldn't save, or a value that is fed
			case o.Kind == savedmodel.VariableObject:
				r.objectOf[from], called[o] = o, from
			case o.IsResource(), o.Kind == savedmodel.AssetObject && from.Op == "ReadVariableOp": // a variable of the graph's own keeps the path
				r.objectOf[from] = o
			}
		}
	}
	for _, n := range r.Nodes() {
		if n.Op == "VarHandleOp" && r.objectOf[n] == nil {
			o := byName[sharedName(n)]
			if o == nil || called[o] != nil && sharedName(called[o]) != sharedName(n) {
				continue // it only has the name of an object that has another handle
			}
			r.objectOf[n] = o
		}
	}
}

// findAssets makes the paths of the assets, which take the place of those that the graph's constants
// have: these are paths on the machine that wrote the model. An asset whose tensor isn't in the decoded
// part of the graph is not used by it.
func (r *runnable) findAssets(g *savedmodel.MetaGraph) {
	r.pathOf = map[graph.Output]*tensor.Tensor{}
	for i := range g.Assets {
		a := &g.Assets[i]
		if a.Tensor == "" {
			continue
		}
		if o, err := r.Find(a.Tensor); err == nil {
			r.pathOf[o] = pathOf(a)
		}
	}
}
