package run_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestUnreachableFunctionsAreNotRead: a fault in a function hinders those who need it.
func TestUnreachableFunctionsAreNotRead(t *testing.T) {
	inner := `function { signature { name: 'inner' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
		node_def { name: 'n' op: 'Neg' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } } ret { key: 'r' value: 'n:y:0' } }`
	wrong := strings.NewReplacer("'inner'", "'wrong'", "'n:y:0'", "'nowhere:y:0'").Replace(inner)
	load := func(f, rest string) (*savedmodel.SavedModel, *run.Model, error) {
		text := strings.NewReplacer("NODES", "node { "+call("y", "x", f)+" }", "FUNCTIONS", inner+wrong+function("outer", "inner")+function("bad", "wrong")+rest).Replace(hostile)
		var p pb.SavedModel
		if err := pb.UnmarshalText([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		dir := fstest.MapFS{"saved_model.pb": {Data: p.Marshal()}}
		s, err := savedmodel.Read(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
		return s, m, err
	}
	s, m, err := load("outer", "")
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Scalar[float32](3)})
	if err != nil || tensor.Values[float32](out["y"])[0] != -3 {
		t.Errorf("%v, %v, want -3", out, err)
	}
	var fault *graph.FunctionDefError
	if _, err := s.MetaGraphs[0].Graph(); !errors.As(err, &fault) || fault.Function != "wrong" {
		t.Errorf("the whole graph: %v, want the fault in wrong", err)
	}
	if _, _, err := load("bad", ""); !errors.As(err, &fault) || fault.Function != "wrong" {
		t.Errorf("a signature that needs it: %v, want the fault in wrong", err)
	}
	if _, _, err := load("outer", inner); !errors.As(err, &fault) || fault.Function != "inner" {
		t.Errorf("two functions of a name: %v, want an error", err)
	}
}

// TestSaverFunctionsAreReadOnDemand checks that functions that only
// the saver's ops call aren't decoded until a program prunes the graph to one
// of them.
func TestSaverFunctionsAreReadOnDemand(t *testing.T) {
	dir := changed(t, "module", func(g *pb.MetaGraphDef, _ *pb.SavedObjectGraph) {
		def, err := g.GraphDef.Get()
		if err != nil {
			t.Fatal(err)
		}
		*g.GraphDef = pb.LazyOf(def)
		for i := range def.Library.Function {
			f, err := def.Library.Function[i].Get()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.Signature.Name, "traced_restore") {
				for _, n := range f.NodeDef {
					n.Input = append(n.Input, "nowhere:y:0") // a fault in each
				}
				def.Library.Function[i] = pb.LazyOf(f)
			}
		}
	})
	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 1, 3))}); err != nil {
		t.Error(err)
	}
	_, restore := m.MetaGraph().SaverOps()
	var fault *graph.NodeDefError
	if _, err := m.Prune(nil, []string{restore}); !errors.As(err, &fault) || !strings.Contains(fault.Function, "traced_restore") {
		t.Errorf("the restore op: %v, want the fault in its function", err)
	}
	whole, err := run.Load(ctx, files(t, "module"), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Prune(nil, []string{restore}); err != nil {
		t.Errorf("the restore op: %v", err)
	}
}

// TestAFunctionIsReadWithWhatItReaches: one that no signature reaches is called in spite of a
// fault in another one, however many are asked for.
func TestAFunctionIsReadWithWhatItReaches(t *testing.T) {
	const n = 12
	text := strings.Replace(string(manyFunctions(n)), "op: 'AddV2' input: 'x'", "op: 'AddV2' input: 'nowhere:y:0'", 1) // f0's first trace
	m, err := run.Load(ctx, fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string) error {
		f, err := m.Function(name)
		if err != nil {
			return err
		}
		y, err := f.Call(ctx, []any{tensor.Scalar[float32](5)}, nil)
		if err == nil && tensor.Values[float32](y.(*tensor.Tensor))[0] != 10 {
			t.Errorf("%s gives %v, want 10", name, y)
		}
		return err
	}
	var fault *graph.NodeDefError
	for range 2 {
		if err := call("f0"); !errors.As(err, &fault) || fault.Function != "__inference_f0_0" {
			t.Errorf("f0: %v, want the fault in it", err)
		}
		if err := call("f1"); err != nil {
			t.Error(err)
		}
	}
	for i := 2; i < n; i++ {
		if err := call(fmt.Sprint("f", i)); err != nil {
			t.Error(err)
		}
	}
}
