package kernel_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
)

// TestOwnedInputsGiveTheSameBits runs the calls of the fixtures in plans in
// which the inputs have no other users, so that kernels may overwrite them. It
// compares with plans in which they belong to the caller.
func TestOwnedInputsGiveTheSameBits(t *testing.T) {
	fixtures := opfixture.Load(t, "testdata/tf2.21")
	for op, cases := range fixtures {
		for _, f := range cases {
			in, ok := tensors(t, f)
			if !ok {
				continue
			}
			foreign, err := runOp(t, f, in, false)
			if err != nil {
				continue // TestKernelsEqualTensorFlow reports the error
			}
			owned, err := runOp(t, f, in, true)
			if err != nil {
				t.Errorf("%v: %v", f, err)
				continue
			}
			for i := range foreign {
				if a, b := foreign[i].Tensor, owned[i].Tensor; a == nil || b == nil || !a.Equal(b) {
					t.Errorf("%s: %v: output %d differs where the inputs are owned", op, f, i)
				}
			}
		}
	}
}

// tensors returns the inputs of a call that takes tensors alone.
func tensors(t *testing.T, f opfixture.Fixture) ([]*tensor.Tensor, bool) {
	var in []*tensor.Tensor
	for _, x := range f.In {
		in = append(in, x.Tensor(t))
	}
	return in, f.Vars == 0 && len(in) > 0
}

// runOp runs a call as a plan. Owned inputs are copies that the plan makes.
func runOp(t *testing.T, f opfixture.Fixture, in []*tensor.Tensor, owned bool) ([]engine.Value, error) {
	t.Helper()
	fn := graph.NewFunction("f")
	add := func(op string, attrs graph.Attrs, in ...graph.Output) *graph.Node {
		facts := make([]graph.Fact, len(in))
		for i, o := range in {
			facts[i] = o.Fact()
		}
		n := &graph.Node{Op: op, In: in, Def: graph.LookupOp(op)}
		var err error
		if n.Attrs, n.Out, err = n.Def.Bind(attrs, facts); err != nil {
			t.Fatal(err)
		}
		if err := fn.Graph.Add(n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	constant := func(x *tensor.Tensor) graph.Output {
		return add("Const", graph.Attrs{graph.Tensor("value", x), graph.Type("dtype", x.DType())}).Output(0)
	}
	var args []engine.Value
	var inputs []graph.Output
	for _, x := range in {
		o, err := fn.AddArg("", graph.Fact{DType: x.DType()})
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, engine.ValueOf(x))
		if owned {
			dims := make([]int64, len(x.Shape()))
			for i, n := range x.Shape() {
				dims[i] = int64(n)
			}
			pack := add("Pack", graph.Attrs{graph.Int("axis", 0)}, o)
			o = add("Reshape", nil, pack.Output(0), constant(tensor.Must(tensor.New(dims, len(dims))))).Output(0)
		}
		inputs = append(inputs, o)
	}
	last := add(f.Op, f.EngineAttrs(t), inputs...)
	for i := range last.Out {
		fn.AddResult("", last.Output(i))
	}
	p, err := engine.Compile(fn, &engine.CompileOptions{Kernels: kernel.All()})
	if err != nil {
		return nil, err
	}
	return p.Run(context.Background(), args, nil)
}
