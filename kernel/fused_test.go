package kernel_test

import (
	"context"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/internal/testkit/opfixture"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

const fusedPrograms = "testdata/tf2.21/fused"

// TestFusedOpsEqualTensorFlow runs graphs that TensorFlow traced with the
// passes that make fused ops, and checks that these ran.
func TestFusedOpsEqualTensorFlow(t *testing.T) {
	set, ran := counting(t)
	for _, p := range opfixture.LoadPrograms(t, fusedPrograms) {
		t.Run(p.Name, func(t *testing.T) {
			list := passes.Inference()
			if len(p.Runs[0].After) > 0 {
				list = passes.Default() // those of a training step
			}
			checkFused(t, p, set, list, ran)
		})
	}
}

// counting returns all kernels, and how often each has run since it was cleared.
func counting(t *testing.T) (*engine.KernelSet, map[string]int) {
	ran := map[string]int{}
	var all []engine.Kernel
	for k := range kernel.All().All() {
		c := *k
		c.Run, c.Prepare = nil, func(n *engine.Node) (func(*engine.Call) error, error) {
			run := k.Run
			if k.Prepare != nil {
				var err error
				if run, err = k.Prepare(n); err != nil {
					return nil, err
				}
			}
			return func(c *engine.Call) error { ran[n.Op]++; return run(c) }, nil
		}
		all = append(all, c)
	}
	set, err := engine.NewKernelSet(all)
	if err != nil {
		t.Fatal(err)
	}
	return set, ran
}

func checkFused(t *testing.T, p opfixture.Program, set *engine.KernelSet, list []passes.Pass, ran map[string]int) {
	const precision = engine.Accumulated // sums of values that earlier ops have rounded
	plan, err := engine.Compile(p.Function(t), &engine.CompileOptions{Kernels: set, Passes: list, Invariants: new(engine.Invariants)})
	if err != nil {
		t.Fatal(err)
	}
	state := p.Vars
	for r, run := range p.Runs {
		for again := range 2 { // the second call runs the plan that was compiled for its shapes
			var args, want, got []*tensor.Tensor
			var in []engine.Value
			var vars []*trackable.Variable
			for _, x := range state {
				args = append(args, x.Tensor(t))
				vars = append(vars, trackable.NewVariable(x.Tensor(t)))
				in = append(in, engine.HandleOf(vars[len(vars)-1]))
			}
			for _, x := range run.In {
				args = append(args, x.Tensor(t))
				in = append(in, engine.ValueOf(x.Tensor(t)))
			}
			clear(ran)
			out, err := plan.Run(context.Background(), in, &engine.RunOptions{Instance: new(engine.Instance), Workers: engine.NewWorkers(1)})
			if err != nil {
				t.Fatalf("run %d: %v", r, err)
			}
			for _, v := range out {
				got = append(got, v.Tensor)
			}
			for i := range run.After {
				got = append(got, vars[i].Load())
			}
			for _, x := range append(run.Out, run.After...) {
				want = append(want, x.Tensor(t))
			}
			if len(got) != len(want) {
				t.Fatalf("run %d: %d results, want %d", r, len(got), len(want))
			}
			scale := opfixture.Scale(args, want)
			for i, x := range got {
				if d := opfixture.Differ(precision, x, want[i], scale); d != "" {
					t.Errorf("run %d.%d: result %d: %s", r, again, i, d)
				}
			}
			for op, n := range p.Fused {
				if again > 0 && ran[op] != n && (n >= 0 || ran[op] == 0) {
					t.Errorf("run %d: %s ran %d times, not %d: %v", r, op, ran[op], n, ran)
				}
			}
		}
		if len(run.After) > 0 {
			state = run.After
		}
	}
}
