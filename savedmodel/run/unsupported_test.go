package run_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/savedmodel"
	"github.com/cairnml/cairn/savedmodel/run"
	"github.com/cairnml/cairn/tensor"
)

// TestErrorsDistinguishPythonOpsFromMissingKernels checks the error for
// tf.py_function. No file contains the Python code that it calls, so only a
// kernel of the caller can run it.
func TestErrorsDistinguishPythonOpsFromMissingKernels(t *testing.T) {
	missing := func(op string) run.MissingOp {
		return run.MissingOp{Op: op, Def: graph.LookupOp(op), Count: 1, Uses: []string{"signature serving_default: " + op}}
	}
	for _, op := range []string{"PyFunc", "PyFuncStateless", "EagerPyFunc"} {
		err := &run.UnsupportedError{Ops: []run.MissingOp{missing(op)}}
		if !strings.Contains(err.Error(), "Python code") {
			t.Error(err)
		}
	}
	if err := (&run.UnsupportedError{Ops: []run.MissingOp{missing("CudnnRNN")}}); strings.Contains(err.Error(), "Python") {
		t.Error(err)
	}
}

// TestErrorOfXLAProgramsHasAHint uses a model of jax2tf, whose
// module is an attribute of bytes. Calls that don't reach it run.
func TestErrorOfXLAProgramsHasAHint(t *testing.T) {
	const text = `meta_graphs { meta_info_def { tags: 'serve' } graph_def {
		node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
		node { name: 'y' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
		node { name: 'z' op: 'PartitionedCall' input: 'x' attr { key: 'f' value { func { name: 'jax' } } }
			attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: 'Tout' value { list { type: DT_FLOAT } } } }
		library { function {
			signature { name: 'jax' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } }
			node_def { name: 'call' op: 'XlaCallModule' input: 'a'
				attr { key: 'version' value { i: 9 } } attr { key: 'module' value { s: 'ML\357R' } }
				attr { key: 'Sout' value { list { shape { } } } } attr { key: 'Tout' value { list { type: DT_FLOAT } } }
				attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: 'platforms' value { list { s: 'CPU' } } } }
			ret { key: 'r' value: 'call:output:0' } } } }
		signature_def { key: 'plain' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: 'y' value { name: 'y:0' dtype: DT_FLOAT } } } }
		signature_def { key: 'compiled' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: 'z' value { name: 'z:0' dtype: DT_FLOAT } } } } }`
	dir := fstest.MapFS{"saved_model.pbtxt": {Data: []byte(text)}}
	_, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All()})
	var missing *run.UnsupportedError
	if !errors.As(err, &missing) || len(missing.Ops) != 1 || missing.Ops[0].Op != "XlaCallModule" || missing.Ops[0].Def == nil {
		t.Fatal(err)
	}
	for _, want := range []string{"XLA", "native_serialization=False", "signature compiled", "call"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nsays nothing of %s", err, want)
		}
	}
	m, err := run.Load(ctx, dir, &run.LoadOptions{Kernels: kernel.All(), Signatures: []string{"plain"}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.Call(ctx, "plain", map[string]*tensor.Tensor{"x": tensor.Scalar[float32](3)}); err != nil || out["y"].String() != "-3.0" {
		t.Error(out, err)
	}
}

// TestSurveyAndGraphReportTheSameMissingOps checks that the survey of names, which
// loading uses, and the decoded graph, which calls use, report the same missing
// ops, whichever op it is.
func TestSurveyAndGraphReportTheSameMissingOps(t *testing.T) {
	all := kernel.All()
	refused, loaded := 0, 0
	for _, name := range []string{"assets", "counter", "hub", "keras_mlp", "lstm", "mlp", "module", "random_paths", "recurrent", "reshaped", "structured",
		"table", "tables", "text", "transformer", "unranked"} {
		dir := files(t, name)
		s, err := savedmodel.Read(ctx, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.Find()
		if err != nil {
			t.Fatal(err)
		}
		gr, err := g.Graph()
		if err != nil {
			t.Fatal(err)
		}
		ops := map[string]bool{}
		for _, n := range gr.Nodes() {
			ops[n.Op] = true
		}
		for _, f := range gr.Library.Functions() {
			for _, n := range f.Graph.Nodes() {
				ops[n.Op] = true
			}
		}
		for op := range ops {
			if all.Lookup(op) == nil {
				continue
			}
			var rest []engine.Kernel
			for k := range all.All() {
				if k.Op != op {
					rest = append(rest, *k)
				}
			}
			kernels, err := engine.NewKernelSet(rest)
			if err != nil {
				t.Fatal(err)
			}
			lazy, err := run.LoadMetaGraph(ctx, g, &run.LoadOptions{Kernels: kernels, Signatures: []string{}})
			if err != nil {
				t.Fatalf("%s without %s and without signatures: %v", name, op, err)
			}
			var missing *run.UnsupportedError
			for _, sig := range g.Signatures {
				if _, err := lazy.Signature(sig.Name); err != nil && !errors.As(err, &missing) {
					t.Fatalf("%s without %s: %v", name, op, err)
				}
			}
			_, err = run.LoadMetaGraph(ctx, g, &run.LoadOptions{Kernels: kernels})
			var told *run.UnsupportedError
			switch {
			case missing == nil && err != nil, missing != nil && !errors.As(err, &told):
				t.Errorf("%s without %s: loading says %v, a signature %v", name, op, err, missing)
			case err != nil:
				refused++
			default:
				loaded++
			}
		}
	}
	t.Logf("%d refused, %d loaded", refused, loaded)
	if refused < 100 || loaded < 100 {
		t.Errorf("%d refused and %d loaded: too few of one to tell", refused, loaded)
	}
}
