package math

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/engine/passes"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/graph/shape"
	"github.com/cairnml/cairn/tensor"
	"github.com/cairnml/cairn/trackable"
)

// The op _UpdateVariables, which changes variables by a chain of elementwise
// ops. An error before the loop leaves all variables unchanged.

// updateDef defines the op that a plan makes of assignments to variables and
// the elementwise ops before them. It is a chain whose operands may be
// variables, and whose results are written to them.
var updateDef = &graph.OpDef{
	Name:     passes.UpdateOp,
	Stateful: true,
	Inputs:   []graph.ArgDef{{Name: "inputs", TypeAttr: "T", NumberAttr: "N"}, {Name: "variables", Type: tensor.Resource, NumberAttr: "M"}},
	Attrs: []graph.AttrDef{
		{Name: "T", Kind: graph.AttrType, AllowedTypes: chainTypes},
		{Name: "N", Kind: graph.AttrInt, HasMinimum: true},
		{Name: "M", Kind: graph.AttrInt, HasMinimum: true, Minimum: 1},
		{Name: "ops", Kind: graph.AttrStrings},
		{Name: "operands", Kind: graph.AttrInts},
		{Name: "stores", Kind: graph.AttrInts},
	},
}

// updateTile is the number of elements that run through an update at a time. An
// update uses more arrays at once than a chain does.
const updateTile = 1024

func prepareUpdate(n *engine.Node) (func(*engine.Call) error, error) {
	switch d := n.Attrs.Type("T", tensor.Invalid); d {
	case tensor.Float32:
		return newUpdate(n, chains32, wholes32)
	case tensor.Float64:
		return newUpdate(n, chains64, wholes64)
	default:
		return nil, &engine.UnsupportedTypeError{Attr: "T", Type: d, Known: chainTypes}
	}
}

// newUpdate returns the kernel of a node. The node's attribute stores has for each op the number
// of the variable that takes its result, or -1.
func newUpdate[T float32 | float64](n *engine.Node, loops map[string]chainLoop[T], wholes []whole[T]) (func(*engine.Call) error, error) {
	variables, stores := int(n.Attrs.Int("M", 0)), n.Attrs.Ints("stores")
	if variables < 1 || variables > len(n.In) || len(stores) != len(n.Attrs.Strings("ops")) {
		return nil, fmt.Errorf("%d inputs, %d of them variables, and %d stores for %d ops", len(n.In), variables, len(stores), len(n.Attrs.Strings("ops")))
	}
	taken := make([]bool, variables)
	for _, s := range stores {
		if s >= int64(variables) || s >= 0 && taken[s] {
			return nil, fmt.Errorf("results go into variable %d of %d, or several do", s, variables)
		}
		if s >= 0 {
			taken[s] = true
		}
	}
	h, err := newProgram(n, loops, stores, variables)
	if err != nil {
		return nil, err
	}
	h.whole = wholeOf(wholes, n.Attrs.Strings("ops"), n.Attrs.Ints("operands"), stores)
	return h.update, nil
}

// update runs the chain over the values of variables, all of which are locked
// together.
func (h *chain[T]) update(c *engine.Call) error {
	if c.NumIn() != h.inputs {
		return fmt.Errorf("takes %d inputs, %d were given", h.inputs, c.NumIn())
	}
	d := tensor.TypeOf[T]()
	data := h.inputs - h.variables
	variables := make([]*trackable.Variable, 0, h.variables)
	places := make([]int, h.variables) // among variables: two handles may refer to the same one
	var dims tensor.Shape
	for i := range places {
		v, err := c.NeedVar(data + i)
		if err != nil {
			return err
		}
		if i == 0 {
			dims = v.Shape()
		}
		if v.DType() != d || !v.Shape().Equal(dims) {
			return fmt.Errorf("the variable %q is %v%v, not %v%v", v.Name(), v.DType(), v.Shape(), d, dims)
		}
		if places[i] = slices.Index(variables, v); places[i] < 0 {
			places[i] = len(variables)
			variables = append(variables, v)
		}
	}
	for i := range data {
		x := c.In(i)
		if x == nil || x.DType() != d {
			return fmt.Errorf("input %d is no tensor of %v", i, d)
		}
		if all, err := shape.Broadcast(dims, x.Shape()); err != nil || !all.Equal(dims) {
			return fmt.Errorf("input %d, of shape %v, for variables of shape %v", i, x.Shape(), dims)
		}
	}
	return trackable.UpdateAll(variables, func(bufs []*tensor.Tensor) error {
		n := bufs[0].Len()
		held := make([]*tensor.Tensor, len(places))
		for i, at := range places {
			held[i] = bufs[at]
		}
		for i, b := range bufs {
			// Another goroutine may have changed the variable's shape since the check.
			if !b.Shape().Equal(dims) {
				return fmt.Errorf("the variable %q changed its shape during the step", variables[i].Name())
			}
		}
		if n == 0 {
			return nil
		}
		h.compute(c, nil, dims, n, updateTile, held)
		return nil
	})
}
