package keras3

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// network translates the calls of the layers of a functional model.
type network struct {
	t      *translator
	layers map[string]map[string]any // by their names
	shapes map[string]tensor         // of the places that layers' build_config describes
}

// tensor is the shape and the type of a symbolic tensor in a config of Keras 3. Keras reads the place
// and takes shape and type from the layer there.
type tensor struct{ shape, dtype any }

// constantMark marks a constant among the inputs of a call in Keras 2.
const constantMark = "_CONSTANT_VALUE"

// add notes a layer, and the shapes that it knows of its inputs, before any layer is translated.
func (g *network) add(l map[string]any) {
	name, _ := l["name"].(string)
	g.layers[name] = l
	if !g.t.up {
		return
	}
	if shape, ok := inner(l, "batch_input_shape"); ok && l["class_name"] == "InputLayer" {
		dtype, _ := inner(l, "dtype")
		g.shapes[fmt.Sprint([]any{name, 0, 0})] = tensor{shape, dtype}
	}
	build, _ := l["build_config"].(map[string]any)
	nodes, _ := l["inbound_nodes"].([]any)
	if len(nodes) == 0 || build == nil {
		return
	}
	shapes := []any{build["input_shape"]}
	node, _ := nodes[0].([]any)
	if isPlace(node) {
		node = []any{node}
	}
	if len(node) != 1 {
		shapes, _ = build["input_shape"].([]any)
	}
	for i, x := range node {
		if p, ok := x.([]any); ok && isPlace(p) && i < len(shapes) {
			g.shapes[fmt.Sprint(p[:3])] = tensor{shapes[i], nil}
		}
	}
}

// layer translates a layer with its calls. It returns nil for a layer that the other version
// needs no layer for.
func (g *network) layer(l map[string]any) (any, error) {
	name, _ := l["name"].(string)
	if g.isSize(l) {
		return nil, nil
	}
	nodes, ok := l["inbound_nodes"].([]any)
	if !ok && l["inbound_nodes"] != nil {
		return nil, fmt.Errorf("layer %q: inbound_nodes is %s, want a list", name, short(l["inbound_nodes"]))
	}
	f, isFunction, err := g.functionOf(l)
	if err != nil {
		return nil, fmt.Errorf("layer %q: %w", name, err)
	}
	var out map[string]any
	if !isFunction {
		v, err := g.t.value(layer, l)
		if err != nil {
			return nil, err
		}
		if out, ok = v.(map[string]any); !ok {
			return nil, fmt.Errorf("layer %q: got %s, want an object with class_name and config", name, short(l))
		}
	}
	var calls []any
	for i, n := range nodes {
		var call any
		switch {
		case isFunction && g.t.up:
			out, call, err = f.nodeUp(g, l, n)
		case isFunction:
			out, call, err = f.nodeDown(g, l, n)
		case g.t.up:
			call, err = g.nodeUp(l, n)
		default:
			call, err = g.nodeDown(l, n)
		}
		if err != nil {
			return nil, fmt.Errorf("layer %q: call %d: %w", name, i, err)
		}
		if size := g.usedSize(call); size != "" {
			return nil, fmt.Errorf("layer %q: call %d: it takes the shape of a tensor (layer %q), which no operation of Keras 3 computes", name, i, size)
		}
		calls = append(calls, call)
	}
	if out == nil {
		return nil, fmt.Errorf("layer %q: there is no call of it", name)
	}
	if calls == nil {
		calls = []any{}
	}
	out["name"], out["inbound_nodes"] = name, calls
	return out, nil
}

// nodeUp translates a call of a layer to Keras 3.
func (g *network) nodeUp(l map[string]any, n any) (any, error) {
	inputs, _, kwargs, err := g.inputs(n)
	if err != nil {
		return nil, err
	}
	if v, ok := kwargs["training"]; ok && v != nil {
		g.t.note("layer %q is called with training=%v: Keras 3 follows fit and predict instead", l["name"], v)
	}
	name, _ := l["class_name"].(string)
	c := g.t.classOf(layer, name)
	args := inputs
	switch {
	case c != nil && c.inputs > 0 && len(inputs) > c.inputs:
		return nil, fmt.Errorf("got %d inputs, of which Keras 3 takes at most %d here", len(inputs), c.inputs)
	case name == "Resizing" && g.integers(n):
		return nil, fmt.Errorf("the input has integers, of which Keras 3 makes integers and Keras 2 floats; begin with a Rescaling layer")
	case len(inputs) == 1:
	case c != nil && c.states:
		if kwargs["initial_state"] != nil {
			return nil, fmt.Errorf("the initial state is given twice")
		}
		args, kwargs["initial_state"] = inputs[:1], inputs[1:]
	default:
		args = []any{inputs}
	}
	if args, err = g.ordered(c, args, kwargs, g.argumentOrder(n)); err != nil {
		return nil, err
	}
	return map[string]any{"args": args, "kwargs": kwargs}, nil
}

// argumentOrder returns the names of a call's further arguments in the order of Keras 2.
func (g *network) argumentOrder(n any) []string {
	list, _ := n.([]any)
	if isPlace(list) {
		list = []any{list}
	}
	var names []string
	for _, item := range list {
		if place, ok := item.([]any); ok && len(place) == 4 {
			args, _ := place[3].(map[string]any)
			names = append(names, g.t.orders.Keys(args)...)
		}
	}
	return names
}

// ordered arranges the arguments of a call so that their tensors have the order that they
// have in Keras 2. It decides the order of the layers that the tensors come from, and with it
// the names of the weights in the file. Keras 3 takes the places first, then the names sorted.
func (g *network) ordered(c *class, args []any, kwargs map[string]any, names []string) ([]any, error) {
	var given []string
	for _, name := range names {
		if hasTensor(kwargs[name]) {
			given = append(given, name)
		}
	}
	if len(given) < 2 || slices.IsSorted(given) {
		return args, nil
	}
	if c != nil {
		var moved []string
		for i := len(args); i < len(c.call); i++ {
			if _, ok := kwargs[c.call[i]]; !ok {
				break
			}
			moved = append(moved, c.call[i])
		}
		rest := slices.DeleteFunc(slices.Sorted(slices.Values(given)), func(name string) bool { return slices.Contains(moved, name) })
		tensors := slices.DeleteFunc(slices.Clone(moved), func(name string) bool { return !slices.Contains(given, name) })
		if slices.Equal(append(tensors, rest...), given) {
			for _, name := range moved {
				args = append(args, kwargs[name])
				delete(kwargs, name)
			}
			return args, nil
		}
	}
	return nil, fmt.Errorf("the arguments %v are tensors in an order that Keras 3 doesn't keep; call the layer with them in the order of its method", given)
}

// hasTensor reports whether an argument is or contains a tensor of Keras 3.
func hasTensor(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, hasTensor)
	case map[string]any:
		if v["class_name"] == "__keras_tensor__" {
			return true
		}
		for _, x := range v {
			if hasTensor(x) {
				return true
			}
		}
	}
	return false
}

// integers reports whether the input of a call is an input of the model, of integers.
func (g *network) integers(n any) bool {
	list, _ := n.([]any)
	if len(list) == 0 {
		return false
	}
	place, _ := list[0].([]any)
	if len(place) == 0 {
		return false
	}
	name, _ := place[0].(string)
	dtype, _ := inner(g.layers[name], "dtype")
	s, _ := dtype.(string)
	return g.layers[name]["class_name"] == "InputLayer" && strings.Contains(s, "int")
}

// inputs reads a call of Keras 2: its inputs and its other arguments. single reports that the
// input was no list.
func (g *network) inputs(n any) (inputs []any, single bool, kwargs map[string]any, err error) {
	list, ok := n.([]any)
	if !ok {
		return nil, false, nil, fmt.Errorf("got %s, want a list", short(n))
	}
	if isPlace(list) {
		list, single = []any{list}, true
	}
	kwargs = map[string]any{}
	for _, item := range list {
		place, ok := item.([]any)
		if !ok || !isPlace(place) {
			return nil, false, nil, fmt.Errorf("an input is %s, want [layer, node, tensor, arguments]", short(item))
		}
		if len(place) == 4 {
			args, _ := place[3].(map[string]any)
			for _, k := range slices.Sorted(maps.Keys(args)) {
				if kwargs[k], err = g.argumentUp(args[k], 0); err != nil {
					return nil, false, nil, err
				}
			}
		}
		if place[0] == constantMark {
			inputs = append(inputs, constantUp(place[2]))
			continue
		}
		inputs = append(inputs, g.tensorUp(place))
	}
	if len(inputs) == 0 {
		return nil, false, nil, fmt.Errorf("there is no input")
	}
	return inputs, single, kwargs, nil
}

// constantUp returns a constant as Keras 3 stores it.
func constantUp(v any) any {
	if _, ok := v.([]any); !ok {
		return v
	}
	return map[string]any{"module": "builtins", "class_name": "__numpy__", "config": map[string]any{"value": v, "dtype": "float32"}, "registered_name": nil}
}

// argumentUp translates an argument of a call, in which tensors are places.
func (g *network) argumentUp(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("arguments nest deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 3 && isPlace(v) {
			if _, ok := g.layers[v[0].(string)]; ok {
				return g.tensorUp(v), nil
			}
		}
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = g.argumentUp(v[i], depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			var err error
			if out[k], err = g.argumentUp(v[k], depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// tensorUp returns the tensor at a place as Keras 3 stores it.
func (g *network) tensorUp(place []any) any {
	known, ok := g.shapes[fmt.Sprint(place[:3])]
	if !ok || known.shape == nil {
		known.shape = []any{}
	}
	if known.dtype == nil {
		known.dtype = "float32"
	}
	name := place[0].(string)
	return map[string]any{"class_name": "__keras_tensor__", "config": map[string]any{"shape": known.shape, "dtype": known.dtype,
		"keras_history": []any{name, shifted(place[1], -g.first2(name)), place[2]}}}
}

// first2 returns the number of the first call of a layer in Keras 2, which counts a model's own
// inputs as a call.
func (g *network) first2(name string) int64 {
	l := g.layers[name]
	switch l["class_name"] {
	case "Functional", "Model":
		return 1
	case "Sequential":
		conf, _ := l["config"].(map[string]any)
		if list, err := layersOf(conf); err == nil && len(list) > 0 {
			_, shaped := inner(list[0], "batch_input_shape")
			if list[0]["class_name"] == "InputLayer" || shaped {
				return 1
			}
		}
	}
	return 0
}

// first3 returns the number of the first call of a layer in input_layers and output_layers of Keras
// 3. The calls' own places begin with 0 there.
func (g *network) first3(name string) int64 {
	switch g.layers[name]["class_name"] {
	case "Functional", "Model":
		return 1
	}
	return 0
}

// shifted adds to the number of a call, not below 0. Another value than a number stays as it is.
func shifted(v any, by int64) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	i, err := n.Int64()
	if err != nil {
		return v
	}
	return max(0, i+by)
}

// structure translates the places of the inputs or outputs of a model. In Keras 3 a list of one
// is another structure than its element.
func (g *network) structure(v any, top bool) (any, error) {
	switch v := v.(type) {
	case []any:
		if isPlace(v) {
			name := v[0].(string)
			if g.isSize(g.layers[name]) {
				return nil, fmt.Errorf("an output is the shape of a tensor (layer %q), which no operation of Keras 3 computes", name)
			}
			by := g.first3(name) - g.first2(name)
			if !g.t.up {
				by = -by
			}
			return []any{name, shifted(v[1], by), v[2]}, nil
		}
		if g.t.up && top && len(v) == 1 {
			return g.structure(v[0], false)
		}
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = g.structure(v[i], false); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			var err error
			if out[k], err = g.structure(v[k], false); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("got %s, want lists or an object of [layer, node, tensor]", short(v))
}

// isPlace reports whether a list is [layer, node, tensor] with or without arguments.
func isPlace(list []any) bool {
	if len(list) != 3 && len(list) != 4 {
		return false
	}
	if _, ok := list[0].(string); !ok {
		return false
	}
	_, ok := list[1].(json.Number)
	return ok
}
