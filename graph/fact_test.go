package graph_test

import (
	"testing"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// TestRelaxedHandlesDescribeAllComponentsOrNone relaxes facts of handles. A handle with
// fewer components than the value would describe another value.
func TestRelaxedHandlesDescribeAllComponentsOrNone(t *testing.T) {
	handle := func(c ...graph.Content) graph.Fact {
		return graph.Fact{DType: tensor.Variant, Shape: graph.ShapeOf(), Handle: c}
	}
	a := graph.Content{DType: tensor.Float32, Shape: graph.ShapeOf(2, 3)}
	b := graph.Content{DType: tensor.Float32, Shape: graph.ShapeOf(2, 4)}
	c := graph.Content{DType: tensor.Int32, Shape: graph.ShapeOf(2, 3)}
	for name, x := range map[string]struct{ f, o, want graph.Fact }{
		"equal":                 {handle(a, c), handle(a, c), handle(a, c)},
		"another shape":         {handle(c, a), handle(c, b), handle(c, graph.Content{DType: tensor.Float32, Shape: a.Shape.Relax(b.Shape)})},
		"another type":          {handle(a), handle(c), handle()},
		"another type later":    {handle(a, a), handle(a, c), handle()},
		"another number":        {handle(a, c), handle(a), handle()},
		"one that is not known": {handle(a), handle(), handle()},
	} {
		for _, got := range []graph.Fact{x.f.Relax(x.o), x.o.Relax(x.f)} {
			if !graph.Alike([]graph.Fact{got}, []graph.Fact{x.want}) {
				t.Errorf("%s: %v, want %v", name, got, x.want)
			}
		}
	}
}
