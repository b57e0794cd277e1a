package optimizers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/keras/optimizers/schedules"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// tfCase is a case of testdata/gen_optimizers.py.
type tfCase struct {
	Config, Legacy, After json.RawMessage
	Variables, Listing    []string
	Exclude               []string
	Finalize              bool
}

type tfFixture struct {
	Cases     map[string]tfCase
	Schedules map[string]tfCase
	Refused   map[string]json.RawMessage

	arrays map[string]*tensor.Tensor
}

func readFixture(t *testing.T) *tfFixture {
	t.Helper()
	var f tfFixture
	data, err := os.ReadFile("testdata/optimizers.json")
	must(t, err)
	must(t, json.Unmarshal(data, &f))
	data, err = os.ReadFile("testdata/optimizers.npz")
	must(t, err)
	z, err := tensor.OpenNPZ(bytes.NewReader(data), int64(len(data)), nil)
	must(t, err)
	f.arrays = map[string]*tensor.Tensor{}
	for _, name := range z.Names() {
		f.arrays[name] = array(t, z, name)
	}
	return &f
}

// flat returns a JSON value as a list of its paths and values, in order.
func flat(t *testing.T, data []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	var out []string
	var walk func(path string)
	walk = func(path string) {
		tok, err := d.Token()
		must(t, err)
		switch tok {
		case json.Delim('{'), json.Delim('['):
			for i := 0; d.More(); i++ {
				key := any(i)
				if tok == json.Delim('{') {
					key, err = d.Token()
					must(t, err)
				}
				walk(fmt.Sprintf("%s.%v", path, key))
			}
			_, err = d.Token()
			must(t, err)
			out = append(out, fmt.Sprintf("%s %v", path, tok))
		default:
			out = append(out, fmt.Sprintf("%s = %#v", path, tok))
		}
	}
	walk("")
	return out
}

func sameConfig(t *testing.T, what string, obj any, legacy bool, want json.RawMessage) {
	t.Helper()
	got, err := keras.Config(obj, &keras.ConfigOptions{Legacy: legacy})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if d := cmp.Diff(flat(t, want), flat(t, got)); d != "" {
		t.Errorf("%s (-tf_keras +ours):\n%s", what, d)
	}
}

func fromConfig[T any](t *testing.T, data []byte) T {
	t.Helper()
	obj, err := keras.FromConfig(data, nil)
	must(t, err)
	o, ok := obj.(T)
	if !ok {
		t.Fatalf("got a %T", obj)
	}
	return o
}

func TestConfigsAreTfKeras(t *testing.T) {
	f := readFixture(t)
	for name, c := range f.Cases {
		t.Run(name, func(t *testing.T) {
			sameConfig(t, "new form", fromConfig[optimizers.Optimizer](t, c.Config), false, c.Config)
			sameConfig(t, "legacy form", fromConfig[optimizers.Optimizer](t, c.Legacy), true, c.Legacy)
			sameConfig(t, "after five steps", fromConfig[optimizers.Optimizer](t, c.After), false, c.After)
		})
	}
	for name, c := range f.Schedules {
		t.Run(name, func(t *testing.T) {
			sameConfig(t, "new form", fromConfig[schedules.Schedule](t, c.Config), false, c.Config)
			sameConfig(t, "legacy form", fromConfig[schedules.Schedule](t, c.Legacy), true, c.Legacy)
		})
	}
	for name, c := range f.Refused {
		if obj, err := keras.FromConfig(c, nil); err == nil {
			t.Errorf("%s: got %T, want an error as from tf_keras", name, obj)
		}
	}
}

func TestSchedulesFromConfigsGiveTfKerasRates(t *testing.T) {
	f := readFixture(t)
	for name, c := range f.Schedules {
		schedule := fromConfig[schedules.Schedule](t, c.Config)
		for _, dtype := range []tensor.DType{tensor.Int64, tensor.Float32} {
			want := f.arrays["schedule/"+name+"/"+dtype.String()]
			for i, w := range floats(t, want) {
				s := scope(t)
				rate := schedule.Rate(s, ops.Cast(s, int64(i), dtype))
				near(t, fmt.Sprintf("%s at %v %d", name, dtype, i), data(t, rate), tensor.Scalar(w), 1e-6, 1e-3)
			}
		}
	}
}

// tfRoot has the objects of a case's checkpoint.
type tfRoot struct {
	Bias, Kernel *trackable.Variable
	Opt          optimizers.Optimizer
	Table        *trackable.Variable
}

// tfStep is the input of a step.
type tfStep struct{ Kernel, Bias, Values, Indices *ops.Value }

// tfTrainer trains the variables of a case.
type tfTrainer struct {
	tfRoot
	f    *tfFixture
	step *function.Func[tfStep, *ops.Value]
}

func newTFTrainer(t *testing.T, f *tfFixture, c tfCase, mode function.Mode) *tfTrainer {
	t.Helper()
	variable := func(name string) *trackable.Variable {
		return trackable.NewVariable(f.arrays[name].Clone()).Named(name)
	}
	r := &tfTrainer{f: f, tfRoot: tfRoot{variable("bias"), variable("kernel"), fromConfig[optimizers.Optimizer](t, c.Config), variable("table")}}
	if c.Exclude != nil {
		must(t, r.Opt.(*optimizers.AdamW).ExcludeFromWeightDecay(nil, c.Exclude...))
	}
	r.step = function.New(func(s *ops.Scope, in tfStep) *ops.Value {
		rows := ops.IndexedSlices{Values: in.Values, Indices: in.Indices, Shape: ops.Const(s, []int{5, 3})}
		g := grad.Gradients{{Variable: r.Kernel, Grad: in.Kernel}, {Variable: r.Bias, Grad: in.Bias}, {Variable: r.Table, Grad: rows.Value(s)}}
		if scaled, ok := r.Opt.(*optimizers.LossScaleOptimizer); ok {
			g[0].Grad, g[1].Grad = scaled.ScaledLoss(s, g[0].Grad), scaled.ScaledLoss(s, g[1].Grad)
			rows.Values = scaled.ScaledLoss(s, rows.Values)
			g[2].Grad = rows.Value(s)
			g = scaled.UnscaledGradients(s, g)
		}
		r.Opt.Apply(s, g)
		return ops.Sum(s, r.Kernel)
	}, &function.Options{Mode: mode})
	return r
}

func (r *tfTrainer) take(t *testing.T, n int) {
	t.Helper()
	in := func(name string) *ops.Value { return ops.ValueOf(rowOf(t, r.f.arrays[name], n)) }
	step := tfStep{in("kernel_gradients"), in("bias_gradients"), in("table_values"), in("table_indices")}
	if _, scaled := r.Opt.(*optimizers.LossScaleOptimizer); scaled && n == 2 {
		s := scope(t)
		step.Kernel = ops.Div(s, step.Kernel, 0)
	}
	_, err := r.step.Call(context.Background(), step)
	must(t, err)
}

// TestFiveStepsAreTfKeras trains dense variables and a table with the optimizer of each
// config, and compares values, scales, config, names and the object graph with tf_keras's.
func TestFiveStepsAreTfKeras(t *testing.T) {
	f := readFixture(t)
	for name, c := range f.Cases {
		for mode, how := range map[function.Mode]string{function.Eagerly: "eager", function.Traced: "traced"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				r := newTFTrainer(t, f, c, mode)
				for n := range 5 {
					r.take(t, n)
					scaled, isScaled := r.Opt.(*optimizers.LossScaleOptimizer)
					if isScaled {
						s := scope(t)
						near(t, "scale", data(t, scaled.LossScale(s)), rowOf(t, f.arrays[name+"/scales"], n), 0, 1)
						near(t, "counter", data(t, scaled.DynamicCounter(s)), rowOf(t, f.arrays[name+"/counts"], n), 0, 1)
					}
					if n == 4 && c.Finalize {
						r.Opt.(optimizers.Based).AsBase().FinalizeVariableValues(scope(t), []*trackable.Variable{r.Kernel, r.Bias, r.Table})
					}
					for what, v := range map[string]*trackable.Variable{"kernel": r.Kernel, "bias": r.Bias, "table": r.Table} {
						near(t, fmt.Sprintf("%s after step %d", what, n+1), v.Load(), rowOf(t, f.arrays[name+"/"+what], n), 4e-6, 0.1)
					}
				}
				sameConfig(t, "config after five steps", r.Opt, false, c.After)
				var names []string
				o := r.Opt.(optimizers.Based).AsBase()
				for _, v := range o.Variables() {
					name := v.Name()
					for _, of := range []*trackable.Variable{r.Kernel, r.Bias, r.Table} {
						for _, slot := range o.SlotNames() { // whose names are those of the walk
							if o.Slot(of, slot) == v {
								name = o.Name + "/" + of.Name() + "/" + slot
							}
						}
					}
					names = append(names, name)
				}
				if d := cmp.Diff(c.Variables, names); d != "" {
					t.Errorf("variables (-tf_keras +ours):\n%s", d)
				}
				if d := cmp.Diff(c.Listing, listing(t, &r.tfRoot)); d != "" {
					t.Errorf("object graph (-tf_keras +ours):\n%s", d)
				}
			})
		}
	}
}

// TestARestoredRunGoesOn saves after three steps and restores into an optimizer made from
// the config, before and after its first step. Both take two more steps as the first run
// does.
func TestARestoredRunGoesOn(t *testing.T) {
	f := readFixture(t)
	ctx := context.Background()
	for name, c := range f.Cases {
		t.Run(name, func(t *testing.T) {
			of := func(r *tfTrainer) *checkpoint.Checkpoint {
				ck, err := checkpoint.New(&r.tfRoot, nil)
				must(t, err)
				return ck
			}
			first := newTFTrainer(t, f, c, function.Eagerly)
			for n := range 3 {
				first.take(t, n)
			}
			dir := vfs.MemDir()
			must(t, of(first).WriteTo(ctx, dir, "x"))
			late, early := newTFTrainer(t, f, c, function.Eagerly), newTFTrainer(t, f, c, function.Traced)
			early.take(t, 0)
			for _, r := range []*tfTrainer{late, early} {
				_, err := of(r).ReadFS(ctx, dir, "x", nil)
				must(t, err)
			}
			for n := 3; n < 5; n++ {
				for _, r := range []*tfTrainer{first, late, early} {
					r.take(t, n)
				}
			}
			for _, r := range []*tfTrainer{late, early} {
				for i, v := range []*trackable.Variable{r.Kernel, r.Bias, r.Table} {
					if want := []*trackable.Variable{first.Kernel, first.Bias, first.Table}[i]; !v.Load().Equal(want.Load()) {
						t.Errorf("%s is %v after a restore, want %v", v.Name(), v.Load(), want.Load())
					}
				}
				of := func(r *tfTrainer) []string {
					var out []string
					for _, v := range base.Variables(r.Opt.(trackable.Trackable)) {
						out = append(out, fmt.Sprint(v.Name(), v.Load()))
					}
					slices.Sort(out)
					return out
				}
				if d := cmp.Diff(of(first), of(r)); d != "" {
					t.Errorf("the optimizer's variables (-first +restored):\n%s", d)
				}
			}
		})
	}
}

// listing describes a checkpoint's object graph as gen_optimizers.py does.
func listing(t testing.TB, root any) []string {
	t.Helper()
	ctx := context.Background()
	ck, err := checkpoint.New(root, nil)
	must(t, err)
	dir := vfs.MemDir()
	must(t, ck.WriteTo(ctx, dir, "x"))
	r, err := bundle.Open(ctx, dir, "x", nil)
	must(t, err)
	defer r.Close()
	raw, err := r.Read(ctx, trackable.ObjectGraphKey)
	must(t, err)
	text, err := tensor.Item[string](raw)
	must(t, err)
	var g pb.TrackableObjectGraph
	must(t, g.Unmarshal([]byte(text)))
	var out []string
	for i, n := range g.Nodes {
		head := fmt.Sprint(i)
		if n.HasCheckpointValues == nil || !n.HasCheckpointValues.Value {
			head += " no values"
		}
		out = append(out, head)
		for _, c := range n.Children {
			out = append(out, fmt.Sprintf("  %s -> %d", c.LocalName, c.NodeId))
		}
		for _, a := range n.Attributes {
			e, ok := r.Entry(a.CheckpointKey)
			if !ok {
				t.Errorf("no value at %s", a.CheckpointKey)
			}
			shape := strings.ReplaceAll(fmt.Sprint([]int(e.Shape)), " ", ",")
			out = append(out, fmt.Sprintf("  %s %s %s %v%s", a.Name, a.FullName, a.CheckpointKey, e.DType, shape))
		}
		for _, s := range n.SlotVariables {
			out = append(out, fmt.Sprintf("  slot %s of %d -> %d", s.SlotName, s.OriginalVariableNodeId, s.SlotVariableNodeId))
		}
	}
	return out
}
