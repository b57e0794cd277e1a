package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func call(b *builder, op string, f *graph.Function, in ...graph.Output) *graph.Node {
	types := make([]tensor.DType, len(f.Results))
	for i, r := range f.ResultFacts() {
		types[i] = r.DType
	}
	return b.node(op, graph.Attrs{graph.Func("f", f), graph.Types("Tout", types...)}, in...)
}

// noisy returns a function that adds one to a variable and gives its first
// argument with noise, and noise alone.
func noisy(t testing.TB) *graph.Function {
	b := build(t, "noisy")
	x, v := b.arg(tensor.Float32), b.arg(tensor.Resource)
	attrs := graph.Attrs{graph.Int("seed", 7), graph.Int("seed2", 8), graph.Type("dtype", tensor.Float32)}
	noise := b.node("RandomUniform", attrs, b.op("Shape", x))
	alone := b.node("RandomStandardNormal", attrs, b.value(tensor.Vector[int32](2)))
	one := b.value(tensor.Scalar[float32](1))
	add := b.node("AssignAddVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v, one)
	read := b.node("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v)
	read.Control = []*graph.Node{add}
	f := b.ret(b.op("AddV2", b.op("AddV2", x, noise.Output(0)), read.Output(0)), alone.Output(0))
	f.Control = []graph.ControlResult{{Name: add.Name, Node: add}}
	return f
}

// caller calls noisy through another function and by itself, reads the variable
// between, and doesn't need all that they give.
func caller(t testing.TB) *graph.Function {
	inner := noisy(t)
	b := build(t, "middle")
	x, v := b.arg(tensor.Float32), b.arg(tensor.Resource)
	n := call(b, "StatefulPartitionedCall", inner, b.op("Tanh", x), v)
	middle := b.ret(n.Output(0), n.Output(1))
	middle.Control = []graph.ControlResult{{Name: n.Name, Node: n}}

	b = build(t, "caller")
	x, v = b.arg(tensor.Float32), b.arg(tensor.Resource)
	float := graph.Attrs{graph.Type("dtype", tensor.Float32)}
	before := b.node("ReadVariableOp", float, v)
	one := call(b, "StatefulPartitionedCall", middle, b.op("AddV2", x, before.Output(0)), v)
	between := b.node("ReadVariableOp", float, v)
	between.Control = []*graph.Node{one}
	reset := b.node("AssignVariableOp", float, v, b.value(tensor.Scalar[float32](100)))
	reset.Control = []*graph.Node{between, one}
	two := call(b, "StatefulPartitionedCall", inner, one.Output(0), v)
	two.Control = []*graph.Node{reset}
	f := b.ret(before.Output(0), one.Output(0), between.Output(0), two.Output(0))
	f.Control = []graph.ControlResult{{Name: "reset", Node: reset}, {Name: "two", Node: two}}
	return f
}

func TestInliningChangesNothing(t *testing.T) {
	f := caller(t)
	outcome := func(passes []engine.Pass) (text []string, ops int) {
		p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes})
		if err != nil {
			t.Fatal(err)
		}
		v := trackable.NewVariable(tensor.Scalar[float32](5))
		o := &engine.RunOptions{Instance: new(engine.Instance)}
		x := floatsOf(rand.New(rand.NewPCG(1, 2)), 3)
		for range 4 {
			for _, out := range run(t, p, o, x, engine.HandleOf(v)) {
				text = append(text, fmt.Sprint(tensor.Values[float32](out.Tensor)))
			}
			text = append(text, fmt.Sprint(v.Load()))
		}
		return text, p.Len()
	}
	want, _ := outcome(engine.WithoutPass(engine.DefaultPasses(), "inlining"))
	got, ops := outcome(nil)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("inlined  %v\nas calls %v", got, want)
	}
	if ops < 12 {
		t.Errorf("the plan has %d ops: are the calls inlined?", ops)
	}
	inlined, err := f.Inline(nil)
	if err != nil || strings.Contains(inlined.String(), "= StatefulPartitionedCall(") || inlined.Graph.Lookup("StatefulPartitionedCall/StatefulPartitionedCall/RandomUniform") == nil {
		t.Errorf("%v\n%v", err, inlined)
	}
}

func TestFunctionsThatCallThemselvesStayCalls(t *testing.T) {
	f := graph.NewFunction("down")
	b := &builder{t, f}
	n := b.arg(tensor.Int32)
	stop := build(t, "stop")
	stop.ret(stop.op("Identity", stop.arg(tensor.Int32)))
	again := build(t, "again")
	again.ret(again.node("PartitionedCall", graph.Attrs{graph.Func("f", f), graph.Types("Tout", tensor.Int32)}, again.op("Sub", again.arg(tensor.Int32), again.scalar(1))).Output(0))
	attrs := graph.Attrs{graph.Types("Tout", tensor.Int32), graph.Func("then_branch", again.f), graph.Func("else_branch", stop.f)}
	b.ret(b.node("StatelessIf", attrs, b.op("Greater", n, b.scalar(0)), n).Output(0))
	outer := build(t, "outer")
	o := outer.ret(call(outer, "PartitionedCall", f, outer.arg(tensor.Int32)).Output(0))
	if in, err := o.Inline(nil); err != nil || in != o {
		t.Errorf("a recursive function is inlined: %v\n%v", err, in)
	}
	if out := run(t, plan(t, o), nil, engine.ValueOf(tensor.Scalar[int32](9))); tensor.Values[int32](out[0].Tensor)[0] != 0 {
		t.Errorf("got %v", out[0].Tensor)
	}
}

func TestInliningIsBounded(t *testing.T) {
	b := build(t, "f0")
	f := b.ret(b.op("Neg", b.arg(tensor.Float32)))
	for i := range 40 { // two to the power of 40 negations
		b = build(t, fmt.Sprint("f", i+1))
		f = b.ret(call(b, "PartitionedCall", f, call(b, "PartitionedCall", f, b.arg(tensor.Float32)).Output(0)).Output(0))
	}
	in, err := f.Inline(&graph.InlineOptions{MaxNodes: 1000})
	if err != nil || in.Graph.Len() > 1100 {
		t.Errorf("%d nodes, %v", in.Graph.Len(), err)
	}
}

// TestPartsOfOneGraphShareTheStateOfItsNodes: a model's random op is one op,
// whatever a call asks of the model.
func TestPartsOfOneGraphShareTheStateOfItsNodes(t *testing.T) {
	b := build(t, "g")
	attrs := graph.Attrs{graph.Int("seed", 7), graph.Int("seed2", 8), graph.Type("dtype", tensor.Float32)}
	noise := b.node("RandomUniform", attrs, b.value(tensor.Vector[int32](2))).Output(0)
	twice := b.op("AddV2", noise, noise)
	o := &engine.RunOptions{Instance: new(engine.Instance)}
	var draws []string
	for _, fetch := range []graph.Output{noise, twice, noise} {
		f, err := graph.Prune(b.f.Graph, nil, []graph.Output{noise, fetch}[:1:1], []*graph.Node{fetch.Node})
		if err != nil {
			t.Fatal(err)
		}
		draws = append(draws, fmt.Sprint(tensor.Values[float32](run(t, plan(t, f), o)[0].Tensor)))
	}
	if draws[0] == draws[1] || draws[1] == draws[2] || draws[0] == draws[2] {
		t.Errorf("three calls draw %v", draws)
	}
}
