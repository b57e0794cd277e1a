package base

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Policy names the types of a layer's variables and of its computations: a type such
// as "float32" for both, or "mixed_float16" or "mixed_bfloat16" for variables of
// float32 and computations of the type in the name.
type Policy string

// Variables returns the type of variables, tensor.Invalid if the policy names none.
func (p Policy) Variables() tensor.DType {
	if strings.HasPrefix(string(p), "mixed_") {
		return tensor.Float32
	}
	return p.Compute()
}

// Compute returns the type of computations, tensor.Invalid if the policy names none.
func (p Policy) Compute() tensor.DType {
	if p == "" {
		return tensor.Float32
	}
	d, err := tensor.ParseDType(strings.TrimPrefix(string(p), "mixed_"))
	if err != nil {
		return tensor.Invalid
	}
	return d
}

// HasPolicy reports whether obj or a layer below it has a policy. keras.Compile asks for
// "mixed_float16", which needs a loss scale.
func HasPolicy(obj trackable.Trackable, p Policy) bool {
	found := false
	eachObject(obj, func(obj trackable.Trackable) {
		if l, ok := obj.(LayerLike); ok && l.AsLayer().DType == p {
			found = true
		}
	})
	return found
}

// MarshalConfig returns a name, or an object for a mixed policy.
func (p Policy) MarshalConfig() (any, error) {
	if !strings.HasPrefix(string(p), "mixed_") {
		return string(p), nil
	}
	return config.Fields{{Name: "module", Value: "keras.mixed_precision"}, {Name: "class_name", Value: "Policy"},
		{Name: "config", Value: config.Fields{{Name: "name", Value: string(p)}}}, {Name: "registered_name", Value: nil}}, nil
}

// UnmarshalConfig reads a name or a Policy's object.
func (p *Policy) UnmarshalConfig(v any) error {
	if o, ok := v.(map[string]any); ok {
		c, _ := o["config"].(map[string]any)
		if o["class_name"] != "Policy" || len(c) != 1 {
			return fmt.Errorf("got class %v, want a dtype or a Policy", o["class_name"])
		}
		v = c["name"]
	}
	name, ok := v.(string)
	if !ok {
		return fmt.Errorf("got no name of a dtype")
	}
	if q := Policy(name); q.Compute() == tensor.Invalid || strings.HasPrefix(name, "mixed_") && name != "mixed_float16" && name != "mixed_bfloat16" {
		return fmt.Errorf("unknown dtype policy %q", name)
	}
	*p = Policy(name)
	return nil
}

// Shape is a shape in a config: -1 is a size that isn't known, null in JSON.
type Shape tensor.Shape

// MarshalConfig returns a list of sizes and nulls.
func (s Shape) MarshalConfig() (any, error) {
	list := make([]any, len(s))
	for i, n := range s {
		if n >= 0 {
			list[i] = n
		}
	}
	return list, nil
}

// UnmarshalConfig reads a list of sizes and nulls.
func (s *Shape) UnmarshalConfig(v any) error {
	if v == nil {
		*s = nil
		return nil
	}
	list, ok := v.([]any)
	if !ok || len(list) > 254 { // TensorFlow's largest rank
		return fmt.Errorf("got no shape")
	}
	out := make(Shape, len(list))
	for i, x := range list {
		out[i] = -1
		if x == nil {
			continue
		}
		n, ok := x.(json.Number)
		if !ok {
			return fmt.Errorf("a size is no number")
		}
		k, err := n.Int64()
		if err != nil || k < 0 || k > 1<<40 { // the largest size is ours
			return fmt.Errorf("the size %.40s is out of range", n)
		}
		out[i] = int(k)
	}
	*s = out
	return nil
}
