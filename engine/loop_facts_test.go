package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// turning returns a function that puts a matrix of unknown sizes through three rounds
// of tanh(x + y)·y.
func turning(t testing.TB) *graph.Function {
	cond := enginetest.Build(t, "cond")
	i := cond.Arg(tensor.Int32)
	cond.Arg(tensor.Float32)
	cond.Arg(tensor.Float32)
	c := cond.Return(cond.Op("Less", i, cond.Scalar(3)))
	body := enginetest.Build(t, "body")
	i, x, y := body.Arg(tensor.Int32), body.Arg(tensor.Float32), body.Arg(tensor.Float32)
	next := body.Return(body.Op("AddV2", i, body.Scalar(1)), body.Op("Mul", body.Op("Tanh", body.Op("AddV2", x, y)), y), y)
	b := enginetest.Build(t, "turning")
	x, y = b.Arg(tensor.Float32), b.Arg(tensor.Float32)
	loop := b.Node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.Scalar(0), x, y)
	return b.Return(loop.Output(1))
}

// TestALoopsBodyIsCompiledForTheShapesOfACall: facts that follow from the
// shapes of the specialization's arguments apply in its loops too.
func TestALoopsBodyIsCompiledForTheShapesOfACall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	general, p := compileAll(t, turning(t), -1), compileAll(t, turning(t), 2)
	for round := range 3 {
		for _, dims := range [][]int{{2, 3}, {8, 64}} {
			x, y := enginetest.Floats(r, dims...), enginetest.Floats(r, dims...)
			var l log
			got := enginetest.Run(t, p, &engine.RunOptions{Tracer: &l}, x, y)
			enginetest.Same(t, fmt.Sprintf("round %d, %v", round, dims), got, enginetest.Run(t, general, nil, x, y))
			if chained := slices.Contains(l.nodes, passes.ElementwiseOp); chained != (round > 0) {
				t.Errorf("round %d, %v: the call ran %v", round, dims, l.nodes)
			}
		}
	}
}

// growing returns a function that doubles a vector three times in a loop, and adds
// it to itself each time.
func growing(t testing.TB) *graph.Function {
	cond := enginetest.Build(t, "cond")
	i := cond.Arg(tensor.Int32)
	cond.Arg(tensor.Float32)
	c := cond.Return(cond.Op("Less", i, cond.Scalar(3)))
	body := enginetest.Build(t, "body")
	i, x := body.Arg(tensor.Int32), body.Arg(tensor.Float32)
	twice := body.Op("ConcatV2", x, x, body.Scalar(0))
	next := body.Return(body.Op("AddV2", i, body.Scalar(1)), body.Op("Tanh", body.Op("AddV2", twice, twice)))
	b := enginetest.Build(t, "growing")
	x = b.Arg(tensor.Float32)
	loop := b.Node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.Scalar(0), x)
	return b.Return(loop.Output(1))
}

func TestALoopWhoseShapesChangeEachRoundRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	general, p := compileAll(t, growing(t), -1), compileAll(t, growing(t), 2)
	for range 3 {
		x := enginetest.Floats(r, 5)
		got := enginetest.Run(t, p, nil, x)
		enginetest.Same(t, "growing", got, enginetest.Run(t, general, nil, x))
		if n := got[0].Tensor.Len(); n != 40 {
			t.Errorf("%d elements, want 40", n)
		}
	}
}

// TestABranchThatIsNotTakenMayContradictItsArguments: with the shapes of the
// call its product has no result, and no node uses it.
func TestABranchThatIsNotTakenMayContradictItsArguments(t *testing.T) {
	branch := func(name string, transposed bool) *graph.Function {
		b := enginetest.Build(t, name)
		x := b.Arg(tensor.Float32)
		return b.Return(b.Node("MatMul", graph.Attrs{graph.Bool("transpose_b", transposed)}, x, x).Output(0))
	}
	b := enginetest.Build(t, "choice")
	x, square := b.Arg(tensor.Float32), b.Arg(tensor.Bool)
	y := b.Node("If", graph.Attrs{graph.Func("then_branch", branch("square", false)), graph.Func("else_branch", branch("gram", true)), graph.Types("Tout", tensor.Float32)}, square, x).Output(0)
	p := compileAll(t, b.Return(y), 2)
	x23 := enginetest.Floats(rand.New(rand.NewPCG(5, 6)), 2, 3)
	for range 3 {
		if got := enginetest.Run(t, p, nil, x23, engine.ValueOf(tensor.Scalar(false))); got[0].Tensor.Len() != 4 {
			t.Fatalf("shape %v", got[0].Tensor.Shape())
		}
	}
	if _, err := p.Run(context.Background(), []engine.Value{x23, engine.ValueOf(tensor.Scalar(true))}, nil); err == nil {
		t.Error("the product of a 2×3 matrix with itself has a result")
	}
}

// TestACallLeavesNothingToTheNext: results that are arguments, constants or given
// twice, and calls that fail, leave the plan as it was.
func TestACallLeavesNothingToTheNext(t *testing.T) {
	b := enginetest.Build(t, "several")
	x, i := b.Arg(tensor.Float32), b.Arg(tensor.Int32)
	y, c := b.Op("Tanh", x), b.Value(tensor.Scalar[float32](2))
	picked := b.Op("GatherV2", y, i, b.Scalar(0))
	p := compileAll(t, b.Return(x, y, c, y, picked), -1)
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 4 {
		in := enginetest.Floats(r, 3)
		if _, err := p.Run(context.Background(), []engine.Value{in, engine.ValueOf(tensor.Scalar[int32](9))}, nil); err == nil {
			t.Fatal("the index 9 of 3 is taken")
		}
		out := enginetest.Run(t, p, nil, in, engine.ValueOf(tensor.Scalar[int32](1)))
		want := tensor.Values[float32](out[1].Tensor)
		if !slices.Equal(tensor.Values[float32](out[0].Tensor), tensor.Values[float32](in.Tensor)) || !slices.Equal(tensor.Values[float32](out[3].Tensor), want) ||
			tensor.Values[float32](out[2].Tensor)[0] != 2 || tensor.Values[float32](out[4].Tensor)[0] != want[1] {
			t.Errorf("round %d: %v", round, out)
		}
	}
}
