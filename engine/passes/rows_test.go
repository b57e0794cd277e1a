package passes_test

import (
	"fmt"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// dense returns the product of the last dimension with weights, and a bias added.
func (n *network) dense(x graph.Output, in, out int) graph.Output {
	y := n.do("MatMul", n.reshape(x, -1, int32(in)), n.weight(-.2, .2, in, out))
	return n.do("BiasAdd", y, n.weight(-1, 1, out))
}

func (n *network) relu(x graph.Output) graph.Output { return n.do("Relu", x) }

// layerNorm returns x normalized over a dimension, the last one.
func (n *network) layerNorm(x graph.Output, axis int32, d int) graph.Output {
	diff := n.do("Sub", x, n.lastMean(x, axis))
	root := n.do("Sqrt", n.do("AddV2", n.number(1e-5), n.lastMean(n.do("Square", diff), axis)))
	return n.do("AddV2", n.do("Mul", n.weight(.5, 2, d), n.do("RealDiv", diff, root)), n.weight(-1, 1, d))
}

// TestRowsKeepTheBits compares fused ops over the same rows with the ops one by
// one, for many and few rows per worker.
func TestRowsKeepTheBits(t *testing.T) {
	const d = 48
	three := func(n *network, x graph.Output, width int) graph.Output { return n.reshape(x, -1, 35, int32(width)) }
	for _, test := range []struct {
		name  string
		rows  int
		build func(n *network) []graph.Output
		fused int // how many ops there are of many
	}{
		{"a transformer's layer", 70, func(n *network) []graph.Output {
			x := n.do("Tanh", n.x)
			att := n.do("AddV2", three(n, n.dense(n.do("Sinh", x), d, d), d), x)
			y := n.layerNorm(att, 2, d)
			h := n.relu(n.dense(y, d, 1024))
			z := n.layerNorm(n.do("AddV2", three(n, n.dense(h, 1024, d), d), y), 2, d)
			return []graph.Output{z, n.dense(z, d, 3), n.dense(z, d, 600)}
		}, 1},
		{"products of one value", 70, func(n *network) []graph.Output {
			x := n.do("Tanh", n.x)
			return []graph.Output{n.dense(x, d, 20), n.do("Sigmoid", n.dense(x, d, 600)), n.dense(x, d, 16)}
		}, 1},
		{"a result that others see", 70, func(n *network) []graph.Output {
			y := n.relu(n.dense(n.x, d, d))
			z := n.dense(y, d, 20)
			return []graph.Output{n.do("Exp", y), n.reshape(y, -1, 35, d), n.do("Mean", n.reshape(z, -1, 5, 4), n.Value(tensor.Vector[int32](1)))}
		}, 1},
		{"rows that are mixed between products", 70, func(n *network) []graph.Output {
			y := n.dense(n.x, d, d)
			mixed := n.do("Cumsum", y, n.Value(tensor.Scalar[int32](0)))
			z := n.do("AddV2", n.dense(mixed, d, d), y) // not a step of y's group: it depends on all of y
			return []graph.Output{n.layerNorm(z, 1, d), n.dense(y, d, 25)}
		}, 2},
		{"a product with what is no weight", 70, func(n *network) []graph.Output {
			y := n.dense(n.x, d, d)
			gram := n.inferred("MatMul", graph.Attrs{graph.Bool("transpose_a", true)}, y, y).Output(0)
			return []graph.Output{n.do("MatMul", n.relu(n.dense(y, d, d)), gram)}
		}, 1},
		{"other rows", 70, func(n *network) []graph.Output {
			y := n.dense(n.x, d, d)
			return []graph.Output{n.dense(n.reshape(y, -1, 2*d), 2*d, d)}
		}, 0},
		{"few columns", 70, func(n *network) []graph.Output {
			y := n.dense(n.x, d, d)
			return []graph.Output{n.dense(y, d, 3), n.dense(y, d, 1)}
		}, 0},
		{"few rows", 6, func(n *network) []graph.Output {
			return []graph.Output{n.dense(n.relu(n.dense(n.x, d, d)), d, d)}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNetwork(t, 1, test.rows/2, d)
			f := n.Return(test.build(n)...)
			set, count := kernels(t)
			together, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Passes: passes.Inference(), Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			// Without room for packed weights each call packs them.
			bare, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Inference(), Invariants: &engine.Invariants{MaxBytes: 1}})
			if err != nil {
				t.Fatal(err)
			}
			apart, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Without(passes.Inference(), "rows"), Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			args := []engine.Value{enginetest.Floats(n.r, 2, test.rows/2, d)}
			for _, v := range n.vars {
				args = append(args, engine.HandleOf(v))
			}
			for range 2 { // the second call knows the shapes
				for _, workers := range []int{1, 2, 8} {
					o := &engine.RunOptions{Workers: engine.NewWorkers(workers)}
					want := enginetest.Run(t, apart, o, args...)
					enginetest.Same(t, "together", enginetest.Run(t, together, o, args...), want)
					enginetest.Same(t, "packing each time", enginetest.Run(t, bare, o, args...), want)
				}
			}
			for _, v := range specials {
				args[0] = sprinkled(n.r, v, 2, test.rows/2, d)
				sameNumbers(t, fmt.Sprintf("with %v", v), enginetest.Run(t, together, nil, args...), enginetest.Run(t, apart, nil, args...))
			}
			if got := count[passes.RowsOp]; got != test.fused {
				t.Errorf("%d ops go over rows together, want %d: %v", got, test.fused, count)
			}
		})
	}
}
