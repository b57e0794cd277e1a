package savedmodel_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/bundle"
	"github.com/cairnml/cairn/checkpoint"
	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/ops/raw"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// saved saves a model in memory and returns its files and its description.
func saved(t *testing.T, root trackable.Trackable, opts *savedmodel.SaveOptions) (fs.FS, *savedmodel.MetaGraph) {
	t.Helper()
	dir := vfs.MemDir()
	if err := savedmodel.SaveFS(t.Context(), root, dir, "m", opts); err != nil {
		t.Fatal(err)
	}
	fsys, err := subFS(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Read(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fsys, m.MetaGraphs[0]
}

func restored(t *testing.T, fsys fs.FS) *savedmodel.Restored {
	t.Helper()
	r, err := savedmodel.Restore(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func traceOf[In, Out any](t *testing.T, f *fn.Func[In, Out], in In) *fn.Concrete {
	t.Helper()
	c, err := f.Trace(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func scalar(v float32) *trackable.Variable { return trackable.NewVariable(tensor.Scalar(v)) }

func names(list []savedmodel.TensorInfo) []string {
	var out []string
	for _, x := range list {
		out = append(out, x.Name)
	}
	return out
}

func TestSignaturesNameTheirTensorsAsTensorFlow(t *testing.T) {
	spec := ops.Spec(tensor.Float32, -1)
	one := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Neg(s, x) })
	list := fn.New(func(s *ops.Scope, x *ops.Value) []*ops.Value { return []*ops.Value{ops.Neg(s, x), ops.Abs(s, x)} })
	dict := fn.New(func(s *ops.Scope, in Features) map[string]*ops.Value {
		return map[string]*ops.Value{"b": ops.Neg(s, in.X), "a": ops.Abs(s, in.X)}
	})
	several := fn.New(func(s *ops.Scope, in struct{ First, SecondOne *ops.Value }) Scores {
		return Scores{ops.Add(s, in.First, in.SecondOne)}
	})
	for _, c := range []struct {
		name    string
		trace   *fn.Concrete
		in, out []string
	}{
		{"one value", traceOf(t, one, spec), []string{"inputs"}, []string{"output_0"}},
		{"a list", traceOf(t, list, spec), []string{"inputs"}, []string{"output_0", "output_1"}},
		{"a map", traceOf(t, dict, Features{spec}), []string{"x"}, []string{"a", "b"}},
		{"several parameters", traceOf(t, several, struct{ First, SecondOne *ops.Value }{spec, spec}), []string{"first", "second_one"}, []string{"probs"}},
	} {
		_, g := saved(t, &struct{ trackable.Base }{}, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"a:b": c.trace}})
		if len(g.Signatures) != 1 || g.Signatures[0].Name != "a:b" {
			t.Errorf("%s: signatures %v", c.name, g.Signatures)
			continue
		}
		sig := g.Signatures[0]
		if in, out := names(sig.Inputs), names(sig.Outputs); !slices.Equal(in, c.in) || !slices.Equal(out, c.out) {
			t.Errorf("%s: inputs %q, outputs %q, want %q, %q", c.name, in, out, c.in, c.out)
		}
		if place := sig.Inputs[0].Tensor; strings.Count(place, ":") != 1 {
			t.Errorf("%s: the placeholder's name %q has a colon of the signature's", c.name, place)
		}
	}
}

func TestDefaultsOfInputsAreSaved(t *testing.T) {
	m := newLinear()
	trace := traceOf(t, m.Predict, Features{ops.Spec(tensor.Float32, 1, 4)})
	x := tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 1, 4))
	fsys, g := saved(t, m, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"serving_default": trace},
		SignatureDefaults: map[string]map[string]*tensor.Tensor{"serving_default": {"x": x}}})
	if d := g.Signatures[0].Inputs[0].Default; d == nil || !d.Equal(x) {
		t.Errorf("the default is %v", d)
	}
	model, err := run.Load(t.Context(), fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	without, err := model.Call(t.Context(), "serving_default", nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := model.Call(t.Context(), "serving_default", map[string]*tensor.Tensor{"x": x})
	if err != nil || !with["probs"].Equal(without["probs"]) {
		t.Errorf("%v without the input, %v with it, %v", without, with, err)
	}
}

func TestModelsHaveTensorFlowsVersion(t *testing.T) {
	_, g := saved(t, newLinear(), nil)
	if g.TensorFlowVersion != "2.21.0" || g.TensorFlowGitVersion == "" {
		t.Errorf("version %q, %q", g.TensorFlowVersion, g.TensorFlowGitVersion)
	}
}

func TestFunctionsWithoutATraceAreInTheLog(t *testing.T) {
	var log []savedmodel.Saved
	fsys, _ := saved(t, newLinear(), &savedmodel.SaveOptions{Log: func(s savedmodel.Saved) { log = append(log, s) }})
	i := slices.IndexFunc(log, func(s savedmodel.Saved) bool { return s.Path == "predict" })
	if i < 0 || !strings.Contains(log[i].Note, "never traced") {
		t.Errorf("the log is %+v", log)
	}
	if c := restored(t, fsys).Root.(*savedmodel.TrackableObject).Child("predict"); c != nil {
		t.Errorf("the model has a function %v", c)
	}
}

func TestContainersAndSharedObjectsAreSaved(t *testing.T) {
	shared := scalar(3)
	root := &struct {
		List  []*trackable.Variable
		Map   map[string]*trackable.Variable
		Again *trackable.Variable
	}{[]*trackable.Variable{scalar(1), shared}, map[string]*trackable.Variable{"a": scalar(2)}, shared}
	fsys, _ := saved(t, root, nil)
	o := restored(t, fsys).Root.(*savedmodel.TrackableObject)
	list, dict := o.Child("list").(*savedmodel.TrackableObject), o.Child("map").(*savedmodel.TrackableObject)
	if list.Child("1") != o.Child("again") {
		t.Error("a variable of two edges has become two")
	}
	if v := dict.Child("a").(*trackable.Variable).Load(); tensor.Values[float32](v)[0] != 2 {
		t.Errorf("the map's variable is %v", v)
	}
	if list.Traits.Identifier != "trackable_list_wrapper" || dict.Traits.Identifier != "trackable_dict_wrapper" {
		t.Errorf("classes %q and %q", list.Traits.Identifier, dict.Traits.Identifier)
	}
}

func TestTraitsOfVariablesAreSavedAgain(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](1, 2)).Named("scope/v").SetTrainable(false)
	v.SetShape(tensor.Shape{-1})
	v.SetTraits(&trackable.VariableTraits{Device: "/job:worker/device:CPU:0", Synchronization: "ON_READ", Aggregation: "MEAN"})
	root := &struct{ V *trackable.Variable }{v}
	for _, devices := range []bool{true, false} {
		fsys, g := saved(t, root, &savedmodel.SaveOptions{Devices: devices})
		got := g.Variables()[0].Variable
		device := ""
		if devices {
			device = "/job:worker/device:CPU:0"
		}
		if got.Name != "scope/v" || got.Trainable || got.Shape.String() != "[?]" || got.Synchronization != "ON_READ" || got.Aggregation != "MEAN" || got.Device != device {
			t.Errorf("devices %v: %+v", devices, got)
		}
		all, err := g.Graph()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all.Nodes() {
			if n.Op == "VarHandleOp" && n.Device != device {
				t.Errorf("devices %v: the handle's is %q", devices, n.Device)
			}
		}
		w := restored(t, fsys).Root.(*savedmodel.TrackableObject).Child("v").(*trackable.Variable)
		if w.Trainable() || w.Name() != "scope/v" || !w.ValueShape().Equal(tensor.Shape{-1}) || w.Traits().Synchronization != "ON_READ" {
			t.Errorf("devices %v: restored as %v %v %+v", devices, w.Name(), w.ValueShape(), w.Traits())
		}
	}
}

func TestAliasesNameTheTracesOfAFunction(t *testing.T) {
	m := newLinear()
	traceOf(t, m.Predict, Features{ops.Spec(tensor.Float32, -1, 4)})
	traceOf(t, m.Predict, Features{ops.Spec(tensor.Float32, 2, 4)})
	_, g := saved(t, m, &savedmodel.SaveOptions{Aliases: map[string]savedmodel.FunctionNode{"my_predict": m.Predict}})
	if len(g.Aliases) != 2 || slices.ContainsFunc(slices.Collect(maps.Values(g.Aliases)), func(s string) bool { return s != "my_predict" }) {
		t.Errorf("aliases %v", g.Aliases)
	}
	for name := range g.Aliases {
		if g.ConcreteFunction(name) == nil {
			t.Errorf("the aliased function %q is not in the model", name)
		}
	}
}

func TestShardsOfASavedModel(t *testing.T) {
	root := &struct{ List []*trackable.Variable }{}
	for range 4 {
		root.List = append(root.List, trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, 1000))))
	}
	fsys, _ := saved(t, root, &savedmodel.SaveOptions{Shards: checkpoint.MaxShardSize(5000)})
	files, err := fs.Glob(fsys, "variables/variables.data-*")
	if err != nil || len(files) < 4 {
		t.Errorf("files %q, %v", files, err)
	}
	r, err := bundle.Open(t.Context(), fsys, "variables/variables", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if x := restored(t, fsys).Root.(*savedmodel.TrackableObject).Child("list"); x == nil {
		t.Error("there is no list")
	}
}

func TestNamespacesOfOpsMustBeAllowed(t *testing.T) {
	f := graph.NewFunction("custom")
	x, err := f.AddArg("x", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf()})
	if err != nil {
		t.Fatal(err)
	}
	n := &graph.Node{Op: "Mine>Thing", Name: "thing", In: []graph.Output{x}, Out: []graph.Fact{x.Fact()},
		Def: &graph.OpDef{Name: "Mine>Thing", Inputs: []graph.ArgDef{{Name: "x", Type: tensor.Float32}}, Outputs: []graph.ArgDef{{Name: "y", Type: tensor.Float32}}}}
	if err := f.Graph.Add(n); err != nil {
		t.Fatal(err)
	}
	f.AddResult("y", n.Output(0))
	root := &struct{ F *graph.Concrete }{&graph.Concrete{Function: f}}
	err = savedmodel.SaveFS(t.Context(), root, vfs.MemDir(), "m", nil)
	if err == nil || !strings.Contains(err.Error(), `"Mine>Thing"`) || !strings.Contains(err.Error(), "SaveOptions.Namespaces") {
		t.Errorf("the error is %v", err)
	}
	if _, g := saved(t, root, &savedmodel.SaveOptions{Namespaces: []string{"Mine"}}); len(g.Objects) < 2 {
		t.Errorf("objects %v", g.Objects)
	}
}

func TestOpsThatTensorFlowHasRemovedAreRefused(t *testing.T) {
	f := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return raw.MatrixExponential(s, x) })
	c, err := f.Trace(ops.Spec(tensor.Float32, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	err = savedmodel.SaveFS(t.Context(), &struct{ F *graph.Concrete }{c}, vfs.MemDir(), "m", nil)
	var fault *savedmodel.SaveError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "MatrixExponential") || !strings.Contains(err.Error(), "tf.linalg.matrix_exponential") {
		t.Errorf("the error is %v", err)
	}
}

func TestAnAssetThatNothingReadsIsCopied(t *testing.T) {
	files := vfs.MemDir()
	if err := errorOf(files.WriteFile("a/notes.txt", []byte("one")), files.WriteFile("b/notes.txt", []byte("two"))); err != nil {
		t.Fatal(err)
	}
	a := savedmodel.NewAssetFS(files, "a/notes.txt")
	root := &struct{ A, Again, B *savedmodel.TrackableAsset }{a, a, savedmodel.NewAssetFS(files, "b/notes.txt")}
	fsys, g := saved(t, root, nil)
	if len(g.Assets) != 2 {
		t.Fatalf("assets %v", g.Assets)
	}
	var texts []string
	for _, x := range g.Assets {
		b, err := fs.ReadFile(fsys, x.Path())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if slices.Sort(texts); !slices.Equal(texts, []string{"one", "two"}) {
		t.Errorf("the assets are %q", texts)
	}
}

func errorOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestASaveWithinATraceIsAnError(t *testing.T) {
	m := newLinear()
	var inner error
	f := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		inner = savedmodel.SaveFS(s.Context(), m, vfs.MemDir(), "m", nil)
		return ops.Neg(s, x)
	})
	_, err := f.Trace(ops.Spec(tensor.Float32))
	if inner == nil && err == nil {
		t.Fatal("the save succeeded")
	}
	if text := errText(inner, err); !strings.Contains(text, "trace") {
		t.Errorf("the error is %q", text)
	}
}

func errText(list ...error) string {
	for _, err := range list {
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

func TestAConstantOfTwoFunctionsIsSavedOnce(t *testing.T) {
	table := tensor.Must(tensor.Zeros(tensor.Float32, 1000))
	add := func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, table) }
	root := &struct {
		F, G *fn.Func[*ops.Value, *ops.Value]
	}{fn.New(add), fn.New(add)}
	traceOf(t, root.F, ops.Spec(tensor.Float32, 1000))
	traceOf(t, root.G, ops.Spec(tensor.Float32, 1000))
	_, g := saved(t, root, nil)
	n := 0
	for _, o := range g.Objects {
		if o.Kind == savedmodel.ConstantObject {
			n++
		}
	}
	if n != 1 {
		t.Errorf("there are %d constants, want 1", n)
	}
}

func TestSavingAgainChangesNothing(t *testing.T) {
	for _, name := range []string{"module", "structured", "tables", "transformer"} {
		r := restored(t, os.DirFS(filepath.Join("testdata", "models", name)))
		var files [][]byte
		for range 3 {
			fsys, _ := saved(t, r.Root, nil)
			b, err := fs.ReadFile(fsys, savedmodel.GraphFile)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, b)
			r = restored(t, fsys)
		}
		if !bytes.Equal(files[0], files[1]) || !bytes.Equal(files[1], files[2]) {
			t.Errorf("%s: the bytes of three cycles differ", name)
		}
	}
}

// finetuned is a loaded model with a training step of Go's.
type finetuned struct {
	Loaded trackable.Trackable
	Step   *fn.Func[*ops.Value, *ops.Value]
}

func TestATrainingStepOverALoadedModelIsSaved(t *testing.T) {
	m := newLinear()
	predict := traceOf(t, m.Predict, Features{ops.Spec(tensor.Float32, -1, 4)})
	fsys, _ := saved(t, m, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"serving_default": predict}})
	r := restored(t, fsys)
	root := r.Root.(*savedmodel.TrackableObject)
	forward := root.Child("predict").(*savedmodel.TrackableFunction).Traces()[0]
	vars := []*trackable.Variable{root.Child("w").(*trackable.Variable), root.Child("b").(*trackable.Variable)}
	f := &finetuned{Loaded: root}
	f.Step = fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return ops.Sum(s, ops.Square(s, fn.Apply(s, forward, x)[0])) })
		for i, g := range tape.Gradient(loss, vars) {
			ops.AssignSub(s, vars[i], ops.Mul(s, g.Grad, float32(0.1)))
		}
		return loss
	})
	step := traceOf(t, f.Step, ops.Spec(tensor.Float32, -1, 4))
	again, _ := saved(t, f, &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{"step": step}})
	model, err := run.Load(t.Context(), again, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Must(tensor.New([]float32{0, .1, .2, .3, .4, .5, .6, .7}, 2, 4))
	var losses [2][]float32
	for range 4 {
		out, err := model.Call(t.Context(), "step", map[string]*tensor.Tensor{"inputs": x})
		if err != nil {
			t.Fatal(err)
		}
		losses[0] = append(losses[0], tensor.Values[float32](out["output_0"])[0])
		v, err := f.Step.Call(context.Background(), ops.ValueOf(x))
		if err != nil {
			t.Fatal(err)
		}
		own, err := v.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		losses[1] = append(losses[1], tensor.Values[float32](own)[0])
	}
	for i := range losses[0] {
		if d := losses[0][i] - losses[1][i]; d > 1e-5 || d < -1e-5 {
			t.Errorf("the losses are %v, of the live model %v", losses[0], losses[1])
			break
		}
	}
	if losses[0][3] >= losses[0][0] {
		t.Errorf("the losses do not fall: %v", losses[0])
	}
}

func TestSlotVariablesAreSavedAgain(t *testing.T) {
	fsys := os.DirFS(filepath.Join("testdata", "models", "slots"))
	r := restored(t, fsys)
	root := r.Root.(*savedmodel.TrackableObject)
	optimizer, ok := root.Child("optimizer").(*savedmodel.TrackableOptimizer)
	if !ok {
		t.Fatalf("the optimizer is a %T", root.Child("optimizer"))
	}
	v := root.Child("v").(*trackable.Variable)
	slot := optimizer.Slot(v, "momentum")
	if slot == nil {
		t.Fatalf("there is no slot; there are %q", optimizer.SlotNames())
	}
	if got := tensor.Values[float32](slot.Load()); !slices.Equal(got, []float32{-0.2, -0.4}) {
		t.Errorf("the slot is %v", got)
	}
	before, err := savedmodel.Read(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, g := saved(t, root, nil)
	want := before.MetaGraphs[0].Objects
	for i, o := range g.Objects {
		if o.ID >= len(want) || len(o.Slots) != len(want[i].Slots) {
			t.Fatalf("object %d has %d slots", i, len(o.Slots))
		}
		for k, s := range o.Slots {
			if w := want[i].Slots[k]; s.Name != w.Name || s.Original.ID != w.Original.ID || s.Slot.ID != w.Slot.ID {
				t.Errorf("object %d: the slot is %s of %d in %d, want %s of %d in %d", i, s.Name, s.Original.ID, s.Slot.ID, w.Name, w.Original.ID, w.Slot.ID)
			}
		}
	}
	// The step uses the restored slot: v is 1, 2 - 0.2, 0.4 - (0.9*0.2 +
	// 0.2*0.8, …).
	model, err := run.Load(t.Context(), again, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{0.64 + 2.56, 0.2116 + 0.8464} {
		out, err := model.Call(t.Context(), "step", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Values[float32](out["output_0"])[0]; got < want-1e-5 || got > want+1e-5 {
			t.Errorf("step %d: the loss is %v, want %v", i, got, want)
		}
	}
}
