package outside

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnml/cairn/checkpoint"
	"github.com/cairnml/cairn/checkpoint/checkpointtest"
	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

func options(t *testing.T) *function.Options {
	t.Helper()
	o, err := Options()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOpRunsAndHasAGradient(t *testing.T) {
	x := ops.ValueOf(tensor.Vector[float32](1, -2, 3))
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return Cube(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
		return ops.Stack(s, []*ops.Value{y, tape.GradientOf(y, x)[0]})
	}, options(t))
	got, err := f.Call(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	values, err := got.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{1, -8, 27, 3, 12, 27} {
		if tensor.Values[float32](values)[i] != want {
			t.Fatalf("cubes and gradients are %v", values)
		}
	}
}

// TestOpGoesThroughAFile traces the op, writes the trace, reads it again and
// runs it.
func TestOpGoesThroughAFile(t *testing.T) {
	o := options(t)
	f := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		y, tape := grad.Of(s, func(s *ops.Scope) *ops.Value { return Cube(s, x) }, &grad.Options{Watch: []*ops.Value{x}})
		return ops.Add(s, Cube(s, y, graph.Float("factor", 0.5)), tape.GradientOf(y, x)[0])
	}, o)
	c, err := f.Trace(ops.Spec(tensor.Float32, -1))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Function.Results[0].Output.Fact(); got.DType != tensor.Float32 || got.Shape.Rank() != 1 {
		t.Errorf("of the result is known: %v", got)
	}
	lib := graph.Assemble(c.Function)
	file, err := (&graph.Graph{Library: lib}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	read, err := graph.Unmarshal(file, &graph.Options{Ops: []*graph.OpDef{CubeDef}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(read.Library.Lookup(lib.NameOf(c.Function)), &engine.CompileOptions{Kernels: o.Kernels, Shapes: o.Shapes})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Vector[float32](1, -2)
	out, err := plan.Run(t.Context(), []engine.Value{engine.ValueOf(x)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Call(t.Context(), ops.ValueOf(x))
	if err != nil {
		t.Fatal(err)
	}
	if w, err := want.Tensor(); err != nil || !out[0].Tensor.Equal(w) || tensor.Values[float32](w)[0] != 3.5 {
		t.Errorf("%v %v, want %v (%v)", out[0].Tensor, tensor.Values[float32](w), w, err)
	}
}

func TestOpIsUnknownWithoutItsKernel(t *testing.T) {
	s := function.Eager(t.Context())
	Cube(s, float32(2))
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "OutsideCube") {
		t.Fatalf("the error is %v", err)
	}
}

// training is a run of the model, optimizer included.
type training struct {
	Optimizer *optimizers.Adam
	Model     *Model
}

func (tr *training) step(s *ops.Scope, x *ops.Value) *ops.Value {
	loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
		return ops.Mean(s, ops.Square(s, ops.Sub(s, tr.Model.Call(s, x), ops.Sum(s, x, 1))))
	})
	tr.Optimizer.Apply(s, tape.Gradient(loss, keras.Trainable(tr.Model)))
	return loss
}

func (tr *training) run(ctx context.Context, o *function.Options, steps int) (losses []float32, err error) {
	step := function.New(tr.step, o)
	x := ops.ValueOf(tensor.Must(tensor.New([]float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 3, 2)))
	for range steps {
		loss, err := step.Call(ctx, x)
		if err != nil {
			return nil, err
		}
		l, err := ops.Item[float32](loss)
		if err != nil {
			return nil, err
		}
		losses = append(losses, l)
	}
	return losses, nil
}

// TestEverythingGoesThroughACheckpoint saves the model in the middle of its
// training, and a new one restores it and continues as the first one did.
func TestEverythingGoesThroughACheckpoint(t *testing.T) {
	savers := new(checkpoint.Savers)
	if err := savers.Register("Outside", Gauges); err != nil {
		t.Fatal(err)
	}
	o, ckptOptions := options(t), &checkpoint.Options{Savers: savers}
	first := &training{optimizers.NewAdam(0.05), NewModel()}
	ck, err := checkpoint.New(first, ckptOptions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.run(t.Context(), o, 5); err != nil {
		t.Fatal(err)
	}
	first.Model.Counts.N["word"] = 7
	if err := errors.Join(first.Model.Speed.Store(tensor.Scalar[float32](1.5)), first.Model.Heat.Store(tensor.Scalar[float32](-2))); err != nil {
		t.Fatal(err)
	}
	path, err := ck.Save(t.Context(), filepath.Join(t.TempDir(), "ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := first.run(t.Context(), o, 5)
	if err != nil {
		t.Fatal(err)
	}

	second := &training{optimizers.NewAdam(0.05), NewModel()}
	ck, err = checkpoint.New(second, ckptOptions)
	if err != nil {
		t.Fatal(err)
	}
	report, err := ck.Restore(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := second.run(t.Context(), o, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.AssertConsumed(); err != nil {
		t.Error(err)
	}
	for i := range want {
		if got[i] != want[i] || math.IsNaN(float64(got[i])) {
			t.Errorf("losses are %v, want %v", got, want)
			break
		}
	}
	if second.Model.Counts.N["word"] != 7 {
		t.Errorf("counts are %v", second.Model.Counts.N)
	}
	if x, _ := tensor.Item[float32](second.Model.Heat.Load()); x != -2 {
		t.Errorf("the gauge shows %v", x)
	}
}

func TestClassKeepsTheRules(t *testing.T) {
	checkpointtest.Check(t, func() any { return &Counts{N: map[string]int64{"a": 1, "b": 2}} })
}
