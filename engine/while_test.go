package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// fillList sets every element of a list of n elements in a loop.
func fillList(t testing.TB) *graph.Function {
	types := []tensor.DType{tensor.Int32, tensor.Int32, tensor.Variant}
	cond := enginetest.Build(t, "cond")
	i, n := cond.Arg(types[0]), cond.Arg(types[1])
	cond.Arg(types[2])
	c := cond.Return(cond.Op("Less", i, n))
	body := enginetest.Build(t, "body")
	i, n = body.Arg(types[0]), body.Arg(types[1])
	l := body.Arg(types[2])
	next := body.Return(body.Op("AddV2", i, body.Scalar(1)), n, body.Op("TensorListSetItem", l, i, i))
	b := enginetest.Build(t, "fill")
	n = b.Arg(tensor.Int32)
	l = b.Node("TensorListReserve", graph.Attrs{graph.Type("element_dtype", tensor.Int32)}, b.Value(tensor.Must(tensor.New([]int32{}, 0))), n).Output(0)
	loop := b.Node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.Scalar(0), n, l)
	return b.Return(b.Node("TensorListStack", graph.Attrs{graph.Type("element_dtype", tensor.Int32)}, loop.Output(2), b.Value(tensor.Must(tensor.New([]int32{}, 0)))).Output(0))
}

func plan(t testing.TB, f *graph.Function) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAListIsChangedInPlaceInALoop(t *testing.T) {
	p := plan(t, fillList(t))
	run := func(n int32) (int64, []int32) {
		var used engine.Usage
		out, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Scalar(n))}, &engine.RunOptions{Used: &used})
		if err != nil {
			t.Fatal(err)
		}
		return used.Peak, tensor.Values[int32](out[0].Tensor)
	}
	// A copy a round would make 10^10 moves: the test would not end.
	_, got := run(100_000)
	for i, x := range got {
		if int(x) != i {
			t.Fatalf("element %d is %d", i, x)
		}
	}
}

// countTo returns a loop of two scalar ops.
func countTo(t testing.TB) *graph.Function {
	cond := enginetest.Build(t, "cond")
	i, n := cond.Arg(tensor.Int32), cond.Arg(tensor.Int32)
	c := cond.Return(cond.Op("Less", i, n))
	body := enginetest.Build(t, "body")
	i, n = body.Arg(tensor.Int32), body.Arg(tensor.Int32)
	next := body.Return(body.Op("AddV2", i, body.Scalar(1)), n)
	b := enginetest.Build(t, "count")
	n = b.Arg(tensor.Int32)
	return b.Return(b.Node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.Scalar(0), n).Output(0))
}

func TestALoopTakesConstantMemory(t *testing.T) {
	p := plan(t, countTo(t))
	peak := func(n int32) (int64, float64) {
		var used engine.Usage
		in := []engine.Value{engine.ValueOf(tensor.Scalar(n))}
		allocs := testing.AllocsPerRun(1, func() {
			out, err := p.Run(context.Background(), in, &engine.RunOptions{Used: &used})
			if err != nil || tensor.Values[int32](out[0].Tensor)[0] != n {
				t.Fatal(out, err)
			}
		})
		return used.Peak, allocs
	}
	few, _ := peak(10)
	many, allocs := peak(10_000)
	if few != many {
		t.Errorf("10 rounds take %d bytes, 10,000 rounds %d", few, many)
	}
	if allocs > 25_000 && !detector.Racing {
		t.Errorf("%.1f allocations a round", allocs/10_000)
	}
}

func BenchmarkWhile(b *testing.B) {
	p := plan(b, countTo(b))
	b.ReportAllocs()
	if _, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Scalar(int32(b.N)))}, nil); err != nil {
		b.Fatal(err)
	}
}

// TestALoopKnowsWhatItsConditionLooksAt asks a condition of three variables that
// compares the last two.
func TestALoopKnowsWhatItsConditionLooksAt(t *testing.T) {
	var got []bool
	ks, err := kernel.All().Replace(engine.Kernel{Op: "PartitionedCall", Prepare: func(n *engine.Node) (func(*engine.Call) error, error) {
		f, err := n.Function("f", nil)
		return func(c *engine.Call) error {
			for i := range 3 {
				got = append(got, engine.Needs(f, i))
			}
			out, err := f.Call(c, []engine.Value{{}, c.Refs().Share(1), c.Refs().Share(2)}, nil)
			if err == nil {
				c.Refs().Output(0, out[0])
			}
			return err
		}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	cond := enginetest.Build(t, "cond")
	cond.Arg(tensor.Float32)
	i, limit := cond.Arg(tensor.Int32), cond.Arg(tensor.Int32)
	f := cond.Return(cond.Op("Less", i, limit))
	b := enginetest.Build(t, "main")
	args := []graph.Output{b.Arg(tensor.Float32), b.Arg(tensor.Int32), b.Arg(tensor.Int32)}
	call := b.Node("PartitionedCall", graph.Attrs{graph.Func("f", f), graph.Types("Tin", tensor.Float32, tensor.Int32, tensor.Int32), graph.Types("Tout", tensor.Bool)}, args...)
	p, err := engine.Compile(b.Return(call.Output(0)), &engine.CompileOptions{Kernels: ks, Passes: []passes.Pass{}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Scalar(float32(1))), engine.ValueOf(tensor.Scalar(int32(1))), engine.ValueOf(tensor.Scalar(int32(2)))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, true, true}; !slices.Equal(got, want) || !tensor.Values[bool](out[0].Tensor)[0] {
		t.Errorf("the condition looks at %v, want %v", got, want)
	}
}
