package layers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

var (
	must     = kerastest.Must
	tensorOf = kerastest.Data
	float64s = kerastest.Floats
)

// fixtureCase is a case that testdata/gen_layers.py has run.
type fixtureCase struct {
	Name                  string
	Config, Built, Legacy json.RawMessage
	Inputs                int
	Outputs               []string
	Kwargs                map[string]any
	Args                  map[string]int
	Single                []string
	States                int
	Training              []bool
	Weights               []string
	Trainable             []bool
	Forms, OutForms       []string
	Adapt                 bool
}

// caller is implemented by every layer.
type caller interface {
	base.LayerLike
	Call(s *ops.Scope, x ops.Input) *ops.Value
}

// TestLayersAreTfKeras builds each layer of testdata from its config, and compares its
// config, weights, outputs, masks, losses and gradients with tf_keras's.
func TestLayersAreTfKeras(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		family := strings.TrimSuffix(filepath.Base(file), ".json")
		cases, arrays := fixture(t, family)
		for _, c := range cases {
			t.Run(family+"/"+c.Name, func(t *testing.T) {
				t.Run("config", func(t *testing.T) { checkConfig(t, &c) })
				for _, training := range c.Training {
					t.Run(map[bool]string{false: "infer", true: "train"}[training], func(t *testing.T) { checkCall(t, &c, arrays, training) })
				}
			})
		}
	}
}

// fixture returns the cases of a family and their arrays.
func fixture(t *testing.T, family string) ([]fixtureCase, map[string]*tensor.Tensor) {
	var cases []fixtureCase
	kerastest.JSON(t, filepath.Join("testdata", family+".json"), &cases)
	return cases, kerastest.Arrays(t, filepath.Join("testdata", family+".npz"))
}

func decode(t *testing.T, data []byte) caller {
	t.Helper()
	obj, err := keras.FromConfig(data, &keras.ConfigOptions{Classes: testClasses})
	must(t, err)
	l, ok := obj.(caller)
	if !ok {
		t.Fatalf("%T has no Call, or embeds no keras.Layer", obj)
	}
	return l
}

// checkConfig compares the configs as JSON values, and the order of their keys.
func checkConfig(t *testing.T, c *fixtureCase) {
	for name, want := range map[string]json.RawMessage{"new form": c.Config, "built": c.Built, "legacy form": c.Legacy} {
		got, err := keras.Config(decode(t, want), &keras.ConfigOptions{Classes: testClasses, Legacy: name == "legacy form"})
		must(t, err)
		kerastest.SameJSON(t, name, want, got)
	}
}

// checkCall builds the layer, sets its weights and compares the outputs of a
// call.
func checkCall(t *testing.T, c *fixtureCase, arrays map[string]*tensor.Tensor, training bool) {
	layer := decode(t, c.Config)
	mode := c.Name + "/infer"
	if training {
		mode = c.Name + "/train"
	}
	shapes := make([]tensor.Shape, c.Inputs)
	inputs := make([]*ops.Value, c.Inputs)
	args := map[string]any{}
	maps.Copy(args, c.Kwargs)
	lists := map[string][]*ops.Value{}
	for key, n := range c.Args {
		for i := range n {
			lists[key] = append(lists[key], ops.ValueOf(arrays[fmt.Sprintf("%s/arg/%s/%d", c.Name, key, i)]))
		}
		args[key] = lists[key]
	}
	opts := &base.CallOptions{Training: &training, Args: args}
	s := base.WithSeed(function.Eager(context.Background()), 1) // as gen_layers.py sets it
	for _, key := range c.Single {
		if m := arrays[fmt.Sprintf("%s/argmask/%s", c.Name, key)]; m != nil {
			lists[key][0] = base.WithMask(s, lists[key][0], ops.ValueOf(m))
		}
		args[key] = lists[key][0]
	}
	for i := range inputs {
		if len(c.Forms) > i && c.Forms[i] != "" {
			inputs[i] = composite(s, c.Forms[i], arrays, fmt.Sprintf("%s/input%d", c.Name, i))
			shapes[i] = base.ShapeOf(inputs[i])
			continue
		}
		x := arrays[fmt.Sprintf("%s/input%d", c.Name, i)]
		inputs[i], shapes[i] = ops.ValueOf(x), x.Shape()
		if m := arrays[fmt.Sprintf("%s/mask%d", c.Name, i)]; m != nil {
			inputs[i] = base.WithMask(s, inputs[i], ops.ValueOf(m))
		}
	}
	for _, key := range []string{"value", "key"} {
		if slices.Contains(c.Single, key) { // further inputs of attention
			shapes = append(shapes, lists[key][0].Shape())
		}
	}
	if c.Adapt {
		var batches []*ops.Value
		data := ops.ValueOf(arrays[c.Name+"/adapt"])
		for i := range arrays[c.Name+"/adapt"].Shape()[0] {
			batches = append(batches, ops.Gather(s, data, int32(i)))
		}
		layer.(base.Adapter).Adapt(s, slices.Values(batches))
		must(t, s.Err())
	}
	openVocabularies(layer)
	must(t, keras.Build(s, layer, shapes...))
	vars := keras.Variables(layer)
	g, err := trackable.Walk(&struct{ Layer caller }{layer}, nil)
	must(t, err)
	names := map[*trackable.Variable]string{}
	for id := range g.Nodes {
		if v := g.Nodes[id].Variable(); v != nil {
			scope, name, ok := strings.Cut(g.Nodes[id].FullName, "/")
			if !ok {
				name = scope
			}
			names[v] = name
		}
	}
	got := make([]string, len(vars))
	for i, v := range vars {
		if got[i] = names[v]; slices.Contains(got[:i], got[i]) {
			got[i] += fmt.Sprintf("#%d", i)
		}
	}
	if d := cmp.Diff(c.Weights, got); d != "" && len(c.Weights)+len(got) > 0 {
		t.Fatalf("weights (-tf_keras +ours):\n%s", d)
	}
	trainable := keras.Trainable(layer)
	for i, v := range vars {
		w := arrays[c.Name+"/weight/"+c.Weights[i]]
		must(t, v.Store(w.Clone()))
		if is := slices.Contains(trainable, v); is != c.Trainable[i] {
			t.Errorf("weight %s: trainable is %v, tf_keras's is %v", c.Weights[i], is, c.Trainable[i])
		}
	}
	if c.States > 0 {
		states := make([]*tensor.Tensor, c.States)
		for i := range states {
			states[i] = arrays[fmt.Sprintf("%s/state%d", c.Name, i)]
		}
		must(t, statefulOf(layer).ResetStates(states...))
	}
	// tf_keras's layer.losses begin with those of the activities.
	s, losses := base.WithLosses(s)
	rec, tape := grad.Record(s, &grad.Options{Persistent: true})
	for _, x := range inputs {
		if x.DType().IsFloating() && c.Forms == nil {
			tape.Watch(x)
		}
	}
	for _, list := range lists {
		for _, x := range list {
			if x.DType().IsFloating() {
				tape.Watch(x)
			}
		}
	}
	var in ops.Input = inputs
	if len(inputs) == 1 {
		in = inputs[0]
	}
	outputs := layer.AsLayer().RunAll(rec, layer, in, opts)
	must(t, s.Err())
	if c.Adapt {
		got, err := keras.Config(layer, &keras.ConfigOptions{Classes: testClasses})
		must(t, err)
		kerastest.SameJSON(t, "config of the adapted layer", c.Built, got)
	}
	outputs = elementsOf(t, outputs, c.OutForms)
	count := 0
	var loss *ops.Value
	for i, o := range outputs {
		name := fmt.Sprintf("%s/output%d", mode, i)
		want := arrays[name]
		if want == nil {
			t.Fatalf("tf_keras has no output %d", i)
		}
		if got := o.DType().String(); got != c.Outputs[i] {
			t.Errorf("output %d is of %s, tf_keras's is of %s", i, got, c.Outputs[i])
		}
		tol := 1e-5
		if c.Outputs[i] == "bfloat16" || c.Outputs[i] == "float16" {
			tol = 1.6e-2 // each op rounds: a bfloat16 has 8 bits
		}
		near(t, name, tensorOf(t, o), want, tol)
		mask, name := base.MaskOf(o), fmt.Sprintf("%s/outmask%d", mode, i)
		switch wantMask := arrays[name]; {
		case (mask == nil) != (wantMask == nil):
			t.Errorf("output %d: has a mask: %v, tf_keras's: %v", i, mask != nil, wantMask != nil)
		case mask != nil && !tensorOf(t, mask).Equal(wantMask):
			t.Errorf("output %d: the mask is %v, tf_keras's is %v", i, tensorOf(t, mask), wantMask)
		}
		if up := arrays[fmt.Sprintf("%s/upstream%d", c.Name, i)]; up != nil {
			part := ops.Cast(rec, ops.Sum(rec, ops.Mul(rec, o, ops.Cast(rec, up, o.DType()))), tensor.Float32)
			if loss == nil {
				loss = part
			} else {
				loss = ops.Add(rec, loss, part)
			}
		}
		count++
	}
	if arrays[fmt.Sprintf("%s/output%d", mode, count)] != nil {
		t.Errorf("tf_keras has more than %d outputs", count)
	}
	var lost []float32
	for _, l := range append(losses.Values(), base.RegularizationLosses(s, layer)...) {
		lost = append(lost, tensor.Values[float32](tensorOf(t, ops.Cast(s, l, tensor.Float32)))[0])
	}
	if want := arrays[mode+"/losses"]; want != nil || lost != nil {
		slices.Sort(lost)
		var sorted []float32
		if want != nil {
			sorted = slices.Sorted(slices.Values(tensor.Values[float32](want)))
		}
		if d := cmp.Diff(sorted, lost, cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-5*math.Abs(float64(a)) })); d != "" {
			t.Errorf("losses (-tf_keras +ours):\n%s", d)
		}
	}
	checkGradients(t, c, arrays, mode, tape, trainable, names, inputs, lists, loss)
	for i := range c.States {
		held := statesOf(layer)
		near(t, fmt.Sprintf("state %d", i), held[i].Load(), arrays[fmt.Sprintf("%s/state%d", mode, i)], 1e-5)
	}
	must(t, s.Err())
	for i, v := range vars {
		want := arrays[mode+"/after/"+c.Weights[i]]
		if want == nil {
			want = arrays[c.Name+"/weight/"+c.Weights[i]]
		}
		near(t, "after the call "+c.Weights[i], v.Load(), want, 1e-5)
	}
}

// composite returns a sparse or a ragged tensor of a fixture.
func composite(s *ops.Scope, form string, arrays map[string]*tensor.Tensor, name string) *ops.Value {
	var parts []*ops.Value
	for i := 0; arrays[fmt.Sprintf("%s/part%d", name, i)] != nil; i++ {
		parts = append(parts, ops.ValueOf(arrays[fmt.Sprintf("%s/part%d", name, i)]))
	}
	if form == "sparse" {
		return base.Sparse{Indices: parts[0], Values: parts[1], Shape: parts[2]}.Value(s)
	}
	return base.Ragged{Values: parts[0], Splits: parts[1:]}.Value(s)
}

// elementsOf returns the parts of sparse and ragged tensors.
func elementsOf(t *testing.T, outputs []*ops.Value, forms []string) (parts []*ops.Value) {
	for i, o := range outputs {
		sparse, isSparse := base.SparseOf(o)
		ragged, isRagged := base.RaggedOf(o)
		got := ""
		switch {
		case isSparse:
			got, parts = "sparse", append(parts, sparse.Indices, sparse.Values, sparse.Shape)
		case isRagged:
			got, parts = "ragged", append(append(parts, ragged.Values), ragged.Splits...)
		default:
			parts = append(parts, o)
		}
		want := ""
		if i < len(forms) {
			want = forms[i]
		}
		if got != want {
			t.Errorf("output %d is %q, tf_keras's is %q", i, got, want)
		}
	}
	return parts
}

// stateful is implemented by recurrent layers.
type stateful interface {
	ResetStates(states ...*tensor.Tensor) error
}

// statefulOf returns the recurrent layer that layer is or holds.
func statefulOf(layer any) stateful {
	if l, ok := layer.(*layers.TimeDistributed); ok {
		layer = l.Inner
	}
	return layer.(stateful)
}

// statesOf returns the states of a recurrent layer.
func statesOf(layer any) []*trackable.Variable {
	layer = statefulOf(layer)
	if b, ok := layer.(*layers.Bidirectional); ok {
		return append(statesOf(b.Forward), statesOf(b.Backward)...)
	}
	return reflect.ValueOf(layer).Elem().FieldByName("States").Interface().([]*trackable.Variable)
}

func checkGradients(t *testing.T, c *fixtureCase, arrays map[string]*tensor.Tensor, mode string, tape *grad.Tape,
	trainable []*trackable.Variable, names map[*trackable.Variable]string, inputs []*ops.Value, lists map[string][]*ops.Value, loss *ops.Value) {
	wanted := map[string]bool{}
	for name := range maps.Keys(arrays) {
		if strings.HasPrefix(name, mode+"/gradient") {
			wanted[name] = true
		}
	}
	if len(wanted) == 0 {
		return
	}
	var sources []*ops.Value
	var keys []string
	for i, x := range inputs {
		if x.DType().IsFloating() && c.Forms == nil {
			sources, keys = append(sources, x), append(keys, fmt.Sprintf("%s/gradient_input%d", mode, i))
		}
	}
	for key, list := range lists {
		for i, x := range list {
			if !x.DType().IsFloating() {
				continue
			}
			sources, keys = append(sources, x), append(keys, fmt.Sprintf("%s/gradient_arg/%s/%d", mode, key, i))
		}
	}
	grads := map[string]*ops.Value{}
	for i, g := range tape.GradientOf(loss, sources...) {
		grads[keys[i]] = g
	}
	for _, p := range tape.Gradient(loss, trainable) {
		grads[mode+"/gradient/"+names[p.Variable]] = p.Grad
	}
	for name, g := range grads {
		want := arrays[name]
		if (g == nil) != (want == nil) {
			t.Errorf("%s: there is one: %v, tf_keras has one: %v", name, g != nil, want != nil)
		} else if g != nil {
			tol := 1e-4
			if c.Outputs[0] == "bfloat16" || c.Outputs[0] == "float16" {
				tol = 2e-2
			}
			if got := tensorOf(t, g); largest(t, want) > 1e-6 {
				near(t, name, got, want, tol)
			} else if largest(t, got) > 1e-6 {
				t.Errorf("%s is %v, tf_keras's is 0 but for rounding", name, got)
			}
		}
		delete(wanted, name)
	}
	for name := range wanted {
		t.Errorf("no gradient %s", name)
	}
}

// near compares two tensors: floats within tol of the larger of the two, and of the
// largest element if they are small; all others exactly.
func near(t *testing.T, what string, got, want *tensor.Tensor, tol float64) {
	t.Helper()
	for _, x := range []**tensor.Tensor{&got, &want} {
		if (*x).DType() == tensor.BFloat16 { // which npz files don't hold
			wide, err := tensor.Cast(*x, tensor.Float32)
			must(t, err)
			*x = wide
		}
	}
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		t.Errorf("%s is %v %v, tf_keras's is %v %v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	if want.DType() == tensor.String {
		if d := cmp.Diff(want.Strings(), got.Strings()); d != "" {
			t.Errorf("%s (-tf_keras +ours):\n%s", what, d)
		}
		return
	}
	if !want.DType().IsFloating() {
		if !reflect.DeepEqual(got.Bytes(), want.Bytes()) {
			t.Errorf("%s is %v, tf_keras's is %v", what, got, want)
		}
		return
	}
	g, w := float64s(t, got), float64s(t, want)
	most := 0.0
	for _, x := range w {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			most = max(most, math.Abs(x))
		}
	}
	for i := range w {
		d := math.Abs(g[i] - w[i])
		same := g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i])
		if !same && !(d <= tol*max(math.Abs(w[i]), most/10)) {
			t.Errorf("%s: element %d is %v, tf_keras's is %v (of %d elements)", what, i, g[i], w[i], len(w))
			return
		}
	}
}

// largest returns the largest absolute value of a tensor.
func largest(t *testing.T, x *tensor.Tensor) float64 {
	most := 0.0
	for _, v := range float64s(t, x) {
		most = max(most, math.Abs(v))
	}
	return most
}
