package keras3

import (
	"fmt"
	"maps"
	"slices"
)

// This file translates calls of layers from Keras 3 to Keras 2; network.go has the other direction.

// nodeDown translates a call of a layer to Keras 2.
func (g *network) nodeDown(l map[string]any, n any) (any, error) {
	args, kwargs, err := g.arguments(n)
	if err != nil {
		return nil, err
	}
	delete(kwargs, "training") // Keras 3 notes the mode in which it traced the call
	name, _ := l["class_name"].(string)
	names := []string{"inputs", "mask"}
	if c := g.t.classOf(layer, name); c != nil && c.call != nil {
		names = c.call
	}
	if len(args) == 0 {
		if args = []any{kwargs[names[0]]}; args[0] == nil {
			return nil, fmt.Errorf("the call has no input")
		}
		delete(kwargs, names[0])
	}
	if len(args) > len(names) {
		return nil, fmt.Errorf("the call has %d arguments without names, want at most %d", len(args), len(names))
	}
	for i, v := range args[1:] {
		if v != nil {
			kwargs[names[i+1]] = v
		}
	}
	return placed(args[0], kwargs), nil
}

// placed returns the inputs of a call as Keras 2 stores them, with the other arguments.
func placed(input any, kwargs map[string]any) any {
	list, ok := input.([]any)
	if !ok || isTensor(list) {
		list = []any{input}
	}
	if dict, ok := input.(map[string]any); ok {
		list = nil
		for _, k := range slices.Sorted(maps.Keys(dict)) {
			list = append(list, dict[k])
		}
	}
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = withArguments(x, kwargs)
	}
	return out
}

// withArguments returns an input of a call as Keras 2 stores it.
func withArguments(x any, kwargs map[string]any) any {
	if place, ok := x.([]any); ok && isTensor(place) {
		return append(slices.Clone(place), kwargs)
	}
	return []any{constantMark, -1, x, kwargs}
}

// isTensor reports whether a list is the place of a tensor that argumentDown made.
func isTensor(list []any) bool {
	if len(list) != 3 {
		return false
	}
	_, text := list[0].(string)
	_, number := list[1].(int64)
	return text && number
}

// arguments reads a call of Keras 3. Arguments that are null are left out.
func (g *network) arguments(n any) (args []any, kwargs map[string]any, err error) {
	node, ok := n.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("got %s, want args and kwargs", short(n))
	}
	list, ok := node["args"].([]any)
	if !ok {
		return nil, nil, fmt.Errorf("args: got %s, want a list", short(node["args"]))
	}
	for _, x := range list {
		v, err := g.argumentDown(x, 0)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, v)
	}
	kwargs = map[string]any{}
	given, _ := node["kwargs"].(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(given)) {
		if given[k] == nil {
			continue
		}
		if kwargs[k], err = g.argumentDown(given[k], 0); err != nil {
			return nil, nil, err
		}
	}
	return args, kwargs, nil
}

// argumentDown translates an argument of a call, in which tensors are objects.
func (g *network) argumentDown(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("arguments nest deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = g.argumentDown(v[i], depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		switch v["class_name"] {
		case "__keras_tensor__":
			return g.tensorDown(v)
		case "__numpy__", "__tensor__":
			conf, _ := v["config"].(map[string]any)
			return conf["value"], nil
		case "__slice__":
			return v["config"], nil
		case "__ellipsis__":
			return "...", nil
		}
		out := make(map[string]any, len(v))
		for k := range v {
			var err error
			if out[k], err = g.argumentDown(v[k], depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// tensorDown returns the place of a tensor as Keras 2 counts it.
func (g *network) tensorDown(v map[string]any) (any, error) {
	history, _ := inner(v, "keras_history")
	place, ok := history.([]any)
	if !ok || len(place) != 3 || !isPlace(place) {
		return nil, fmt.Errorf("a tensor has the history %s, want [layer, node, tensor]", short(history))
	}
	name := place[0].(string)
	node, ok := shifted(place[1], g.first2(name)).(int64)
	if !ok {
		return nil, fmt.Errorf("a tensor has the history %s, want [layer, node, tensor]", short(history))
	}
	return []any{name, node, place[2]}, nil
}
