package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/detector"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// builder makes functions for tests; each op has one output or takes the first.
type builder struct {
	t testing.TB
	f *graph.Function
}

func build(t testing.TB, name string) *builder { return &builder{t, graph.NewFunction(name)} }

func (b *builder) arg(d tensor.DType) graph.Output {
	o, err := b.f.AddArg("", graph.Fact{DType: d})
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func (b *builder) node(op string, attrs graph.Attrs, in ...graph.Output) *graph.Node {
	b.t.Helper()
	n := &graph.Node{Op: op, Attrs: attrs, In: in, Def: graph.LookupOp(op)}
	facts := make([]graph.Fact, len(in))
	for i, o := range in {
		facts[i] = o.Fact()
	}
	var err error
	if n.Attrs, n.Out, err = n.Def.Bind(attrs, facts); err != nil {
		b.t.Fatal(err)
	}
	if err := b.f.Graph.Add(n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *builder) op(op string, in ...graph.Output) graph.Output {
	return b.node(op, nil, in...).Output(0)
}

func (b *builder) scalar(n int32) graph.Output { return b.value(tensor.Scalar(n)) }

func (b *builder) value(x *tensor.Tensor) graph.Output {
	return b.node("Const", graph.Attrs{graph.Tensor("value", x), graph.Type("dtype", x.DType())}).Output(0)
}

func (b *builder) ret(out ...graph.Output) *graph.Function {
	for _, o := range out {
		b.f.AddResult("", o)
	}
	return b.f
}

// fillList sets every element of a list of n elements in a loop.
func fillList(t testing.TB) *graph.Function {
	types := []tensor.DType{tensor.Int32, tensor.Int32, tensor.Variant}
	cond := build(t, "cond")
	i, n := cond.arg(types[0]), cond.arg(types[1])
	cond.arg(types[2])
	c := cond.ret(cond.op("Less", i, n))
	body := build(t, "body")
	i, n = body.arg(types[0]), body.arg(types[1])
	l := body.arg(types[2])
	next := body.ret(body.op("AddV2", i, body.scalar(1)), n, body.op("TensorListSetItem", l, i, i))
	b := build(t, "fill")
	n = b.arg(tensor.Int32)
	l = b.node("TensorListReserve", graph.Attrs{graph.Type("element_dtype", tensor.Int32)}, b.value(tensor.Must(tensor.New([]int32{}, 0))), n).Output(0)
	loop := b.node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.scalar(0), n, l)
	return b.ret(b.node("TensorListStack", graph.Attrs{graph.Type("element_dtype", tensor.Int32)}, loop.Output(2), b.value(tensor.Must(tensor.New([]int32{}, 0)))).Output(0))
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
	cond := build(t, "cond")
	i, n := cond.arg(tensor.Int32), cond.arg(tensor.Int32)
	c := cond.ret(cond.op("Less", i, n))
	body := build(t, "body")
	i, n = body.arg(tensor.Int32), body.arg(tensor.Int32)
	next := body.ret(body.op("AddV2", i, body.scalar(1)), n)
	b := build(t, "count")
	n = b.arg(tensor.Int32)
	return b.ret(b.node("While", graph.Attrs{graph.Func("cond", c), graph.Func("body", next)}, b.scalar(0), n).Output(0))
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
			out, err := f.Call(c, []engine.Value{{}, c.Share(1), c.Share(2)}, nil)
			if err == nil {
				c.Give(0, out[0])
			}
			return err
		}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	cond := build(t, "cond")
	cond.arg(tensor.Float32)
	i, limit := cond.arg(tensor.Int32), cond.arg(tensor.Int32)
	f := cond.ret(cond.op("Less", i, limit))
	b := build(t, "main")
	args := []graph.Output{b.arg(tensor.Float32), b.arg(tensor.Int32), b.arg(tensor.Int32)}
	call := b.node("PartitionedCall", graph.Attrs{graph.Func("f", f), graph.Types("Tin", tensor.Float32, tensor.Int32, tensor.Int32), graph.Types("Tout", tensor.Bool)}, args...)
	p, err := engine.Compile(b.ret(call.Output(0)), &engine.CompileOptions{Kernels: ks, Passes: []engine.Pass{}})
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
