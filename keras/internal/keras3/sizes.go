package keras3

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A size is an element of tf.shape(x), which functional models of Keras 2 compute by two
// layers: the shape, and its element. Keras 3 has no operation for it, so the translation to
// Keras 3 drops these layers. A known size becomes a number (knownSizes). A reshape that keeps
// the first size becomes a Reshape layer (reshapeLayer). A size that is still used after that
// is an error that names its layer (usedSize). These three cases must stay.
type size struct {
	of    string // the place of x in the config, [layer, node, tensor], as fmt prints it
	axis  int64
	known any // the size as a number; nil if it isn't known
}

// isShape reports whether a layer of Keras 2 computes the shape of a tensor.
func isShape(l map[string]any) bool {
	name, _ := inner(l, "function")
	return l["class_name"] == "TFOpLambda" && (equal(name, "shape") || equal(name, "compat.v1.shape"))
}

// firstPlace returns the place of the first input of a layer's only call, [layer, node,
// tensor], and the call's other arguments.
func firstPlace(l map[string]any) (place []any, args map[string]any, ok bool) {
	nodes, _ := l["inbound_nodes"].([]any)
	if len(nodes) != 1 {
		return nil, nil, false
	}
	place, _ = nodes[0].([]any)
	if len(place) == 1 && !isPlace(place) {
		place, _ = place[0].([]any)
	}
	if !isPlace(place) {
		return nil, nil, false
	}
	if len(place) == 4 {
		args, _ = place[3].(map[string]any)
	}
	return place[:3], args, true
}

// sizeOf returns the size that a layer of Keras 2 computes.
func (g *network) sizeOf(l map[string]any) (s size, ok bool) {
	if l["class_name"] != "SlicingOpLambda" {
		return s, false
	}
	shape, args, ok := firstPlace(l)
	if !ok {
		return s, false
	}
	of := g.layers[fmt.Sprint(shape[0])]
	n, isNumber := args["slice_spec"].(json.Number)
	axis, err := n.Int64()
	if !isNumber || err != nil || axis < 0 || !isShape(of) {
		return s, false
	}
	x, _, ok := firstPlace(of)
	if !ok {
		return s, false
	}
	s = size{of: fmt.Sprint(x), axis: axis}
	if known, _ := g.shapes[s.of].shape.([]any); axis < int64(len(known)) {
		s.known = known[axis]
	}
	return s, true
}

// isSize reports whether a layer of Keras 2 computes a shape or a size, so that the
// translation to Keras 3 drops it. It reports false in the other direction.
func (g *network) isSize(l map[string]any) bool {
	if !g.t.up {
		return false
	}
	_, ok := g.sizeOf(l)
	return ok || isShape(l)
}

// tensorSize returns the size that an argument refers to, if it is written as a
// __keras_tensor__ of Keras 3. Its keras_history names the layer of Keras 2 that computes it.
func (g *network) tensorSize(v any) (s size, ok bool) {
	o, _ := v.(map[string]any)
	if o["class_name"] != "__keras_tensor__" {
		return s, false
	}
	history, _ := inner(o, "keras_history")
	place, _ := history.([]any)
	if len(place) == 0 {
		return s, false
	}
	return g.sizeOf(g.layers[fmt.Sprint(place[0])])
}

// knownSizes replaces sizes in an argument by numbers, if they are known.
func (g *network) knownSizes(v any) any {
	if s, ok := g.tensorSize(v); ok && s.known != nil {
		return s.known
	}
	if list, ok := v.([]any); ok {
		out := make([]any, len(list))
		for i := range list {
			out[i] = g.knownSizes(list[i])
		}
		return out
	}
	return v
}

// reshapeLayer returns a layer of Keras 3 for a reshape that keeps the first size of its
// input, and ok false for others.
func (g *network) reshapeLayer(f *function, l, kwargs map[string]any) (out map[string]any, ok bool) {
	input, _, _ := firstPlace(l)
	list, _ := kwargs["shape"].([]any)
	if f.names[0] != "reshape" || len(list) == 0 {
		return nil, false
	}
	first, ok := g.tensorSize(list[0])
	if !ok || first.axis != 0 || first.of != fmt.Sprint(input) {
		return nil, false
	}
	target := slices.Clone(list[1:])
	unknown := 0
	for i, x := range target {
		n, isNumber := x.(json.Number)
		if isNumber && n.String() != "-1" {
			continue
		}
		if _, isSize := g.tensorSize(x); !isSize && !isNumber {
			return nil, false
		}
		target[i] = -1
		unknown++
	}
	if unknown > 1 {
		return nil, false
	}
	return map[string]any{"module": string(layer), "class_name": "Reshape", "registered_name": nil,
		"config": map[string]any{"name": l["name"], "target_shape": target}}, true
}

// usedSize returns the name of a layer that computes a shape or a size and whose value is left
// in v, a call that is translated already; "" for none.
func (g *network) usedSize(v any) string {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if name := g.usedSize(x); name != "" {
				return name
			}
		}
	case map[string]any:
		if history, ok := v["keras_history"].([]any); ok && len(history) > 0 {
			if name := fmt.Sprint(history[0]); g.isSize(g.layers[name]) {
				return name
			}
		}
		for _, x := range v {
			if name := g.usedSize(x); name != "" {
				return name
			}
		}
	}
	return ""
}
