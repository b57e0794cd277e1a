package passes_test

import (
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// TestOpsThatChangeNothingAreLeftOut counts the ops that are left between two
// Softmaxes.
func TestOpsThatChangeNothingAreLeftOut(t *testing.T) {
	ints := func(n *network, v ...int32) graph.Output { return n.Value(tensor.Vector(v...)) }
	perm := func(n *network, x graph.Output, v ...int32) graph.Output {
		return n.do("Transpose", x, ints(n, v...))
	}
	for _, c := range []struct {
		name  string
		build func(n *network, x graph.Output) graph.Output
		left  int
	}{
		{"reshape to itself", func(n *network, x graph.Output) graph.Output { return n.do("Reshape", x, ints(n, 2, 3, 4)) }, 0},
		{"reshape", func(n *network, x graph.Output) graph.Output { return n.do("Reshape", x, ints(n, 6, 4)) }, 1},
		{"cast to itself", func(n *network, x graph.Output) graph.Output {
			return n.inferred("Cast", graph.Attrs{graph.Type("DstT", tensor.Float32)}, x).Output(0)
		}, 0},
		{"times one", func(n *network, x graph.Output) graph.Output {
			return n.do("Mul", n.Value(tensor.Scalar[float32](1)), n.do("RealDiv", x, n.Value(tensor.Vector[float32](1, 1, 1, 1))))
		}, 0},
		{"times one that stretches", func(n *network, x graph.Output) graph.Output {
			return n.do("Mul", x, n.Value(tensor.Must(tensor.New([]float32{1, 1}, 2, 1, 1, 1))))
		}, 1},
		{"plus zero, which changes the sign of zeros", func(n *network, x graph.Output) graph.Output {
			return n.do("AddV2", x, n.Value(tensor.Scalar[float32](0)))
		}, 1},
		{"transpose by nothing", func(n *network, x graph.Output) graph.Output { return perm(n, x, 0, 1, 2) }, 0},
		{"there and back", func(n *network, x graph.Output) graph.Output { return perm(n, perm(n, x, 1, 2, 0), 2, 0, 1) }, 0},
		{"there and on", func(n *network, x graph.Output) graph.Output { return perm(n, perm(n, x, 1, 2, 0), 1, 2, 0) }, 2},
		{"pad by nothing", func(n *network, x graph.Output) graph.Output {
			return n.do("Pad", x, n.Value(tensor.Must(tensor.New(make([]int32, 6), 3, 2))))
		}, 0},
		{"a choice that is made", func(n *network, x graph.Output) graph.Output {
			return n.do("SelectV2", n.Value(tensor.Scalar(true)), x, n.Value(tensor.Scalar[float32](0)))
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &network{Builder: enginetest.Build(t, "noop")}
			x, err := n.F.AddArg("x", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(2, 3, 4)})
			if err != nil {
				t.Fatal(err)
			}
			f := n.Return(n.do("Softmax", c.build(n, n.do("Softmax", x))))
			p := plan(t, f)
			if p.Len() != c.left+2 {
				t.Errorf("%d ops are left, want %d", p.Len()-2, c.left)
			}
			args := []engine.Value{engine.ValueOf(tensor.Must(tensor.New([]float32{1, -2, 3, 0, 5, 6, 7, 8, 1, -2, 3, 0, 5, 6, 7, 8, 1, -2, 3, 0, 5, 6, 7, 8}, 2, 3, 4)))}
			plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: []passes.Pass{}})
			if err != nil {
				t.Fatal(err)
			}
			enginetest.Same(t, c.name, enginetest.Run(t, p, nil, args...), enginetest.Run(t, plain, nil, args...))
		})
	}
}
