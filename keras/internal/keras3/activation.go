package keras3

import "fmt"

// hardSigmoid returns an activation of Keras 3 that computes the hard_sigmoid of Keras 2,
// clip(0.2x + 0.5, 0, 1). Keras 3's function of that name is clip(x/6 + 0.5, 0, 1). dtype is
// the policy of the layer that has the activation.
func hardSigmoid(dtype any) map[string]any {
	object := func(module, class string, conf map[string]any) map[string]any {
		return map[string]any{"module": module, "class_name": class, "config": conf, "registered_name": nil}
	}
	return object("keras", "Sequential", map[string]any{"name": "hard_sigmoid", "layers": []any{
		object("keras.layers", "Rescaling", map[string]any{"name": "line", "dtype": dtype, "scale": 0.2, "offset": 0.5}),
		object("keras.layers", "ReLU", map[string]any{"name": "clip", "dtype": dtype, "max_value": 1.0, "negative_slope": 0.0, "threshold": 0.0}),
	}})
}

// hardSigmoid6 is the name in Keras 2 of Keras 3's hard_sigmoid, which tf_keras lacks. It is a name
// of ours: activations.HardSigmoid6 has it.
const hardSigmoid6 = "hard_sigmoid_6"

// activationUp returns an activation function as Keras 3 stores it.
func activationUp(v, dtype any) any {
	switch {
	case equal(v, "hard_sigmoid"):
		return hardSigmoid(dtype)
	case equal(v, hardSigmoid6):
		return "hard_sigmoid"
	}
	return v
}

// activationDown returns an activation function as Keras 2 stores it.
func activationDown(v any) (any, error) {
	switch {
	case equal(v, "hard_sigmoid"):
		return hardSigmoid6, nil
	case isHardSigmoid(v):
		return "hard_sigmoid", nil
	case equal(v, "glu"), equal(v, "sparsemax"), equal(v, "threshold"):
		return nil, fmt.Errorf("the activation %v is unknown to Keras 2", v)
	}
	return v, nil
}

// isHardSigmoid reports whether an activation is that of hardSigmoid.
func isHardSigmoid(v any) bool {
	o, _ := v.(map[string]any)
	conf, _ := o["config"].(map[string]any)
	list, _ := conf["layers"].([]any)
	if len(list) == 3 && has(list[0], "InputLayer", nil) { // a model that was called
		list = list[1:]
	}
	return o["class_name"] == "Sequential" && len(list) == 2 &&
		has(list[0], "Rescaling", map[string]any{"scale": 0.2, "offset": 0.5}) &&
		has(list[1], "ReLU", map[string]any{"max_value": 1.0, "negative_slope": 0.0, "threshold": 0.0})
}

// has reports whether v is an object of a class with the given options.
func has(v any, class string, options map[string]any) bool {
	o, _ := v.(map[string]any)
	conf, _ := o["config"].(map[string]any)
	for name, want := range options {
		if !equal(conf[name], want) {
			return false
		}
	}
	return o["class_name"] == class
}
