package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// tensorArrayRules returns the rules of TensorFlow 1's arrays and stacks, and
// of optionals.
func tensorArrayRules() map[string]Rule {
	return join(
		arrayVersions("TensorArrayWrite", flow), arrayVersions("TensorArrayScatter", flow), arrayVersions("TensorArraySplit", flow),
		arrayVersions("TensorArraySize", flow), arrayVersions("TensorArrayClose", nothing),
		arrayVersions("TensorArray", newArray), arrayVersions("TensorArrayRead", arrayRead), arrayVersions("TensorArrayGather", arrayGather),
		arrayVersions("TensorArrayConcat", arrayConcat), arrayVersions("TensorArrayGrad", arrayGrad),
		rules(nothing, "Stack", "StackPop", "StackClose", "StackV2", "StackPopV2", "StackCloseV2"),
		map[string]Rule{
			"TensorArrayGradWithShape": arrayGrad, "TensorArrayPack": arrayPack, "TensorArrayUnpack": flow,
			"StackPush": stackPush, "StackPushV2": stackPush,
			"OptionalFromValue": optionalFrom, "OptionalNone": scalarOut, "OptionalHasValue": scalarOut, "OptionalGetValue": optionalGet,
		})
}

// arrayVersions returns a rule under the names of all versions of an op on
// TensorFlow 1's arrays.
func arrayVersions(op string, rule Rule) map[string]Rule {
	return rules(rule, op, op+"V2", op+"V3")
}

// arrayPack infers the stack of all of an array's elements.
func arrayPack(c *Inference) error {
	s, _ := c.Attrs.Shape("element_shape")
	if s.HasRank() {
		c.set(0, graph.ShapeOf(graph.NewDim()).Concat(s))
	}
	return nil
}

func stackPush(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	c.pass(0, 1)
	return nil
}

// flow infers the output of ops that have one, a scalar.
func flow(c *Inference) error {
	c.setDims(0)
	return nil
}

func newArray(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	if c.Op != "TensorArrayV3" {
		c.setDims(0, 2) // two names
		return c.scalar(0)
	}
	c.setDims(1)
	s, _ := c.Attrs.Shape("element_shape")
	if len(c.Out) > 0 && (s.Known() || c.Attrs.Bool("identical_element_shapes")) { // as TensorFlow's shape function
		c.Out[0].Handle = []graph.Content{{DType: c.Attrs.Type("dtype", tensor.Invalid), Shape: s}}
	}
	return c.scalar(0)
}

func arrayRead(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	h, _ := c.held(0)
	c.set(0, h.Shape)
	return c.scalar(1)
}

func arrayGather(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	h, _ := c.held(0)
	s := h.Shape
	if asked, ok := c.Attrs.Shape("element_shape"); ok {
		m, err := s.Merge(asked)
		if err != nil {
			return fmt.Errorf("the array holds elements of shape %v, not %v", s, asked)
		}
		s = m
	}
	n, err := c.vector(1)
	if err == nil {
		c.set(0, graph.ShapeOf(n).Concat(s))
	}
	return err
}

func arrayConcat(c *Inference) error {
	c.set(1, graph.OfRank(1))
	if s, ok := c.Attrs.Shape("element_shape_except0"); ok {
		c.set(0, graph.ShapeOf(graph.NewDim()).Concat(s))
	}
	return nil
}

func arrayGrad(c *Inference) error {
	if err := c.atLeast(2); err != nil {
		return err
	}
	if len(c.Out) == 1 {
		c.setDims(0, 2)
		return nil
	}
	if len(c.Out) > 0 && c.Op == "TensorArrayGradV3" {
		c.Out[0].Handle = c.In[0].Handle
	}
	c.setDims(1)
	return nil
}

func optionalFrom(c *Inference) error {
	c.setDims(0)
	if len(c.Out) == 0 {
		return nil
	}
	c.Out[0].Handle = make([]graph.Content, len(c.In))
	for i, f := range c.In {
		c.Out[0].Handle[i] = graph.Content{DType: f.DType, Shape: f.Shape}
	}
	return nil
}

func optionalGet(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	noted := c.Attrs.Shapes("output_shapes")
	for i := range c.Out {
		var s graph.PartialShape
		if h := c.In[0].Handle; len(h) == len(c.Out) {
			s = h[i].Shape
		}
		if i < len(noted) {
			m, err := s.Merge(noted[i])
			if err != nil {
				return fmt.Errorf("the optional holds shape %v, not %v", s, noted[i])
			}
			s = m
		}
		c.set(i, s)
	}
	return nil
}
