package shape_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
)

// Functions that each call the next one twice are as many calls as two to the
// power of their number.
func TestCallsThatMultiplyAreBounded(t *testing.T) {
	var next *graph.Function
	for i := range 60 {
		f := graph.NewFunction(fmt.Sprintf("f%d", i))
		x, err := f.AddArg("x", graph.Fact{DType: tensor.Float32, Shape: graph.ShapeOf(2)})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n := &graph.Node{Name: f.Graph.UniqueName("n"), Op: "Neg", In: []graph.Output{x}, Out: []graph.Fact{{}}}
			if next != nil {
				n.Op = "PartitionedCall"
				n.Attrs = graph.Attrs{graph.Func("f", next), graph.Types("Tin", tensor.Float32), graph.Types("Tout", tensor.Float32)}
			}
			if err := f.Graph.Add(n); err != nil {
				t.Fatal(err)
			}
			x = n.Output(0)
		}
		f.AddResult("y", x)
		next = f
	}
	done := make(chan error, 1)
	go func() { done <- shape.All().InferFunction(next) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still inferring after a minute")
	}
}
