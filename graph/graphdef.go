package graph

import (
	"context"
	"fmt"

	"github.com/cairnml/cairn/tensor"
)

// GraphDef returns the function as an encoded GraphDef, which TensorFlow imports. It has a
// Placeholder for each argument, captures among them, under the arguments' names, and an
// Identity for each result, under the results' names. A result depends on all effects.
// The functions that it calls, and their gradients, are its library.
func (c *Concrete) GraphDef(ctx context.Context) ([]byte, error) {
	if c == nil || c.Function == nil {
		return nil, fmt.Errorf("graph: GraphDef of no function")
	}
	assemble := c.Assemble
	if assemble == nil {
		assemble = func(_ context.Context, fs ...*Function) (*Library, error) { return Assemble(fs...), nil }
	}
	fn, err := c.Function.Clone()
	if err != nil {
		return nil, err
	}
	lib, err := assemble(ctx, fn.Graph.Reachable()...)
	if err != nil {
		return nil, err
	}
	g := fn.Graph
	g.Library = lib
	for _, a := range fn.Args {
		f := a.Out[0]
		a.Op, a.Def = "Placeholder", LookupOp("Placeholder")
		a.Attrs = Attrs{Type("dtype", f.DType), Shape("shape", f.Shape.Anonymous())}
	}
	var effects []*Node
	for _, r := range fn.controlResults(fn.Graph.kept()) {
		effects = append(effects, r.Node)
	}
	if len(effects) > 0 && len(fn.Results) > 0 {
		all := &Node{Op: "NoOp", Def: LookupOp("NoOp"), Name: g.UniqueName("NoOp"), Control: effects}
		if err := g.Add(all); err != nil {
			return nil, err
		}
		effects = []*Node{all}
	}
	for _, r := range fn.Results {
		f := r.Output.Fact()
		if f.DType == tensor.Invalid {
			return nil, fmt.Errorf("graph: GraphDef of %s: the result %q has no known element type", fn.Name, r.Name)
		}
		n := &Node{Op: "Identity", Def: LookupOp("Identity"), Name: g.UniqueName(r.Name), In: []Output{r.Output}, Control: effects,
			Attrs: Attrs{Type("T", f.DType)}, Out: []Fact{f}}
		if err := g.Add(n); err != nil {
			return nil, err
		}
	}
	return g.Marshal()
}
