package keras_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

const inputConfig = `{"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [null, 2], "dtype": "float32"}, "name": "x", "inbound_nodes": []}`

func functionalConfig(layers ...string) string {
	last := layers[len(layers)-1]
	return `{"class_name": "Functional", "config": {"name": "m", "layers": [` + inputConfig + `, ` + strings.Join(layers[:len(layers)-1], ", ") +
		`], "input_layers": [["x", 0, 0]], "output_layers": [` + last + `]}}`
}

// TestModelsThatCallEachOtherWithoutEnd makes models of configs whose calls double at each level.
func TestModelsThatCallEachOtherWithoutEnd(t *testing.T) {
	functional := `{"class_name": "ReLU", "config": {"name": "m"}`
	for i := range 16 {
		node := `, "name": "m", "inbound_nodes": [[["x", 0, 0, {}]], [["m", %d, 0, {}]]]}`
		first := 0
		if i > 0 {
			first = 1
		}
		inner := functional + fmt.Sprintf(node, first)
		config := functionalConfig(inner, fmt.Sprintf(`["m", %d, 0]`, first+1))
		functional = strings.TrimSuffix(config, "}")
	}
	if _, err := keras.FromConfig([]byte(functional+"}"), nil); err == nil || !strings.Contains(err.Error(), "too many calls") {
		t.Errorf("the error is %.300v", err)
	}
}

// TestLayersOfAConfigInAnyOrder connects a line of layers whose config begins with the last one.
func TestLayersOfAConfigInAnyOrder(t *testing.T) {
	const n = 1000
	var list []string
	for i := range n {
		from := fmt.Sprintf("r%d", i-1)
		if i == 0 {
			from = "x"
		}
		list = append(list, fmt.Sprintf(`{"class_name": "ReLU", "config": {"name": "r%d"}, "name": "r%d", "inbound_nodes": [[["%s", 0, 0, {}]]]}`, i, i, from))
	}
	slices.Reverse(list)
	model, err := keras.FromConfig([]byte(functionalConfig(append(list, fmt.Sprintf(`["r%d", 0, 0]`, n-1))...)), nil)
	kerastest.Must(t, err)
	if got := model.(*keras.Functional).Layers(); len(got) != n+1 {
		t.Errorf("got %d layers", len(got))
	}
	if _, err := keras.FromConfig([]byte(functionalConfig(list[0], `["r999", 0, 0]`)), nil); err == nil || !strings.Contains(err.Error(), "no layer \"r998\"") {
		t.Errorf("the error is %v", err)
	}
	loop := `{"class_name": "ReLU", "config": {"name": "r"}, "name": "r", "inbound_nodes": [[["r", 0, 0, {}]]]}`
	if _, err := keras.FromConfig([]byte(functionalConfig(loop, `["r", 0, 0]`)), nil); err == nil || !strings.Contains(err.Error(), "depends on itself") {
		t.Errorf("the error is %v", err)
	}
}

// TestLayersAreInTheOrderOfTfKeras compares the order of layers and calls with that of tf_keras:
// inputs that no output needs come before the others of their depth, and calls of one depth
// begin with that of the last output.
func TestLayersAreInTheOrderOfTfKeras(t *testing.T) {
	s := keras.Symbolic(t.Context())
	var in []*ops.Value
	for _, name := range []string{"a", "b", "x"} {
		in = append(in, keras.Input(s, tensor.Shape{2}, &keras.InputOptions{Name: name}))
	}
	dense := func(name string) *layers.Dense {
		d := &layers.Dense{Units: 2}
		d.Name = name
		return d
	}
	m, err := keras.NewModel(in, dense("d").Call(s, in[2]), nil)
	kerastest.Must(t, err)
	var names []string
	for _, l := range m.Layers() {
		names = append(names, l.(interface{ ScopeName() string }).ScopeName())
	}
	if want := []string{"x", "a", "b", "d"}; !slices.Equal(names, want) {
		t.Errorf("the layers are %q, want %q", names, want)
	}
}

// TestIntegersOfConstantsAreExact gives layers and ops between them integers beyond float64 and int32.
func TestIntegersOfConstantsAreExact(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{DType: tensor.Int64})
	m, err := keras.NewModel(x, ops.Add(s, x, ops.ConstOf(s, tensor.Int64, int64(9007199254740993))), nil)
	kerastest.Must(t, err)
	data, err := keras.Config(m, nil)
	kerastest.Must(t, err)
	if !strings.Contains(string(data), "9007199254740993") {
		t.Errorf("the config is %s", data)
	}
	add := `{"class_name": "Add", "config": {"name": "add"}, "name": "add", "inbound_nodes": [[["_CONSTANT_VALUE", -1, [[3000000000, 1]], {}], ["c", 0, 0, {}]]]}`
	cast := `{"class_name": "TFOpLambda", "config": {"name": "c", "function": "cast"}, "name": "c", "inbound_nodes": [["x", 0, 0, {"dtype": "int64"}]]}`
	add = strings.Replace(add, `"name": "add"}`, `"name": "add", "dtype": "int64"}`, 1)
	obj, err := keras.FromConfig([]byte(functionalConfig(cast, add, `["add", 0, 0]`)), nil)
	kerastest.Must(t, err)
	e := kerastest.Scope(t)
	got, err := obj.(keras.Callable).Call(e, tensor.Must(tensor.New([]float32{1, 2}, 1, 2))).Tensor()
	kerastest.Must(t, err)
	if v := tensor.Values[int64](got); !slices.Equal(v, []int64{3000000001, 3}) {
		t.Errorf("got %v", v)
	}
}
