package graph_test

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// A function is built node by node: the op's definition completes the attributes, and its shape rule infers the outputs.
func Example() {
	f := graph.NewFunction("affine")
	arg := func(name string, dims ...int) graph.Output {
		o, err := f.AddArg(name, graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(dims...)})
		if err != nil {
			panic(err)
		}
		return o
	}
	add := func(op, name string, in ...graph.Output) graph.Output {
		n := &graph.Node{Op: op, Name: name, Def: graph.LookupOp(op), In: in}
		facts := make([]graph.Fact, len(in))
		for i, o := range in {
			facts[i] = o.Fact()
		}
		var err error
		if n.Attrs, n.Out, err = n.Def.Bind(nil, facts); err != nil {
			panic(err)
		}
		if err := shape.All().Infer(&shape.Inference{Op: op, Attrs: n.Attrs, In: facts, Out: n.Out}); err != nil {
			panic(err)
		}
		if err := f.Graph.Add(n); err != nil {
			panic(err)
		}
		return n.Output(0)
	}
	x, w, b := arg("x", -1, 4), arg("w", 4, 2), arg("b", 2)
	f.AddResult("y", add("AddV2", "sum", add("MatMul", "product", x, w), b))
	fmt.Println(f)
	fmt.Println(f.ResultFacts()[0].Shape.Anonymous(), f.Effect())

	// Output:
	// func affine(x float32[?,4], w float32[4,2], b float32[2]) {
	//	product = MatMul(x, w) transpose_a=false transpose_b=false T=float32 grad_a=false grad_b=false → float32[?,2]
	//	sum = AddV2(product, b) T=float32 → float32[?,2]
	//	return y=sum
	// }
	//
	// [?,2] pure
}

// The part of a graph between given values and a result becomes a function: nodes that it doesn't need are gone.
func ExamplePrune() {
	g, err := graph.Unmarshal(model(), nil)
	if err != nil {
		panic(err)
	}
	feed, err := g.Find("hidden:0")
	if err != nil {
		panic(err)
	}
	fetch, err := g.Find("scores:0")
	if err != nil {
		panic(err)
	}
	f, err := graph.Prune(g, []graph.Output{feed}, []graph.Output{fetch}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(f)

	// Output:
	// func pruned(hidden/feed float32<unknown>) {
	//	scores = Softmax(hidden/feed) T=float32 → float32<unknown>
	//	return scores=scores
	// }
}

// model returns a file's graph: an input, a hidden value and its scores.
func model() []byte {
	g := new(graph.Graph)
	var last []graph.Output
	for _, n := range []*graph.Node{
		{Op: "Placeholder", Name: "x", Attrs: graph.Attrs{graph.Type("dtype", tensor.Float32), graph.Shape("shape", graph.ShapeOf(-1, 3))}},
		{Op: "Tanh", Name: "hidden", Attrs: graph.Attrs{graph.Type("T", tensor.Float32)}},
		{Op: "Softmax", Name: "scores", Attrs: graph.Attrs{graph.Type("T", tensor.Float32)}},
	} {
		n.Def, n.In, n.Out = graph.LookupOp(n.Op), last, []graph.Fact{{DType: tensor.Float32}}
		if err := g.Add(n); err != nil {
			panic(err)
		}
		last = []graph.Output{n.Output(0)}
	}
	b, err := g.Marshal()
	if err != nil {
		panic(err)
	}
	return b
}
