// Package enginetest builds functions and runs plans for the tests of the engine
// and of its passes.
package enginetest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Builder builds a function. A method that adds a node returns its first output;
// Node returns the node. An error fails the test.
type Builder struct {
	T testing.TB
	F *graph.Function
}

// Build returns a builder of an empty function called name.
func Build(t testing.TB, name string) *Builder { return &Builder{t, graph.NewFunction(name)} }

// Arg adds an argument of type d and unknown shape.
func (b *Builder) Arg(d tensor.DType) graph.Output {
	o, err := b.F.AddArg("", graph.Fact{DType: d})
	if err != nil {
		b.T.Fatal(err)
	}
	return o
}

// Node adds a node and returns it. The types of its outputs follow from its inputs.
func (b *Builder) Node(op string, attrs graph.Attrs, in ...graph.Output) *graph.Node {
	b.T.Helper()
	n := &graph.Node{Op: op, Attrs: attrs, In: in, Def: graph.LookupOp(op)}
	facts := make([]graph.Fact, len(in))
	for i, o := range in {
		facts[i] = o.Fact()
	}
	var err error
	if n.Attrs, n.Out, err = n.Def.Bind(attrs, facts); err != nil {
		b.T.Fatal(err)
	}
	if err := b.F.Graph.Add(n); err != nil {
		b.T.Fatal(err)
	}
	return n
}

// Op adds a node without attributes.
func (b *Builder) Op(op string, in ...graph.Output) graph.Output {
	return b.Node(op, nil, in...).Output(0)
}

// Scalar adds an int32 constant.
func (b *Builder) Scalar(n int32) graph.Output { return b.Value(tensor.Scalar(n)) }

// Value adds a constant.
func (b *Builder) Value(x *tensor.Tensor) graph.Output {
	return b.Node("Const", graph.Attrs{graph.Tensor("value", x), graph.Type("dtype", x.DType())}).Output(0)
}

// Read adds a read of the float32 variable whose handle is v. It runs after the
// given nodes.
func (b *Builder) Read(v graph.Output, after ...*graph.Node) graph.Output {
	n := &graph.Node{Op: "ReadVariableOp", Attrs: graph.Attrs{graph.Type("dtype", tensor.Float32)}, In: []graph.Output{v},
		Def: graph.LookupOp("ReadVariableOp"), Out: []graph.Fact{{DType: tensor.Float32}}, Control: after}
	if err := b.F.Graph.Add(n); err != nil {
		b.T.Fatal(err)
	}
	return n.Output(0)
}

// Return adds results and returns the function.
func (b *Builder) Return(out ...graph.Output) *graph.Function {
	for _, o := range out {
		b.F.AddResult("", o)
	}
	return b.F
}

// Compile returns the plan of f.
func Compile(t testing.TB, f *graph.Function, o *engine.CompileOptions) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Run calls p and returns its results.
func Run(t testing.TB, p *engine.Plan, o *engine.RunOptions, args ...engine.Value) []engine.Value {
	t.Helper()
	out, err := p.Run(context.Background(), args, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Floats returns a float32 tensor of random numbers between -0.5 and 0.5.
func Floats(r *rand.Rand, dims ...int) engine.Value {
	x := tensor.Must(tensor.Zeros(tensor.Float32, dims...))
	for i := range tensor.Values[float32](x) {
		tensor.Values[float32](x)[i] = r.Float32() - 0.5
	}
	return engine.ValueOf(x)
}

// Same fails the test unless the results equal the wanted ones bit for bit.
func Same(t *testing.T, what string, got, want []engine.Value) {
	t.Helper()
	for i := range want {
		if !got[i].Tensor.Equal(want[i].Tensor) {
			t.Fatalf("%s: result %d is %v, want %v", what, i, got[i].Tensor, want[i].Tensor)
		}
	}
}
