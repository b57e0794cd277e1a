package function_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

var update = flag.Bool("update", false, "write testdata/dump.txt anew")

// TestDump holds a concrete function's text to testdata/dump.txt.
func TestDump(t *testing.T) {
	l := newLinear()
	predict := func(s *ops.Scope, x *ops.Value) linearOut {
		logits := ops.Add(s, ops.MatMul(s, x, l.w), l.b)
		return linearOut{Probs: ops.Softmax(s, logits), Logits: logits}
	}
	double := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Add(s, x, x) })
	fn := function.New(func(s *ops.Scope, in batch) linearOut {
		out := predict(s.WithName("net"), in.X)
		out.Probs = ops.If(s, ops.Greater(s, ops.Sum(s, in.X), in.Scale),
			func(s *ops.Scope) *ops.Value { return out.Probs },
			func(s *ops.Scope) *ops.Value { return ops.ZerosLike(s, out.Probs) })
		ops.AssignAdd(s, l.b, []float32{1, 1})
		return linearOut{Probs: double.Apply(s, out.Probs), Logits: out.Logits}
	})
	c, err := fn.Trace(batch{X: ops.Spec(tensor.Float32, -1, 4), Scale: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "dump.txt")
	got := c.String()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
	}
}
