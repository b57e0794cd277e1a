package run_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"

	fn "github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
	"github.com/cairnml/cairn/vfs"
)

// A module of TensorFlow Hub lists the variables that can be trained, and computes in two modes.
func ExampleModel_Reusable() {
	ctx := context.Background()
	model, err := run.Load(ctx, os.DirFS("../testdata/models/hub"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	module, err := model.Reusable()
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := module.Call(ctx, tensor.Must(tensor.New([]float32{1, 0, 0, 0}, 1, 4)), true)
	if err != nil {
		fmt.Println(err)
		return
	}
	losses, err := module.RegularizationLosses(ctx)
	fmt.Println(y.(*tensor.Tensor).Shape(), len(module.Variables), len(module.TrainableVariables), len(losses), len(module.Lacks), err)
	// Output: [1,2] 2 1 1 0 <nil>
}

// TestCheckReusable checks, for models of TensorFlow with and without
// the interface, the list of the parts that they lack.
func TestCheckReusable(t *testing.T) {
	for name, want := range map[string][]string{
		"hub": nil, "hub_training": nil,
		"module":     {"__call__", "variables", "trainable_variables", "regularization_losses"},
		"structured": {"__call__", "variables", "trainable_variables", "regularization_losses"},
		"session":    {"__call__"},
		"keras_mlp":  nil,
	} {
		m, err := run.Load(ctx, files(t, name), &run.LoadOptions{Kernels: kernel.All()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range m.MetaGraph().CheckReusable() {
			got = append(got, l.Part)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lacks %q, want %q", name, m.MetaGraph().CheckReusable(), want)
		}
		r, err := m.Reusable()
		if lacksCall := slices.Contains(want, "__call__"); (err != nil) != lacksCall {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(r.Lacks) != len(want) {
			t.Errorf("%s: %q", name, r.Lacks)
		}
	}
}

type badModule struct {
	Call      *fn.Func[callIn, *ops.Value] `cairn:"__call__"`
	Variables []*trackable.Variable
	Trainable []trackable.Trackable              `cairn:"trainable_variables"`
	Losses    []*fn.Func[*ops.Value, *ops.Value] `cairn:"regularization_losses"`
}

type callIn struct{ X, Scale *ops.Value }

// TestCheckReusableOfWrongForms writes a module with wrong parts.
func TestCheckReusableOfWrongForms(t *testing.T) {
	v, w := trackable.NewVariable(tensor.Scalar[float32](1)), trackable.NewVariable(tensor.Scalar[float32](2))
	m := &badModule{Variables: []*trackable.Variable{v}}
	m.Call = fn.New(func(s *ops.Scope, in callIn) *ops.Value { return ops.Mul(s, ops.Mul(s, in.X, in.Scale), v) })
	loss := fn.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Mul(s, x, w) })
	m.Trainable, m.Losses = []trackable.Trackable{w}, []*fn.Func[*ops.Value, *ops.Value]{loss}
	if _, err := m.Call.Trace(callIn{ops.Spec(tensor.Float32, -1), ops.Spec(tensor.Float32)}); err != nil {
		t.Fatal(err)
	}
	if _, err := loss.Trace(ops.Spec(tensor.Float32)); err != nil {
		t.Fatal(err)
	}
	dir := vfs.MemDir()
	if err := savedmodel.SaveFS(ctx, m, dir, "m", &savedmodel.SaveOptions{Signatures: map[string]*fn.Concrete{}}); err != nil {
		t.Fatal(err)
	}
	fsys, err := fs.Sub(dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	r, err := savedmodel.Read(ctx, fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(r.MetaGraphs[0].CheckReusable())
	if want := `[__call__: its argument "scale" has no default trainable_variables: its element "0" is not among the variables regularization_losses: its element "0" has no trace without arguments]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
