package keras3

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file translates calls of functions of TensorFlow to operations of Keras 3, and back, by the
// table in functions.go.

const opsModule = "keras.src.ops."

// functionOf returns the function that a layer of Keras 2 calls, or the operation that is
// among the layers of Keras 3; ok is false for other layers.
func (g *network) functionOf(l map[string]any) (f *function, ok bool, err error) {
	class, _ := l["class_name"].(string)
	conf, _ := l["config"].(map[string]any)
	if g.t.up {
		if class != "TFOpLambda" && class != "SlicingOpLambda" {
			return nil, false, nil
		}
		name, _ := conf["function"].(string)
		for _, n := range []string{name, strings.TrimPrefix(name, "compat.v1.")} {
			if f := functions().byName[n]; f != nil {
				return f, true, nil
			}
		}
		return nil, true, fmt.Errorf("the function tf.%s has no operation of Keras 3", name)
	}
	module, _ := l["module"].(string)
	name, isOp := strings.CutPrefix(module, opsModule)
	if module == "" { // of a .h5 file: a layer has a type, an operation only as a setting
		for _, family := range []string{"numpy", "nn", "core", "math"} {
			f := functions().byOp[family+"."+class]
			if name = family; f != nil && (conf["dtype"] == nil || f.has("dtype")) {
				isOp = true
				break
			}
		}
	}
	if !isOp {
		return nil, false, nil
	}
	if f := functions().byOp[name+"."+class]; f != nil {
		return f, true, nil
	}
	return nil, true, fmt.Errorf("the operation %s.%s has no function of TensorFlow that Keras 2 could call", module, class)
}

// has reports whether the operation has a setting.
func (f *function) has(name string) bool {
	return slices.ContainsFunc(f.settings, func(s setting) bool { return s.three == name })
}

// nodeUp translates a call of a function. It returns the operation with its settings, and the call.
func (f *function) nodeUp(g *network, l map[string]any, n any) (map[string]any, any, error) {
	inputs, _, kwargs, err := g.inputs(n)
	if err != nil {
		return nil, nil, err
	}
	if nodes, _ := l["inbound_nodes"].([]any); len(nodes) != 1 {
		return nil, nil, fmt.Errorf("a function has one call (got %d)", len(nodes))
	}
	if f.list {
		kwargs[f.call[0]] = inputs
	} else if kwargs[f.call[0]] = inputs[0]; len(inputs) != 1 {
		return nil, nil, fmt.Errorf("the function takes one input (got %d)", len(inputs))
	}
	delete(kwargs, "name")
	for name, v := range kwargs {
		kwargs[name] = g.knownSizes(v)
	}
	if out, ok := g.reshapeLayer(f, l, kwargs); ok {
		return out, map[string]any{"args": inputs, "kwargs": map[string]any{}}, nil
	}
	if err := f.toOp(kwargs); err != nil {
		return nil, nil, err
	}
	var given []string
	for _, name := range g.argumentOrder(n) {
		if hasTensor(kwargs[name]) {
			given = append(given, name)
		}
	}
	if !slices.IsSortedFunc(given, func(a, b string) int { return slices.Index(f.call, a) - slices.Index(f.call, b) }) {
		return nil, nil, fmt.Errorf("the arguments %v are tensors in an order that Keras 3 doesn't keep; call the function with them in its order", given)
	}
	args := make([]any, 0, len(f.call))
	for _, name := range f.call {
		v, ok := kwargs[name]
		if !ok {
			break
		}
		delete(kwargs, name)
		args = append(args, constantUp3(v))
	}
	conf := map[string]any{"name": l["name"]}
	for _, s := range f.settings {
		v, ok := kwargs[s.two]
		delete(kwargs, s.two)
		switch {
		case ok && v != nil:
			conf[s.three] = v
		case s.defaults:
			conf[s.three] = s.defaultTwo
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kwargs)) {
		if must, ok := f.only[name]; kwargs[name] != nil && (!ok || !equal(kwargs[name], must)) {
			return nil, nil, fmt.Errorf("the argument %q of tf.%s has no counterpart in Keras 3 (got %s)", name, f.names[0], short(kwargs[name]))
		}
	}
	if must, ok := f.only["output_type"]; ok && must != nil && kwargs["output_type"] == nil {
		g.t.note("layer %q gives int32 in Keras 3, and int64 in Keras 2", l["name"])
	}
	module, class, _ := strings.Cut(f.ops[0], ".")
	op := map[string]any{"module": opsModule + module, "class_name": class, "config": conf, "registered_name": class}
	return op, map[string]any{"args": args, "kwargs": map[string]any{}}, nil
}

// constantUp3 returns an argument of an operation: lists of numbers are arrays.
func constantUp3(v any) any {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return v
	}
	for _, x := range list {
		if _, number := x.(json.Number); !number {
			return v
		}
	}
	whole := true
	for _, x := range list {
		whole = whole && !strings.ContainsAny(x.(json.Number).String(), ".eE")
	}
	out := constantUp(v).(map[string]any)
	if whole {
		out["config"].(map[string]any)["dtype"] = "int32"
	}
	return out
}

// toOp converts arguments to the form that the operation takes.
func (f *function) toOp(kwargs map[string]any) error {
	switch f.names[0] {
	case "__operators__.getitem":
		return f.sliceUp(kwargs)
	case "split":
		sizes, ok := kwargs["num_or_size_splits"].([]any)
		if !ok {
			return nil
		}
		var at int64
		var cuts []any
		for _, s := range sizes[:max(0, len(sizes)-1)] {
			n, ok := s.(json.Number)
			size, err := n.Int64()
			if !ok || err != nil || size < 0 {
				return fmt.Errorf("the sizes of the parts are %s, want numbers", short(sizes))
			}
			at += size
			cuts = append(cuts, at)
		}
		kwargs["num_or_size_splits"] = cuts
	case "reshape", "broadcast_to":
		list, ok := kwargs["shape"].([]any)
		for i, x := range list {
			if _, isTensor := x.(map[string]any); !isTensor {
				continue
			}
			if ok && f.names[0] == "reshape" && !hasUnknown(list, i) {
				list[i] = -1 // the only size that isn't known
				continue
			}
			return fmt.Errorf("the shape depends on tensors, which no operation of Keras 3 takes")
		}
		if _, isTensor := kwargs["shape"].(map[string]any); isTensor {
			return fmt.Errorf("the shape depends on a tensor, which no operation of Keras 3 takes")
		}
	case "pad":
		if mode, ok := kwargs["mode"].(string); ok {
			kwargs["mode"] = strings.ToLower(mode)
		} else {
			kwargs["mode"] = "constant"
		}
	}
	return nil
}

// hasUnknown reports whether a shape has another size than i that isn't a number from 0.
func hasUnknown(list []any, i int) bool {
	for j, x := range list {
		if n, ok := x.(json.Number); j != i && (!ok || strings.HasPrefix(n.String(), "-")) {
			return true
		}
	}
	return false
}

// sliceUp converts the slices of getitem to the form of Keras 3.
func (f *function) sliceUp(kwargs map[string]any) error {
	list, ok := kwargs["slice_spec"].([]any)
	if !ok {
		list = []any{kwargs["slice_spec"]}
	}
	out := make([]any, len(list))
	for i, x := range list {
		switch x := x.(type) {
		case map[string]any:
			if _, tensor := x["class_name"]; tensor {
				return fmt.Errorf("an index is a tensor, which no operation of Keras 3 takes")
			}
			out[i] = map[string]any{"class_name": "__slice__", "config": map[string]any{"start": x["start"], "stop": x["stop"], "step": x["step"]}}
		case string:
			out[i] = map[string]any{"class_name": "__ellipsis__", "config": map[string]any{}}
		default:
			out[i] = x
		}
	}
	kwargs["slice_spec"] = out
	return nil
}

// nodeDown translates a call of an operation: the layer of Keras 2, and its call.
func (f *function) nodeDown(g *network, l map[string]any, n any) (map[string]any, any, error) {
	if nodes, _ := l["inbound_nodes"].([]any); len(nodes) != 1 {
		return nil, nil, fmt.Errorf("an operation has one call (got %d)", len(nodes))
	}
	args, given, err := g.arguments(n)
	if err != nil {
		return nil, nil, err
	}
	node, _ := n.(map[string]any)
	kwargs := map[string]any{}
	if len(args) > len(f.call) {
		return nil, nil, fmt.Errorf("the operation has %d arguments, want at most %d", len(args), len(f.call))
	}
	for i, v := range args {
		kwargs[f.call[i]] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.Index([]string{"x1", "x2"}, name)
		if name == "x" || name == "xs" {
			i = 0
		}
		if i < 0 || i >= len(f.call) || kwargs[f.call[i]] != nil {
			return nil, nil, fmt.Errorf("the argument %q of the operation isn't known", name)
		}
		kwargs[f.call[i]] = given[name]
	}
	conf, _ := l["config"].(map[string]any)
	rest := maps.Clone(conf)
	delete(rest, "name")
	for _, s := range f.settings {
		v := rest[s.three]
		delete(rest, s.three)
		switch {
		case v != nil:
			kwargs[s.two] = v
		case s.defaults && s.defaultThree == nil && s.defaultTwo != nil:
			return nil, nil, fmt.Errorf("the operation has no %s, which tf.%s needs", s.three, f.names[0])
		case s.defaults && s.defaultThree != nil:
			kwargs[s.two] = s.defaultThree
		}
	}
	delete(rest, "dtype") // of an operation that has it as a layer does
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		if v := rest[name]; v != nil && !equal(v, false) && !equal(v, 0) {
			return nil, nil, fmt.Errorf("the option %q has no counterpart in Keras 2 (got %s)", name, short(v))
		}
	}
	for name, must := range f.only {
		if name == "output_type" {
			kwargs[name] = must
		}
	}
	if err := f.fromOp(kwargs, node); err != nil {
		return nil, nil, err
	}
	first := kwargs[f.call[0]]
	delete(kwargs, f.call[0])
	var call any
	if list, ok := first.([]any); ok && f.list {
		all := make([]any, len(list))
		for i, x := range list {
			all[i] = withArguments(x, kwargs)
		}
		call = all
	} else {
		call = withArguments(first, kwargs)
	}
	class := "TFOpLambda"
	if f == getItem {
		class = "SlicingOpLambda"
	}
	return map[string]any{"module": "tf_keras.src.layers.core.tf_op_layer", "class_name": class, "registered_name": class,
		"config": map[string]any{"name": conf["name"], "trainable": true, "dtype": "float32", "function": f.names[0]}}, call, nil
}

// fromOp converts arguments to the form that the function takes.
func (f *function) fromOp(kwargs map[string]any, node map[string]any) error {
	switch f.names[0] {
	case "split":
		if cuts, ok := kwargs["num_or_size_splits"].([]any); ok {
			return fmt.Errorf("a split at the indices %s has no counterpart in Keras 2, which takes sizes", short(cuts))
		}
	case "__operators__.getitem":
		args, _ := node["args"].([]any)
		if len(args) != 2 {
			return fmt.Errorf("the operation has %d arguments, want a tensor and a key", len(args))
		}
	case "pad":
		if mode, ok := kwargs["mode"].(string); ok {
			kwargs["mode"] = strings.ToUpper(mode)
		}
	}
	return nil
}
