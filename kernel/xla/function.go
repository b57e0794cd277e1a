package xla

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// Functions of scalars, the attributes of reductions, scatters, sorts and windows.

// scalars is a compiled function of scalars.
type scalars struct {
	name string
	f    engine.Function
}

// scalarFunction compiles the function in an attribute, which must have count
// scalar arguments; -1 is a number that only a call knows.
func scalarFunction(n *engine.Node, attr string, count int) (*scalars, error) {
	var facts []graph.Fact
	if count >= 0 && len(n.In) > 0 {
		for range count {
			facts = append(facts, graph.Fact{DType: n.In[0].DType, Shape: graph.ShapeOf()})
		}
	}
	f, err := n.Function(attr, facts)
	if err != nil {
		return nil, err
	}
	return &scalars{attr, f}, nil
}

// call runs the function on elements and stores its results. The types are those of
// the arguments; if there are fewer, they repeat.
func (s *scalars) call(c *engine.Call, args, results [][]byte, types ...tensor.DType) error {
	in := make([]engine.Value, len(args))
	for i, a := range args {
		v, err := c.Refs().New(types[i%len(types)], nil)
		if err != nil {
			return err
		}
		copy(v.Tensor.Bytes(), a)
		in[i] = v
	}
	out, err := s.f.Call(c, in, nil)
	if err != nil {
		return err
	}
	if len(out) != len(results) {
		return fmt.Errorf("%s returns %d results (want %d)", s.name, len(out), len(results))
	}
	for i, v := range out {
		if v.Tensor == nil || len(v.Tensor.Shape()) != 0 || len(v.Tensor.Bytes()) != len(results[i]) {
			return fmt.Errorf("%s returns no scalar of the wanted type as result %d", s.name, i)
		}
		copy(results[i], v.Tensor.Bytes())
		c.Refs().Release(v)
	}
	return nil
}

// holds runs a predicate on elements.
func (s *scalars) holds(c *engine.Call, args [][]byte, types ...tensor.DType) (bool, error) {
	var b [1]byte
	err := s.call(c, args, [][]byte{b[:]}, types...)
	return b[0] != 0, err
}
