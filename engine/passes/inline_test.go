package passes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

func call(b *enginetest.Builder, op string, f *graph.Function, in ...graph.Output) *graph.Node {
	types := make([]tensor.DType, len(f.Results))
	for i, r := range f.ResultFacts() {
		types[i] = r.DType
	}
	return b.Node(op, graph.Attrs{graph.Func("f", f), graph.Types("Tout", types...)}, in...)
}

// noisy returns a function that adds one to a variable. Its results are its
// first argument plus noise and the variable, and other noise.
func noisy(t testing.TB) *graph.Function {
	b := enginetest.Build(t, "noisy")
	x, v := b.Arg(tensor.Float32), b.Arg(tensor.Resource)
	attrs := graph.Attrs{graph.Int("seed", 7), graph.Int("seed2", 8), graph.Type("dtype", tensor.Float32)}
	noise := b.Node("RandomUniform", attrs, b.Op("Shape", x))
	alone := b.Node("RandomStandardNormal", attrs, b.Value(tensor.Vector[int32](2)))
	one := b.Value(tensor.Scalar[float32](1))
	add := b.Node("AssignAddVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v, one)
	read := b.Node("ReadVariableOp", graph.Attrs{graph.Type("dtype", tensor.Float32)}, v)
	read.Control = []*graph.Node{add}
	f := b.Return(b.Op("AddV2", b.Op("AddV2", x, noise.Output(0)), read.Output(0)), alone.Output(0))
	f.Control = []graph.ControlResult{{Name: add.Name, Node: add}}
	return f
}

// caller calls noisy through another function and directly, reads the variable
// between the calls, and does not use all results.
func caller(t testing.TB) *graph.Function {
	inner := noisy(t)
	b := enginetest.Build(t, "middle")
	x, v := b.Arg(tensor.Float32), b.Arg(tensor.Resource)
	n := call(b, "StatefulPartitionedCall", inner, b.Op("Tanh", x), v)
	middle := b.Return(n.Output(0), n.Output(1))
	middle.Control = []graph.ControlResult{{Name: n.Name, Node: n}}

	b = enginetest.Build(t, "caller")
	x, v = b.Arg(tensor.Float32), b.Arg(tensor.Resource)
	float := graph.Attrs{graph.Type("dtype", tensor.Float32)}
	before := b.Node("ReadVariableOp", float, v)
	one := call(b, "StatefulPartitionedCall", middle, b.Op("AddV2", x, before.Output(0)), v)
	between := b.Node("ReadVariableOp", float, v)
	between.Control = []*graph.Node{one}
	reset := b.Node("AssignVariableOp", float, v, b.Value(tensor.Scalar[float32](100)))
	reset.Control = []*graph.Node{between, one}
	two := call(b, "StatefulPartitionedCall", inner, one.Output(0), v)
	two.Control = []*graph.Node{reset}
	f := b.Return(before.Output(0), one.Output(0), between.Output(0), two.Output(0))
	f.Control = []graph.ControlResult{{Name: "reset", Node: reset}, {Name: "two", Node: two}}
	return f
}

func TestInliningChangesNothing(t *testing.T) {
	f := caller(t)
	outcome := func(list []passes.Pass) (text []string, ops int) {
		p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: list})
		if err != nil {
			t.Fatal(err)
		}
		v := trackable.NewVariable(tensor.Scalar[float32](5))
		o := &engine.RunOptions{Instance: new(engine.Instance)}
		x := enginetest.Floats(rand.New(rand.NewPCG(1, 2)), 3)
		for range 4 {
			for _, out := range enginetest.Run(t, p, o, x, engine.HandleOf(v)) {
				text = append(text, fmt.Sprint(tensor.Values[float32](out.Tensor)))
			}
			text = append(text, fmt.Sprint(v.Load()))
		}
		return text, p.Len()
	}
	want, _ := outcome(passes.Without(passes.Default(), "inlining"))
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
	b := &enginetest.Builder{T: t, F: f}
	n := b.Arg(tensor.Int32)
	stop := enginetest.Build(t, "stop")
	stop.Return(stop.Op("Identity", stop.Arg(tensor.Int32)))
	again := enginetest.Build(t, "again")
	again.Return(again.Node("PartitionedCall", graph.Attrs{graph.Func("f", f), graph.Types("Tout", tensor.Int32)}, again.Op("Sub", again.Arg(tensor.Int32), again.Scalar(1))).Output(0))
	attrs := graph.Attrs{graph.Types("Tout", tensor.Int32), graph.Func("then_branch", again.F), graph.Func("else_branch", stop.F)}
	b.Return(b.Node("StatelessIf", attrs, b.Op("Greater", n, b.Scalar(0)), n).Output(0))
	outer := enginetest.Build(t, "outer")
	o := outer.Return(call(outer, "PartitionedCall", f, outer.Arg(tensor.Int32)).Output(0))
	if in, err := o.Inline(nil); err != nil || in != o {
		t.Errorf("a recursive function is inlined: %v\n%v", err, in)
	}
	if out := enginetest.Run(t, plan(t, o), nil, engine.ValueOf(tensor.Scalar[int32](9))); tensor.Values[int32](out[0].Tensor)[0] != 0 {
		t.Errorf("got %v", out[0].Tensor)
	}
}

func TestInliningIsBounded(t *testing.T) {
	b := enginetest.Build(t, "f0")
	f := b.Return(b.Op("Neg", b.Arg(tensor.Float32)))
	for i := range 40 { // two to the power of 40 negations
		b = enginetest.Build(t, fmt.Sprint("f", i+1))
		f = b.Return(call(b, "PartitionedCall", f, call(b, "PartitionedCall", f, b.Arg(tensor.Float32)).Output(0)).Output(0))
	}
	in, err := f.Inline(&graph.InlineOptions{MaxNodes: 1000})
	if err != nil || in.Graph.Len() > 1100 {
		t.Errorf("%d nodes, %v", in.Graph.Len(), err)
	}
}

// TestPartsOfOneGraphShareTheStateOfItsNodes: a model's random op is one op,
// whatever a call asks of the model.
func TestPartsOfOneGraphShareTheStateOfItsNodes(t *testing.T) {
	b := enginetest.Build(t, "g")
	attrs := graph.Attrs{graph.Int("seed", 7), graph.Int("seed2", 8), graph.Type("dtype", tensor.Float32)}
	noise := b.Node("RandomUniform", attrs, b.Value(tensor.Vector[int32](2))).Output(0)
	twice := b.Op("AddV2", noise, noise)
	o := &engine.RunOptions{Instance: new(engine.Instance)}
	var draws []string
	for _, fetch := range []graph.Output{noise, twice, noise} {
		f, err := graph.Prune(b.F.Graph, nil, []graph.Output{noise, fetch}[:1:1], []*graph.Node{fetch.Node})
		if err != nil {
			t.Fatal(err)
		}
		draws = append(draws, fmt.Sprint(tensor.Values[float32](enginetest.Run(t, plan(t, f), o)[0].Tensor)))
	}
	if draws[0] == draws[1] || draws[1] == draws[2] || draws[0] == draws[2] {
		t.Errorf("three calls draw %v", draws)
	}
}
