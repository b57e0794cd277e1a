package kernel_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/vfs"
)

// TestProgramsEqualTensorFlow compiles small graphs of ops that handle more than
// tensors and runs them as often as TensorFlow did, on one instance.
func TestProgramsEqualTensorFlow(t *testing.T) {
	for _, p := range opfixture.LoadPrograms(t, "testdata/tf2.21/programs") {
		t.Run(p.Name, func(t *testing.T) { checkProgram(t, p) })
	}
}

// sameMessage are programs whose messages show values as TensorFlow's do.
var sameMessage = map[string]bool{"Assert": true, "CheckNumerics float32": true, "CheckNumericsV2 float32": true}

func checkProgram(t *testing.T, p opfixture.Program) {
	set := kernel.All()
	precision := engine.Exact
	for op := range p.Ops() {
		if k := set.Lookup(op); k != nil {
			precision = max(precision, k.Precision)
		}
	}
	plan, err := engine.Compile(p.Function(t), &engine.CompileOptions{Kernels: set})
	if err != nil {
		t.Fatal(err)
	}
	o := &engine.RunOptions{Instance: new(engine.Instance), Log: io.Discard, Files: &engine.Files{Write: vfs.MemDir()}}
	for r, run := range p.Runs {
		var in []engine.Value
		var args, want []*tensor.Tensor
		for _, x := range run.In {
			args = append(args, x.Tensor(t))
			in = append(in, engine.ValueOf(x.Tensor(t)))
		}
		out, err := plan.Run(context.Background(), in, o)
		if (err != nil) != (run.Error != "") {
			t.Errorf("run %d: error %v, TensorFlow's %q", r, err, run.Error)
			continue
		}
		if err != nil && sameMessage[p.Name] && !strings.Contains(err.Error(), run.Error) {
			t.Errorf("run %d: error %v, TensorFlow's says %q", r, err, run.Error)
		}
		for i, x := range args {
			if !x.Equal(in[i].Tensor) {
				t.Errorf("run %d: argument %d was changed", r, i)
			}
		}
		if err != nil {
			continue
		}
		if len(out) != len(run.Out) {
			t.Fatalf("run %d: %d results, want %d", r, len(out), len(run.Out))
		}
		for _, x := range run.Out {
			want = append(want, x.Tensor(t))
		}
		scale := opfixture.Scale(args, want)
		for i, v := range out {
			if v.Tensor == nil {
				t.Errorf("run %d: result %d is %v", r, i, v.DType())
			} else if d := opfixture.Differ(precision, v.Tensor, want[i], scale); d != "" {
				t.Errorf("run %d: result %d: %s", r, i, d)
			}
		}
	}
}
