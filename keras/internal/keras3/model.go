package keras3

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// model translates a sequential or functional model. name is its class, v its JSON; v stays as it
// is. The translator calls it for the root and for models in models.
func (t *translator) model(name string, v map[string]any) (any, error) {
	conf, ok := v["config"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: its config is %s, want an object", name, short(v["config"]))
	}
	out := map[string]any{"class_name": name, "registered_name": nil}
	var err error
	if name == "Sequential" {
		out["module"] = "keras"
		conf, err = t.sequential(conf)
		if build, ok := v["build_config"]; ok && build != nil {
			out["build_config"] = build
		}
	} else {
		out["class_name"] = "Functional"
		if out["module"] = "keras.src.engine.functional"; t.up {
			out["module"] = "keras.src.models.functional"
		}
		out["registered_name"] = "Functional"
		conf, err = t.functional(conf)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(name, v), err)
	}
	out["config"] = conf
	return out, nil
}

func layersOf(conf map[string]any) ([]map[string]any, error) {
	list, ok := conf["layers"].([]any)
	if !ok {
		return nil, fmt.Errorf("layers: got %s, want a list", short(conf["layers"]))
	}
	out := make([]map[string]any, len(list))
	for i, l := range list {
		if out[i], ok = l.(map[string]any); !ok {
			return nil, fmt.Errorf("layers[%d]: got %s, want an object", i, short(l))
		}
	}
	return out, nil
}

// sequential translates the config of a sequential model.
func (t *translator) sequential(conf map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		switch name {
		case "layers":
		case "dtype", "build_input_shape": // of Keras 3; its layers have the types
			if t.up && name == "build_input_shape" {
				out[name] = conf[name]
			}
		default:
			out[name] = conf[name]
		}
	}
	layers, err := layersOf(conf)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for i, l := range layers {
		shape, shaped := inner(l, "batch_input_shape")
		if t.up && i == 0 && shaped && l["class_name"] != "InputLayer" {
			dtype, ok := inner(l, "dtype")
			if s, text := dtype.(string); !ok || !text || strings.HasPrefix(s, "mixed_") {
				dtype = "float32"
			}
			name := "input_1" // as tf_keras's, if the layer has no name
			if n, ok := inner(l, "name"); ok && n != nil {
				name = fmt.Sprint(n) + "_input"
			}
			list = append(list, map[string]any{"module": string(layer), "class_name": "InputLayer", "registered_name": nil,
				"config": map[string]any{"batch_shape": shape, "dtype": dtype, "sparse": false, "name": name}})
		}
		v, err := t.value(layer, l)
		if err != nil {
			return nil, fmt.Errorf("layers[%d]: %w", i, err)
		}
		list = append(list, v)
	}
	out["layers"] = list
	return out, nil
}

// inner returns an option of the config of an object.
func inner(v map[string]any, name string) (any, bool) {
	conf, _ := v["config"].(map[string]any)
	x, ok := conf[name]
	return x, ok && x != nil
}

// functional translates the config of a functional model: its layers and their calls.
func (t *translator) functional(conf map[string]any) (map[string]any, error) {
	layers, err := layersOf(conf)
	if err != nil {
		return nil, err
	}
	g := &network{t: t, layers: map[string]map[string]any{}, shapes: map[string]tensor{}}
	for _, l := range layers {
		g.add(l)
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		switch name {
		case "layers":
			var list []any
			for i, l := range layers {
				v, err := g.layer(l)
				if err != nil {
					return nil, fmt.Errorf("layers[%d]: %w", i, err)
				}
				if v != nil {
					list = append(list, v)
				}
			}
			out[name] = list
		case "input_layers", "output_layers":
			if out[name], err = g.structure(conf[name], true); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		default:
			out[name] = conf[name]
		}
	}
	return out, nil
}
