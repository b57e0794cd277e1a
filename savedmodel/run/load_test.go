package run_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/pb"
	"github.com/cairnml/cairn/internal/testkit/riegelitest"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

var ctx = context.Background()

// files returns the files of a fixture, in memory.
func files(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("../testdata/models/" + name)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, p)
		out[p] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func bump(t testing.TB, m *run.Model, by int64) int64 {
	t.Helper()
	out, err := m.Call(ctx, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar(by)})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range out {
		n, err := tensor.Item[int64](v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 0
}

func TestInstancesShareNothingThatChanges(t *testing.T) {
	a := load(t, "module")
	if n := bump(t, a, 2); n != 2 {
		t.Fatal(n)
	}
	b, err := a.Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := bump(t, b, 5); n != 5 {
		t.Errorf("another instance counts from the first one's number: %d", n)
	}
	if n := bump(t, a, 1); n != 3 {
		t.Errorf("the first instance went on to %d", n)
	}
	// A function reads the value that a signature has written.
	f, err := a.Function("total")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Call(ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := tensor.Item[int64](got.(run.Tuple)[1].(*tensor.Tensor)); n != 3 {
		t.Errorf("a function reads %v", got)
	}
	va, _ := a.Variable("a")
	vb, _ := b.Variable("a")
	if va == vb || &va.Load().Bytes()[0] != &vb.Load().Bytes()[0] {
		t.Error("the instances' variables aren't two over the same weights")
	}
	if first, _ := a.Variable("layers/0/w"); first != va {
		t.Error("one variable with two paths is two variables")
	}
}

func TestModelsServeManyGoroutines(t *testing.T) {
	m := load(t, "module")
	answers := readAnswers(t, "module")
	var wg sync.WaitGroup
	for g := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range answers {
				if a := answers[(g+i)%len(answers)]; a.Signature != "bump" && a.Function != "total" {
					check(t, m, i, a)
				}
			}
			bump(t, m, 1)
		}()
	}
	wg.Wait()
	if n := bump(t, m, 0); n != 100 {
		t.Errorf("100 goroutines counted to %d", n)
	}
}

func TestFailedLoadsLeakNothing(t *testing.T) {
	dir := files(t, "hub")
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	one := func() {
		if _, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()}); err != nil {
			t.Fatal(err)
		}
	}
	one()
	before := heap()
	for range 200 {
		one()
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("200 loads left %d bytes", after-before)
	}
}

func TestErrorsNameVariablesWithoutValues(t *testing.T) {
	for _, name := range []string{"module", "tf1_refs"} {
		dir := files(t, name)
		for p := range dir {
			if strings.HasPrefix(p, "variables/") {
				delete(dir, p)
			}
		}
		if _, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()}); !errors.Is(err, savedmodel.ErrNoCheckpoint) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s without a checkpoint: %v", name, err)
		}
		m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All(), NoVariables: true})
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 1, 3))}
		if name == "tf1_refs" {
			in = map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 1, 4)), "scale": tensor.Scalar[float32](1)}
		}
		if _, err := m.Call(ctx, "serving_default", in); err == nil || !strings.Contains(err.Error(), "has no value") {
			t.Errorf("%s: a variable without a value: %v", name, err)
		}
	}
	dir := files(t, "module")
	delete(dir, "variables/variables.data-00000-of-00001")
	if _, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()}); err == nil {
		t.Error("a checkpoint without its data was loaded")
	}
}

func TestErrorsNameWrongInputs(t *testing.T) {
	m := load(t, "module")
	x := tensor.Must(tensor.Zeros(tensor.Float32, 2, 3))
	for _, c := range []struct {
		name string
		in   map[string]*tensor.Tensor
		want string
	}{
		{"none", nil, `the input "x" is missing`},
		{"another name", map[string]*tensor.Tensor{"x": x, "y": x}, `no input "y"`},
		{"another type", map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Int32, 2, 3))}, "is int32, it should be float32"},
		{"another shape", map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 2, 4))}, "has shape [2,4], it should be [?,3]"},
	} {
		if _, err := m.Call(ctx, "serving_default", c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	f, _ := m.Function("options")
	var no *run.MatchError
	if _, err := f.Call(ctx, []any{x, true, 2.0, "multiply"}, nil); !errors.As(err, &no) || len(no.Candidates) != 6 || !strings.Contains(err.Error(), `"multiply"`) {
		t.Errorf("no trace has this mode: %v", err)
	}
	if _, err := f.Call(ctx, nil, nil); !errors.As(err, &no) || !strings.Contains(err.Error(), `"x" is missing`) {
		t.Errorf("no argument: %v", err)
	}
	if _, err := m.Function("count"); err == nil || !strings.Contains(err.Error(), "variable") {
		t.Errorf("a variable called: %v", err)
	}
	if _, err := m.Signature("serve"); err == nil {
		t.Error("a signature that isn't there")
	}
}

func TestPythonValuesBecomeTensors(t *testing.T) {
	m := load(t, "module")
	f, err := m.Function("branch")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Call(ctx, []any{[]any{1.0, 2.0}, 7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := f.CallFlat(ctx, 0, []*tensor.Tensor{tensor.Vector[float32](1, 2), tensor.Scalar[int32](7)})
	if err != nil {
		t.Fatal(err)
	}
	if !got.(*tensor.Tensor).Equal(flat[0]) {
		t.Error(got, flat)
	}
	for _, args := range [][]any{{[]any{1.0, "a"}, 7}, {[]any{1.0}, 1.5}, {[]any{[]any{1.0}, 2.0}, 7}, {nil, 7}} {
		if v, err := f.Call(ctx, args, nil); err == nil {
			t.Errorf("%v was taken: %v", args, v)
		}
	}
	bare, err := m.Function("bare")
	if err != nil {
		t.Fatal(err)
	}
	one := tensor.Vector[float32](1, 1, 1)
	a, err := bare.Call(ctx, []any{one, true, 2, "add", nil}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bare.Call(ctx, nil, map[string]any{"x": one})
	if err != nil || !a.(*tensor.Tensor).Equal(b.(*tensor.Tensor)) {
		t.Errorf("by structure %v, by name %v (%v)", a, b, err)
	}
}

func TestGraphsArePrunedByAnyTensors(t *testing.T) {
	m := load(t, "tf1_refs")
	s, err := m.Prune([]string{"MatMul:0", "scale"}, []string{"add:0", "net/bias"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Call(ctx, map[string]*tensor.Tensor{"MatMul:0": tensor.Must(tensor.Zeros(tensor.Float32, 1, 3)), "scale": tensor.Scalar[float32](1)})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[float32](out["add:0"]); got[0] != 1 || !out["net/bias"].Shape().Equal(tensor.Shape{3}) {
		t.Error(out)
	}
	for _, name := range []string{"nothing", "add:7", "add:x"} {
		if _, err := m.Prune(nil, []string{name}); err == nil {
			t.Errorf("%s was found", name)
		}
	}
}

func TestMissingOpsAreListedTogether(t *testing.T) {
	without := func(ops ...string) *engine.KernelSet {
		var list []engine.Kernel
		for k := range kernel.All().All() {
			keep := true
			for _, op := range ops {
				keep = keep && k.Op != op
			}
			if keep {
				list = append(list, *k)
			}
		}
		ks, err := engine.NewKernelSet(list)
		if err != nil {
			t.Fatal(err)
		}
		return ks
	}
	dir := files(t, "module")
	_, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: without("AssignAddVariableOp", "Mul", "Shape")})
	var missing *run.UnsupportedError
	if !errors.As(err, &missing) || len(missing.Ops) != 2 || !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("%v, want the two ops that signatures reach", err)
	}
	if op := missing.Ops[1]; op.Op != "Mul" || op.Def == nil || op.Count < 2 || !strings.Contains(op.Uses[0], "signature ") {
		t.Error(op)
	}
	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: without("Mul"), Signatures: []string{"bump"}})
	if err != nil {
		t.Fatal(err)
	}
	bump(t, m, 1)
	if _, err := m.Signature("serving_default"); !errors.As(err, &missing) {
		t.Error(err)
	}
	f, _ := m.Function("options")
	if _, err := f.Call(ctx, []any{tensor.Vector[float32](1, 2, 3)}, nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), "function __inference_options") {
		t.Error(err)
	}
}

func TestCanceledCallsStop(t *testing.T) {
	m := load(t, "module")
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Call(done, "bump", map[string]*tensor.Tensor{"by": tensor.Scalar[int64](1)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkCall(b *testing.B) {
	s, err := load(b, "module").Signature("serving_default")
	if err != nil {
		b.Fatal(err)
	}
	in := map[string]*tensor.Tensor{"x": tensor.Must(tensor.Zeros(tensor.Float32, 2, 3))}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(ctx, in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"module", "lstm"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				load(b, name)
			}
		})
	}
}

// TestUndefinedOpsFailOnlyTheCallsThatNeedThem uses an op without a definition.
// A function's body refers to its outputs by name, and only a definition would
// list these names.
func TestUndefinedOpsFailOnlyTheCallsThatNeedThem(t *testing.T) {
	const text = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
		node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
		node { name: 'y' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
		library { function {
			signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
			node_def { name: 'c' op: 'Conjure' input: 'a' attr { key: 'OutT' value { list { type: DT_FLOAT type: DT_FLOAT } } } }
			node_def { name: 'n' op: 'Neg' input: 'c:rabbits:1' attr { key: 'T' value { type: DT_FLOAT } } }
			ret { key: 'r' value: 'n:y:0' } } } }
		signature_def { key: 'good' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: 'y' value { name: 'y:0' dtype: DT_FLOAT } } } }
		object_graph_def {
			nodes { children { node_id: 1 local_name: 'f' } user_object { identifier: '_generic_user_object' } }
			nodes { bare_concrete_function { concrete_function_name: 'f' argument_keywords: 'a' allowed_positional_arguments: 1 } }
			concrete_functions { key: 'f' value { } } } }`
	m, err := run.Load(ctx, fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Call(ctx, "good", map[string]*tensor.Tensor{"x": tensor.Scalar[float32](3)})
	if err != nil || out["y"].String() != "-3.0" {
		t.Errorf("%v, %v", out, err)
	}
	f, err := m.Function("f")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Call(ctx, []any{tensor.Scalar[float32](3)}, nil)
	var missing *run.UnsupportedError
	if !errors.As(err, &missing) || missing.Ops[0].Op != "Conjure" || missing.Ops[0].Def != nil {
		t.Errorf("%v", err)
	}
}

// TestTheChunkedFormIsLoaded: as the whole one is, with its weights.
func TestTheChunkedFormIsLoaded(t *testing.T) {
	dir := os.DirFS("../testdata/models/module")
	raw, err := fs.ReadFile(dir, "saved_model.pb")
	if err != nil {
		t.Fatal(err)
	}
	w := riegelitest.New()
	at := w.Records('z', raw)
	w.Records('b', (&pb.ChunkMetadata{
		Chunks:  []*pb.ChunkInfo{{Type: pb.ChunkInfoTypeMessage, Size: uint64(len(raw)), Offset: uint64(at)}},
		Message: &pb.ChunkedMessage{HasChunkIndex: true},
	}).Marshal())
	files := fstest.MapFS{"saved_model.cpb": {Data: w.File}}
	for _, name := range []string{"variables/variables.index", "variables/variables.data-00000-of-00001"} {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: b}
	}
	m, err := run.Load(ctx, files, &run.LoadOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Call(ctx, "serving_default", map[string]*tensor.Tensor{"x": tensor.Must(tensor.New([]float32{1, 2, 3}, 1, 3))})
	if err != nil || tensor.Values[float32](out["y"])[2] != 93 {
		t.Errorf("%v, %v", out, err)
	}
	w.File[len(w.File)/2] ^= 1
	var wrong *savedmodel.FormatError
	if _, err := run.Load(ctx, files, &run.LoadOptions{Kernels: kernel.All()}); !errors.As(err, &wrong) || wrong.File != "saved_model.cpb" {
		t.Errorf("damage: %v", err)
	}
}

// TestLastOfTwoNamesForOneTensorIsUsed compares with a session of TensorFlow
// that is fed one tensor twice; either name is enough.
func TestLastOfTwoNamesForOneTensorIsUsed(t *testing.T) {
	m := load(t, "tf1_refs")
	call := func(in map[string]*tensor.Tensor) *tensor.Tensor {
		out, err := m.Call(ctx, "same", in)
		if err != nil {
			t.Fatal(err)
		}
		return out["y"]
	}
	one, two := tensor.Must(tensor.New([]float32{1, 2, 3, 4}, 1, 4)), tensor.Must(tensor.New([]float32{5, 6, 7, 8}, 1, 4))
	want := call(map[string]*tensor.Tensor{"x": two})
	if got := call(map[string]*tensor.Tensor{"again": one, "x": two}); !got.Equal(want) {
		t.Errorf("%v, want %v of x", got, want)
	}
	if got := call(map[string]*tensor.Tensor{"again": two}); !got.Equal(want) {
		t.Errorf("%v, want %v of again alone", got, want)
	}
}
