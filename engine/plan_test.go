package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// addKernels returns enough kernels to run sums.
func addKernels(t *testing.T) *engine.KernelSet {
	t.Helper()
	set, err := engine.NewKernelSet([]engine.Kernel{
		{Op: "AddV2", Run: func(c *engine.Call) error {
			if err := c.Need(2); err != nil {
				return err
			}
			out, err := c.AllocOver(0, 0, tensor.Float32, c.In(0).Shape())
			if err != nil {
				return err
			}
			x, y, z := tensor.Values[float32](c.In(0)), tensor.Values[float32](c.In(1)), tensor.Values[float32](out)
			for i := range z {
				z[i] = x[i] + y[i]
			}
			return nil
		}},
		{Op: "Identity", Run: func(c *engine.Call) error { c.Pass(0, 0); return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// chain returns a function that adds its second argument to its first n times.
func chain(t *testing.T, n int) *graph.Function {
	t.Helper()
	f := graph.NewFunction("chain")
	x, err := f.AddArg("x", graph.Fact{DType: tensor.Float32})
	if err != nil {
		t.Fatal(err)
	}
	y, err := f.AddArg("y", graph.Fact{DType: tensor.Float32})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		node := &graph.Node{Op: "AddV2", In: []graph.Output{x, y}}
		if err := f.Graph.Add(node); err != nil {
			t.Fatal(err)
		}
		x = node.Output(0)
	}
	f.AddResult("sum", x)
	return f
}

func compile(t *testing.T, f *graph.Function) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(f, &engine.CompileOptions{Kernels: addKernels(t)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlanHoldsNoMoreThanItNeeds(t *testing.T) {
	p := compile(t, chain(t, 200))
	const n = 1 << 20
	x, y := tensor.Must(tensor.Zeros(tensor.Float32, n)), tensor.Must(tensor.New(make([]float32, n), n))
	tensor.Values[float32](y)[7] = 1
	var used engine.Usage
	out, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(x), engine.ValueOf(y)}, &engine.RunOptions{Used: &used})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[float32](out[0].Tensor)[7]; got != 200 {
		t.Errorf("got %v", got)
	}
	if used.Peak > 12<<20 || used.Steps != 200 {
		t.Errorf("peak %d bytes, %d steps", used.Peak, used.Steps)
	}
	if tensor.Values[float32](x)[7] != 0 {
		t.Error("an argument was written to")
	}
}

func TestResultsBelongToTheCaller(t *testing.T) {
	p := compile(t, chain(t, 1))
	one := tensor.Vector[float32](1, 2)
	call := func() []float32 {
		out, err := p.Run(context.Background(), []engine.Value{engine.ValueOf(one), engine.ValueOf(one)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tensor.Values[float32](out[0].Tensor)
	}
	first := call()
	for range 10 {
		call()
	}
	if first[0] != 2 || first[1] != 4 {
		t.Errorf("a later call wrote to an earlier result: %v", first)
	}
}

func TestAPlanHasItsLimits(t *testing.T) {
	p := compile(t, chain(t, 50))
	one := []engine.Value{engine.ValueOf(tensor.Vector[float32](1)), engine.ValueOf(tensor.Vector[float32](1))}
	if _, err := p.Run(context.Background(), one, &engine.RunOptions{MaxSteps: 10}); err == nil || !strings.Contains(err.Error(), "MaxSteps") {
		t.Errorf("steps: %v", err)
	}
	if _, err := p.Run(context.Background(), one, &engine.RunOptions{MaxOutput: 1}); err == nil {
		t.Error("the output is too large")
	}
	if _, err := p.Run(context.Background(), one, &engine.RunOptions{MaxMemory: 1}); err == nil || !strings.Contains(err.Error(), "bytes that the call may use") {
		t.Errorf("memory: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := p.Run(ctx, one, nil); !errors.Is(err, cause) {
		t.Errorf("context: %v", err)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	p := compile(t, chain(t, 1))
	ctx := context.Background()
	v := engine.ValueOf(tensor.Vector[float32](1))
	for name, args := range map[string][]engine.Value{
		"too few":     {v},
		"nothing":     {v, {}},
		"wrong dtype": {v, engine.ValueOf(tensor.Vector(1.0))},
	} {
		if _, err := p.Run(ctx, args, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestMissingKernelsAreListedTogether(t *testing.T) {
	f := graph.NewFunction("f")
	x, err := f.AddArg("x", graph.Fact{DType: tensor.Float32})
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"Tanh", "Relu", "Tanh"} {
		n := &graph.Node{Op: op, In: []graph.Output{x}}
		if err := f.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		x = n.Output(0)
	}
	f.AddResult("y", x)
	_, err = engine.Compile(f, &engine.CompileOptions{Kernels: addKernels(t)})
	var missing *engine.MissingError
	if !errors.As(err, &missing) || len(missing.Ops) != 2 || missing.Ops[0].Count != 2 {
		t.Errorf("got %v", err)
	}
}

func TestAFeedMayBeAnyTensorOfAGraph(t *testing.T) {
	var g graph.Graph
	add := func(op string, in ...graph.Output) graph.Output {
		n := &graph.Node{Op: op, In: in, Out: []graph.Fact{{DType: tensor.Float32}}}
		if err := g.Add(n); err != nil {
			t.Fatal(err)
		}
		return n.Output(0)
	}
	x := add("Placeholder")
	mid := add("Identity", x)
	sum := add("AddV2", mid, mid)
	f, err := graph.Prune(&g, []graph.Output{mid}, []graph.Output{sum, mid}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := compile(t, f).Run(context.Background(), []engine.Value{engine.ValueOf(tensor.Vector[float32](3))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.Values[float32](out[0].Tensor)[0]; got != 6 {
		t.Errorf("got %v", got)
	}
	if got := tensor.Values[float32](out[1].Tensor)[0]; got != 3 {
		t.Errorf("the feed came back as %v", got)
	}
}

func TestFailuresNameTheNode(t *testing.T) {
	p := compile(t, chain(t, 3))
	args := []engine.Value{engine.ValueOf(tensor.Vector[float32](1, 2)), engine.ValueOf(tensor.Vector[float32](1))}
	_, err := p.Run(context.Background(), args, nil)
	var ne *graph.NodeError
	var pe *engine.PanicError
	if !errors.As(err, &ne) || ne.Op != "AddV2" || !errors.As(err, &pe) {
		t.Errorf("got %v", err)
	}
}
