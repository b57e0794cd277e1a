package models_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn"
	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/base"
	"github.com/cairnml/cairn/keras/config"
	"github.com/cairnml/cairn/keras/internal/kerastest"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/models"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// saveTo saves a model to a directory, and reads the one graph of the file.
func saveTo(t *testing.T, m models.Model, opts *models.SaveOptions) (dir string, g *savedmodel.MetaGraph) {
	t.Helper()
	dir = t.TempDir()
	kerastest.Must(t, models.Save(t.Context(), m, dir, opts))
	sm, err := savedmodel.Read(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	return dir, sm.MetaGraphs[0]
}

// TestTracesTellTheModeOfTraining reads the functions of layers: those that take the mode of
// training have a trace for each mode, and the default is false.
func TestTracesTellTheModeOfTraining(t *testing.T) {
	dir, _ := saveTo(t, small(t), nil)
	r, err := savedmodel.Restore(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	root := r.Root.(*savedmodel.TrackableObject)
	for path, modes := range map[string]string{
		"": "true false", "layer_with_weights-0": "", "layer_with_weights-1": "true false", "layer_with_weights-2": "true false",
		"layer_with_weights-2/layer_with_weights-0": "", "layer_with_weights-2/layer-1": "true false",
	} {
		obj := root
		for _, edge := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
			obj = obj.Child(edge).(*savedmodel.TrackableObject)
		}
		for _, name := range []string{"__call__", "call_and_return_all_conditional_losses"} {
			f := obj.Child(name).(*savedmodel.TrackableFunction)
			p := f.Parameters
			at := slices.Index(p.Names, "training")
			var got []string
			for _, c := range f.Traces() {
				if at >= 0 {
					got = append(got, fmt.Sprint(c.InputSignature().Elems[0].Elems[at].Value))
				}
			}
			if strings.Join(got, " ") != modes {
				t.Errorf("%s of %q has traces for training %q, want %q", name, path, got, modes)
			}
			if (at >= 0) != (modes != "") || len(f.Traces()) == 0 {
				t.Errorf("%s of %q has the parameters %q and %d traces", name, path, p.Names, len(f.Traces()))
			}
			if at >= 0 {
				if def := p.Defaults[at-len(p.Names)+len(p.Defaults)].Value; def != false {
					t.Errorf("%s of %q: training defaults to %v", name, path, def)
				}
			}
		}
	}
}

func TestListsOfVariablesAreComplete(t *testing.T) {
	m := small(t)
	dir, _ := saveTo(t, m, nil)
	r, err := savedmodel.Restore(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	root := r.Root.(*savedmodel.TrackableObject)
	api := root.Child("keras_api").(*savedmodel.TrackableObject)
	all, trained := len(keras.Variables(m)), len(keras.Trainable(m))
	for of, want := range map[*savedmodel.TrackableObject]map[string]int{
		root: {"variables": all, "trainable_variables": trained, "regularization_losses": 1},
		api:  {"variables": all, "trainable_variables": trained, "non_trainable_variables": all - trained, "layers": len(m.Layers())},
	} {
		for name, n := range want {
			if got := len(of.Child(name).(interface{ Edges() []trackable.Edge }).Edges()); got != n {
				t.Errorf("%s has %d elements, want %d", name, got, n)
			}
		}
	}
}

// names returns the names of a signature's tensors, with their shapes.
func names(list []savedmodel.TensorInfo) string {
	var out []string
	for _, i := range list {
		out = append(out, fmt.Sprint(i.Name, i.Shape))
	}
	return strings.Join(out, " ")
}

func TestSignaturesNameInputsAndOutputsAsTfKeras(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x, y := keras.Input(s, tensor.Shape{3}, &keras.InputOptions{Name: "a"}), keras.Input(s, tensor.Shape{5}, &keras.InputOptions{Name: "b"})
	d := keras.Named("d", &layers.Dense{Units: 2})
	several, err := keras.NewModel([]*ops.Value{x, y}, []*ops.Value{d.Call(s, x), d.Call(s, keras.Named("e", &layers.Dense{Units: 3}).Call(s, y))}, nil)
	kerastest.Must(t, err)
	sequential := keras.NewSequential(keras.Named("only", &layers.Dense{Units: 2}))
	kerastest.Must(t, keras.Build(function.Eager(t.Context()), sequential, tensor.Shape{-1, 3}))
	program := &block{First: &layers.Dense{Units: 2}, Count: new(counting)}
	program.Call(function.Eager(t.Context()), ones(t, 2, 3))
	for name, c := range map[string]struct {
		m       models.Model
		in, out string
	}{
		"functional":  {several, "a[?,3] b[?,5]", "d[?,2] d_1[?,2]"},
		"sequential":  {sequential, "only_input[?,3]", "only[?,2]"},
		"a program's": {program, "input_1[?,3]", "output_1[?,2]"},
	} {
		_, g := saveTo(t, c.m, &models.SaveOptions{Classes: programs(t)})
		sig, err := g.Signature(savedmodel.DefaultSignature)
		kerastest.Must(t, err)
		if in, out := names(sig.Inputs), names(sig.Outputs); in != c.in || out != c.out {
			t.Errorf("%s: inputs %s, outputs %s; want %s and %s", name, in, out, c.in, c.out)
		}
	}
}

// TestSignaturesOfAProgramAreSaved replaces serving_default by two functions of a program.
func TestSignaturesOfAProgramAreSaved(t *testing.T) {
	m := small(t)
	trace := func(f func(s *ops.Scope, x *ops.Value) map[string]*ops.Value) *graph.Concrete {
		c, err := function.New(f).Trace(ops.Spec(tensor.Float32, -1, 4))
		kerastest.Must(t, err)
		return c
	}
	signatures := map[string]*graph.Concrete{
		"predict": trace(func(s *ops.Scope, x *ops.Value) map[string]*ops.Value {
			return map[string]*ops.Value{"predictions": m.Call(s, x)}
		}),
		"first": trace(func(s *ops.Scope, x *ops.Value) map[string]*ops.Value {
			return map[string]*ops.Value{"predictions": m.Call(s, x), "first": m.Layers()[1].Call(s, x)}
		}),
	}
	dir, g := saveTo(t, m, &models.SaveOptions{SavedModel: &savedmodel.SaveOptions{Signatures: signatures}})
	if _, err := g.Signature(savedmodel.DefaultSignature); err == nil {
		t.Error("serving_default is there too")
	}
	run, err := cairn.Load(t.Context(), os.DirFS(dir), nil)
	kerastest.Must(t, err)
	in := ones(t, 2, 4)
	x, err := in.Tensor()
	kerastest.Must(t, err)
	s := function.Eager(t.Context())
	for name, want := range map[string]map[string]*ops.Value{
		"predict": {"predictions": m.Call(s, in)}, "first": {"predictions": m.Call(s, in), "first": m.Layers()[1].Call(s, in)},
	} {
		sig, err := g.Signature(name)
		kerastest.Must(t, err)
		out, err := run.Call(t.Context(), name, map[string]*tensor.Tensor{sig.Inputs[0].Name: x})
		kerastest.Must(t, err)
		if len(out) != len(want) {
			t.Errorf("%s: %d outputs, want %d", name, len(out), len(want))
		}
		for key, v := range want {
			y, err := v.Tensor()
			kerastest.Must(t, err)
			kerastest.Near(t, name+"/"+key, ops.ValueOf(out[key]), y, 1e-6)
		}
	}
}

// TestMetadataHasTheFormsOfTfKeras checks how shapes, tuples and specs are written.
func TestMetadataHasTheFormsOfTfKeras(t *testing.T) {
	_, g := saveTo(t, small(t), nil)
	objects, err := g.Keras()
	kerastest.Must(t, err)
	for path, want := range map[string]map[string]string{
		"root.layer-0":              {"batch_input_shape": `{"class_name": "__tuple__", "items": [null, 4]}`},
		"root.layer_with_weights-0": {"build_input_shape": `{"class_name": "TensorShape", "items": [null, 4]}`, "autocast": `true`, "must_restore_from_config": `false`},
		"root": {
			"save_spec": `{"class_name": "TypeSpec", "type_spec": "tf.TensorSpec", "serialized": [{"class_name": "TensorShape", "items": [null, 4]}, "float32", "x"]}`,
			"full_save_spec": `{"class_name": "__tuple__", "items": [[{"class_name": "TypeSpec", "type_spec": "tf.TensorSpec",
				"serialized": [{"class_name": "TensorShape", "items": [null, 4]}, "float32", "x"]}], {}]}`,
		},
	} {
		i := slices.IndexFunc(objects, func(o savedmodel.KerasObject) bool { return o.Path == path })
		var fields map[string]json.RawMessage
		kerastest.Must(t, json.Unmarshal([]byte(objects[i].Metadata), &fields))
		for key, text := range want {
			kerastest.SameJSON(t, path+" "+key, []byte(text), fields[key])
		}
	}
}

// raw is a program's layer that takes its inputs as they are.
type raw struct{ keras.Layer }

func (l *raw) KeepsInputTypes()                              {}
func (l *raw) Call(s *ops.Scope, x ops.Input) *ops.Value     { return l.Run(s, l, x, nil) }
func (l *raw) Compute(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Identity(s, x) }

func TestALayerThatCastsNothingSaysSo(t *testing.T) {
	s := keras.Symbolic(t.Context())
	x := keras.Input(s, tensor.Shape{4}, nil)
	h := keras.Named("casts", new(counting)).Call(s, x)
	m, err := keras.NewModel(x, keras.Named("keeps", new(raw)).Call(s, h), nil)
	kerastest.Must(t, err)
	classes, err := programs(t).With([]config.Class{config.Registered[*raw]("Example", "Raw")})
	kerastest.Must(t, err)
	_, g := saveTo(t, m, &models.SaveOptions{Classes: classes})
	objects, err := g.Keras()
	kerastest.Must(t, err)
	for _, o := range objects {
		var fields struct{ Autocast *bool }
		kerastest.Must(t, json.Unmarshal([]byte(o.Metadata), &fields))
		if want := map[string]bool{"casts": true, "keeps": false}; o.Name == "casts" || o.Name == "keeps" {
			if fields.Autocast == nil || *fields.Autocast != want[o.Name] {
				t.Errorf("%s: autocast is %v", o.Name, fields.Autocast)
			}
		}
	}
}

// TestTheVariablesOfASavedModelAreWeights restores a model from the checkpoint in the directory.
func TestTheVariablesOfASavedModelAreWeights(t *testing.T) {
	dir, _ := saveTo(t, small(t), nil)
	m, want := small(t), small(t)
	for _, v := range keras.Variables(m) {
		s := function.Eager(t.Context())
		ops.Assign(s, v, ops.ZerosLike(s, v))
		kerastest.Must(t, s.Err())
	}
	ck, err := checkpoint.New(m, nil)
	kerastest.Must(t, err)
	_, err = ck.ReadFS(t.Context(), os.DirFS(dir), savedmodel.VariablesPrefix, &checkpoint.RestoreOptions{Partial: true})
	kerastest.Must(t, err)
	for i, v := range base.Variables(m) {
		kerastest.Near(t, v.Name(), ops.ValueOf(v.Load()), base.Variables(want)[i].Load(), 0)
	}
}
