package keras3

import "fmt"

// The conversions of values that classes.go names. Up is to Keras 3, down to Keras 2; an error
// means that the other version can't have the value.

func keep(v any) (any, error) { return v, nil }

// policyUp returns a dtype as Keras 3 stores it.
func policyUp(v any) (any, error) {
	name := v
	if o, ok := v.(map[string]any); ok {
		c, _ := o["config"].(map[string]any)
		name = c["name"]
	}
	if name == nil {
		return nil, nil
	}
	if _, ok := name.(string); !ok {
		return nil, fmt.Errorf("got %s, want the name of a dtype", short(v))
	}
	return map[string]any{"module": "keras", "class_name": "DTypePolicy", "config": map[string]any{"name": name}, "registered_name": nil}, nil
}

// policyDown returns a dtype as Keras 2 stores it.
func policyDown(v any) (any, error) {
	o, ok := v.(map[string]any)
	if !ok {
		return v, nil
	}
	c, _ := o["config"].(map[string]any)
	name, ok := c["name"].(string)
	if !ok || o["class_name"] != "DTypePolicy" {
		return nil, fmt.Errorf("got %s, want a DTypePolicy; Keras 2 has no quantized layers", short(v))
	}
	if name == "mixed_float16" || name == "mixed_bfloat16" {
		return map[string]any{"module": "keras.mixed_precision", "class_name": "Policy", "config": map[string]any{"name": name}, "registered_name": nil}, nil
	}
	return name, nil
}

// oneAxis returns the axis in a list of one. Other values stay.
func oneAxis(v any) (any, error) {
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0], nil
	}
	return v, nil
}

func reductionUp(v any) (any, error) {
	if equal(v, "auto") {
		return "sum_over_batch_size", nil
	}
	return v, nil
}

// noList returns the axis in a list of one, and an error for longer lists.
func noList(v any) (any, error) {
	v, err := oneAxis(v)
	if _, ok := v.([]any); ok {
		return nil, fmt.Errorf("got %s, want one axis: Keras 3 takes no more", short(v))
	}
	return v, err
}

// knownMethod returns an error for the methods of resizing that Keras 3 lacks. Others stay.
func knownMethod(v any) (any, error) {
	if equal(v, "gaussian") || equal(v, "mitchellcubic") {
		return nil, fmt.Errorf("the method %v is unknown to Keras 3", v)
	}
	return v, nil
}

// notCausal returns an error for the padding that Keras 3's separable convolutions lack. Others
// stay.
func notCausal(v any) (any, error) {
	if equal(v, "causal") {
		return nil, fmt.Errorf("the padding %v is unknown to Keras 3 here", v)
	}
	return v, nil
}

// notNull returns an error for null, if Keras 3 has no null for an option. Other values stay.
func notNull(v any) (any, error) {
	if v == nil {
		return nil, fmt.Errorf("the value null is unknown to Keras 3")
	}
	return v, nil
}

// int64Only returns the only type of vocabularies of integers that Keras 3 has; it holds all others.
func int64Only(any) (any, error) { return "int64", nil }

// hasBins returns an error for a Discretization without bins, since Keras 3 can't call it.
func hasBins(conf map[string]any) error {
	if conf["bin_boundaries"] == nil {
		return fmt.Errorf("it was not adapted and has no bin_boundaries, which a call in Keras 3 needs")
	}
	return nil
}

// bothWays returns an error for two layers that go the same way.
func bothWays(conf map[string]any) error {
	forward, _ := conf["layer"].(map[string]any)
	backward, _ := conf["backward_layer"].(map[string]any)
	a, _ := inner(forward, "go_backwards")
	b, ok := inner(backward, "go_backwards")
	if ok && equal(a, b) {
		return fmt.Errorf("both layers have go_backwards=%v, which Keras 3 refuses", a)
	}
	return nil
}

// convolutions has the ranks of inputs of the layers that in Keras 2 also take inputs with more
// dimensions of examples.
var convolutions = map[string]int{"Conv1D": 3, "Conv2D": 4, "Conv3D": 5}
