package passes_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// randomChain returns a function of elementwise ops over inputs of the given
// shapes, of type d. Most ops have one user.
func randomChain(t testing.TB, r *rand.Rand, d tensor.DType, shapes [][]int) *graph.Function {
	n := &network{Builder: enginetest.Build(t, "chain"), r: r}
	var values []graph.Output
	for _, s := range shapes {
		x, err := n.F.AddArg("", graph.Fact{DType: d, Shape: graph.ShapeOf(s...)})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, x)
	}
	k := kernel.All().Lookup(passes.ElementwiseOp)
	pick := func() graph.Output {
		if r.IntN(3) > 0 {
			return values[len(values)-1]
		}
		return values[r.IntN(len(values))]
	}
	for len(values) < len(shapes)+25 {
		op := k.Fuses[r.IntN(len(k.Fuses))]
		def := graph.LookupOp(op)
		x := pick()
		if len(def.Inputs) == 1 {
			values = append(values, n.do(op, x))
			continue
		}
		y := pick()
		switch op {
		case "BiasAdd":
			s := x.Fact().Shape
			if y = values[1]; s.Rank() < 2 || s.Dim(s.Rank()-1) != y.Fact().Shape.Dim(0) {
				continue
			}
		case "TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReluGrad":
			y = x
		}
		values = append(values, n.do(op, x, y))
	}
	return n.Return(values[len(values)-1], values[len(values)-1-r.IntN(8)])
}

func TestChainsHaveTheBitsOfTheirOps(t *testing.T) {
	fused := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		shapes := [][]int{{9, 11, 37}, {37}, {11, 37}, {9, 11, 1}, {}, {1}, {1, 11, 1}, {9, 1, 37}, {1, 1, 37}}
		if seed%3 == 0 {
			shapes = [][]int{{4}, {4}, {}, {1}}
		}
		if seed%5 == 0 {
			shapes = [][]int{{3, 2500}, {2500}, {3, 1}, {1, 2500}}
		}
		d := tensor.Float32
		if seed%4 == 3 {
			d = tensor.Float64
		}
		f := randomChain(t, r, d, shapes)
		var args []engine.Value
		for _, s := range shapes {
			v := enginetest.Floats(r, s...)
			if seed%2 == 1 {
				v = sprinkled(r, specials[seed/2%uint64(len(specials))], s...)
			}
			args = append(args, engine.ValueOf(tensor.Must(tensor.Cast(v.Tensor, d))))
		}
		plain, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Without(passes.Default(), "elementwise chains")})
		if err != nil {
			t.Fatal(err)
		}
		p := plan(t, f)
		if p.Len() < plain.Len() {
			fused++
		}
		want := enginetest.Run(t, plain, nil, args...)
		for range 2 {
			sameNumbers(t, f.String(), enginetest.Run(t, p, nil, args...), want)
		}
	}
	if fused < 50 {
		t.Errorf("only %d of 60 functions have chains", fused)
	}
}

// sameNumbers holds results to others bit for bit, but that one NaN is as good as
// another.
func sameNumbers(t *testing.T, what string, got, want []engine.Value) {
	t.Helper()
	bits := func(x *tensor.Tensor) []float64 {
		return tensor.Values[float64](tensor.Must(tensor.Cast(x, tensor.Float64)))
	}
	for i := range want {
		g, w := bits(got[i].Tensor), bits(want[i].Tensor)
		if !got[i].Tensor.Shape().Equal(want[i].Tensor.Shape()) {
			t.Fatalf("%s: result %d has shape %v, want %v", what, i, got[i].Tensor.Shape(), want[i].Tensor.Shape())
		}
		for k := range w {
			if math.Float64bits(g[k]) != math.Float64bits(w[k]) && (g[k] == g[k] || w[k] == w[k]) {
				t.Fatalf("%s: result %d is %v at %d, want %v", what, i, g[k], k, w[k])
			}
		}
	}
}

// A chain ends at a value that another node uses, and at a value of another
// size.
func TestWhatChainsAreMadeOf(t *testing.T) {
	floats := func(n *network, dims ...int) graph.Output {
		o, err := n.F.AddArg("", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(dims...)})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for _, c := range []struct {
		name  string
		build func(n *network) []graph.Output
		ops   int
	}{
		{"one op stays", func(n *network) []graph.Output { return []graph.Output{n.do("Tanh", floats(n, 8))} }, 1},
		{"a chain", func(n *network) []graph.Output {
			return []graph.Output{n.do("AddV2", n.do("Mul", n.do("Tanh", floats(n, 8)), floats(n)), floats(n, 8))}
		}, 1},
		{"a value that two ops of the chain take", func(n *network) []graph.Output {
			x := n.do("Neg", floats(n, 8))
			return []graph.Output{n.do("Mul", x, n.do("Sigmoid", x))}
		}, 1},
		{"a result between", func(n *network) []graph.Output {
			x := n.do("Neg", floats(n, 8))
			return []graph.Output{n.do("Exp", x), x}
		}, 2},
		{"sizes that grow", func(n *network) []graph.Output {
			x := n.do("Neg", n.do("Exp", floats(n, 8)))
			return []graph.Output{n.do("Exp", n.do("AddV2", floats(n, 4, 8), x))}
		}, 2},
		{"integers", func(n *network) []graph.Output {
			return []graph.Output{n.do("Neg", n.do("Neg", n.Arg(tensor.Int32)))}
		}, 2},
		{"another op between", func(n *network) []graph.Output {
			x := n.do("Softmax", n.do("Neg", n.do("Exp", floats(n, 2, 8))))
			return []graph.Output{n.do("Neg", n.do("Exp", x))}
		}, 3},
		{"300 ops", func(n *network) []graph.Output {
			x := floats(n, 8)
			y := x
			for range 300 {
				y = n.do("AddV2", y, x)
			}
			return []graph.Output{y}
		}, 2},
	} {
		n := &network{Builder: enginetest.Build(t, c.name)}
		p := plan(t, n.Return(c.build(n)...))
		if p.Len() != c.ops {
			t.Errorf("%s: %d ops, want %d", c.name, p.Len(), c.ops)
		}
	}
}

func TestAChainRefusesAProgramThatCantBe(t *testing.T) {
	for _, a := range []graph.Attrs{
		{graph.Strings("ops", "Neg"), graph.Ints("operands", 1, -1)},
		{graph.Strings("ops", "Neg"), graph.Ints("operands", 0, 0)},
		{graph.Strings("ops", "AddV2"), graph.Ints("operands", 0, -1)},
		{graph.Strings("ops", "MatMul"), graph.Ints("operands", 0, 0)},
		{graph.Strings("ops", "Neg", "Neg"), graph.Ints("operands", 0, -1)},
		{graph.Strings("ops", "Neg"), graph.Ints("operands", -1, -1)},
		{graph.Strings("ops"), graph.Ints("operands")},
	} {
		attrs := append(graph.Attrs{graph.Type("T", tensor.Float32), graph.Int("N", 1)}, a...)
		if _, err := kernel.All().Prepare(&engine.Node{Op: passes.ElementwiseOp, Attrs: attrs, In: []graph.Fact{{DType: tensor.Float32}}}); err == nil {
			t.Errorf("%v is taken", a)
		}
	}
}
