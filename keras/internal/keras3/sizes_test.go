package keras3

import (
	"strings"
	"testing"
)

// reshaped returns the config of a model that reshapes its input, of shape [batch, steps, 6],
// with the sizes s0, s1 and s2 of the input.
func reshaped(steps, shape string) []byte {
	size := func(i string) string {
		return `{"class_name": "SlicingOpLambda", "config": {"name": "s` + i + `", "function": "__operators__.getitem"}, "name": "s` + i + `",
			"inbound_nodes": [["shape", 0, 0, {"slice_spec": ` + i + `}]]},`
	}
	return []byte(`{"class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [
		{"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [null, ` + steps + `, 6], "dtype": "float32"}, "name": "x", "inbound_nodes": []},
		{"class_name": "TFOpLambda", "config": {"name": "shape", "function": "compat.v1.shape"}, "name": "shape", "inbound_nodes": [["x", 0, 0, {}]]},
		` + size("0") + size("1") + size("2") + `
		{"class_name": "TFOpLambda", "config": {"name": "r", "function": "reshape"}, "name": "r", "inbound_nodes": [["x", 0, 0, {"shape": ` + shape + `}]]}],
		"input_layers": [["x", 0, 0]], "output_layers": [["r", 0, 0]]}}`)
}

func TestReshapesToSizesOfTheirInput(t *testing.T) {
	const s0, s1, s2 = `["s0", 0, 0]`, `["s1", 0, 0]`, `["s2", 0, 0]`
	for _, c := range []struct{ name, steps, shape, want string }{
		{"known sizes", "4", "[" + s0 + ", " + s2 + ", " + s1 + "]", `"target_shape":[6,4]`},
		{"one unknown size", "null", "[" + s0 + ", " + s1 + ", 3, 2]", `"target_shape":[-1,3,2]`},
		{"the rest", "null", "[" + s0 + ", -1]", `"target_shape":[-1]`},
		{"batch size elsewhere", "4", "[" + s1 + ", -1]", `"newshape":[4,-1]`},
		{"two unknown sizes", "null", "[" + s0 + ", " + s1 + ", -1]", "the shape depends on tensors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ToKeras3(reshaped(c.steps, c.shape))
			got := ""
			if err != nil {
				got = err.Error()
			} else if got = string(r.JSON); strings.Contains(got, `"s0"`) || strings.Contains(got, `"shape"`+":{") {
				t.Errorf("the sizes are left in %s", got)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
