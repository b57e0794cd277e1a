package layers_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/activations"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// shiftedCell is the cell of cases/rnn.py whose output, of another size than its state, is
// shifted by a constant.
type shiftedCell struct {
	keras.Layer
	Units  int
	Kernel *trackable.Variable `cairn:"-"`
}

func (c *shiftedCell) Weights(in keras.Shapes) ([]keras.Weight, error) {
	n, err := in.Last()
	return []keras.Weight{{To: &c.Kernel, Edge: "kernel", Shape: tensor.Shape{n, c.Units}, Init: initializers.RandomUniform{}}}, err
}

func (c *shiftedCell) StateShapes(tensor.Shape) []tensor.Shape { return []tensor.Shape{{c.Units}} }

func (c *shiftedCell) OutputShape(tensor.Shape) tensor.Shape { return tensor.Shape{2 * c.Units} }

func (c *shiftedCell) UsesConstants() {}

func (c *shiftedCell) Begin(s *ops.Scope, call *layers.CellCall) layers.Step {
	shift := ops.Const(s, float32(1))
	if len(call.Constants) > 0 {
		shift = call.Constants[0]
	}
	return func(s *ops.Scope, x *ops.Value, states []*ops.Value) (*ops.Value, []*ops.Value) {
		h := ops.Tanh(s, ops.Add(s, ops.MatMul(s, x, c.Read(s, c.Kernel)), ops.Mul(s, states[0], 0.5)))
		return ops.Concat(s, []*ops.Value{h, ops.Mul(s, h, shift)}, -1), []*ops.Value{h}
	}
}

// centered is the layer of cases/wrappers.py whose output depends on the whole batch.
type centered struct {
	keras.Layer
	Units  int
	Kernel *trackable.Variable `cairn:"-"`
}

func (c *centered) Weights(in keras.Shapes) ([]keras.Weight, error) {
	n, err := in.Last()
	return []keras.Weight{{To: &c.Kernel, Edge: "kernel", Shape: tensor.Shape{n, c.Units}, Init: initializers.RandomUniform{}}}, err
}

func (c *centered) PassesMask() {}

func (c *centered) Call(s *ops.Scope, x ops.Input) *ops.Value { return c.Run(s, c, x, nil) }

func (c *centered) Compute(s *ops.Scope, x *ops.Value) *ops.Value {
	y := ops.MatMul(s, x, c.Read(s, c.Kernel))
	return ops.Sub(s, y, ops.MeanKeep(s, y, 0))
}

var testClasses = config.Must(keras.Classes().With([]config.Class{
	config.Function("builtins", "abs", layers.LambdaOf(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Abs(s, x) })),
	inModule("rnn", config.Registered[*shiftedCell]("test", "ShiftedCell")),
	inModule("wrappers", config.Registered[*centered]("test", "Centered")),
}))

func inModule(module string, c config.Class) config.Class {
	c.Module = module
	return c
}

// tracedFamilies are the fixtures whose layers are traced too.
var tracedFamilies = []string{"conv", "pooling", "normalization", "recurrent", "rnn", "wrappers", "convlstm"}

// TestLayersTracedAreEager compares outputs, states and gradients of traced
// functions, with loops and unrolled, with those of eager calls.
func TestLayersTracedAreEager(t *testing.T) {
	for _, family := range tracedFamilies {
		cases, arrays := fixture(t, family)
		for i, c := range cases {
			for _, known := range []bool{true, false} {
				if known && i%4 != 0 || testing.Short() && i%5 != 0 {
					continue // known and unknown shapes run nearly the same code
				}
				t.Run(fmt.Sprintf("%s/known=%v", c.Name, known), func(t *testing.T) { sameTraced(t, &c, arrays, known) })
			}
		}
	}
}

func sameTraced(t *testing.T, c *fixtureCase, arrays map[string]*tensor.Tensor, known bool) {
	layer := decode(t, c.Config)
	var in []*ops.Value
	var shapes []tensor.Shape
	for i := range c.Inputs {
		x := arrays[fmt.Sprintf("%s/input%d", c.Name, i)]
		in, shapes = append(in, ops.ValueOf(x)), append(shapes, x.Shape())
	}
	inputs := len(in)
	mask := arrays[c.Name+"/mask0"]
	if mask != nil {
		in = append(in, ops.ValueOf(mask))
	}
	first := len(in)
	for _, key := range []string{"initial_state", "constants", "states"} {
		for i := range c.Args[key] {
			in = append(in, ops.ValueOf(arrays[fmt.Sprintf("%s/arg/%s/%d", c.Name, key, i)]))
		}
	}
	must(t, keras.Build(keras.WithSeed(function.Eager(context.Background()), 1), layer, shapes...))
	for _, v := range keras.Variables(layer) {
		if v.DType().IsFloating() { // first values such as zeros would hide faults
			near := tensor.Must(tensor.Cast(v.Load(), tensor.Float64))
			for i := range tensor.Values[float64](near) {
				tensor.Values[float64](near)[i] += math.Sin(float64(i)) / 4
			}
			must(t, v.Store(tensor.Must(tensor.Cast(near, v.DType()))))
		}
	}
	call := func(s *ops.Scope, in []*ops.Value) []*ops.Value {
		rec, tape := grad.Record(s)
		for _, x := range in {
			if x.DType().IsFloating() {
				tape.Watch(x)
			}
		}
		opts := &base.CallOptions{Args: map[string]any{}}
		for key, value := range c.Kwargs {
			opts.Args[key] = value
		}
		if mask != nil {
			opts.Masks = append([]*ops.Value{in[inputs]}, make([]*ops.Value, inputs-1)...)
		}
		rest := in[first:]
		for _, key := range []string{"initial_state", "constants", "states"} {
			if n := c.Args[key]; n > 0 {
				opts.Args[key], rest = rest[:n], rest[n:]
			}
		}
		out := base.CallAll(rec, layer, in[:inputs], opts)
		if s.Err() != nil {
			return nil
		}
		loss := ops.Const(rec, float32(0))
		for i, y := range out {
			if !y.DType().IsFloating() {
				continue
			}
			loss = ops.Add(rec, loss, ops.Cast(rec, ops.Sum(rec, ops.Mul(rec, ops.Tanh(rec, y), i+1)), tensor.Float32))
		}
		vars := keras.Trainable(layer)
		slices.SortFunc(vars, func(a, b *trackable.Variable) int { return slices.Compare(a.Shape(), b.Shape()) })
		out = append(out, loss)
		for _, p := range tape.Gradient(loss, vars) {
			if p.Grad != nil {
				out = append(out, ops.Identity(s, p.Grad))
			}
		}
		return out
	}
	reset := func() {
		if c.States > 0 {
			must(t, statefulOf(layer).ResetStates())
		}
	}
	reset()
	want, err := function.New(call, &function.Options{Mode: function.Eagerly}).Call(t.Context(), in)
	must(t, err)
	f := function.New(call, &function.Options{Mode: function.Traced})
	specs := make([]*ops.Value, len(in))
	for i, v := range in {
		dims := slices.Clone(v.Shape())
		if !known && c.States == 0 && !strings.HasPrefix(c.Name, "time_own") && // which asks for the batch's size
			!strings.Contains(c.Name, "unrolled") && len(dims) > 1 {
			dims[0] = -1
			if i < first {
				dims[1] = -1
			}
		}
		specs[i] = ops.Spec(v.DType(), dims...)
	}
	_, err = f.Trace(specs)
	must(t, err)
	reset()
	got, err := f.Call(t.Context(), in)
	must(t, err)
	for i := range want {
		tol := 2e-5
		switch d := want[i].DType(); {
		case d == tensor.BFloat16 || strings.Contains(string(c.Config), "bfloat16"): // 16 times its precision: a gradient adds up the roundings of its steps
			tol = 1.0 / 16
		case d == tensor.Float16 || strings.Contains(string(c.Config), "mixed"):
			tol = 2e-2
		}
		near(t, fmt.Sprintf("result %d", i), tensorOf(t, got[i]), tensorOf(t, want[i]), tol)
	}
}

// TestDropoutOfRecurrentLayers checks which steps share a mask of dropout. The inputs are
// equal and the gates are closed for the past, so that steps with equal masks are equal.
func TestDropoutOfRecurrentLayers(t *testing.T) {
	const steps, features = 6, 64
	x := ops.Ones(function.Eager(t.Context()), tensor.Float32, 1, steps, features)
	for name, c := range map[string]struct {
		layer  caller
		column int // of the kernel that counts
		closed int // the element of the bias that closes the gate, -1 for none
		shared bool
	}{
		"simple":          {&layers.SimpleRNN{Units: 1, Dropout: 0.5, ReturnSequences: true}, 0, -1, true},
		"lstm":            {&layers.LSTM{Units: 1, Dropout: 0.5, ReturnSequences: true}, 2, 1, false},
		"lstm cell":       {&layers.RNN{Cell: &layers.LSTMCell{Units: 1, Dropout: 0.5}, ReturnSequences: true}, 2, 1, true},
		"lstm linear":     {&layers.LSTM{Units: 1, Dropout: 0.5, Activation: activations.Linear, ReturnSequences: true}, 2, 1, true},
		"lstm two masks":  {&layers.LSTM{Units: 1, Dropout: 0.5, RecurrentDropout: 0.5, ReturnSequences: true}, 2, 1, true},
		"lstm unrolled":   {&layers.LSTM{Units: 1, Dropout: 0.5, Unroll: true, ReturnSequences: true}, 2, 1, true},
		"gru":             {&layers.GRU{Units: 1, Dropout: 0.5, ReturnSequences: true}, 2, 0, false},
		"gru before":      {&layers.GRU{Units: 1, Dropout: 0.5, ResetBefore: true, ReturnSequences: true}, 2, 0, true},
		"second of stack": {&layers.RNN{Cell: &layers.StackedRNNCells{Cells: []layers.Cell{&layers.SimpleRNNCell{Units: 9}, &layers.SimpleRNNCell{Units: 1, Dropout: 0.5}}}, ReturnSequences: true}, -1, -1, true},
	} {
		must(t, keras.Build(function.Eager(t.Context()), c.layer, tensor.Shape{1, steps, features}))
		for _, v := range keras.Variables(c.layer) {
			value := tensor.Must(tensor.Zeros(tensor.Float32, v.Shape()...))
			data := tensor.Values[float32](value)
			switch n := len(data); {
			case strings.HasSuffix(v.Name(), "recurrent_kernel"):
			case strings.HasSuffix(v.Name(), "bias"):
				if c.closed >= 0 {
					data[c.closed] = -100
				}
			case c.column < 0:
				for i := range data {
					data[i] = 0.01 + float32(i%7)/1000
				}
			default:
				for i := range features {
					data[i*n/features+c.column] = 0.01 + float32(i%7)/1000
				}
			}
			must(t, v.Store(value))
		}
		for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
			f := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				return []*ops.Value{c.layer.Call(s.WithTraining(true), x), c.layer.Call(s, x)}
			}, &function.Options{Mode: mode})
			out, err := f.Call(t.Context(), x)
			must(t, err)
			train, infer := float64s(t, tensorOf(t, out[0])), float64s(t, tensorOf(t, out[1]))
			if train[0] == infer[0] || infer[0] == 0 {
				t.Errorf("%s: training drops nothing: %v and %v", name, train, infer)
			}
			if alike := slices.Min(train) == slices.Max(train); alike != c.shared {
				t.Errorf("%s: the steps share a mask: %v, tf_keras's: %v (%v)", name, alike, c.shared, train)
			}
			if slices.Min(infer) != slices.Max(infer) {
				t.Errorf("%s: the steps differ without dropout: %v", name, infer)
			}
		}
	}
}

// TestARecurrentLayerIsRestoredBeforeItIsBuilt: the cells exist for the restore.
func TestARecurrentLayerIsRestoredBeforeItIsBuilt(t *testing.T) {
	x := ops.ValueOf(tensor.Must(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 1, 3, 2)))
	for name, mk := range map[string]func() caller{
		"LSTM": func() caller { return &layers.LSTM{Units: 3} },
		"RNN": func() caller {
			return &layers.RNN{Cell: &layers.StackedRNNCells{Cells: []layers.Cell{&layers.GRUCell{Units: 3}, &layers.SimpleRNNCell{Units: 2}}}}
		},
	} {
		s := function.Eager(t.Context())
		from, to := mk(), mk()
		want := from.Call(s, x)
		path := filepath.Join(t.TempDir(), "ckpt")
		saved, err := checkpoint.New(&struct{ Layer caller }{from}, nil)
		must(t, err)
		must(t, saved.Write(t.Context(), path))
		restored, err := checkpoint.New(&struct{ Layer caller }{to}, nil)
		must(t, err)
		status, err := restored.Restore(t.Context(), path, nil)
		must(t, err)
		got := to.Call(s, x)
		must(t, s.Err())
		must(t, status.AssertConsumed())
		near(t, name, tensorOf(t, got), tensorOf(t, want), 0)
	}
}

func TestWhatRecurrentLayersRefuse(t *testing.T) {
	x := ops.Ones(function.Eager(t.Context()), tensor.Float32, 2, 3, 4)
	state := func(dims ...int) map[string]any {
		return map[string]any{"initial_state": []*ops.Value{ops.Ones(function.Eager(t.Context()), tensor.Float32, dims...)}}
	}
	for name, c := range map[string]struct {
		layer caller
		x     *ops.Value
		args  map[string]any
		want  string
	}{
		"no cell":          {&layers.RNN{}, x, nil, "no cell"},
		"no cells":         {&layers.RNN{Cell: &layers.StackedRNNCells{}}, x, nil, "no cells"},
		"no units":         {&layers.GRU{}, x, nil, "too few units"},
		"many units":       {&layers.LSTM{Units: math.MaxInt32}, x, nil, "too many units"},
		"many filters":     {&layers.ConvLSTM1D{Filters: math.MaxInt32, KernelSize: []int{1}}, ops.Ones(function.Eager(t.Context()), tensor.Float32, 1, 2, 3, 4), nil, "too many filters"},
		"no kernel":        {&layers.ConvLSTM2D{Filters: 1}, ops.Ones(function.Eager(t.Context()), tensor.Float32, 1, 2, 3, 4, 5), nil, "the size is wrong (got [], want 2 positive numbers)"},
		"unrolled images":  {&layers.ConvLSTM2D{Filters: 1, KernelSize: []int{1}, Unroll: true}, x, nil, "neither unrolled"},
		"no inner layer":   {&layers.TimeDistributed{}, x, nil, "no inner layer"},
		"not recurrent":    {&layers.Bidirectional{Inner: &layers.Dense{Units: 1}}, x, nil, "recurrent layer"},
		"same direction":   {&layers.Bidirectional{Inner: &layers.GRU{Units: 1}, BackwardLayer: &layers.GRU{Units: 1}}, x, nil, "both layers have GoBackwards"},
		"other sequences":  {&layers.Bidirectional{Inner: &layers.GRU{Units: 1}, BackwardLayer: &layers.GRU{Units: 1, GoBackwards: true, ReturnSequences: true}}, x, nil, "differ in"},
		"odd states":       {&layers.Bidirectional{Inner: &layers.GRU{Units: 2}}, x, state(2, 2), "as many for each direction"},
		"matrix":           {&layers.LSTM{Units: 2}, ops.Ones(function.Eager(t.Context()), tensor.Float32, 2, 3), nil, "time and features"},
		"number of states": {&layers.LSTM{Units: 2}, x, state(2, 2), "got 1 states, the cell has 2"},
		"shape of a state": {&layers.GRU{Units: 2}, x, state(2, 3), "want a batch's dimension and [2]"},
		"rank of a state":  {&layers.GRU{Units: 2}, x, state(2), "want a batch's dimension and [2]"},
		"constants":        {&layers.GRU{Units: 2}, x, map[string]any{"constants": []*ops.Value{x}}, "doesn't use"},
		"unknown argument": {&layers.GRU{Units: 2}, x, map[string]any{"state": x}, "unknown call argument"},
		"kind of argument": {&layers.GRU{Units: 2}, x, map[string]any{"initial_state": 3}, "want []*ops.Value"},
	} {
		s := function.Eager(t.Context())
		c.layer.AsLayer().RunAll(s, c.layer, c.x, &base.CallOptions{Args: c.args})
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if err := new(layers.LSTM).ResetStates(); err == nil {
		t.Error("states of a layer that has none can be reset")
	}
}

// TestStatesAndConstantsAreInputsToo calls layers as functional models do: the initial
// states and the constants are further inputs.
func TestStatesAndConstantsAreInputsToo(t *testing.T) {
	s := function.Eager(t.Context())
	value := func(dims ...int) *ops.Value {
		return ops.Sin(s, ops.Reshape(s, ops.Range(s, float32(0), float32(product(dims)), float32(1)), dims...))
	}
	x, h, c, shift := value(2, 3, 4), value(2, 5), ops.Cos(s, value(2, 5)), value(2, 5)
	for name, test := range map[string]struct {
		layer  caller
		inputs []*ops.Value
		args   map[string]any
	}{
		"LSTM": {&layers.LSTM{Units: 5}, []*ops.Value{x, h, c}, map[string]any{"initial_state": []*ops.Value{h, c}}},
		"RNN":  {&layers.RNN{Cell: &shiftedCell{Units: 5}, NumConstants: 1}, []*ops.Value{x, h, shift}, map[string]any{"initial_state": h, "constants": shift}},
		"Bidirectional": {&layers.Bidirectional{Inner: &layers.RNN{Cell: &shiftedCell{Units: 5}, NumConstants: 1}, NumConstants: 1},
			[]*ops.Value{x, h, c, shift}, map[string]any{"initial_state": []ops.Input{h, c}, "constants": shift}},
	} {
		got := base.CallAll(s, test.layer, test.inputs, nil)
		want := base.CallAll(s, test.layer, test.inputs[:1], &base.CallOptions{Args: test.args})
		without := base.CallAll(s, test.layer, test.inputs[:1], nil)
		must(t, s.Err())
		near(t, name, tensorOf(t, got[0]), tensorOf(t, want[0]), 0)
		if tensorOf(t, got[0]).Equal(tensorOf(t, without[0])) {
			t.Errorf("%s: the states change nothing", name)
		}
	}
}

// TestStatesOfAModelAreReset resets all layers of a model, which continues from its states before that.
func TestStatesOfAModelAreReset(t *testing.T) {
	s := function.Eager(t.Context())
	x := ops.Ones(s, tensor.Float32, 2, 3, 4)
	model := keras.NewSequential(&layers.GRU{Units: 3, Stateful: true, ReturnSequences: true},
		&layers.Bidirectional{Inner: &layers.LSTM{Units: 2, Stateful: true}}, &layers.Dense{Units: 1})
	must(t, keras.ResetStates(model)) // there is none yet
	first := tensorOf(t, model.Call(s, x))
	second := tensorOf(t, model.Call(s, x))
	must(t, keras.ResetStates(model))
	again := tensorOf(t, model.Call(s, x))
	must(t, s.Err())
	if !again.Equal(first) || second.Equal(first) {
		t.Errorf("got %v, then %v, and after the reset %v", first, second, again)
	}
}

// TestAStatefulLayerTakesTheBatchOfItsConfig traces a call whose batch isn't known.
func TestAStatefulLayerTakesTheBatchOfItsConfig(t *testing.T) {
	for _, c := range []struct {
		layer *layers.GRU
		ok    bool
	}{
		{&layers.GRU{Layer: keras.Layer{BatchInputShape: base.Shape{2, -1, 3}}, Units: 2, Stateful: true}, true},
		{&layers.GRU{Units: 2, Stateful: true}, false},
	} {
		f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return c.layer.Call(s, x) }, &function.Options{Mode: function.Traced})
		if _, err := f.Trace(ops.Spec(tensor.Float32, -1, 4, 3)); (err == nil) != c.ok {
			t.Errorf("known %v: %v", c.ok, err)
		}
	}
}

// TestTimeDistributedCallsAModel compares a model that is called with all steps with calls
// for each step, with a batch of known and unknown size.
func TestTimeDistributedCallsAModel(t *testing.T) {
	model := keras.NewSequential(&layers.Dense{Units: 5, Activation: activations.Tanh}, &layers.Dense{Units: 2})
	l := &layers.TimeDistributed{Inner: model}
	s := function.Eager(t.Context())
	x := ops.Sin(s, ops.Reshape(s, ops.Range(s, float32(0), float32(24), float32(1)), 2, 3, 4))
	y := l.Call(s, x)
	var steps []*ops.Value
	for _, step := range ops.Unstack(s, x, 3, 1) {
		steps = append(steps, model.Call(s, step))
	}
	want := ops.Stack(s, steps, 1)
	must(t, s.Err())
	near(t, "eager", tensorOf(t, y), tensorOf(t, want), 1e-6)
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return l.Call(s, x) }, &function.Options{Mode: function.Traced})
	_, err := f.Trace(ops.Spec(tensor.Float32, -1, -1, 4))
	must(t, err)
	got, err := f.Call(t.Context(), x)
	must(t, err)
	near(t, "traced", tensorOf(t, got), tensorOf(t, want), 1e-6)
	if n := len(keras.Trainable(l)); n != 4 {
		t.Errorf("there are %d trainable variables, want 4", n)
	}
}

// TestOlderConfigs reads settings that tf_keras takes and doesn't write any more.
func TestOlderConfigs(t *testing.T) {
	for data, want := range map[string]any{
		`{"class_name": "SimpleRNN", "config": {"units": 2, "implementation": 0}}`: &layers.SimpleRNN{Units: 2},
		`{"class_name": "LSTM", "config": {"units": 2, "implementation": 0}}`:      &layers.LSTM{Units: 2, Implementation: 1},
		`{"class_name": "GRU", "config": {"units": 2, "implementation": 0}}`:       &layers.GRU{Units: 2, Implementation: 1},
		`{"class_name": "GRU", "config": {"units": 2, "recurrent_dropout": 7}}`:    &layers.GRU{Units: 2, Implementation: 1, RecurrentDropout: 1},
	} {
		got, err := keras.Config(decode(t, []byte(data)), nil)
		must(t, err)
		expected, err := keras.Config(want, nil)
		must(t, err)
		if string(got) != string(expected) {
			t.Errorf("%s is read as %s, want %s", data, got, expected)
		}
	}
}

// TestNestedBidirectionalLayersAreRefused: each would copy the ones in it twice.
func TestNestedBidirectionalLayersAreRefused(t *testing.T) {
	l := `{"class_name": "LSTM", "config": {"units": 1}}`
	for range 60 {
		l = `{"class_name": "Bidirectional", "config": {"layer": ` + l + `}}`
	}
	s := function.Eager(t.Context())
	decode(t, []byte(l)).Call(s, ops.Ones(s, tensor.Float32, 1, 2, 3))
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "GoBackwards") {
		t.Errorf("got %v", err)
	}
}

// TestMemoryIsInProportionToTheSteps trains through four times as many steps.
func TestMemoryIsInProportionToTheSteps(t *testing.T) {
	for _, mode := range []function.Mode{function.Eagerly, function.Traced} {
		var bytes []uint64
		for _, steps := range []int{200, 800} {
			l := &layers.LSTM{Units: 8, ReturnSequences: true}
			f := function.New(func(s *ops.Scope, x *ops.Value) []*ops.Value {
				rec, tape := grad.Record(s)
				loss := ops.Sum(rec, ops.Square(rec, l.Call(rec, x)))
				var out []*ops.Value
				for _, p := range tape.Gradient(loss, keras.Trainable(l)) {
					out = append(out, ops.Identity(s, p.Grad))
				}
				return out
			}, &function.Options{Mode: mode})
			x := ops.Ones(function.Eager(t.Context()), tensor.Float32, 4, steps, 3)
			call := func() {
				_, err := f.Call(t.Context(), x)
				must(t, err)
			}
			call()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			call()
			runtime.ReadMemStats(&after)
			bytes = append(bytes, after.TotalAlloc-before.TotalAlloc)
		}
		if bytes[1] > 6*bytes[0] {
			t.Errorf("mode %v: 200 steps take %d bytes, 800 take %d", mode, bytes[0], bytes[1])
		}
	}
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
