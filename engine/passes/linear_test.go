package passes_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/internal/testkit/processor"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// described are all kernels, but evaluate computes nodes.
type described struct {
	*engine.KernelSet
	evaluate func() []*tensor.Tensor
}

func (d described) Has(op string) bool              { return d.Lookup(op) != nil }
func (d described) Fusion(op string) *passes.Fusion { return nil }
func (d described) Evaluate(*graph.Node, []*tensor.Tensor, int64) []*tensor.Tensor {
	return d.evaluate()
}

// alone runs one pass over a function.
func alone(t *testing.T, name string, f *graph.Function, evaluate func() []*tensor.Tensor) *graph.Function {
	t.Helper()
	list := passes.Inference()
	i := slices.IndexFunc(list, func(p passes.Pass) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no pass %q", name)
	}
	u := &passes.Unit{Function: f, Kernels: described{kernel.All(), evaluate}, Shapes: shape.All()}
	if err := list[i].Run(u); err != nil {
		t.Fatal(err)
	}
	return u.Function
}

// TestLargeFunctionsTakeLinearTime runs passes over functions in which a search from each
// node would take quadratic time.
func TestLargeFunctionsTakeLinearTime(t *testing.T) {
	for _, c := range []struct {
		pass  string
		build func(n *network) graph.Output
	}{
		{"rows", func(n *network) graph.Output {
			w := n.weight(-1, 1, 16, 16)
			x := n.reshape(n.x, 32, 16)
			sum := x
			for range 4000 {
				x = n.do("Softmax", n.do("MatMul", x, w))
				sum = n.do("AddV2", sum, x)
			}
			return sum
		}},
		{"gelu", func(n *network) graph.Output {
			x, c := n.x, n.Value(tensor.Scalar[float32](1.0001))
			for range 5000 {
				x = n.do("Mul", x, c)
			}
			return x
		}},
		{"common subexpressions", func(n *network) graph.Output {
			text := n.inferred("AsString", nil, n.x).Output(0)
			var all []graph.Output
			for i := range 10_000 {
				all = append(all, n.inferred("StringToHashBucketFast", graph.Attrs{graph.Int("num_buckets", int64(i+1))}, text).Output(0))
			}
			return n.do("AddN", all...)
		}},
	} {
		t.Run(c.pass, func(t *testing.T) {
			n := newNetwork(t, 1, 16)
			f := n.Return(c.build(n))
			if err := shape.All().InferFunction(f); err != nil {
				t.Fatal(err)
			}
			processor.Bound(t, "the pass", time.Second, func() { alone(t, c.pass, f, nil) })
		})
	}
}

// TestFoldingEnds counts the nodes that constant folding computes.
func TestFoldingEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		made  *tensor.Tensor // nil if the nodes fail
		most  int
	}{
		{"large results", 1000, tensor.Must(tensor.Zeros(tensor.Float32, 15_000)), 300},
		{"small results", 1000, tensor.Scalar[float32](1), 1000},
		{"failures", 17_500, nil, 16_500},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNetwork(t, 1)
			x := n.Value(tensor.Vector[float32](1, 2))
			var all []graph.Output
			for range c.nodes {
				all = append(all, n.Op("Lgamma", x))
			}
			ran := 0
			alone(t, "constant folding", n.Return(all...), func() []*tensor.Tensor {
				if ran++; c.made == nil {
					return nil
				}
				return []*tensor.Tensor{c.made}
			})
			if ran > c.most || ran < min(c.most, c.nodes)/2 {
				t.Errorf("it computes %d nodes, want at most %d", ran, c.most)
			}
		})
	}
}

// TestHugeSizesAreNoProducts compiles products of tensors that no machine holds.
func TestHugeSizesAreNoProducts(t *testing.T) {
	const huge = 1 << (bits.UintSize / 2)
	for _, c := range []struct {
		op   string
		attr graph.Attrs
		a, b []int
	}{
		{"Einsum", graph.Attrs{graph.String("equation", "abc,bcd->ad")}, []int{1, huge, huge}, []int{huge, huge, 1}},
		{"Einsum", graph.Attrs{graph.String("equation", "abc,cd->abd")}, []int{huge, huge, 2}, []int{2, 3}},
		{"Einsum", graph.Attrs{graph.String("equation", "abc,cd->abd")}, []int{2, 2, huge}, []int{huge, huge}},
		{"BatchMatMulV2", nil, []int{huge, huge, 2}, []int{2, 3}},
		{"BatchMatMulV2", nil, []int{2, 3, huge}, []int{huge, huge}},
	} {
		t.Run(fmt.Sprint(c.op, c.a, c.b), func(t *testing.T) {
			n := newNetwork(t, 1)
			var in []graph.Output
			for _, dims := range [][]int{c.a, c.b} {
				o, err := n.F.AddArg("", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(dims...)})
				if err != nil {
					t.Fatal(err)
				}
				in = append(in, o)
			}
			f := n.Return(n.Node(c.op, c.attr, in...).Output(0))
			if _, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Inference()}); err != nil {
				t.Log(err) // an error is right, too
			}
		})
	}
}
