package keras3

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnml/cairn/keras/internal/orderedjson"
)

// maxDepth is the largest nesting of values. The limit is ours: it protects the stack.
const maxDepth = 400

// A Result is a translated configuration.
type Result struct {
	// JSON is the configuration in the form of the other version.
	JSON []byte
	// Notes describe changes that affect no output.
	Notes []string
}

// ToKeras3 translates the serialized object of a model of Keras 2, without its compilation.
func ToKeras3(data []byte) (*Result, error) {
	return translate(data, true, func(t *translator, v any) (any, error) { return t.value(layer, v) })
}

// ToKeras2 translates the serialized object of a model of Keras 3, without its compilation.
func ToKeras2(data []byte) (*Result, error) {
	return translate(data, false, func(t *translator, v any) (any, error) { return t.value(layer, v) })
}

// translate parses a configuration and writes the translated one.
func translate(data []byte, up bool, f func(*translator, any) (any, error)) (*Result, error) {
	v, orders, err := orderedjson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("the configuration: %w", err)
	}
	t := &translator{up: up, noted: map[string]bool{}, orders: orders}
	if v, err = f(t, v); err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	return &Result{out, t.notes}, err
}

// translator translates one configuration.
type translator struct {
	up     bool // from Keras 2 to Keras 3
	depth  int
	notes  []string
	noted  map[string]bool
	orders orderedjson.Orders
}

func (t *translator) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !t.noted[s] {
		t.noted[s] = true
		t.notes = append(t.notes, s)
	}
}

// other names the version that is written.
func (t *translator) other() string {
	if t.up {
		return "Keras 3"
	}
	return "Keras 2"
}

// value translates a value. of is the kind of an object without a module.
func (t *translator) value(of kind, v any) (any, error) {
	if t.depth++; t.depth > maxDepth {
		return nil, fmt.Errorf("values nest deeper than %d", maxDepth)
	}
	defer func() { t.depth-- }()
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = t.value(of, v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		if name, ok := v["class_name"].(string); ok {
			if _, ok := v["config"]; ok {
				return t.object(of, name, v)
			}
		}
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var err error
			if out[k], err = t.value(kindOfKey(k, of), v[k]); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
		return out, nil
	}
	return v, nil
}

// kindOfKey returns the kind of the objects below a key of a config; of is that of the object with
// the config.
func kindOfKey(name string, of kind) kind {
	for suffix, k := range map[string]kind{"initializer": initializer, "regularizer": regularizer, "constraint": constraint,
		"learning_rate": schedule, "optimizer": optimizer, "optimizer_config": optimizer, "loss": loss, "metrics": metric} {
		if strings.HasSuffix(name, suffix) {
			return k
		}
	}
	switch name {
	case "layer", "layers", "backward_layer", "cell", "cells":
		return layer
	}
	return of
}

// kindOf returns the kind of an object.
func kindOf(of kind, v map[string]any) kind {
	module, _ := v["module"].(string)
	module = strings.TrimPrefix(module, "tf_")
	for _, k := range []kind{schedule, optimizer, layer, initializer, regularizer, constraint, loss, metric} {
		name := strings.TrimPrefix(string(k), "keras.")
		if module == string(k) || strings.HasPrefix(module, string(k)+".") || strings.HasPrefix(module, "keras.src."+name) {
			return k
		}
	}
	return of
}

// registered reports whether an object is of a class that a program registered.
func registered(name string, v map[string]any) bool {
	if r, ok := v["registered_name"].(string); ok {
		name = r
	}
	pkg, _, ok := strings.Cut(name, ">")
	return ok && pkg != "Custom" && pkg != "keras"
}

// object translates an object: its class, its config, and the number by which two layers
// are recognized as one.
func (t *translator) object(of kind, name string, v map[string]any) (any, error) {
	k := kindOf(of, v)
	out, err := t.described(k, name, v)
	if o, ok := out.(map[string]any); ok && k == layer && v["shared_object_id"] != nil {
		o["shared_object_id"] = v["shared_object_id"]
	}
	return out, err
}

// described translates the class and the config of an object of a kind.
func (t *translator) described(k kind, name string, v map[string]any) (any, error) {
	name = strings.TrimPrefix(name, "Custom>")
	if registered(name, v) {
		return t.custom(k, v)
	}
	switch {
	case name == "function":
		return t.function(v)
	case strings.HasPrefix(name, "__"), name == "TensorShape", name == "DTypePolicy", name == "Policy":
		return v, nil
	case name == "Functional", name == "Model", name == "Sequential":
		return t.model(name, v)
	}
	c := t.classOf(k, name)
	if c == nil {
		c = &class{kind: k, name: name, three: name}
	}
	if c.refused != "" {
		return nil, fmt.Errorf("%s: %s", label(name, v), c.refused)
	}
	conf, ok := v["config"].(map[string]any)
	if !ok && v["config"] != nil {
		return nil, fmt.Errorf("%s: its config is %s, want an object", name, short(v["config"]))
	}
	if name, ok := wrapped(name, conf); ok && k == metric {
		return name, nil
	}
	if rank, ok := convolutions[name]; ok && t.up && k == layer {
		build, _ := v["build_config"].(map[string]any)
		if shape, ok := build["input_shape"].([]any); ok && len(shape) > rank {
			return nil, fmt.Errorf("%s: its input has %d dimensions, of which Keras 3 takes %d", label(name, v), len(shape), rank)
		}
	}
	if c.check != nil && t.up {
		if err := c.check(conf); err != nil {
			return nil, fmt.Errorf("%s: %w", label(name, v), err)
		}
	}
	conf, err := t.options(c, conf)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(name, v), err)
	}
	if !t.up && name == "Discretization" && conf["bin_boundaries"] != nil {
		conf["num_bins"] = nil // which Keras 2 takes the number of from the bins
	}
	if !t.up && c.name != "LossScaleOptimizer" {
		maps.Copy(conf, added2[k])
	}
	out := map[string]any{"module": string(k), "class_name": c.three, "config": conf, "registered_name": nil}
	if !t.up {
		out["class_name"] = c.name
	}
	return out, nil
}

// label names an object for errors.
func label(class string, v map[string]any) string {
	if conf, ok := v["config"].(map[string]any); ok {
		if name, ok := conf["name"].(string); ok {
			return fmt.Sprintf("%s %q", class, name)
		}
	}
	return class
}

// function translates the name of a function, which Keras 2 and Keras 3 store alike.
func (t *translator) function(v map[string]any) (any, error) {
	name, ok := v["config"].(string)
	if !ok {
		return v, nil
	}
	registered, _ := v["registered_name"].(string)
	module, _ := v["module"].(string)
	keras := v["module"] == nil || module == "builtins" || strings.HasPrefix(module, "keras")
	if v["registered_name"] == nil && keras || v["registered_name"] != nil && registered == name {
		return name, nil
	}
	return v, nil
}

// custom translates an object of a class that a program registered. Its config is its own;
// the options that the version's base class adds are translated.
func (t *translator) custom(k kind, v map[string]any) (any, error) {
	out := maps.Clone(v)
	delete(out, "shared_object_id")
	conf, ok := v["config"].(map[string]any)
	if !ok {
		return out, nil
	}
	own := &class{kind: k}
	_, named := conf["name"]
	if _, typed := conf["dtype"]; !named || !typed {
		own.kind = ""
	}
	translated, err := t.options(own, conf)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(fmt.Sprint(v["registered_name"]), v), err)
	}
	out["config"] = translated
	return out, nil
}

// options translates the config of an object.
func (t *translator) options(c *class, conf map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		v := conf[name]
		if c.named && t.up && (name == "trainable" || name == "dtype") {
			if name == "dtype" {
				out[name] = v
			}
			continue
		}
		if name == "activity_regularizer" && v == nil {
			continue // the default of both
		}
		to, convert := name, keep
		o, known := t.find(c, name)
		if known {
			_, to, convert = o.sides(t.up)
			if to == "" {
				if err := o.missing(name, v, t.other()); err != nil {
					return nil, err
				}
				continue
			}
		}
		var err error
		if v, err = t.value(kindOfKey(name, c.kind), v); err == nil && convert != nil {
			v, err = convert(v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[to] = v
	}
	if c.kind == layer && t.up {
		for _, name := range []string{"activation", "recurrent_activation"} {
			if v, ok := out[name]; ok {
				out[name] = activationUp(v, out["dtype"])
			}
		}
	}
	return out, nil
}

// find returns the table's entry for an option.
func (t *translator) find(c *class, name string) (option, bool) {
	for _, list := range [][]option{c.options, kindOptions[c.kind]} {
		for _, o := range list {
			if from, _, _ := o.sides(t.up); from == name {
				return o, true
			}
		}
	}
	return option{}, false
}
