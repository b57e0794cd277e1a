package passes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/internal/enginetest"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// randomGraph returns a function of random ops over vectors and lists of
// vectors. Each op draws its inputs among all values so far, so that values are
// shared, passed on under other shapes, dead, and results more than once.
func randomGraph(t testing.TB, r *rand.Rand) *graph.Function {
	b := enginetest.Build(t, "random")
	const n = 6
	none := b.Value(tensor.Must(tensor.New([]int32{n}, 1)))
	vectors := []graph.Output{b.Arg(tensor.Float32), b.Arg(tensor.Float32)}
	for range 2 {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32()*4 - 2
		}
		vectors = append(vectors, b.Value(tensor.Vector(x...)))
	}
	lists := []graph.Output{b.Op("TensorListFromTensor", b.Node("Pack", graph.Attrs{graph.Int("axis", 0)}, vectors[0], vectors[1], vectors[2]).Output(0), none)}
	vector := func() graph.Output { return vectors[r.IntN(len(vectors))] }
	list := func() graph.Output { return lists[r.IntN(len(lists))] }
	element := graph.Attrs{graph.Type("element_dtype", tensor.Float32)}
	for range 5 + r.IntN(40) {
		switch r.IntN(9) {
		case 0, 1:
			ops := []string{"AddV2", "Sub", "Mul", "Maximum", "Minimum"}
			vectors = append(vectors, b.Op(ops[r.IntN(len(ops))], vector(), vector()))
		case 2:
			ops := []string{"Neg", "Abs", "Tanh", "Relu", "Square", "Identity", "Sigmoid"}
			vectors = append(vectors, b.Op(ops[r.IntN(len(ops))], vector()))
		case 3: // another shape and back: the same memory
			m := b.Op("Reshape", vector(), b.Value(tensor.Vector[int32](2, 3)))
			m = b.Op("Neg", m)
			vectors = append(vectors, b.Op("Reshape", m, b.Value(tensor.Vector[int32](n))))
		case 4:
			lists = append(lists, b.Op("TensorListSetItem", list(), b.Scalar(int32(r.IntN(3))), vector()))
		case 5:
			vectors = append(vectors, b.Node("TensorListGetItem", element, list(), b.Scalar(int32(r.IntN(3))), none).Output(0))
		case 6:
			lists = append(lists, b.Op("TensorListPushBack", list(), vector()))
		case 7:
			pop := b.Node("TensorListPopBack", element, b.Op("TensorListPushBack", list(), vector()), none)
			lists, vectors = append(lists, pop.Output(0)), append(vectors, pop.Output(1))
		case 8:
			lists = append(lists, b.Op("AddN", list()))
		}
	}
	var out []graph.Output
	for range 1 + r.IntN(4) {
		out = append(out, vector())
	}
	l := b.Node("TensorListStack", element, list(), none)
	return b.Return(append(out, l.Output(0))...)
}

// byHand executes a function op by op, each in a separate call with new memory:
// nothing is shared, and nothing changes in place.
func byHand(t testing.TB, f *graph.Function, args []engine.Value) []engine.Value {
	t.Helper()
	set := kernel.All()
	values := map[graph.Output]engine.Value{}
	for i, a := range f.Args {
		values[a.Output(0)] = args[i]
	}
	for _, n := range f.Graph.Nodes() {
		if n.IsArg() {
			continue
		}
		var c engine.Runner
		c.Begin(context.Background(), &engine.Env{})
		var in []engine.Value
		for _, o := range n.In {
			c.Add(values[o])
			in = append(in, values[o])
		}
		p, err := set.PrepareEager(n.Op, n.Attrs, in)
		if err == nil {
			err = c.Run(p)
		}
		if err != nil {
			t.Fatalf("%v: %v", n, err)
		}
		for i, v := range c.Results() {
			values[n.Output(i)] = v
		}
	}
	var out []engine.Value
	for _, r := range f.Results {
		out = append(out, values[r.Output])
	}
	return out
}

func TestPlansEqualTheirOpsOneByOne(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := randomGraph(t, r)
		x, y := tensor.Vector[float32](1, -2, 3, -4, 5, -6), tensor.Vector[float32](.5, .25, -.5, 2, -2, 1)
		args := []engine.Value{engine.ValueOf(x), engine.ValueOf(y)}
		want := byHand(t, f, args)
		before := [2]*tensor.Tensor{x.Clone(), y.Clone()}
		for _, list := range [][]passes.Pass{{}, nil} {
			p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: list})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			var first []engine.Value
			for call := range 3 {
				got, err := p.Run(ctx, args, nil)
				if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, f)
				}
				if call == 0 {
					first = got
				}
				enginetest.Same(t, fmt.Sprintf("seed %d, call %d", seed, call), got, want)
			}
			enginetest.Same(t, fmt.Sprintf("seed %d, the first results after later calls", seed), first, want)
		}
		if !x.Equal(before[0]) || !y.Equal(before[1]) {
			t.Fatalf("seed %d: an argument was changed", seed)
		}
	}
}

func TestPassesLeaveLessToDo(t *testing.T) {
	b := enginetest.Build(t, "f")
	x := b.Arg(tensor.Int32)
	two := b.Op("AddV2", b.Scalar(1), b.Scalar(1))
	again := b.Op("AddV2", b.Scalar(1), b.Scalar(1))
	y := b.Op("Identity", b.Op("Identity", b.Op("Mul", x, two)))
	z := b.Op("Mul", x, again)
	f := b.Return(b.Op("Sub", y, z))
	for _, c := range []struct {
		without []string
		ops     int
	}{
		{nil, 2},
		{[]string{"identity chains"}, 4},
		{[]string{"constant folding"}, 2}, // constants alone are computed once
		{[]string{"common subexpressions"}, 3},
		{[]string{"identity chains", "constant folding", "common subexpressions"}, 5},
	} {
		p, err := engine.Compile(f, &engine.CompileOptions{Kernels: kernel.All(), Passes: passes.Without(passes.Default(), c.without...)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Len() != c.ops {
			t.Errorf("without %v: %d ops, want %d", c.without, p.Len(), c.ops)
		}
		out, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Scalar[int32](5))}, nil)
		if err != nil || tensor.Values[int32](out[0].Tensor)[0] != 0 {
			t.Errorf("without %v: %v, %v", c.without, out, err)
		}
	}
}

func TestPassesLeaveEffectsAlone(t *testing.T) {
	b := enginetest.Build(t, "f")
	shape := b.Value(tensor.Vector[int32](3))
	attrs := graph.Attrs{graph.Int("seed", 1), graph.Int("seed2", 2), graph.Type("dtype", tensor.Float32)}
	f := b.Return(b.Node("RandomUniform", attrs, shape).Output(0), b.Node("RandomUniform", attrs, shape).Output(0))
	p := plan(t, f)
	if p.Len() != 2 {
		t.Fatalf("%d ops draw numbers, want 2", p.Len())
	}
	o := &engine.RunOptions{Instance: new(engine.Instance)}
	run := func() []engine.Value {
		out, err := p.Run(context.Background(), nil, o)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, second := run(), run()
	if !first[0].Tensor.Equal(first[1].Tensor) || first[0].Tensor.Equal(second[0].Tensor) {
		t.Error("two nodes of one seed draw the same numbers, and the next call goes on")
	}
}
