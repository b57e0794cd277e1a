package passes_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// transposed returns x with its dimensions in another order.
func (n *network) transposed(x graph.Output, perm ...int32) graph.Output {
	return n.do("Transpose", x, n.Value(tensor.Vector(perm...)))
}

// batched returns the products of matrices. If adjY is set, those of b are
// transposed.
func (n *network) batched(a, b graph.Output, adjY bool) graph.Output {
	return n.inferred("BatchMatMulV2", graph.Attrs{graph.Bool("adj_y", adjY)}, a, b).Output(0)
}

// attentions are attention as several libraries write it, of three values of 2 by 9
// by 3 by 4: examples, places, heads and numbers.
var attentions = []struct {
	name  string
	build func(n *network, q, k, v graph.Output) graph.Output
	has   map[string]int
}{
	{"einsums of Keras", func(n *network, q, k, v graph.Output) graph.Output {
		s := n.do("Softmax", n.einsum("aecd,abcd->acbe", k, q))
		return n.einsum("acbe,aecd->abcd", s, v)
	}, map[string]int{passes.AttentionOp: 1, "Einsum": 0, "Softmax": 0}},
	{"einsums with a scale and a mask for each example", func(n *network, q, k, v graph.Output) graph.Output {
		s := n.do("Mul", n.einsum("aecd,abcd->acbe", k, q), n.do("Mean", n.x, n.Value(tensor.Vector[int32](0, 1, 2, 3))))
		mask := n.reshape(n.weight(-9, 0, 2, 9), 2, 1, 1, 9)
		return n.einsum("acbe,aecd->abcd", n.do("Softmax", n.do("AddV2", s, mask)), v)
	}, map[string]int{passes.AttentionOp: 1, "Einsum": 0, "Softmax": 0, "AddV2": 0}},
	{"products of transposed heads, as BERT's", func(n *network, q, k, v graph.Output) graph.Output {
		q, k, v = n.transposed(q, 0, 2, 1, 3), n.transposed(k, 0, 2, 1, 3), n.transposed(v, 0, 2, 1, 3)
		s := n.do("RealDiv", n.batched(q, k, true), n.do("Sqrt", n.do("Max", n.do("Abs", n.x), n.Value(tensor.Vector[int32](0, 1, 2, 3)))))
		s = n.do("Softmax", n.do("AddV2", n.weight(-3, 0, 2, 1, 9, 9), s))
		return n.transposed(n.batched(s, v, false), 0, 2, 1, 3)
	}, map[string]int{passes.AttentionOp: 1, "BatchMatMulV2": 0, "Transpose": 0, "Softmax": 0}},
	{"keys transposed", func(n *network, q, k, v graph.Output) graph.Output {
		q, k, v = n.transposed(q, 0, 2, 1, 3), n.transposed(k, 0, 2, 3, 1), n.transposed(v, 0, 2, 1, 3)
		return n.batched(n.do("Softmax", n.batched(q, k, false)), v, false)
	}, map[string]int{passes.AttentionOp: 1, "Transpose": 0}},
	{"one head", func(n *network, q, k, v graph.Output) graph.Output {
		q, k, v = n.reshape(q, 2, 9, 12), n.reshape(k, 2, 9, 12), n.reshape(v, 2, 9, 12)
		s := n.do("AddV2", n.batched(q, k, true), n.weight(-3, 0, 2, 1, 9))
		return n.reshape(n.batched(n.do("Softmax", s), v, false), 2, 9, 3, 4)
	}, map[string]int{passes.AttentionOp: 1, "BatchMatMulV2": 0}},
	{"the weights are looked at", func(n *network, q, k, v graph.Output) graph.Output {
		s := n.do("Softmax", n.einsum("aecd,abcd->acbe", k, q))
		return n.do("AddV2", n.einsum("acbe,aecd->abcd", s, v), n.do("Max", s, n.Value(tensor.Vector[int32](0, 1, 2, 3))))
	}, map[string]int{passes.AttentionOp: 0, "Einsum": 2, "Softmax": 1}},
	{"a softmax over the queries", func(n *network, q, k, v graph.Output) graph.Output {
		s := n.do("Softmax", n.einsum("aecd,abcd->aceb", k, q))
		return n.einsum("aceb,aecd->abcd", s, v)
	}, map[string]int{passes.AttentionOp: 0, "Softmax": 1}},
	{"a mask that is larger than the scores", func(n *network, q, k, v graph.Output) graph.Output {
		q, k, v = n.reshape(q, 1, 18, 12), n.reshape(k, 1, 18, 12), n.reshape(v, 1, 18, 12)
		s := n.do("AddV2", n.batched(q, k, true), n.weight(-3, 0, 4, 18, 18))
		v = n.do("Tile", v, n.Value(tensor.Vector[int32](4, 1, 1)))
		return n.batched(n.do("Softmax", s), v, false)
	}, map[string]int{passes.AttentionOp: 0, "Softmax": 1}},
}

func TestAttentionHasTheBitsOfItsOps(t *testing.T) {
	for _, test := range attentions {
		t.Run(test.name, func(t *testing.T) {
			n := newNetwork(t, 2, 9, 3, 4)
			// The values depend on the call: none is invariant.
			q, k, v := n.do("Sinh", n.x), n.do("Cosh", n.x), n.do("Atan", n.x)
			f := n.Return(test.build(n, q, k, v))
			set, count := kernels(t)
			list := passes.Inference()
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Passes: list, Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: set, Passes: passes.Without(list, "attention"), Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			args := []engine.Value{enginetest.Floats(n.r, 2, 9, 3, 4)}
			for _, v := range n.vars {
				args = append(args, engine.HandleOf(v))
			}
			want := enginetest.Run(t, plain, nil, args...)
			clear(count) // shapes are known when a call is made
			for range 2 {
				sameNumbers(t, test.name, enginetest.Run(t, p, nil, args...), want)
			}
			for op, want := range test.has {
				if count[op] != want {
					t.Errorf("%d %s, want %d", count[op], op, want)
				}
			}
			near(t, test.name, want, enginetest.Run(t, plan(t, f), nil, args...), 1e-5)
			for _, v := range specials {
				args[0] = sprinkled(n.r, v, 2, 9, 3, 4)
				want := enginetest.Run(t, plain, nil, args...)
				sameNumbers(t, fmt.Sprintf("%s with %v", test.name, v), enginetest.Run(t, p, nil, args...), want)
				alike(t, fmt.Sprintf("%s with %v", test.name, v), want, enginetest.Run(t, plan(t, f), nil, args...), 1e-5)
			}
		})
	}
}

// Long sequences go in blocks of queries, which the workers share.
func TestAttentionInBlocks(t *testing.T) {
	for _, dims := range [][]int{{1, 700, 1, 16}, {3, 130, 5, 8}, {1, 2100, 1, 3}} {
		n := newNetwork(t, dims...)
		q, k, v := n.do("Sinh", n.x), n.do("Cosh", n.x), n.do("Atan", n.x)
		s := n.do("Mul", n.einsum("aecd,abcd->acbe", k, q), n.number(1/math.Sqrt(float64(dims[3]))))
		f := n.Return(n.einsum("acbe,aecd->abcd", n.do("Softmax", s), v))
		compile := func(list []passes.Pass) *engine.Plan {
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: list, Invariants: new(engine.Invariants)})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		x := enginetest.Floats(n.r, dims...)
		want := enginetest.Run(t, compile(passes.Without(passes.Inference(), "attention")), nil, x)
		p := compile(passes.Inference())
		for _, workers := range []int{1, 2, 3} {
			sameNumbers(t, "attention", enginetest.Run(t, p, &engine.RunOptions{Workers: engine.NewWorkers(workers)}, x), want)
		}
	}
}
