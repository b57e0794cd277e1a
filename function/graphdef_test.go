package function_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cairnml/cairn/function"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// TestATraceIsAGraphDef exports a function that writes a variable and calls another one.
func TestATraceIsAGraphDef(t *testing.T) {
	v := trackable.NewVariable(tensor.Vector[float32](1, 2))
	inner := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value { return ops.Square(s, x) })
	c, err := function.New(func(s *ops.Scope, x *ops.Value) *ops.Value {
		ops.AssignAdd(s, v, x)
		return inner.Apply(s, ops.Mul(s, x, v))
	}).Trace(ops.Spec(tensor.Float32, 2))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.GraphDef(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Unmarshal(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, n := range g.Nodes() {
		ops = append(ops, n.Op)
	}
	if got := strings.Join(ops, " "); strings.Count(got, "Placeholder") != 2 || !strings.HasSuffix(got, "NoOp Identity") {
		t.Errorf("the graph has %s", got)
	}
	last := g.Nodes()[len(g.Nodes())-1]
	if len(last.Control) != 1 || last.Control[0].Op != "NoOp" || len(g.Library.Functions()) != 1 {
		t.Errorf("the result is %v, the library %v", last, g.Library.Names())
	}
	if got := fmt.Sprint(last.Out[0].DType); got != "float32" {
		t.Errorf("the result is a %s", got)
	}
}
