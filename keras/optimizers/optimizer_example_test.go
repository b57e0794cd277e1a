package optimizers_test

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/grad"
	"github.com/cairnml/cairn/keras"
	"github.com/cairnml/cairn/keras/initializers"
	"github.com/cairnml/cairn/keras/layers"
	"github.com/cairnml/cairn/keras/optimizers"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// Signs is an optimizer of a program's own: a step of fixed size against the
// sign of the gradients' running mean, which it keeps in a slot.
type Signs struct {
	trackable.Base
	trackable.Slots
	Rate float64
}

func (o *Signs) Apply(s *ops.Scope, g grad.Gradients) {
	o.DeclareSlots("mean")
	for _, p := range g {
		mean, err := o.SlotOr(p.Variable, "mean", nil)
		if err != nil {
			s.Fail("Signs", err)
			return
		}
		ops.Assign(s, mean, ops.Add(s, ops.Mul(s, mean, 0.9), ops.Mul(s, p.Grad, 0.1)))
		ops.AssignSub(s, p.Variable, ops.Mul(s, ops.Sign(s, mean), o.Rate))
	}
}

// An optimizer needs nothing of this package: slots make its state part of
// checkpoints.
func ExampleOptimizer() {
	net := &layers.Dense{Units: 2, KernelInitializer: initializers.Zeros{}}
	root := &struct {
		Net *layers.Dense
		Opt *Signs
	}{net, &Signs{Rate: 0.5}}
	step := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		loss, tape := grad.Of(s, func(s *ops.Scope) *ops.Value {
			return ops.Sum(s, net.Call(s, x))
		})
		root.Opt.Apply(s, tape.Gradient(loss, keras.Trainable(net)))
		return loss
	})
	if _, err := step.Call(context.Background(), ops.ValueOf(tensor.Must(tensor.New([]float32{1, -1}, 1, 2)))); err != nil {
		panic(err)
	}
	fmt.Println(tensor.Values[float32](net.Kernel.Load()), tensor.Values[float32](net.Bias.Load()))

	graph, err := trackable.Walk(root, &trackable.WalkOptions{SortRoot: true})
	if err != nil {
		panic(err)
	}
	for _, n := range graph.Nodes {
		if n.IsSlot {
			fmt.Println(n.Path)
		}
	}
	// Output:
	// [-0.5 -0.5 0.5 0.5] [-0.5 -0.5]
	// net/kernel/.OPTIMIZER_SLOT/opt/mean
	// net/bias/.OPTIMIZER_SLOT/opt/mean
}

func ExampleAdam() {
	opt := optimizers.NewAdam(0.001)
	opt.ClipNorm = 1
	rate, err := opt.LearningRate()
	fmt.Printf("%.4f %v\n", rate, err)
	if err := opt.SetLearningRate(0.01); err != nil {
		panic(err)
	}
	rate, err = opt.LearningRate()
	fmt.Printf("%.4f %v\n", rate, err)
	// Output:
	// 0.0010 <nil>
	// 0.0100 <nil>
}
