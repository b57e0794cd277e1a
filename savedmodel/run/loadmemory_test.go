package run_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// weightsModel is a model with one variable, whose shape a signature returns.
const weightsModel = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
	node { name: 'w' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: N } } } } attr { key: 'shared_name' value { s: 'w' } } }
	node { name: 'read' op: 'ReadVariableOp' input: 'w' attr { key: 'dtype' value { type: DT_FLOAT } } }
	node { name: 'shape' op: 'Shape' input: 'read' attr { key: 'T' value { type: DT_FLOAT } } } }
	signature_def { key: 'serving_default' value { outputs { key: 'shape' value { name: 'shape:0' dtype: DT_INT32 } } } }
	object_graph_def {
		nodes { children { node_id: 1 local_name: 'w' } children { node_id: 2 local_name: 'others' } user_object { identifier: '_generic_user_object' } }
		nodes { variable { dtype: DT_FLOAT shape { dim { size: N } } trainable: true name: 'w' } } OTHERS } }`

// TestPeakMemoryOfLoadingIsNearTheWeights measures the peak size of a process
// that loads a model: 200 MB of weights; 50 MB with a graph of 18 MB, of which
// a signature needs little; and 17 MB in many variables. The process has loaded
// a model before, as a server has.
func TestPeakMemoryOfLoadingIsNearTheWeights(t *testing.T) {
	if dir := os.Getenv("CAIRN_TEST_LOAD"); dir != "" {
		loadAndTell(t, dir)
		return
	}
	if runtime.GOOS != "linux" || testing.Short() || detector.Racing {
		t.Skip("200 MB, and a system that tells the largest size of a process, in which the race detector has its own memory")
	}
	for _, c := range []struct {
		n, functions, others int
		most                 float64
	}{{50_000_000, 0, 0, 1.1}, {12_500_000, 5000, 0, 1.2}, {8300, 0, 500, 1.2}} {
		dir := t.TempDir()
		w := trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, c.n)))
		others := map[string]*trackable.Variable{}
		for i := range c.others {
			others[fmt.Sprint(i)] = trackable.NewVariable(tensor.Must(tensor.Zeros(tensor.Float32, c.n)))
		}
		checkpoint, err := checkpoint.New(&struct {
			W      *trackable.Variable
			Others map[string]*trackable.Variable
		}{w, others}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "variables"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := checkpoint.Write(ctx, filepath.Join(dir, "variables", "variables")); err != nil {
			t.Fatal(err)
		}
		var edges, nodes strings.Builder
		for i := range c.others {
			fmt.Fprintf(&edges, "children { node_id: %d local_name: '%d' }\n", 3+i, i)
			fmt.Fprintf(&nodes, "nodes { variable { dtype: DT_FLOAT shape { dim { size: N } } trainable: true name: 'a/layer/of/a/model/%d' } }\n", i)
		}
		text := strings.ReplaceAll(weightsModel, "OTHERS", "nodes { "+edges.String()+" user_object { identifier: '_generic_user_object' } } "+nodes.String())
		var p pb.SavedModel
		if err := pb.UnmarshalText([]byte(strings.ReplaceAll(text, "size: N", fmt.Sprint("size: ", c.n))), &p); err != nil {
			t.Fatal(err)
		}
		def, err := p.MetaGraphs[0].GraphDef.Get()
		if err != nil {
			t.Fatal(err)
		}
		def.Library = new(pb.FunctionDefLibrary)
		for i := range c.functions {
			var f pb.FunctionDef
			f.Signature = &pb.OpDef{Name: fmt.Sprint("f", i)}
			for k := range 100 {
				f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: fmt.Sprint("a/layer/of/a/model/", k), Op: "NoOp"})
			}
			def.Library.Function = append(def.Library.Function, pb.LazyOf(&f))
		}
		graph := pb.LazyOf(def)
		p.MetaGraphs[0].GraphDef = &graph
		if err := os.WriteFile(filepath.Join(dir, "saved_model.pb"), p.Marshal(), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "CAIRN_TEST_LOAD="+dir)
		out, err := cmd.CombinedOutput()
		m := regexp.MustCompile(`grew by (\d+) kB`).FindSubmatch(out)
		if err != nil || m == nil {
			t.Fatalf("%v\n%s", err, out)
		}
		grew, _ := strconv.Atoi(string(m[1]))
		ratio := float64(grew) * 1024 / float64(4*c.n*(1+c.others))
		t.Logf("%d functions, %d variables: the process grew by %.2f times the weights", c.functions, 1+c.others, ratio)
		if ratio > c.most || ratio < 0.9 {
			t.Errorf("%d functions, %d variables: the process grew by %.2f times the weights, at most %.1f are allowed", c.functions, 1+c.others, ratio, c.most)
		}
	}
}

// peak returns the largest size that the process had in memory, in kB.
func peak(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no VmHWM in\n%s", b)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func loadAndTell(t *testing.T, dir string) {
	if _, err := run.Load(ctx, files(t, "keras_mlp"), &run.LoadOptions{Kernels: kernel.All()}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := peak(t)
	m, err := run.Load(ctx, os.DirFS(dir), &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	grew := peak(t) - before
	if _, err := m.Call(ctx, "serving_default", nil); err != nil {
		t.Fatal(err)
	}
	t.Logf("grew by %d kB", grew)
}

// manyFunctions returns a model of n functions "f0" …. Each has a trace for
// training=False, which returns x·2, and one for True, which returns x·x.
func manyFunctions(n int) []byte {
	var library, nodes, concrete, children strings.Builder
	spec := func(training string) string {
		return `tuple_value { values { tuple_value { values { tensor_spec_value { name: 'x' shape { unknown_rank: true } dtype: DT_FLOAT } } values { bool_value: ` + training + ` } } } values { dict_value { } } }`
	}
	arguments := `fullargspec { named_tuple_value { name: 'FullArgSpec'
		values { key: 'args' value { list_value { values { string_value: 'x' } values { string_value: 'training' } } } }
		values { key: 'defaults' value { tuple_value { values { bool_value: false } } } } } }`
	for i := range n {
		for k, op := range []string{"AddV2", "Mul"} {
			name := fmt.Sprintf("__inference_f%d_%d", i, k)
			fmt.Fprintf(&library, `function { signature { name: '%s' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }
				node_def { name: 'n' op: '%s' input: 'x' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } } ret { key: 'y' value: 'n:z:0' } }`+"\n", name, op)
			fmt.Fprintf(&concrete, "concrete_functions { key: '%s' value { canonicalized_input_signature { %s } output_signature { tensor_spec_value { shape { unknown_rank: true } dtype: DT_FLOAT } } } }\n",
				name, spec([]string{"false", "true"}[k]))
		}
		fmt.Fprintf(&children, "children { node_id: %d local_name: 'f%d' }\n", i+1, i)
		fmt.Fprintf(&nodes, "nodes { function { concrete_functions: '__inference_f%d_0' concrete_functions: '__inference_f%d_1' function_spec { %s } } }\n", i, i, arguments)
	}
	return fmt.Appendf(nil, `meta_graphs { meta_info_def { tags: 'serve' } graph_def { library { %s } } object_graph_def { nodes { %s user_object { identifier: '_generic_user_object' } } %s %s } }`,
		&library, &children, &nodes, &concrete)
}

// TestAThousandFunctionsOfTwoTraces: each takes its trace by a Python value, by its
// default, by place and by name.
func TestAThousandFunctionsOfTwoTraces(t *testing.T) {
	const n = 1000
	m, err := run.Load(ctx, fstest.MapFS{"saved_model.pbtxt": {Data: manyFunctions(n)}}, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Scalar[float32](5)
	for i := range n {
		f, err := m.Function(fmt.Sprint("f", i))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			args   []any
			kwargs map[string]any
			want   float32
		}{
			{[]any{x}, nil, 10},
			{[]any{x, true}, nil, 25},
			{[]any{x}, map[string]any{"training": true}, 25},
			{nil, map[string]any{"x": x, "training": false}, 10},
		} {
			y, err := f.Call(ctx, c.args, c.kwargs)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := tensor.Item[float32](y.(*tensor.Tensor)); err != nil || v != c.want {
				t.Fatalf("f%d(%v, %v) is %v, want %v", i, c.args, c.kwargs, v, c.want)
			}
		}
	}
	f, err := m.Function("f7")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Call(ctx, []any{x, "yes"}, nil)
	if err == nil || strings.Count(err.Error(), "\n  (x: float32<") != 2 {
		t.Errorf("a call that no trace takes: %v", err)
	}
}

// TestMissingInitKernelsNameNoInit checks that the error names the option
// that loads the model anyway, and that everything that doesn't need the op
// then runs.
func TestMissingInitKernelsNameNoInit(t *testing.T) {
	const text = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
		node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
		node { name: 'y' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
		node { name: 'init' op: 'Conjure' } }
		signature_def { key: 'serving_default' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: 'y' value { name: 'y:0' dtype: DT_FLOAT } } } }
		signature_def { key: '__saved_model_init_op' value { outputs { key: '__saved_model_init_op' value { name: 'init' } } } } }`
	files := fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}
	_, err := run.Load(ctx, files, &run.LoadOptions{Kernels: kernel.All()})
	if err == nil || !strings.Contains(err.Error(), "Conjure") || !strings.Contains(err.Error(), "LoadOptions.NoInit") {
		t.Errorf("%v", err)
	}
	m, err := run.Load(ctx, files, &run.LoadOptions{Kernels: kernel.All(), NoInit: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Scalar[float32](2)})
	if err != nil || !bytes.Equal(out["y"].Bytes(), tensor.Scalar[float32](-2).Bytes()) {
		t.Errorf("%v, %v", out, err)
	}
}
