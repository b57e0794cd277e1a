package math_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/kernel"
	"github.com/cairnml/cairn/kernel/math"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestAdamsStepIsAWholeProgram checks the program that a plan makes of Adam's
// step. It must have one loop for all its ops, which computes the same bits as
// the ops one by one.
func TestAdamsStepIsAWholeProgram(t *testing.T) {
	for _, dims := range [][]int{{1}, {7}, {3, 33}, {257, 301}} {
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			testAdam[float32](t, dims)
			testAdam[float64](t, dims)
		})
	}
}

func testAdam[T float32 | float64](t *testing.T, dims []int) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() *tensor.Tensor {
		x := tensor.Must(tensor.Zeros(tensor.TypeOf[T](), dims...))
		for i := range tensor.Values[T](x) {
			tensor.Values[T](x)[i] = T(r.NormFloat64())
		}
		return x
	}
	start, gradients := random(), []*tensor.Tensor{random(), random(), random()}
	train := func(mode function.Mode) (*trackable.Variable, *function.Func[*ops.Value, *ops.Value]) {
		v, adam := trackable.NewVariable(start.Clone()), optimizers.NewAdam(0.1)
		if err := adam.SetLayout(optimizers.NewLayout); err != nil {
			t.Fatal(err)
		}
		step := function.New(func(s *ops.Scope, g *ops.Value) *ops.Value {
			adam.Apply(s, grad.Gradients{{Variable: v, Grad: g}})
			return ops.Identity(s, g)
		}, &function.Options{Mode: mode})
		for _, g := range gradients {
			if _, err := step.Call(t.Context(), ops.ValueOf(g)); err != nil {
				t.Fatal(err)
			}
		}
		return v, step
	}
	want, _ := train(function.Eagerly)
	got, step := train(function.Traced)
	if !slices.Equal(got.Load().Bytes(), want.Load().Bytes()) {
		t.Errorf("traced steps give %v, eager ones %v", got.Load(), want.Load())
	}

	c, err := step.TraceContext(t.Context(), ops.Spec(tensor.TypeOf[T](), dims...))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	var all []engine.Kernel
	for k := range kernel.All().All() {
		k := *k
		if prepare := k.Prepare; k.Op == passes.UpdateOp {
			k.Prepare = func(n *engine.Node) (func(*engine.Call) error, error) {
				if math.HasLoop(n.Attrs.Strings("ops"), n.Attrs.Ints("operands"), n.Attrs.Ints("stores")) {
					found++
				}
				return prepare(n)
			}
		}
		all = append(all, k)
	}
	set, err := engine.NewKernelSet(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Compile(c.Function, &engine.CompileOptions{Kernels: set}); err != nil {
		t.Fatal(err)
	}
	if found != 1 {
		t.Errorf("%d updates of %v have a loop of their own, want 1\n%v", found, dims, c.Function)
	}
}
