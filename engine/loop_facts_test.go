package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// turning returns a function that puts a matrix of unknown sizes through three rounds
// of tanh(x + y)·y.
func turning(t testing.TB) *graph.Function {
	cond := build(t, "cond")
	i := cond.arg(tensor.Int32)
	cond.arg(tensor.Float32)
	cond.arg(tensor.Float32)
	c := cond.ret(cond.op("Less", i, cond.scalar(3)))
	body := build(t, "body")
	i, x, y := body.arg(tensor.Int32), body.arg(tensor.Float32), body.arg(tensor.Float32)
	next := body.ret(body.op("AddV2", i, body.scalar(1)), body.op("Mul", body.op("Tanh", body.op("AddV2", x, y)), y), y)
	b := build(t, "turning")
	x, y = b.arg(tensor.Float32), b.arg(tensor.Float32)
	loop := b.node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.scalar(0), x, y)
	return b.ret(loop.Output(1))
}

// TestALoopsBodyIsCompiledForTheShapesOfACall: what follows from the shapes of the
// instance's arguments holds in its loops too.
func TestALoopsBodyIsCompiledForTheShapesOfACall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	general, p := compileAll(t, turning(t), -1), compileAll(t, turning(t), 2)
	for round := range 3 {
		for _, dims := range [][]int{{2, 3}, {8, 64}} {
			x, y := floatsOf(r, dims...), floatsOf(r, dims...)
			var l log
			got := run(t, p, &engine.RunOptions{Tracer: &l}, x, y)
			same(t, fmt.Sprintf("round %d, %v", round, dims), got, run(t, general, nil, x, y))
			if chained := slices.Contains(l.nodes, engine.ElementwiseOp); chained != (round > 0) {
				t.Errorf("round %d, %v: the call ran %v", round, dims, l.nodes)
			}
		}
	}
}

// growing returns a function that doubles a vector three times in a loop, and adds
// it to itself each time.
func growing(t testing.TB) *graph.Function {
	cond := build(t, "cond")
	i := cond.arg(tensor.Int32)
	cond.arg(tensor.Float32)
	c := cond.ret(cond.op("Less", i, cond.scalar(3)))
	body := build(t, "body")
	i, x := body.arg(tensor.Int32), body.arg(tensor.Float32)
	twice := body.op("ConcatV2", x, x, body.scalar(0))
	next := body.ret(body.op("AddV2", i, body.scalar(1)), body.op("Tanh", body.op("AddV2", twice, twice)))
	b := build(t, "growing")
	x = b.arg(tensor.Float32)
	loop := b.node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.scalar(0), x)
	return b.ret(loop.Output(1))
}

func TestALoopWhoseShapesChangeEachRoundRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	general, p := compileAll(t, growing(t), -1), compileAll(t, growing(t), 2)
	for range 3 {
		x := floatsOf(r, 5)
		got := run(t, p, nil, x)
		same(t, "growing", got, run(t, general, nil, x))
		if n := got[0].Tensor.Len(); n != 40 {
			t.Errorf("%d elements, want 40", n)
		}
	}
}

// TestABranchThatIsNotTakenMayContradictItsArguments: with the shapes of the call
// its product has no result, and nobody asks for it.
func TestABranchThatIsNotTakenMayContradictItsArguments(t *testing.T) {
	branch := func(name string, transposed bool) *graph.Function {
		b := build(t, name)
		x := b.arg(tensor.Float32)
		return b.ret(b.node("MatMul", graph.Attrs{graph.Bool("transpose_b", transposed)}, x, x).Output(0))
	}
	b := build(t, "choice")
	x, square := b.arg(tensor.Float32), b.arg(tensor.Bool)
	y := b.node("If", graph.Attrs{graph.Func("then_branch", branch("square", false)), graph.Func("else_branch", branch("gram", true)), graph.Types("Tout", tensor.Float32)}, square, x).Output(0)
	p := compileAll(t, b.ret(y), 2)
	x23 := floatsOf(rand.New(rand.NewPCG(5, 6)), 2, 3)
	for range 3 {
		if got := run(t, p, nil, x23, engine.ValueOf(tensor.Scalar(false))); got[0].Tensor.Len() != 4 {
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
	b := build(t, "several")
	x, i := b.arg(tensor.Float32), b.arg(tensor.Int32)
	y, c := b.op("Tanh", x), b.value(tensor.Scalar[float32](2))
	picked := b.op("GatherV2", y, i, b.scalar(0))
	p := compileAll(t, b.ret(x, y, c, y, picked), -1)
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 4 {
		in := floatsOf(r, 3)
		if _, err := p.Run(context.Background(), []engine.Value{in, engine.ValueOf(tensor.Scalar[int32](9))}, nil); err == nil {
			t.Fatal("the index 9 of 3 is taken")
		}
		out := run(t, p, nil, in, engine.ValueOf(tensor.Scalar[int32](1)))
		want := tensor.Values[float32](out[1].Tensor)
		if !slices.Equal(tensor.Values[float32](out[0].Tensor), tensor.Values[float32](in.Tensor)) || !slices.Equal(tensor.Values[float32](out[3].Tensor), want) ||
			tensor.Values[float32](out[2].Tensor)[0] != 2 || tensor.Values[float32](out[4].Tensor)[0] != want[1] {
			t.Errorf("round %d: %v", round, out)
		}
	}
}
