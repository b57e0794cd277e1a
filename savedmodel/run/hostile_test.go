package run_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

const hostile = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
	node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
	NODES
	library { FUNCTIONS } }
	signature_def { key: 'serving_default' value {
		inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT tensor_shape { unknown_rank: true } } }
		outputs { key: 'y' value { name: 'y:0' dtype: DT_FLOAT } } } } }`

func call(name, in, f string) string {
	return `name: '` + name + `' op: 'PartitionedCall' input: '` + in + `' attr { key: 'f' value { func { name: '` + f + `' } } }
		attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: 'Tout' value { list { type: DT_FLOAT } } }`
}

func function(name, calls string) string {
	return `function { signature { name: '` + name + `' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
		node_def { ` + call("c", "a", calls) + ` } ret { key: 'r' value: 'c:output:0' } }`
}

func unary(name, op, in, attrs string) string {
	return `node { name: '` + name + `' op: '` + op + `' input: '` + in + `' ` + attrs + ` }`
}

// TestHostileGraphsGiveErrors: an error names the place, in little time.
func TestHostileGraphsGiveErrors(t *testing.T) {
	float := `attr { key: 'T' value { type: DT_FLOAT } }`
	for _, c := range []struct{ name, nodes, functions, want string }{
		{"a function that calls itself", "node { " + call("y", "x", "f") + " }", function("f", "f"), "f"},
		{"two functions that call each other", "node { " + call("y", "x", "f") + " }", function("f", "g") + function("g", "f"), "f"},
		{"a cycle", unary("y", "Neg", "z", float) + unary("z", "Neg", "y", float), "", "need each other"},
		{"a node that isn't there", unary("y", "Neg", "nowhere", float), "", `"y"`},
		{"another type", unary("y", "Neg", "x", `attr { key: 'T' value { type: DT_STRING } }`), "", "y"},
		{"an unknown attribute", unary("y", "Neg", "x", float+` attr { key: 'speed' value { i: 7 } }`), "", "speed"},
		{"an op that nobody knows", unary("y", "Conjure", "x", ""), "", "Conjure"},
		{"a shape bomb", `node { name: 's' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: 2000000 } } } }
			node { name: 'y' op: 'Fill' input: 's' input: 'x' ` + float + ` }`, "", "y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("NODES", c.nodes, "FUNCTIONS", c.functions).Replace(hostile)
			if c.functions == "" {
				text = strings.Replace(text, "library {  }", "", 1)
			}
			begin := time.Now()
			m, err := run.Load(ctx, fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}, &run.LoadOptions{Kernels: kernel.All()})
			if err == nil {
				_, err = m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Scalar[float32](1)})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "panic") {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}
