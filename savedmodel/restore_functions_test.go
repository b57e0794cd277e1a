package savedmodel_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// stackModel is a program whose parts a registered saver saves.
type stackModel struct {
	A, B *partStack
	Sum  *fn.Func[*ops.Value, *ops.Value]
}

// savedStacks saves a model by a registered saver and returns its directory.
func savedStacks(t *testing.T, dir vfs.Dir, z *savedmodel.Serializer) fs.FS {
	t.Helper()
	stackOf := func(values ...[]float32) *partStack {
		st := new(partStack)
		for _, v := range values {
			p := new(part)
			p.Init(tensor.Vector(v...))
			st.Parts = append(st.Parts, p)
		}
		return st
	}
	m := &stackModel{A: stackOf([]float32{1, 2}, []float32{3, 4}), B: stackOf([]float32{10, 20, 30})}
	m.Sum = fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		return ops.Mul(s, x, ops.Add(s, ops.Sum(s, m.A.stacked(s)), ops.Sum(s, m.B.stacked(s))))
	})
	sum, err := m.Sum.Trace(ops.Spec(tensor.Float32))
	if err != nil {
		t.Fatal(err)
	}
	err = z.SaveFS(context.Background(), m, dir, "m", &savedmodel.SaveOptions{Savers: stackSavers(t), Signatures: map[string]*fn.Concrete{savedmodel.DefaultSignature: sum}})
	if err != nil {
		t.Fatal(err)
	}
	return sub(t, dir, "m")
}

func sub(t *testing.T, dir vfs.Dir, name string) fs.FS {
	t.Helper()
	fsys, err := subFS(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// sumOf runs the model's signature.
func sumOf(t *testing.T, fsys fs.FS) float32 {
	t.Helper()
	model, err := run.Load(t.Context(), fsys, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := model.Call(t.Context(), savedmodel.DefaultSignature, map[string]*tensor.Tensor{"x": tensor.Scalar[float32](1)})
	if err != nil {
		out, err = model.Call(t.Context(), savedmodel.DefaultSignature, map[string]*tensor.Tensor{"inputs": tensor.Scalar[float32](1)})
	}
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Values[float32](out["output_0"])[0]
}

// TestFunctionsOfTheModelRestoreWhatARegisteredSaverSaved loads a model without its
// classes and its saver, changes it and saves it again.
func TestFunctionsOfTheModelRestoreWhatARegisteredSaverSaved(t *testing.T) {
	ctx := t.Context()
	dir := vfs.MemDir()
	from := savedStacks(t, dir, new(savedmodel.Serializer))
	r, err := savedmodel.Restore(ctx, from, nil)
	if err != nil || !slices.Equal(r.Unfilled, []string{"a/parts/0", "a/parts/1", "b/parts/0"}) {
		t.Fatalf("without a runner: %v, %+v", err, r)
	}
	opts := &savedmodel.RestoreOptions{Run: ops.NewRunner(kernel.All())}
	if r, err = savedmodel.Restore(ctx, from, opts); err != nil || len(r.Unfilled) > 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	parts := r.Root.(*savedmodel.TrackableObject).Child("a").(*savedmodel.TrackableObject).Child("parts").(*savedmodel.TrackableObject)
	second := parts.Child("1").(*trackable.Variable)
	if got := tensor.Values[float32](second.Load()); !slices.Equal(got, []float32{3, 4}) {
		t.Errorf("a.parts.1 is %v", got)
	}
	if err := second.Store(tensor.Vector[float32](100, 200)); err != nil {
		t.Fatal(err)
	}
	if err := savedmodel.SaveFS(ctx, r.Root, dir, "n", nil); err != nil {
		t.Fatal(err)
	}
	if got := sumOf(t, sub(t, dir, "n")); got != 363 {
		t.Errorf("after the change the sum is %v, want 363", got)
	}
	view, err := checkpoint.OpenFS(ctx, sub(t, dir, "n"), savedmodel.VariablesPrefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	want := []string{"_CHECKPOINTABLE_OBJECT_GRAPH", "a/.ATTRIBUTES/value", "b/.ATTRIBUTES/value"}
	if got := view.Reader().Names(); !slices.Equal(got, want) {
		t.Errorf("the checkpoint has %q, want %q", got, want)
	}
}

func TestAModelOfARegisteredSaverIsRewritten(t *testing.T) {
	ctx := t.Context()
	dir := vfs.MemDir()
	from := savedStacks(t, dir, &savedmodel.Serializer{Package: "Custom", Classes: stackClasses(t)})
	m, err := savedmodel.Read(ctx, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := savedmodel.Rewrite(ctx, m, dir, "n", nil); err == nil || !strings.Contains(err.Error(), "RewriteOptions.Run") {
		t.Errorf("without a runner: %v", err)
	}
	if err := savedmodel.Rewrite(ctx, m, dir, "n", &savedmodel.RewriteOptions{Run: ops.NewRunner(kernel.All())}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"variables/variables.index", "variables/variables.data-00000-of-00001"} {
		a, err := fs.ReadFile(from, name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fs.ReadFile(sub(t, dir, "n"), name)
		if err != nil || !slices.Equal(a, b) {
			t.Errorf("%s has other bytes (%v)", name, err)
		}
	}
	if got := sumOf(t, sub(t, dir, "n")); got != 70 {
		t.Errorf("the sum is %v, want 70", got)
	}
}

func TestFunctionsOfTheModelFillObjectsOfClasses(t *testing.T) {
	ctx := t.Context()
	dir := vfs.MemDir()
	ser := &savedmodel.Serializer{Package: "Custom", Classes: classesWithout(t)}
	from := savedStacks(t, dir, ser)
	if _, err := ser.Load(ctx, from, nil); err == nil || !strings.Contains(err.Error(), "RestoreOptions.Run") {
		t.Errorf("without a runner: %v", err)
	}
	r, err := ser.Load(ctx, from, &savedmodel.RestoreOptions{Run: ops.NewRunner(kernel.All())})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Root.(*savedmodel.TrackableObject).Child("b").(*partStack)
	if got := tensor.Values[float32](b.Parts[0].Load()); !slices.Equal(got, []float32{10, 20, 30}) {
		t.Errorf("b's part is %v", got)
	}
	// Without its saver the class saves each part by itself.
	if err := ser.SaveFS(ctx, r.Root, dir, "n", nil); err != nil {
		t.Fatal(err)
	}
	if got := sumOf(t, sub(t, dir, "n")); got != 70 {
		t.Errorf("the sum is %v, want 70", got)
	}
}

// classesWithout returns the classes of the stacks of a program that has no function in
// them.
func classesWithout(t *testing.T) *savedmodel.Classes {
	classes := new(savedmodel.Classes)
	err := savedmodel.Register(classes, savedmodel.Class[*partStack]{Package: "Custom", Name: "Stack", Load: func(ctx context.Context, spec *savedmodel.LoadSpec) (*partStack, error) {
		list, err := spec.Child("parts")
		if err != nil {
			return nil, err
		}
		st := new(partStack)
		for range list.Children() {
			st.Parts = append(st.Parts, new(part))
		}
		return st, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return classes
}
