package keras

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Functional is a model whose layers form a graph from inputs to outputs, as
// keras.Model(inputs, outputs) in Python. [NewModel] makes one. In the object graph its
// layers are ordered by their depth, each [layers.InputLayer] among them.
type Functional struct {
	Model
	network
}

// network is a graph of layers.
type network struct {
	graph   *base.Graph
	layers  []Callable   // in the order of tf_keras's model.layers
	nodes   []*base.Node // in an order in which they can be computed
	inputs  structure
	outputs structure
	slot    map[graph.Output]int // the index of each output of a node among the values of a call
	slots   int                  // the number of these values
	depth   map[*base.Node]int   // the number of nodes on the longest way to an output; below 0 for those of insert
}

// calls returns the nodes of each layer in the order of the layer's calls.
func (n *network) calls() map[Callable][]*base.Node {
	out := map[Callable][]*base.Node{}
	for _, node := range n.nodes {
		out[node.Layer] = append(out[node.Layer], node)
	}
	for _, nodes := range out {
		slices.SortFunc(nodes, func(a, b *base.Node) int { return a.Index - b.Index })
	}
	return out
}

// structure is a list of tensors, and the form in which the program passed
// them.
type structure struct {
	values []*ops.Value
	kind   structureKind
	keys   []string // of a map, sorted
}

type structureKind uint8

const (
	oneTensor structureKind = iota
	listOfTensors
	mapOfTensors
)

// structureOf returns the structure of inputs or outputs that a program passes.
func structureOf(x any) (structure, error) {
	switch x := x.(type) {
	case *ops.Value:
		return structure{values: []*ops.Value{x}}, nil
	case []*ops.Value:
		return structure{values: slices.Clone(x), kind: listOfTensors}, nil
	case map[string]*ops.Value:
		s := structure{kind: mapOfTensors, keys: slices.Sorted(maps.Keys(x))}
		for _, key := range s.keys {
			s.values = append(s.values, x[key])
		}
		return s, nil
	}
	return structure{}, fmt.Errorf("got %T, want *ops.Value, []*ops.Value or map[string]*ops.Value", x)
}

// ModelOptions are the options of [NewModel].
type ModelOptions struct {
	// Name is the model's name. Default: model.
	Name string
}

// NewModel returns the model that computes outputs from inputs. Each is a symbolic
// tensor, a []*ops.Value or a map[string]*ops.Value.
//
//	s := keras.Symbolic(ctx)
//	x := keras.Input(s, tensor.Shape{784}, nil)
//	h := (&layers.Dense{Units: 64, Activation: activations.Relu}).Call(s, x)
//	y := (&layers.Dense{Units: 10}).Call(s, h)
//	model, err := keras.NewModel(x, y, nil)
//
// The layers keep their variables: models made from the same tensors share them. Inputs
// may be outputs of other layers; the model then begins there. Ops between layers become
// [layers.TFOpLambda]. The errors are those of the layers' calls, an output that depends
// on something other than the inputs, and two layers of one name.
func NewModel(inputs, outputs any, opts *ModelOptions) (*Functional, error) {
	m := new(Functional)
	if opts != nil {
		m.Name = opts.Name
	}
	if err := m.connect(m, inputs, outputs); err != nil {
		return nil, fmt.Errorf("keras: NewModel: %w", err)
	}
	return m, nil
}

// connect sets the network between inputs and outputs, and builds self for it. NewModel calls it,
// and networkReader for a config. After an error the network may be half set: the callers drop it.
func (n *network) connect(self base.LayerLike, inputs, outputs any) error {
	in, err := structureOf(inputs)
	if err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	out, err := structureOf(outputs)
	if err != nil {
		return fmt.Errorf("outputs: %w", err)
	}
	for i, v := range append(slices.Clone(in.values), out.values...) {
		g := base.GraphOf(v)
		switch {
		case v == nil:
			return fmt.Errorf("value %d of inputs and outputs is nil", i)
		case n.graph == nil && g != nil:
			n.graph = g
			if err := g.Scope().Err(); err != nil {
				return err
			}
		}
	}
	if n.graph == nil || len(in.values) == 0 || len(out.values) == 0 {
		if len(in.values) > 0 && in.values[0].DType() == tensor.Invalid {
			if _, err := in.values[0].Tensor(); err != nil {
				return err // of the scope
			}
		}
		return fmt.Errorf("no input is a symbolic tensor; keras.Input makes one")
	}
	w := walk{network: n, in: &in, layerIndex: map[Callable]int{}, state: map[*base.Node]visit{}}
	if err := w.run(&in, &out); err != nil {
		return err
	}
	n.inputs, n.outputs = in, out
	shapes := make([]tensor.Shape, len(in.values))
	for i, v := range in.values {
		shapes[i] = base.ShapeOf(v)
	}
	return base.Build(n.graph.Scope(), self, shapes...)
}

// Layers returns the layers in the order of tf_keras's model.layers: by their depth, the
// inputs' among them.
func (m *Functional) Layers() []Callable { return slices.Clone(m.layers) }

// Layer returns the layer of that name, nil if there is none.
func (m *Functional) Layer(name string) Callable { return layerNamed(m.layers, name) }

func layerNamed(list []Callable, name string) Callable {
	for _, l := range list {
		if nameOf(l) == name {
			return l
		}
	}
	return nil
}

func nameOf(layer Callable) string {
	if l, ok := layer.(base.LayerLike); ok {
		return l.AsLayer().Name
	}
	return ""
}

// Symbolic returns the scope on which the model's layers were connected. Layers called on
// it may use the model's inputs and outputs.
func (m *Functional) Symbolic() *ops.Scope { return m.graph.Scope() }

// Inputs returns the symbolic inputs: of a map, in the order of its sorted keys.
func (m *Functional) Inputs() []*ops.Value { return slices.Clone(m.inputs.values) }

// Outputs returns the symbolic outputs: of a map, in the order of its sorted keys.
func (m *Functional) Outputs() []*ops.Value { return slices.Clone(m.outputs.values) }

// OutputsOf returns the symbolic outputs of the first call of a layer in the model, nil if
// there is no layer of that name.
func (m *Functional) OutputsOf(layer string) []*ops.Value {
	for _, n := range m.nodes {
		if nameOf(n.Layer) == layer {
			return slices.Clone(n.Outputs)
		}
	}
	return nil
}

// InputNames returns the names of the inputs' layers.
func (m *Functional) InputNames() []string { return m.names(&m.inputs) }

// OutputNames returns the names of the outputs: those of their layers, "_1" and so on
// added to repeated ones.
func (m *Functional) OutputNames() []string {
	names := m.names(&m.outputs)
	seen := map[string]int{}
	for i, name := range names {
		if n := seen[name]; n > 0 {
			names[i] = name + "_" + strconv.Itoa(n)
		}
		seen[name]++
	}
	return names
}

func (n *network) names(s *structure) []string {
	names := make([]string, len(s.values))
	for i, v := range s.values {
		if p, ok := n.graph.PlaceOf(v); ok {
			names[i] = nameOf(p.Node.Layer)
		}
	}
	return names
}

// OutputKeys returns the keys of the outputs if they were given as a map, else nil.
func (m *Functional) OutputKeys() []string { return slices.Clone(m.outputs.keys) }

// BuildConfig returns the shapes of the inputs.
func (m *Functional) BuildConfig() config.Fields {
	if m.inputs.kind != mapOfTensors {
		return m.Model.BuildConfig()
	}
	f := config.Fields{}
	for i, key := range m.inputs.keys {
		f = append(f, config.Pair{Name: key, Value: base.Shape(base.ShapeOf(m.inputs.values[i]))})
	}
	return config.Fields{{Name: "input_shape", Value: f}}
}

// AutomaticName returns "model".
func (m *Functional) AutomaticName() (stem string, first int) { return "model", 0 }

// ScopeName returns "/": variables' full names begin with the name of a layer.
func (m *Functional) ScopeName() string { return "/" }

// TrackableChildren lists the layers as Keras does.
func (m *Functional) TrackableChildren() []trackable.Edge { return layerEdges(m.layers) }

// AcceptsChild reports false: the layers are known.
func (m *Functional) AcceptsChild(string) bool { return false }

// TracksFields reports false: the layers aren't in fields.
func (m *Functional) TracksFields() bool { return false }

// TakesSparse marks a model whose layers declare which inputs they take.
func (m *Functional) TakesSparse() {}

// TakesRagged marks a model whose layers declare which inputs they take.
func (m *Functional) TakesRagged() {}

// KeepsInputTypes marks a layer that casts no inputs.
func (m *Functional) KeepsInputTypes() {}

// Call computes the first output. x is an input, a []*ops.Value, or a map[string]*ops.Value
// by the inputs' names. [CallAll] returns all outputs.
func (m *Functional) Call(s *ops.Scope, x ops.Input) *ops.Value {
	if named, ok := x.(map[string]*ops.Value); ok {
		list, err := m.inputs.ordered(named, m.InputNames())
		if err != nil {
			return s.Fail("Functional", err)
		}
		keys := m.InputOrderOf(slices.Sorted(maps.Keys(named)))
		return m.Run(s, m, list, &base.CallOptions{InputKeys: keys, InputOrder: slices.Sorted(slices.Values(keys))})
	}
	return m.Run(s, m, x, nil)
}

// InputOrderOf returns the keys of a map of inputs in the order of the inputs.
func (m *Functional) InputOrderOf(keys []string) []string {
	if m.inputs.kind == mapOfTensors && slices.Contains(keys, m.inputs.keys[0]) {
		return slices.Clone(m.inputs.keys)
	}
	return m.InputNames()
}

// ordered returns the values of a map in the order of the inputs.
func (in *structure) ordered(values map[string]*ops.Value, names []string) ([]*ops.Value, error) {
	if in.kind == mapOfTensors && values[in.keys[0]] != nil {
		names = in.keys
	}
	list := make([]*ops.Value, len(names))
	for i, name := range names {
		v, ok := values[name]
		if !ok {
			return nil, fmt.Errorf("there is no value for the input %q (got %q)", name, slices.Sorted(maps.Keys(values)))
		}
		list[i] = v
	}
	if len(values) > len(names) {
		return nil, fmt.Errorf("got values for %q, want %q", slices.Sorted(maps.Keys(values)), names)
	}
	return list, nil
}

// ComputeAll computes all outputs.
func (m *Functional) ComputeAll(s *ops.Scope, c *base.Invocation) []*ops.Value {
	if err := c.CheckArgs(); err != nil {
		return []*ops.Value{s.Fail("Functional", err)}
	}
	return m.compute(s, c)
}

// ComputeMask returns the masks that the layers set on the outputs.
func (m *Functional) ComputeMask(_ *ops.Scope, _ *base.Invocation, out []*ops.Value) []*ops.Value {
	return masksOf(out)
}

func masksOf(out []*ops.Value) []*ops.Value {
	masks := make([]*ops.Value, len(out))
	for i, v := range out {
		masks[i] = base.MaskOf(v)
	}
	return masks
}

// compute calls the layers in the order of the nodes. at leaves a tensor without a slot as it is:
// it is a constant of the connecting scope.
func (n *network) compute(s *ops.Scope, c *base.Invocation) []*ops.Value {
	fail := func(err error) []*ops.Value { return []*ops.Value{s.Fail("Functional", err)} }
	if len(c.Inputs) != len(n.inputs.values) {
		return fail(fmt.Errorf("got %d inputs, want %d", len(c.Inputs), len(n.inputs.values)))
	}
	values := make([]*ops.Value, n.slots)
	for i, ref := range n.inputs.values {
		if got, want := base.FormOf(c.Inputs[i]), base.FormOf(ref); got != want {
			return fail(fmt.Errorf("input %d is a %s tensor, want a %s one", i, cmp.Or(got, "dense"), cmp.Or(want, "dense")))
		}
		v := base.WithMask(s, conform(s, c.Inputs[i], ref), c.Masks[i])
		values[n.slot[ref.Output()]] = v
	}
	at := func(v *ops.Value) *ops.Value {
		if v == nil || !v.IsSymbolic() {
			return v
		}
		if i, ok := n.slot[v.Output()]; ok {
			return values[i]
		}
		return v
	}
	for _, node := range n.nodes {
		if isInputNode(node) {
			continue
		}
		out := callNode(s, node, at)
		if s.Err() != nil {
			return out
		}
		if len(out) != len(node.Outputs) {
			return fail(fmt.Errorf("the layer %q has %d outputs, and had %d when it was connected", nameOf(node.Layer), len(out), len(node.Outputs)))
		}
		for i, v := range node.Outputs {
			values[n.slot[v.Output()]] = out[i]
		}
	}
	out := make([]*ops.Value, len(n.outputs.values))
	for i, v := range n.outputs.values {
		out[i] = at(v)
	}
	return out
}

// callNode calls a node's layer again, on the values that at returns for its own.
func callNode(s *ops.Scope, n *base.Node, at func(v *ops.Value) *ops.Value) []*ops.Value {
	inputs := make([]*ops.Value, len(n.Inputs))
	for i, x := range n.Inputs {
		if v, ok := x.(*ops.Value); ok {
			inputs[i] = at(v)
		} else {
			inputs[i] = ops.Const(s, x)
		}
	}
	opts := &base.CallOptions{Training: n.Training}
	if n.Masks != nil {
		opts.Masks = base.MapValues(n.Masks, at).([]*ops.Value)
	}
	if len(n.Args) > 0 {
		opts.Args = base.MapValues(n.Args, at).(map[string]any)
	}
	return base.CallAll(s, n.Layer, inputs, opts)
}

// conform makes an input fit the symbolic one as tf_keras does: it adds or removes a last
// dimension of size 1, and casts.
func conform(s *ops.Scope, x, ref *ops.Value) *ops.Value {
	if s.Err() != nil {
		return x
	}
	shape, want := x.Shape(), ref.Shape()
	switch {
	case base.FormOf(x) != "":
		return base.MapElements(s, x, func(x *ops.Value) *ops.Value {
			if d := ref.DType(); x.DType() != d && x.DType() != tensor.String && d != tensor.String {
				return ops.Cast(s, x, d)
			}
			return x
		})
	case shape == nil || want == nil:
	case len(shape) == len(want)+1 && shape[len(shape)-1] == 1:
		x = ops.Squeeze(s, x, -1)
	case len(shape) == len(want)-1 && want[len(want)-1] == 1:
		x = ops.ExpandDims(s, x, -1)
	}
	if d := ref.DType(); x.DType() != d && x.DType() != tensor.String && d != tensor.String {
		x = ops.Cast(s, x, d)
	}
	return x
}

// CallAll calls a layer or a model and returns all its outputs: see [base.CallAll].
func CallAll(s *ops.Scope, layer Callable, inputs []*ops.Value, opts *base.CallOptions) []*ops.Value {
	return base.CallAll(s, layer, inputs, opts)
}
