package trackable_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

type Dense struct {
	trackable.Base
	Kernel *trackable.Variable
	Bias   *trackable.Variable `cairn:"b"`
	Note   string
}

type Net struct {
	Layers []*Dense
	Head   *Dense
}

func ExampleWalk() {
	scalar := func(x float32) *trackable.Variable { return trackable.NewVariable(tensor.Scalar(x)) }
	shared := &Dense{Kernel: scalar(1), Bias: scalar(2)}
	g, err := trackable.Walk(&Net{Layers: []*Dense{shared, {Kernel: scalar(3)}}, Head: shared}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for id, n := range g.Nodes {
		if n.Variable() != nil {
			fmt.Println(id, trackable.AttributeKey(n.Path, trackable.VariableValue))
		}
	}
	// Output:
	// 4 head/kernel/.ATTRIBUTES/VARIABLE_VALUE
	// 5 head/b/.ATTRIBUTES/VARIABLE_VALUE
	// 6 layers/1/kernel/.ATTRIBUTES/VARIABLE_VALUE
}

func ExampleVariable_Update() {
	v := trackable.NewVariable(tensor.Vector[float32](1, 2))
	before := v.Load() // never changes
	err := v.Update(func(buf *tensor.Tensor) error {
		for i := range tensor.Values[float32](buf) {
			tensor.Values[float32](buf)[i] *= 10
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Values[float32](before), tensor.Values[float32](v.Load()))
	// Output: [1 2] [10 20]
}

func ExampleStep() {
	step := trackable.NewScalar[int64](0)
	err := trackable.Step(context.Background(), func(ctx context.Context) error {
		step.Add(1) // no checkpoint is taken before the step ends
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(step.Get())
	// Output: 1
}

func ExampleBase_Attach() {
	var n Dense
	if err := n.Attach("extra", trackable.NewScalar("text")); err != nil {
		log.Fatal(err)
	}
	edges, err := trackable.Children(&n)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(edges[0].Name)
	// Output: extra
}
