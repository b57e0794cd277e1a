package kernel_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// answer is a call of a signature that TensorFlow has run.
type answer struct{ In, Out map[string]plain }

type plain struct {
	DType  string
	Shape  []int
	Values []float64
}

func (p plain) tensor(t *testing.T) *tensor.Tensor {
	t.Helper()
	d, err := tensor.ParseDType(p.DType)
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Must(tensor.Cast(tensor.Must(tensor.New(p.Values, p.Shape...)), d))
}

// model is a SavedModel, read as simply as can be: its graph, its signature, and
// an instance that its own restore op has filled.
type model struct {
	meta     *pb.MetaGraphDef
	graph    *graph.Graph
	instance *engine.Instance
}

func openModel(t *testing.T, dir string) *model {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "saved_model.pb"))
	if err != nil {
		t.Fatal(err)
	}
	var sm pb.SavedModel
	if err := sm.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	m := &model{meta: sm.MetaGraphs[0], instance: new(engine.Instance)}
	if m.graph, err = graph.FromProto(m.meta.GraphDef, nil); err != nil {
		t.Fatal(err)
	}
	saver := m.meta.SaverDef
	op, _, _ := strings.Cut(saver.RestoreOpName, ":")
	f, err := graph.Prune(m.graph, []graph.Output{m.find(t, saver.FilenameTensorName)}, nil, []*graph.Node{m.graph.Lookup(op)})
	if err != nil {
		t.Fatal(err)
	}
	m.run(t, f, []*tensor.Tensor{tensor.Scalar("variables/variables")}, &engine.RunOptions{Instance: m.instance, Files: &engine.Files{Read: os.DirFS(dir)}})
	return m
}

func (m *model) find(t *testing.T, name string) graph.Output {
	t.Helper()
	o, err := m.graph.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (m *model) run(t *testing.T, f *graph.Function, in []*tensor.Tensor, o *engine.RunOptions) []engine.Value {
	t.Helper()
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	var args []engine.Value
	for _, x := range in {
		args = append(args, engine.ValueOf(x))
	}
	out, err := p.Run(context.Background(), args, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSavedModelsAnswerAsTensorFlow(t *testing.T) {
	dirs, err := filepath.Glob("testdata/tf2.21/models/*/saved_model.pb")
	if err != nil || len(dirs) != 4 {
		t.Fatal(dirs, err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, "answers.json"))
			if err != nil {
				t.Fatal(err)
			}
			var answers []answer
			if err := json.Unmarshal(b, &answers); err != nil {
				t.Fatal(err)
			}
			m := openModel(t, dir)
			for i, a := range answers {
				m.check(t, i, a)
			}
		})
	}
}

func (m *model) check(t *testing.T, i int, a answer) {
	t.Helper()
	var sig *pb.SignatureDef
	for _, e := range m.meta.SignatureDef {
		if e.Key == "serving_default" {
			sig = e.Value
		}
	}
	var feeds, fetches []graph.Output
	var in []*tensor.Tensor
	var names []string
	for _, e := range sig.Inputs {
		feeds = append(feeds, m.find(t, e.Value.Name))
		in = append(in, a.In[e.Key].tensor(t))
	}
	for _, e := range sig.Outputs {
		fetches = append(fetches, m.find(t, e.Value.Name))
		names = append(names, e.Key)
	}
	f, err := graph.Prune(m.graph, feeds, fetches, nil)
	if err != nil || len(fetches) == 0 || len(fetches) != len(a.Out) {
		t.Fatalf("%d results, want %d (%v)", len(fetches), len(a.Out), err)
	}
	for k, v := range m.run(t, f, in, &engine.RunOptions{Instance: m.instance}) {
		want := a.Out[names[k]]
		got, err := tensor.Cast(v.Tensor, tensor.Float64)
		if err != nil || !v.Tensor.Shape().Equal(want.Shape) {
			t.Fatalf("call %d: %s is %v, want shape %v (%v)", i, names[k], v.Tensor, want.Shape, err)
		}
		for j, x := range tensor.Values[float64](got) {
			if w := want.Values[j]; math.Abs(x-w) > 1e-5*(1+math.Abs(w)) {
				t.Errorf("call %d: %s: element %d is %v, want %v", i, names[k], j, x, w)
			}
		}
	}
}
