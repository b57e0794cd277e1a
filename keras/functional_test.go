package keras_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func dense(units int, name string) *layers.Dense {
	d := &layers.Dense{Units: units}
	d.Name = name
	return d
}

// goModels are models of testdata/models/gen_models.py, made in Go.
var goModels = map[string]func(s *ops.Scope) (*keras.Functional, error){
	"chain": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{4}, nil)
		first := &layers.Dense{Units: 5, Activation: activations.Tanh}
		return keras.NewModel(x, dense(2, "").Call(s, first.Call(s, x)), nil)
	},
	"branches": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{4}, &keras.InputOptions{Name: "in"})
		a := dense(5, "a").Call(s, x)
		b := dense(5, "b").Call(s, dense(3, "c").Call(s, x))
		return keras.NewModel(x, dense(1, "out").Call(s, new(layers.Add).Call(s, []*ops.Value{a, b, a})), nil)
	},
	"dictionaries": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{4}, &keras.InputOptions{Name: "x"})
		y := keras.Input(s, tensor.Shape{2}, &keras.InputOptions{Name: "y"})
		h := new(layers.Concatenate).Call(s, []*ops.Value{dense(3, "").Call(s, x), y})
		return keras.NewModel(map[string]*ops.Value{"left": x, "right": y}, map[string]*ops.Value{"all": h, "sum": dense(1, "").Call(s, h)}, nil)
	},
	"shared_depths": func(s *ops.Scope) (*keras.Functional, error) {
		x, y := keras.Input(s, tensor.Shape{4}, nil), keras.Input(s, tensor.Shape{4}, nil)
		d := dense(4, "dense")
		u := d.Call(s, new(layers.ReLU).Call(s, dense(4, "dense_1").Call(s, x)))
		v := d.Call(s, y)
		return keras.NewModel([]*ops.Value{x, y}, []*ops.Value{new(layers.Subtract).Call(s, []*ops.Value{u, v}), v}, nil)
	},
	"states": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{5, 3}, nil)
		first := &layers.LSTM{Units: 4, ReturnState: true, ReturnSequences: true}
		out := first.RunAll(s, first, new(layers.Masking).Call(s, x), nil)
		second := &layers.LSTM{Units: 4}
		y := second.Run(s, second, out[0], &base.CallOptions{Args: map[string]any{"initial_state": out[1:]}})
		g := (&layers.Bidirectional{Inner: keras.Named("gru", &layers.GRU{Units: 2, ReturnSequences: true})}).Call(s, out[0])
		return keras.NewModel(x, []*ops.Value{y, g}, nil)
	},
	"attention": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{5, 3}, nil)
		heads := &layers.MultiHeadAttention{NumHeads: 2, KeyDim: 3}
		out := heads.RunAll(s, heads, []*ops.Value{x, x}, &base.CallOptions{Args: map[string]any{"use_causal_mask": true, "return_attention_scores": true}})
		h := new(layers.LayerNormalization).Call(s, new(layers.Add).Call(s, []*ops.Value{out[0], x}))
		d := new(layers.Attention).Call(s, []*ops.Value{h, x})
		return keras.NewModel(x, []*ops.Value{new(layers.GlobalAveragePooling1D).Call(s, d), out[1]}, nil)
	},
	"from_middle": func(s *ops.Scope) (*keras.Functional, error) {
		h := dense(3, "").Call(s, keras.Input(s, tensor.Shape{4}, nil))
		return keras.NewModel(h, dense(2, "").Call(s, new(layers.ReLU).Call(s, h)), nil)
	},
	"training_argument": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{4}, nil)
		norm, drop := new(layers.BatchNormalization), &layers.Dropout{Rate: 0.5}
		h := norm.Run(s, norm, x, &base.CallOptions{Training: new(false)})
		return keras.NewModel(x, drop.Run(s, drop, h, &base.CallOptions{Training: new(false)}), nil)
	},
	"nested": func(s *ops.Scope) (*keras.Functional, error) {
		x := keras.Input(s, tensor.Shape{4}, nil)
		inner, err := keras.NewModel(x, []*ops.Value{dense(3, "").Call(s, x), dense(2, "").Call(s, x)}, &keras.ModelOptions{Name: "inner"})
		if err != nil {
			return nil, err
		}
		o := keras.Input(s, tensor.Shape{4}, &keras.InputOptions{Name: "outer_input"})
		p := keras.CallAll(s, inner, []*ops.Value{dense(4, "").Call(s, o)}, nil)
		r := keras.CallAll(s, inner, []*ops.Value{o}, nil)
		seq := keras.NewSequential(dense(2, "dense_3"), new(layers.ReLU))
		return keras.NewModel(o, []*ops.Value{new(layers.Add).Call(s, []*ops.Value{p[0], r[0]}), seq.Call(s, p[1]), r[1]}, nil)
	},
}

// sorted returns JSON with the keys of all objects sorted.
func sorted(t *testing.T, text []byte) []byte {
	var v any
	kerastest.Must(t, json.Unmarshal(text, &v))
	out, err := json.Marshal(v)
	kerastest.Must(t, err)
	return out
}

func TestModelsMadeInGoHaveTheConfigsOfTfKeras(t *testing.T) {
	cases, arrays := modelCases(t)
	made := 0
	for _, c := range cases {
		make := goModels[c.Name]
		if make == nil {
			continue
		}
		made++
		t.Run(c.Name, func(t *testing.T) {
			m, err := make(keras.Symbolic(t.Context()))
			kerastest.Must(t, err)
			got, err := keras.Config(m, nil)
			kerastest.Must(t, err)
			kerastest.SameJSON(t, "config", sorted(t, c.Config), sorted(t, got)) // a call in Go has no order of arguments
			checkModel(t, &c, arrays, m)
			if names := m.OutputNames(); c.OutputNames != nil && strings.Join(names, " ") != strings.Join(c.OutputNames, " ") {
				t.Errorf("outputs %q, want %q", names, c.OutputNames)
			}
		})
	}
	if made != len(goModels) {
		t.Errorf("%d of %d models are in the fixtures", made, len(goModels))
	}
}

// TestOpsBetweenLayersBecomeLayers makes a model with ops between layers, and the model of
// its config, which must compute the same.
func TestOpsBetweenLayersBecomeLayers(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{6}, nil)
	h := dense(6, "").Call(s, x)
	mean := ops.MeanKeep(s, h, -1)
	y := ops.Add(s, ops.Mul(s, ops.Sub(s, 1, h), 2), mean)
	y = ops.Concat(s, []*ops.Value{ops.Relu(s, y), ops.Div(s, h, 3)}, 1)
	y = ops.StridedSlice(s, y, ops.Ellipsis(), ops.Span(1, 9))
	parts := ops.Split(s, y, 2, 1)
	y = ops.Where(s, ops.Greater(s, parts[0], parts[1]), ops.Square(s, parts[0]), ops.Exp(s, ops.Neg(s, parts[1])))
	rows := ops.StridedSlice(s, ops.Shape(s, y), ops.At(0))
	y = ops.ReshapeTo(s, y, ops.Stack(s, []ops.Input{rows, 2, 2}))
	y = ops.Softmax(s, ops.MatMul(s, y, ops.Transpose(s, y, 0, 2, 1)))
	first, err := keras.NewModel(x, dense(1, "").Call(s, y), nil)
	kerastest.Must(t, err)
	config, err := keras.Config(first, nil)
	kerastest.Must(t, err)
	obj, err := keras.FromConfig(config, nil)
	kerastest.Must(t, err)
	second := obj.(*keras.Functional)
	again, err := keras.Config(second, nil)
	kerastest.Must(t, err)
	kerastest.SameJSON(t, "config", config, again)
	from, to := keras.Variables(first), keras.Variables(second)
	for i, v := range from {
		kerastest.Must(t, to[i].Store(v.Load()))
	}
	in, err := tensor.New([]float32{1, -2, 3, 4, .5, 6, -1, .2, .3, .4, .5, .6}, 2, 6)
	kerastest.Must(t, err)
	e := function.Eager(t.Context())
	want, err := first.Call(e, in).Tensor()
	kerastest.Must(t, err)
	kerastest.Near(t, "output", second.Call(e, in), want, 0)
}

func TestModelsThatCantBeMade(t *testing.T) {
	s := keras.Symbolic(context.Background())
	x, y := keras.Input(s, tensor.Shape{4}, nil), keras.Input(s, tensor.Shape{4}, nil)
	d := dense(2, "d")
	h := d.Call(s, x)
	for name, c := range map[string]struct {
		in, out any
		want    string
	}{
		"a missing input":      {x, new(layers.Add).Call(s, []*ops.Value{x, y}), `depends on the input "input_2"`},
		"no symbol":            {ops.ValueOf(nil), h, "nil"},
		"a variable":           {x, ops.Add(s, h, d.Bias), "outside of a layer"},
		"an op without layer":  {x, ops.CumProd(s, h, 0), "has no layer"},
		"two of one name":      {x, dense(2, "d").Call(s, h), `two layers are called "d"`},
		"an input given twice": {[]*ops.Value{x, x}, h, "given twice"},
		"another type":         {x, 3, "*ops.Value"},
		"no input":             {[]*ops.Value{}, h, "no input"},
	} {
		if _, err := keras.NewModel(c.in, c.out, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	e := function.Eager(t.Context())
	keras.Input(e, tensor.Shape{4}, nil)
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "keras.Symbolic") {
		t.Errorf("an input on a scope that computes: %v", err)
	}
	wrong := keras.Symbolic(t.Context())
	in := keras.Input(wrong, tensor.Shape{4}, nil)
	if _, err := keras.NewModel(in, new(layers.Conv2D).Call(wrong, in), nil); err == nil {
		t.Error("a failed call makes a model")
	}
}

func TestHostileConfigsOfModels(t *testing.T) {
	const input = `{"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "name": "x"}, "name": "x", "inbound_nodes": []}`
	layer := func(name, nodes string) string {
		return `{"class_name": "ReLU", "config": {"name": "` + name + `"}, "name": "` + name + `", "inbound_nodes": ` + nodes + `}`
	}
	model := func(layers, in, out string) string {
		return `{"class_name": "Functional", "config": {"name": "m", "layers": [` + layers + `], "input_layers": ` + in + `, "output_layers": ` + out + `}}`
	}
	for name, c := range map[string]struct{ config, want string }{
		"a cycle":            {model(input+","+layer("a", `[[["b",0,0,{}]]]`)+","+layer("b", `[[["a",0,0,{}]]]`), `[["x",0,0]]`, `[["b",0,0]]`), "depends on itself"},
		"an unknown layer":   {model(input+","+layer("a", `[[["q",0,0,{}]]]`), `[["x",0,0]]`, `[["a",0,0]]`), `no layer "q"`},
		"no such output":     {model(input+","+layer("a", `[[["x",0,7,{}]]]`), `[["x",0,0]]`, `[["a",0,0]]`), "no output 7"},
		"a later node":       {model(input+","+layer("a", `[[["x",9,0,{}]]]`), `[["x",0,0]]`, `[["a",0,0]]`), "is missing"},
		"a name given twice": {model(input+","+layer("x", `[]`), `[["x",0,0]]`, `[["x",0,0]]`), "twice"},
		"no list":            {model(input+","+layer("a", `[7]`), `[["x",0,0]]`, `[["a",0,0]]`), "want a list"},
		"a wrong place":      {model(input+","+layer("a", `[[["x","y",0,{}]]]`), `[["x",0,0]]`, `[["a",0,0]]`), "want [layer"},
		"no outputs":         {model(input, `[["x",0,0]]`, `[]`), "no input is a symbolic"},
		"a huge kernel":      {`{"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "InputLayer", "config": {"batch_input_shape": [null, 1099511627776]}}, {"class_name": "Dense", "config": {"units": 1099511627776}}]}}`, ""},
		"a large kernel":     {`{"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "InputLayer", "config": {"batch_input_shape": [null, 16777216]}}, {"class_name": "Dense", "config": {"units": 16777216}}]}}`, ""},
	} {
		if _, err := keras.FromConfig([]byte(c.config), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestAddLoss adds a loss to a model, and one that isn't computed from its tensors.
func TestAddLoss(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{4}, nil)
	h := (&layers.Dense{Units: 3}).Call(s, x)
	m, err := keras.NewModel(x, (&layers.Dense{Units: 1}).Call(s, h), nil)
	kerastest.Must(t, err)
	kerastest.Must(t, m.AddLoss(ops.Mean(s, ops.Square(s, h))))
	var names []string
	for _, l := range m.Layers() {
		names = append(names, l.(base.LayerLike).AsLayer().Name)
	}
	if got := strings.Join(names, " "); got != "input_1 dense dense_1 tf.math.square tf.math.reduce_mean add_loss" {
		t.Errorf("the layers are %s", got)
	}
	text, err := keras.Config(m, nil)
	kerastest.Must(t, err)
	obj, err := keras.FromConfig(text, nil)
	kerastest.Must(t, err)
	again, err := keras.Config(obj, nil)
	kerastest.Must(t, err)
	kerastest.SameJSON(t, "config", text, again)
	for name, model := range map[string]base.Callable{"made": m, "read": obj.(base.Callable)} {
		s, losses := base.WithLosses(kerastest.Scope(t))
		model.Call(s, ops.Zeros(s, tensor.Float32, 2, 4))
		if kerastest.Must(t, s.Err()); len(losses.Values()) != 1 {
			t.Errorf("%s: %d losses, want 1", name, len(losses.Values()))
		}
	}
	if err := m.AddLoss(ops.Sum(s, keras.Input(s, tensor.Shape{4}, nil))); err == nil || !strings.Contains(err.Error(), "no input of the model") {
		t.Errorf("a loss of another input: the error is %v", err)
	}
	if err := m.AddLoss(h); err == nil || !strings.Contains(err.Error(), "want a scalar") {
		t.Errorf("a vector: the error is %v", err)
	}
}
