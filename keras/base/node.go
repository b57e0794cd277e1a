package base

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/ops"
)

// Node is one call of a layer on symbolic tensors, as tf_keras's Node. Values of a call
// are outputs of other nodes, or constants.
type Node struct {
	// Layer is the layer that was called. A layer called twice has two nodes.
	Layer Callable
	// Inputs are the values that it was called with. A node of an input has none.
	Inputs []ops.Input
	// Nested reports whether the inputs were given as a list.
	Nested bool
	// InputKeys are the keys of inputs that were given as a map, and InputOrder their order in
	// a config; nil for a list.
	InputKeys, InputOrder []string
	// Args are the further arguments of the call, by Keras's names.
	Args map[string]any
	// ArgOrder are names of arguments, with "training" and "mask" among them, in the order
	// in which a config has them.
	ArgOrder []string
	// Masks are the masks that the call was given. Default: those of the inputs.
	Masks []*ops.Value
	// Training is the mode that the call was given. Default: the model's.
	Training *bool
	// Outputs are the symbolic outputs.
	Outputs []*ops.Value
	// Index is the number of the layer's nodes in the graph before this one.
	Index int
}

// ArgumentNamer is implemented by layers whose call has further arguments, in the order of
// tf_keras's method.
type ArgumentNamer interface{ ArgumentNames() []string }

// ArgNames returns the names of the further arguments in the order of a config: those of
// ArgOrder, then those that the layer names, then others sorted, and "name" last.
func (n *Node) ArgNames() []string {
	known := n.ArgOrder
	if l, ok := n.Layer.(ArgumentNamer); ok {
		known = append(slices.Clone(known), l.ArgumentNames()...)
	}
	var names []string
	add := func(name string) {
		if _, ok := n.Args[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range known {
		add(name)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Args)) {
		if name != "name" {
			add(name)
		}
	}
	add("name")
	return names
}

// Place is an output of a node.
type Place struct {
	Node  *Node
	Index int
}

// Graph records the calls of layers on symbolic tensors: the nodes of functional models.
// Its scope is made by [NewGraph].
type Graph struct {
	scope *ops.Scope
	trace *ops.Trace

	mu     sync.Mutex
	places map[graph.Output]Place
	count  map[any]int // nodes of a layer
	names  Names
}

type (
	graphKey   struct{}
	historyKey struct{}
)

// NewGraph returns a graph without nodes. Layers that are called on its scope record nodes,
// if they are called on symbolic tensors.
func NewGraph(ctx context.Context) *Graph {
	g := &Graph{places: map[graph.Output]Place{}, count: map[any]int{}}
	s, trace := ops.NewTrace(ctx, "model")
	g.scope, g.trace = s.With(graphKey{}, g), trace
	return g
}

// Scope returns the scope on which layers record their calls.
func (g *Graph) Scope() *ops.Scope { return g.scope }

// GraphOf returns the graph to which a symbolic tensor belongs, nil for another value.
func GraphOf(v *ops.Value) *Graph {
	g, _ := v.Note(historyKey{}).(*Graph)
	return g
}

// RecordingGraph returns the graph in which calls on the scope are recorded, nil if none is.
func RecordingGraph(s *ops.Scope) *Graph {
	g, _ := s.Value(graphKey{}).(*Graph)
	return g
}

// PlaceOf returns the output of a node that a value is. ok is false for a value that was
// made by ops between layers, and for a constant.
func (g *Graph) PlaceOf(v *ops.Value) (p Place, ok bool) {
	if v == nil || !v.IsSymbolic() {
		return Place{}, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok = g.places[v.Output()]
	return p, ok
}

// ValueAt returns the symbolic tensor of a node of the trace, if it is an output of a layer.
func (g *Graph) ValueAt(o graph.Output) (v *ops.Value, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.places[o]
	if !ok {
		return nil, false
	}
	return p.Node.Outputs[p.Index], true
}

// Alias makes the output of an op equivalent to v, an output of a layer that computes the
// same: keras/oplayers.go calls it for an op that became a layer.
func (g *Graph) Alias(o graph.Output, v *ops.Value) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, ok := g.places[v.Output()]; ok {
		g.places[o] = p
	}
}

// Input adds an input of the model. Its node is the only one of layer and has no inputs.
func (g *Graph) Input(layer Callable, fact graph.Fact) (*ops.Value, error) {
	g.name(layer)
	name := ""
	if n, ok := layer.(interface{ ScopeName() string }); ok {
		name = n.ScopeName()
	}
	v, err := g.trace.Arg(name, fact)
	if err != nil {
		return nil, err
	}
	g.add(&Node{Layer: layer, Outputs: []*ops.Value{v}})
	return v, nil
}

// add records a node, whose outputs are new values.
func (g *Graph) add(n *Node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n.Index = g.count[n.Layer]
	g.count[n.Layer]++
	for i, v := range n.Outputs {
		v.SetNote(historyKey{}, g)
		g.places[v.Output()] = Place{n, i}
	}
}

// name sets the name of an unnamed layer to the next automatic one of the
// graph.
func (g *Graph) name(layer any) {
	l, ok := layer.(LayerLike)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if name := l.AsLayer().Name; name != "" {
		g.names.Reserve(name)
		return
	}
	l.AsLayer().Name = g.names.Next(layer)
}

// FoldCall lets a layer record a call in another form: tf_keras moves initial states from an
// argument to the inputs, and the second input of an attention to an argument. Graph.record
// calls it, unless the call has masks as options.
type Folder interface {
	FoldCall(inputs []ops.Input, args map[string]any) ([]ops.Input, map[string]any)
}

// involves reports whether a call has a symbolic tensor among its values.
func (g *Graph) involves(inputs []ops.Input, args map[string]any, masks []*ops.Value) bool {
	found := false
	look := func(v *ops.Value) *ops.Value {
		found = found || v != nil && GraphOf(v) == g || g.made(v)
		return v
	}
	for _, x := range inputs {
		MapValues(x, look)
	}
	for _, x := range args {
		MapValues(x, look)
	}
	for _, m := range masks {
		look(m)
	}
	return found
}

// made reports whether a value was computed by ops from symbolic tensors.
func (g *Graph) made(v *ops.Value) bool {
	if v == nil || !v.IsSymbolic() {
		return false
	}
	o := v.Output()
	return o.Node != nil && o.Node.Op != "Const"
}

// MapValues returns x with its values replaced by f. x is a value, or lists and maps of
// them; anything else stays as it is.
func MapValues(x any, f func(v *ops.Value) *ops.Value) any {
	switch x := x.(type) {
	case *ops.Value:
		return f(x)
	case []*ops.Value:
		out := make([]*ops.Value, len(x))
		for i, v := range x {
			out[i] = f(v)
		}
		return out
	case []ops.Input:
		out := make([]ops.Input, len(x))
		for i, v := range x {
			out[i] = MapValues(v, f)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, v := range x {
			out[i] = MapValues(v, f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for key, v := range x {
			out[key] = MapValues(v, f)
		}
		return out
	}
	return x
}

// inputsOf returns the inputs of a call as a list.
func inputsOf(x ops.Input) (list []ops.Input, nested bool) {
	switch x := x.(type) {
	case []*ops.Value:
		list = make([]ops.Input, len(x))
		for i, v := range x {
			list[i] = v
		}
		return list, true
	case []ops.Input:
		return slices.Clone(x), true
	}
	return []ops.Input{x}, false
}

// record calls a layer on symbolic tensors, and records the call as a node. The layer runs on a
// scope without the graph, so that layers inside of it record nothing. A call that fails leaves
// no node, but the layer keeps its automatic name.
func (g *Graph) record(s *ops.Scope, l *Layer, self any, x ops.Input, opts *CallOptions) []*ops.Value {
	layer, ok := self.(Callable)
	if !ok {
		return []*ops.Value{s.Fail(className(self), fmt.Errorf("it has no method Call"))}
	}
	g.name(self)
	n := &Node{Layer: layer}
	n.Inputs, n.Nested = inputsOf(x)
	if opts != nil {
		n.Args, n.Masks, n.Training = maps.Clone(opts.Args), slices.Clone(opts.Masks), opts.Training
		n.ArgOrder, n.InputKeys, n.InputOrder = opts.ArgOrder, opts.InputKeys, opts.InputOrder
	}
	if f, ok := self.(Folder); ok && n.Masks == nil {
		n.Inputs, n.Args = f.FoldCall(n.Inputs, n.Args)
		if n.Nested = len(n.Inputs) > 1; n.Nested {
			x = n.Inputs
		} else if len(n.Inputs) == 1 {
			x = n.Inputs[0]
		}
		opts = &CallOptions{Training: n.Training, Args: n.Args}
	}
	out := l.RunAll(s.With(graphKey{}, nil), self, x, opts)
	if s.Err() != nil {
		return out
	}
	n.keepConstants()
	n.Outputs = make([]*ops.Value, len(out))
	for i, v := range out {
		own := ops.Identity(s, v) // an output may be an input, or a constant
		if s.Err() != nil {
			return []*ops.Value{own}
		}
		own = sameNotes(activations.WithLogits(own, activations.LogitsOf(v)), v)
		own.SetNote(maskKey{}, MaskOf(v))
		n.Outputs[i] = own
	}
	g.add(n)
	return n.Outputs
}

// keepConstants turns constants of the graph into tensors outside of it, which calls of the model
// can use on any scope.
func (n *Node) keepConstants() {
	tensorOf := func(v *ops.Value) *ops.Value {
		if v == nil || !v.IsSymbolic() || v.Output().Node.Op != "Const" {
			return v
		}
		return ops.ValueOf(v.Output().Node.Attrs.Tensor("value"))
	}
	for i, x := range n.Inputs {
		n.Inputs[i] = MapValues(x, tensorOf)
	}
	for name, x := range n.Args {
		n.Args[name] = MapValues(x, tensorOf)
	}
	for i, m := range n.Masks {
		n.Masks[i] = tensorOf(m)
	}
}

// AddNode records a node for a call that a program has computed. The outputs must not be
// outputs of other nodes.
func (g *Graph) AddNode(n *Node) {
	g.name(n.Layer)
	g.add(n)
}
