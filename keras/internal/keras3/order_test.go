package keras3

import (
	"strings"
	"testing"
)

// The order of the tensors in a call decides the names of weights in files of Keras 3.
func TestTensorsOfACallKeepTheirOrder(t *testing.T) {
	input := func(name string) string {
		return `{"class_name": "InputLayer", "config": {"name": "` + name + `", "batch_input_shape": [null, 4, 3], "dtype": "float32"}, "name": "` + name + `", "inbound_nodes": []},`
	}
	place := func(name string) string { return `"` + name + `", 0, 0` }
	for _, c := range []struct{ name, args, want string }{
		{"value and key", `{"value": [` + place("v") + `], "key": [` + place("k") + `]}`, `"kwargs":{}`},
		{"key and value", `{"key": [` + place("k") + `], "value": [` + place("v") + `]}`, `"kwargs":{"key"`},
		{"value alone", `{"value": [` + place("v") + `]}`, `"kwargs":{"value"`},
		{"a mask before the value", `{"key_mask": [` + place("k") + `], "attention_mask": [` + place("q") + `], "value": [` + place("v") + `]}`, "an order that Keras 3 doesn't keep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ToKeras3([]byte(`{"class_name": "Functional", "config": {"name": "m", "trainable": true, "layers": [` + input("q") + input("k") + input("v") + `
				{"class_name": "MultiHeadAttention", "config": {"name": "a", "num_heads": 2, "key_dim": 3}, "name": "a",
				 "inbound_nodes": [[[` + place("q") + `, ` + c.args + `]]]}],
				"input_layers": [["q", 0, 0], ["k", 0, 0], ["v", 0, 0]], "output_layers": [["a", 0, 0]]}}`))
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = string(r.JSON)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
