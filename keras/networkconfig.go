package keras

import (
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
)

// This file writes and reads the config of a functional model, as tf_keras's get_network_config
// and reconstruct_from_config do. Names, order and nesting of the fields must stay. keras/config
// calls EncodeConfig and DecodeConfig.

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// EncodeConfig returns tf_keras's config of a functional model: the layers, each with the
// nodes of its calls in the model.
func (m *Functional) EncodeConfig(e *config.Encoder) (config.Fields, error) {
	if m.graph == nil {
		return nil, errors.New("the model has no layers; make it with keras.NewModel")
	}
	name := m.Name
	if name == "" {
		name = base.AutomaticName(m)
	}
	f := config.Fields{{Name: "name", Value: name}, {Name: "trainable", Value: !m.NotTrainable}}
	return m.network.encode(e, f, m.NotTrainable)
}

// freeze sets trainable to false in the JSON of a layer and of the layers in it, as
// tf_keras does for a model that isn't trainable.
func freeze(obj config.Fields) {
	for _, p := range obj {
		fields, ok := p.Value.(config.Fields)
		if !ok || p.Name != "config" {
			continue
		}
		for i := range fields {
			switch v := fields[i].Value.(type) {
			case []any:
				for _, layer := range v {
					if inner, ok := layer.(config.Fields); ok && fields[i].Name == "layers" {
						freeze(inner)
					}
				}
			default:
				if fields[i].Name == "trainable" {
					fields[i].Value = false
				}
			}
		}
	}
}

// encode adds the network to the fields of a config. If frozen is set, no layer in it is trainable.
func (n *network) encode(e *config.Encoder, f config.Fields, frozen bool) (config.Fields, error) {
	w := nodeWriter{network: n, index: map[*base.Node]int{}}
	byLayer := n.calls()
	for layer, nodes := range byLayer {
		first := 0
		if skipsFirstNode(layer) {
			first = 1
		}
		for i, node := range nodes {
			w.index[node] = first + i
		}
	}
	var list []any
	for _, layer := range n.layers {
		obj, err := e.Object(layer)
		if err != nil {
			return nil, err
		}
		nodes := []any{}
		for _, node := range byLayer[layer] {
			if isInputNode(node) {
				continue
			}
			data, err := w.node(node)
			if err != nil {
				return nil, fmt.Errorf("layer %q: %w", nameOf(layer), err)
			}
			nodes = append(nodes, data)
		}
		if frozen {
			freeze(obj)
		}
		list = append(list, append(obj, config.Pair{Name: "name", Value: nameOf(layer)}, config.Pair{Name: "inbound_nodes", Value: nodes}))
	}
	return append(f, config.Pair{Name: "layers", Value: list},
		config.Pair{Name: "input_layers", Value: w.structure(&n.inputs)},
		config.Pair{Name: "output_layers", Value: w.structure(&n.outputs)}), nil
}

// skipsFirstNode reports whether tf_keras doesn't count the first node of a layer: that of
// a model with separate inputs.
func skipsFirstNode(layer Callable) bool {
	switch m := layer.(type) {
	case *Functional:
		return true
	case *Sequential:
		return m.hasInput()
	}
	return false
}

// nodeWriter writes the calls of layers.
type nodeWriter struct {
	*network
	index map[*base.Node]int // as the config counts the nodes of a layer
}

// place returns the JSON of an output of a layer.
func (w *nodeWriter) place(v *ops.Value) []any {
	p, _ := w.graph.PlaceOf(v)
	return []any{nameOf(p.Node.Layer), w.index[p.Node], p.Index}
}

// structure returns the JSON of the inputs or outputs of the model.
func (w *nodeWriter) structure(s *structure) any {
	if s.kind == mapOfTensors {
		f := config.Fields{}
		for i, key := range s.keys {
			f = append(f, config.Pair{Name: key, Value: w.place(s.values[i])})
		}
		return f
	}
	list := []any{}
	for _, v := range s.values {
		list = append(list, w.place(v))
	}
	return list
}

// node returns the JSON of a call.
func (w *nodeWriter) node(n *base.Node) (any, error) {
	kwargs, err := w.arguments(n)
	if err != nil {
		return nil, err
	}
	f, isFunction := n.Layer.(firstArgument)
	if !isFunction {
		list := make([]any, len(n.Inputs))
		for i, x := range n.Inputs {
			if list[i], err = w.input(x, kwargs); err != nil {
				return nil, err
			}
		}
		if len(n.InputKeys) != len(list) || n.InputKeys == nil {
			return list, nil
		}
		var fields config.Fields
		for _, key := range n.InputOrder {
			fields = append(fields, config.Pair{Name: key, Value: list[slices.Index(n.InputKeys, key)]})
		}
		return fields, nil
	}
	name, isList, _ := f.FirstArgument()
	if len(n.Inputs) == 0 {
		if list, ok := n.Args[name].([]any); ok && isList {
			out := make([]any, len(list))
			for i, x := range list {
				if out[i], err = w.input(x, kwargs); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
		return w.input(n.Args[name], kwargs)
	}
	if !isList {
		return w.input(n.Inputs[0], kwargs)
	}
	list := make([]any, len(n.Inputs))
	for i, x := range n.Inputs {
		if list[i], err = w.input(x, kwargs); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// constantValue marks a constant among the inputs of a call.
const constantValue = "_CONSTANT_VALUE"

// input returns the JSON of an input of a call, with the call's arguments.
func (w *nodeWriter) input(x any, kwargs config.Fields) (any, error) {
	if v, ok := x.(*ops.Value); ok && v.IsSymbolic() && !constant(v.Output()) {
		return append(w.place(v), kwargs), nil
	}
	v, err := jsonOf(x)
	return []any{constantValue, -1, v, kwargs}, err
}

// arguments returns the JSON of the arguments of a call.
func (w *nodeWriter) arguments(n *base.Node) (config.Fields, error) {
	kwargs := config.Fields{}
	first := ""
	if f, ok := n.Layer.(firstArgument); ok {
		first, _, _ = f.FirstArgument()
	}
	for _, name := range n.ArgNames() {
		if name == first && first != "" {
			continue
		}
		v, err := w.argument(n.Args[name])
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", name, err)
		}
		kwargs = append(kwargs, config.Pair{Name: name, Value: v})
	}
	if n.Training != nil {
		kwargs = append(kwargs, config.Pair{Name: "training", Value: *n.Training})
	}
	if n.Masks != nil {
		masks := make([]any, len(n.Masks))
		for i, m := range n.Masks {
			if m == nil {
				continue
			}
			v, err := w.argument(m)
			if err != nil {
				return nil, fmt.Errorf("mask %d: %w", i, err)
			}
			masks[i] = v
		}
		var v any = masks
		if !n.Nested && len(masks) == 1 {
			v = masks[0]
		}
		kwargs = append(kwargs, config.Pair{Name: "mask", Value: v})
	}
	place := func(p config.Pair) int {
		if i := slices.Index(n.ArgOrder, p.Name); i >= 0 {
			return i
		}
		return len(n.ArgOrder)
	}
	slices.SortStableFunc(kwargs, func(a, b config.Pair) int { return place(a) - place(b) })
	return kwargs, nil
}

// argument returns the JSON of an argument of a call.
func (w *nodeWriter) argument(x any) (any, error) {
	switch x := x.(type) {
	case *ops.Value:
		if x.IsSymbolic() && !constant(x.Output()) {
			return w.place(x), nil
		}
	case []*ops.Value:
		list := make([]any, len(x))
		for i, v := range x {
			var err error
			if list[i], err = w.argument(v); err != nil {
				return nil, err
			}
		}
		return list, nil
	case []ops.Input:
		list := make([]any, len(x))
		for i, v := range x {
			var err error
			if list[i], err = w.argument(v); err != nil {
				return nil, err
			}
		}
		return list, nil
	case []any:
		list := make([]any, len(x))
		for i, v := range x {
			var err error
			if list[i], err = w.argument(v); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		if _, slice := x["step"]; slice { // in Python's order
			return config.Fields{{Name: "start", Value: x["start"]}, {Name: "stop", Value: x["stop"]}, {Name: "step", Value: x["step"]}}, nil
		}
		f := config.Fields{}
		for _, key := range sortedKeys(x) {
			v, err := w.argument(x[key])
			if err != nil {
				return nil, err
			}
			f = append(f, config.Pair{Name: key, Value: v})
		}
		return f, nil
	}
	return jsonOf(x)
}

// jsonOf returns a constant of a call as a value of JSON: a tensor becomes nested lists.
func jsonOf(x any) (any, error) {
	switch x := x.(type) {
	case *ops.Value:
		if x.IsSymbolic() {
			return pythonList(x.Output().Node.Attrs.Tensor("value"))
		}
		t, err := x.Tensor()
		if err != nil {
			return nil, err
		}
		return pythonList(t)
	case nil, bool, string, int, float64, json.Number, []any, map[string]any, []int, []float64, []string:
		return x, nil
	}
	t, err := ops.Const(ops.NewScope(context.Background()), x).Tensor()
	if err != nil {
		return nil, err
	}
	return pythonList(t)
}

// DecodeConfig connects the layers that a config of tf_keras describes.
func (m *Functional) DecodeConfig(d *config.Decoder, fields map[string]any) error {
	r, err := readNetwork(d, m, fields)
	if err != nil {
		return err
	}
	return r.connect(m)
}

// networkReader calls the layers of a config on symbolic tensors.
type networkReader struct {
	d       *config.Decoder
	scope   *ops.Scope
	layers  map[string]Callable     // by name
	nodes   map[string][]*base.Node // by layer, in the config's order
	first   map[string]int          // by layer: the config's number of its first node, 0 or 1
	inputs  any                     // the config's input_layers
	outputs any                     // the config's output_layers

	losses   []*layers.AddLoss
	uncalled []Callable // layers without a call, such as one set as an attribute of the model
}

// readNetwork makes and connects the layers.
func readNetwork(d *config.Decoder, self *Functional, fields map[string]any) (*networkReader, error) {
	r := &networkReader{d: d, layers: map[string]Callable{}, nodes: map[string][]*base.Node{}, first: map[string]int{}}
	var list []any
	for _, key := range sortedKeys(fields) {
		v, ok := fields[key], false
		switch key {
		case "name":
			self.Name, ok = v.(string)
		case "trainable":
			var on bool
			on, ok = v.(bool)
			self.NotTrainable = !on
		case "layers":
			list, ok = v.([]any)
		case "input_layers":
			r.inputs, ok = v, true
		case "output_layers":
			r.outputs, ok = v, true
		default:
			return nil, &config.UnknownError{Kind: "field", Of: "Functional", Name: key}
		}
		if !ok {
			return nil, fmt.Errorf("%s: got %T, want a config of a functional model", key, v)
		}
	}
	if r.inputs == nil || r.outputs == nil {
		return nil, errors.New("there are no input_layers or output_layers")
	}
	r.scope = base.DecoderScope(d)
	var calls []layerCalls // in the order of the layers, each with its calls in the config's order
	total := 0
	for i, item := range list {
		c, err := r.layer(d, item)
		if err != nil {
			return nil, fmt.Errorf("layers[%d]: %w", i, err)
		}
		if total += len(c.calls); total > maxNodes {
			return nil, fmt.Errorf("there are more than %d calls of layers", maxNodes)
		}
		d.AllowCalls(len(c.calls))
		calls = append(calls, c)
	}
	return r, r.callAll(calls)
}

// layerCalls are the calls of a layer that aren't made yet.
type layerCalls struct {
	name  string
	layer Callable
	calls []any
}

// layer makes a layer of the config.
func (r *networkReader) layer(d *config.Decoder, item any) (c layerCalls, err error) {
	obj, _ := item.(map[string]any)
	made, err := d.Object(item)
	if err != nil {
		return c, err
	}
	layer, ok := made.(Callable)
	if !ok {
		return c, fmt.Errorf("%T is no layer", made)
	}
	c.layer = layer
	c.name, _ = obj["name"].(string)
	if c.name == "" {
		c.name = nameOf(layer)
	}
	if c.name == "" || r.layers[c.name] != nil {
		return c, fmt.Errorf("the name %q is missing or given twice", c.name)
	}
	r.layers[c.name] = layer
	if l, ok := layer.(base.LayerLike); ok && l.AsLayer().Name == "" {
		l.AsLayer().Name = c.name
	}
	if in, ok := layer.(*layers.InputLayer); ok {
		v := inputOf(r.scope, in)
		if err := r.scope.Err(); err != nil {
			return c, err
		}
		p, _ := base.GraphOf(v).PlaceOf(v)
		r.nodes[c.name] = []*base.Node{p.Node}
	}
	if l, ok := layer.(*layers.AddLoss); ok {
		r.losses = append(r.losses, l)
	}
	if skipsFirstNode(layer) {
		r.first[c.name] = 1
	}
	c.calls, _ = obj["inbound_nodes"].([]any)
	if _, in := layer.(*layers.InputLayer); !in && len(c.calls) == 0 {
		r.uncalled = append(r.uncalled, layer)
	}
	return c, nil
}

// nodeNumber is a call of a layer: the layer's name, and the number of its calls before.
type nodeNumber struct {
	layer string
	call  int
}

// laterError reports a tensor whose node isn't made yet.
type laterError nodeNumber

func (e *laterError) Error() string { return "a call needs the result of a later one" }

// callAll makes all calls, in rounds over the layers. A call that needs the result of one that
// isn't made waits for it, until the next round if that one's layer comes later; the calls of one
// layer stay in order.
func (r *networkReader) callAll(calls []layerCalls) error {
	waiting := map[nodeNumber][]int{} // the layers that need a call
	var round, next intHeap           // layers that can go on
	for i := range calls {
		round = append(round, i)
	}
	for ; len(round) > 0; round, next = next, nil {
		heap.Init(&round)
		for len(round) > 0 {
			i := heap.Pop(&round).(int)
			for c := &calls[i]; len(c.calls) > 0; c.calls = c.calls[1:] {
				if err := r.d.Context().Err(); err != nil {
					return err
				}
				made := nodeNumber{c.name, len(r.nodes[c.name])}
				err := r.call(c, c.calls[0])
				if later := (*laterError)(nil); errors.As(err, &later) {
					waiting[nodeNumber(*later)] = append(waiting[nodeNumber(*later)], i)
					break
				}
				if err != nil {
					return fmt.Errorf("layer %q: %w", c.name, err)
				}
				for _, k := range waiting[made] {
					if k > i {
						heap.Push(&round, k)
					} else {
						next = append(next, k)
					}
				}
				delete(waiting, made)
			}
		}
	}
	for _, c := range calls {
		if len(c.calls) > 0 {
			return fmt.Errorf("layer %q: its call depends on itself, or on a call that is missing", c.name)
		}
	}
	return nil
}

// intHeap is a heap of numbers, the least first.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// call makes one call. The argument "training" is the mode of the call. The argument "mask" is the
// mask of the inputs, except for a Softmax, to which it is an input of its own.
func (r *networkReader) call(c *layerCalls, data any) error {
	data, keys, keyOrder, err := r.inputList(c.layer, data)
	if err != nil {
		return err
	}
	inputs, single, kwargs, order, err := r.inputsOf(data)
	if err != nil {
		return err
	}
	var out []*ops.Value
	if _, ok := c.layer.(firstArgument); ok {
		var first any = inputs
		if single {
			first = inputs[0]
		}
		out = callFunction(r.scope, c.layer, first, kwargs, order)
	} else {
		opts := &base.CallOptions{Args: kwargs, ArgOrder: order, InputKeys: keys, InputOrder: keyOrder}
		if on, ok := kwargs["training"].(bool); ok {
			opts.Training = &on
		}
		delete(kwargs, "training")
		if mask, ok := kwargs["mask"]; ok {
			if _, isSoftmax := c.layer.(*layers.Softmax); !isSoftmax {
				delete(kwargs, "mask")
				if opts.Masks, err = masksFrom(mask, len(inputs)); err != nil {
					return err
				}
			}
		}
		values := make([]*ops.Value, len(inputs))
		for i, x := range inputs {
			if list, ok := x.([]any); ok {
				if x, err = tensorOf(list); err != nil {
					return fmt.Errorf("a constant input: %w", err)
				}
			}
			values[i] = ops.Const(r.scope, x)
		}
		out = base.CallAll(r.scope, c.layer, values, opts)
	}
	if err := r.scope.Err(); err != nil {
		return err
	}
	if len(out) == 0 || base.GraphOf(out[0]) == nil {
		return errors.New("the call is on no symbolic tensor")
	}
	p, ok := base.GraphOf(out[0]).PlaceOf(out[0])
	if !ok {
		return errors.New("the call left no node; a layer's Call returns Run's result")
	}
	r.nodes[c.name] = append(r.nodes[c.name], p.Node)
	return nil
}

// masksFrom returns the argument mask of a call as a list of n.
func masksFrom(mask any, n int) ([]*ops.Value, error) {
	list, ok := mask.([]any)
	if !ok {
		list = []any{mask}
	}
	if len(list) != n {
		return nil, fmt.Errorf("got %d masks for %d inputs", len(list), n)
	}
	masks := make([]*ops.Value, n)
	for i, m := range list {
		if m == nil {
			continue
		}
		if masks[i], ok = m.(*ops.Value); !ok {
			return nil, fmt.Errorf("a mask is %v, want a tensor", m)
		}
	}
	return masks, nil
}

// inputsOf reads the inputs of a call, and its further arguments.
func (r *networkReader) inputsOf(data any) (inputs []any, single bool, kwargs map[string]any, order []string, err error) {
	list, ok := data.([]any)
	if !ok {
		return nil, false, nil, nil, fmt.Errorf("a node is %T, want a list", data)
	}
	if isPlace(list) {
		list, single = []any{list}, true
	}
	kwargs = map[string]any{}
	for _, item := range list {
		data, ok := item.([]any)
		if !ok || !isPlace(data) {
			return nil, false, nil, nil, fmt.Errorf("an input is %v, want [layer, node, tensor, arguments]", item)
		}
		if len(data) == 4 {
			args, _ := data[3].(map[string]any)
			for _, key := range r.d.Keys(args) {
				if kwargs[key] == nil {
					order = append(order, key)
				}
				if kwargs[key], err = r.argument(args[key], 0); err != nil {
					return nil, false, nil, nil, err
				}
			}
		}
		if data[0] == constantValue {
			inputs = append(inputs, constantOf(data[2]))
			continue
		}
		v, err := r.tensor(data)
		if err != nil {
			return nil, false, nil, nil, err
		}
		inputs = append(inputs, v)
	}
	if len(inputs) == 0 {
		return nil, false, nil, nil, errors.New("a node has no input")
	}
	return inputs, single, kwargs, order, nil
}

// inputOrderer is implemented by layers whose inputs may be a map.
type inputOrderer interface{ InputOrderOf(keys []string) []string }

// inputList returns the inputs of a call that are a map as a list in the order that the
// layer wants, with their keys, and the order of these in the config.
func (r *networkReader) inputList(layer Callable, data any) (list any, keys, order []string, err error) {
	named, ok := data.(map[string]any)
	if !ok {
		return data, nil, nil, nil
	}
	order = r.d.Keys(named)
	keys = sortedKeys(named)
	if l, ok := layer.(inputOrderer); ok {
		keys = l.InputOrderOf(keys)
	}
	if len(keys) != len(named) {
		return nil, nil, nil, fmt.Errorf("the call has the inputs %q, want %q", order, keys)
	}
	out := make([]any, len(keys))
	for i, key := range keys {
		if out[i], ok = named[key]; !ok {
			return nil, nil, nil, fmt.Errorf("the call has the inputs %q, want %q", order, keys)
		}
	}
	return out, keys, order, nil
}

// constantOf returns a constant of a config as an input of ops, if it is one number.
func constantOf(v any) any {
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil && !strings.ContainsAny(n.String(), ".eE") {
			return int(i)
		}
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return v
}

// isPlace reports whether a list is [layer, node, tensor] with or without arguments.
func isPlace(list []any) bool {
	if len(list) != 3 && len(list) != 4 {
		return false
	}
	if _, ok := list[0].(string); !ok {
		return false
	}
	n, ok := list[1].(json.Number)
	if _, err := n.Int64(); !ok || err != nil {
		return false
	}
	return true
}

// argument reads an argument of a call, in which tensors are [layer, node, tensor]. A list of
// that form whose name is no layer of the model is a constant. depth is the nesting, below a limit
// of ours that protects the stack.
func (r *networkReader) argument(v any, depth int) (any, error) {
	if depth > 16 {
		return nil, errors.New("arguments nest deeper than 16")
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 3 && isPlace(v) {
			if _, ok := r.layers[v[0].(string)]; ok {
				return r.tensor(v)
			}
		}
		list := make([]any, len(v))
		for i, x := range v {
			var err error
			if list[i], err = r.argument(x, depth+1); err != nil {
				return nil, err
			}
		}
		if allValues(list) {
			values := make([]*ops.Value, len(list))
			for i, x := range list {
				values[i] = x.(*ops.Value)
			}
			return values, nil
		}
		return list, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, x := range v {
			var err error
			if out[key], err = r.argument(x, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return constantOf(v), nil
}

// tensor returns the symbolic tensor of [layer, node, tensor].
func (r *networkReader) tensor(data []any) (*ops.Value, error) {
	name := data[0].(string)
	if r.layers[name] == nil {
		return nil, fmt.Errorf("there is no layer %q", name)
	}
	node, err := data[1].(json.Number).Int64()
	if err != nil {
		return nil, err
	}
	n, ok := data[2].(json.Number)
	index, err := n.Int64()
	if !ok || err != nil || node < 0 || index < 0 {
		return nil, fmt.Errorf("got %v, want [layer, node, tensor]", data[:3])
	}
	node -= int64(r.first[name])
	if node < 0 { // of a model's own inputs
		node = 0
	}
	if node >= int64(len(r.nodes[name])) {
		return nil, &laterError{name, int(min(node, math.MaxInt32))}
	}
	out := r.nodes[name][node].Outputs
	if index >= int64(len(out)) {
		return nil, fmt.Errorf("the layer %q has no output %d", name, index)
	}
	return out[index], nil
}

// structure reads the inputs or outputs of the model.
func (r *networkReader) structure(v any) (any, error) {
	one := func(v any) (*ops.Value, error) {
		list, ok := v.([]any)
		if !ok || !isPlace(list) {
			return nil, fmt.Errorf("got %v, want [layer, node, tensor]", v)
		}
		return r.tensor(list)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]*ops.Value{}
		for key, x := range v {
			var err error
			if out[key], err = one(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		if isPlace(v) {
			return r.tensor(v)
		}
		out := make([]*ops.Value, len(v))
		for i, x := range v {
			var err error
			if out[i], err = one(x); err != nil {
				return nil, err
			}
		}
		if len(out) == 1 {
			return out[0], nil
		}
		return out, nil
	}
	return nil, fmt.Errorf("got %T, want lists or an object", v)
}

// connect makes self the model between the config's inputs and outputs.
func (r *networkReader) connect(self *Functional) error {
	in, err := r.structure(r.inputs)
	if err != nil {
		return fmt.Errorf("input_layers: %w", err)
	}
	out, err := r.structure(r.outputs)
	if err != nil {
		return fmt.Errorf("output_layers: %w", err)
	}
	if err := self.network.connect(self, in, out); err != nil {
		return err
	}
	var losses []*ops.Value
	for _, l := range r.losses {
		for _, node := range r.nodes[nameOf(l)] {
			losses = append(losses, node.Outputs[0])
		}
	}
	if len(losses) > 0 {
		if err := self.insert(losses); err != nil {
			return fmt.Errorf("the losses: %w", err)
		}
	}
	self.layers = append(self.layers, r.uncalled...)
	return nil
}
