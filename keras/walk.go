package keras

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// walk finds the nodes between inputs and outputs, and the order of the layers that
// tf_keras's _map_graph_network makes. That order is the one of configs, of edges in checkpoints
// and of weights in files, so it must stay. network.connect and network.insert use it.
type walk struct {
	*network
	in         *structure
	starts     map[graph.Output]bool // inputs that are outputs of layers
	layerIndex map[Callable]int      // the number of layers met before it; -1 for an input that no output needs
	state      map[*base.Node]visit
	parents    map[*base.Node][]*ops.Value // the results of parentsOf
}

type visit uint8

const (
	unseen visit = iota
	open         // its parents are being visited: to meet it again is a cycle
	closed       // it is among the nodes
)

// maxNodes is the largest number of calls of layers in a model. The limit is ours and may
// change: it bounds the time that a config from a file takes.
const maxNodes = 1 << 20

// run sets the nodes, layers and slots of the network between in and out. It replaces tensors in
// them by the outputs of layers that were made for them: of ops between layers, and of new inputs.
func (w *walk) run(in, out *structure) error {
	w.slot, w.parents, w.starts = map[graph.Output]int{}, map[*base.Node][]*ops.Value{}, map[graph.Output]bool{}
	for i, v := range in.values {
		if _, ok := w.graph.PlaceOf(v); !ok {
			return fmt.Errorf("input %d is no output of a layer or of keras.Input", i)
		}
		if w.starts[v.Output()] {
			return fmt.Errorf("input %d is given twice", i)
		}
		w.starts[v.Output()] = true
	}
	for i, v := range out.values {
		v, err := w.resolve(v)
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		out.values[i] = v
		if err := w.visit(v); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	if slices.ContainsFunc(in.values, func(v *ops.Value) bool { return !w.isInput(v) }) {
		return w.replay(in, out)
	}
	w.sort(in)
	return w.uniqueNames()
}

// isInput reports whether v is an output of an input layer.
func (w *walk) isInput(v *ops.Value) bool {
	p, ok := w.graph.PlaceOf(v)
	return ok && isInputNode(p.Node)
}

// isInputNode reports whether a node is that of an input, which calls no layer.
func isInputNode(n *base.Node) bool { return len(n.Inputs) == 0 && len(n.Args) == 0 }

// replay makes new inputs in place of those that are outputs of layers, and calls the
// layers after them again.
func (w *walk) replay(in, out *structure) error {
	s := w.graph.Scope()
	again := map[graph.Output]*ops.Value{}
	for i, v := range in.values {
		if w.isInput(v) {
			continue
		}
		layer := &layers.InputLayer{}
		layer.DType, layer.BatchInputShape = base.Policy(v.DType().String()), base.Shape(base.ShapeOf(v))
		layer.Sparse, layer.Ragged = base.FormOf(v) == "sparse", base.FormOf(v) == "ragged"
		in.values[i] = inputOf(s, layer)
		again[v.Output()] = in.values[i]
	}
	at := func(v *ops.Value) *ops.Value {
		if v != nil && v.IsSymbolic() && again[v.Output()] != nil {
			return again[v.Output()]
		}
		return v
	}
	for _, n := range w.nodes {
		if isInputNode(n) {
			continue
		}
		results := callNode(s, n, at)
		if err := s.Err(); err != nil {
			return err
		}
		for i, v := range n.Outputs {
			again[v.Output()] = results[i]
		}
	}
	for i, v := range out.values {
		out.values[i] = at(v)
	}
	next := walk{network: w.network, in: in, layerIndex: map[Callable]int{}, state: map[*base.Node]visit{}}
	w.nodes = nil
	return next.run(in, out)
}

// resolve returns v as an output of a layer: ops between layers become layers. They are recorded
// in the graph, so that models made later from the same tensors share them.
func (w *walk) resolve(v *ops.Value) (*ops.Value, error) {
	if p, ok := w.graph.PlaceOf(v); ok {
		return p.Node.Outputs[p.Index], nil
	}
	if !v.IsSymbolic() {
		return nil, fmt.Errorf("it is a constant, and depends on no input")
	}
	o := opLayers{graph: w.graph}
	return o.value(v.Output())
}

// parentsOf returns the symbolic tensors that a node depends on: inputs, then arguments in the
// order of ArgNames, then masks. Ops between layers become layers, and the node's values are
// replaced by the outputs of these.
func (w *walk) parentsOf(n *base.Node) ([]*ops.Value, error) {
	if list, ok := w.parents[n]; ok {
		return list, nil
	}
	list := []*ops.Value{}
	var failed error
	look := func(v *ops.Value) *ops.Value {
		if v == nil || !v.IsSymbolic() || failed != nil {
			return v
		}
		if constant(v.Output()) {
			return v
		}
		r, err := w.resolve(v)
		if err != nil {
			failed = fmt.Errorf("an input of the layer %q: %w", nameOf(n.Layer), err)
			return v
		}
		list = append(list, r)
		return r
	}
	for i, x := range n.Inputs {
		n.Inputs[i] = base.MapValues(x, look)
	}
	if n.Args != nil {
		for _, key := range n.ArgNames() {
			n.Args[key] = base.MapValues(n.Args[key], look)
		}
	}
	for i, m := range n.Masks {
		n.Masks[i] = look(m)
	}
	w.parents[n] = list
	return list, failed
}

// frame is a node whose inputs are being visited.
type frame struct {
	node *base.Node
	next int
}

// visit adds the nodes that v depends on, and then its own.
func (w *walk) visit(v *ops.Value) error {
	var stack []frame
	push := func(v *ops.Value) error {
		p, _ := w.graph.PlaceOf(v)
		if w.starts[v.Output()] && !isInputNode(p.Node) {
			return nil
		}
		switch w.state[p.Node] {
		case closed:
			return nil
		case open:
			return fmt.Errorf("the layer %q is part of a cycle", nameOf(p.Node.Layer))
		}
		if len(w.state) > maxNodes {
			return fmt.Errorf("there are more than %d calls of layers", maxNodes)
		}
		if _, ok := w.layerIndex[p.Node.Layer]; !ok {
			w.layerIndex[p.Node.Layer] = len(w.layerIndex)
		}
		if _, err := w.parentsOf(p.Node); err != nil {
			return err
		}
		if isInputNode(p.Node) && !w.starts[p.Node.Outputs[0].Output()] {
			return fmt.Errorf("it depends on the input %q, which is no input of the model", nameOf(p.Node.Layer))
		}
		w.state[p.Node] = open
		stack = append(stack, frame{node: p.Node})
		return nil
	}
	if err := push(v); err != nil {
		return err
	}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if list := w.parents[top.node]; top.next < len(list) {
			top.next++
			if err := push(list[top.next-1]); err != nil {
				return err
			}
			continue
		}
		w.state[top.node] = closed
		w.nodes = append(w.nodes, top.node)
		stack = stack[:len(stack)-1]
	}
	return nil
}

// sort orders nodes and layers by their depth, the deepest first, and assigns a slot to each
// output. As in _map_graph_network, layers of one depth are in the order in which the walk met them,
// inputs that no output needs before them. Nodes of one depth are in the order in which they got a
// depth, from the outputs to the inputs.
func (w *walk) sort(in *structure) {
	nodeDepth, layerDepth := map[*base.Node]int{}, map[Callable]int{}
	nodes := make([]*base.Node, 0, len(w.nodes)) // in the order in which they get a depth
	deepen := func(n *base.Node, depth int) int {
		before, ok := nodeDepth[n]
		if !ok {
			nodes = append(nodes, n)
		}
		depth = max(depth, before)
		nodeDepth[n] = depth
		return depth
	}
	for _, n := range slices.Backward(w.nodes) {
		depth := deepen(n, layerDepth[n.Layer])
		if _, ok := layerDepth[n.Layer]; !ok {
			w.layers = append(w.layers, n.Layer)
		}
		layerDepth[n.Layer] = depth
		for _, v := range w.parents[n] {
			p, _ := w.graph.PlaceOf(v)
			deepen(p.Node, depth+1)
		}
	}
	// Inputs that no output depends on.
	for _, v := range in.values {
		p, _ := w.graph.PlaceOf(v)
		if _, ok := w.layerIndex[p.Node.Layer]; !ok {
			layerDepth[p.Node.Layer] = 0
			w.layerIndex[p.Node.Layer] = -1
			w.layers = append(w.layers, p.Node.Layer)
			deepen(p.Node, 0)
		}
	}
	w.nodes = nodes
	slices.SortStableFunc(w.layers, func(a, b Callable) int {
		return cmp.Or(cmp.Compare(layerDepth[b], layerDepth[a]), cmp.Compare(w.layerIndex[a], w.layerIndex[b]))
	})
	slices.SortStableFunc(w.nodes, func(a, b *base.Node) int { return cmp.Compare(nodeDepth[b], nodeDepth[a]) })
	w.depth = nodeDepth
	for _, n := range w.nodes {
		for _, v := range n.Outputs {
			w.slot[v.Output()] = w.slots
			w.slots++
		}
	}
}

// uniqueNames returns an error if two layers have one name.
func (w *walk) uniqueNames() error {
	seen := map[string]bool{}
	for _, l := range w.layers {
		name := nameOf(l)
		if seen[name] && name != "" {
			return fmt.Errorf("two layers are called %q; the names of a model's layers are unique", name)
		}
		seen[name] = true
	}
	return nil
}

// constant reports whether an output is a constant of the trace.
func constant(o graph.Output) bool { return o.Node.Op == "Const" }
