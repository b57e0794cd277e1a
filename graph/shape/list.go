package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// listRules returns the rules of TensorLists: variants whose handle has the
// type and shape of the elements.
func listRules() map[string]Rule {
	return map[string]Rule{
		"EmptyTensorList": newList, "TensorListReserve": newList, "TensorListPushBack": listPush, "TensorListPushBackBatch": listPushBatch,
		"TensorListPopBack": listPop, "TensorListLength": scalarOut, "TensorListGetItem": listGet, "TensorListSetItem": listSet,
		"TensorListResize": listSame, "TensorListStack": listStack, "TensorListConcat": listConcat, "TensorListConcatV2": listConcat,
		"TensorListSplit": listSplit, "TensorListFromTensor": listFromTensor, "TensorListGather": listGather,
		"TensorListScatter": listScatter, "TensorListScatterV2": listScatter, "TensorListScatterIntoExistingList": listScatterInto,
		"TensorListElementShape": listElementShape, "TensorListConcatLists": listConcatLists,
		"EmptyTensorMap": scalarOut, "TensorMapSize": scalarOut, "TensorMapHasKey": scalarOut, "TensorMapInsert": scalarOut, "TensorMapErase": scalarOut,
		"TensorMapLookup": nothing, "TensorMapStackKeys": nothing,
	}
}

// setList makes output i a handle of elements.
func (c *Inference) setList(i int, d tensor.DType, elem graph.PartialShape) {
	if i < len(c.Out) {
		c.Out[i].Shape = graph.ShapeOf()
		c.Out[i].Handle = []graph.Content{{DType: d, Shape: elem}}
	}
}

// elemType returns the type of a list's elements.
func (c *Inference) elemType() tensor.DType { return c.Attrs.Type("element_dtype", tensor.Invalid) }

// elem returns the shape of the list elements in input i's handle. Another
// element type than the attribute's is an error.
func (c *Inference) elem(i int) (graph.PartialShape, error) {
	h, ok := c.held(i)
	if d := c.elemType(); ok && d != tensor.Invalid && h.DType != tensor.Invalid && h.DType != d {
		return h.Shape, fmt.Errorf("the list holds %v, not %v", h.DType, d)
	}
	return h.Shape, nil
}

// elemShape returns the shape of elements that input i describes: -1 is an
// unknown size, the scalar -1 any shape.
func (c *Inference) elemShape(i int) (graph.PartialShape, error) {
	s, _, err := c.In[i].AsShape()
	if err != nil {
		return s, fmt.Errorf("the element shape: %w", err)
	}
	if !s.HasRank() && c.In[i].Value == nil && c.shape(i).Rank() == 1 && c.shape(i).Dim(0) >= 0 && c.shape(i).Dim(0) <= tensor.MaxRank {
		s = graph.OfRank(c.shape(i).Dim(0))
	}
	return s, nil
}

// elemOf returns the shape of the elements of the list in input at, from its
// handle and the shape in input i.
func (c *Inference) elemOf(at, i int) (graph.PartialShape, error) {
	held, err := c.elem(at)
	if err != nil {
		return held, err
	}
	asked, err := c.elemShape(i)
	if err != nil {
		return held, err
	}
	s, err := held.Merge(asked)
	if err != nil {
		return s, fmt.Errorf("the list holds elements of shape %v, not %v", held, asked)
	}
	return s, nil
}

func newList(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.elemShape(0)
	if err == nil {
		c.setList(0, c.elemType(), s)
	}
	return err
}

// accepts checks that the list in input 0 can hold an element of shape s.
func (c *Inference) accepts(s graph.PartialShape) (graph.PartialShape, error) {
	held, err := c.elem(0)
	if err == nil && !held.Compatible(s) {
		err = fmt.Errorf("the list holds elements of shape %v, not %v", held, s)
	}
	return held, err
}

func listPush(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	held, err := c.accepts(c.shape(1))
	if err == nil {
		c.setList(0, c.elemType(), held)
	}
	return err
}

func listPushBatch(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	held, err := c.elem(0)
	if err == nil {
		c.setList(0, c.elemType(), held)
		c.set(0, c.shape(0))
	}
	return err
}

func listSame(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	c.pass(0, 0)
	c.setDims(0)
	return nil
}

func listPop(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.elemOf(0, 1)
	if err != nil {
		return err
	}
	held, _ := c.held(0)
	c.setList(0, c.elemType(), held.Shape)
	c.set(1, s)
	return nil
}

func listGet(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.elemOf(0, 2)
	if err == nil {
		c.set(0, s)
	}
	return each(err, c.scalar(1))
}

func listSet(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	held, err := c.accepts(c.shape(2))
	if err == nil {
		c.setList(0, c.elemType(), held)
	}
	return each(err, c.scalar(1))
}

func listStack(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.elemOf(0, 1)
	if err != nil {
		return err
	}
	n := graph.NewDim()
	if k := c.Attrs.Int("num_elements", -1); k >= 0 && k == int64(int(k)) {
		n = int(k)
	}
	c.set(0, graph.ShapeOf(n).Concat(s))
	return nil
}

func listConcat(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	held, err := c.elem(0)
	if err != nil {
		return err
	}
	asked, ok := c.Attrs.Shape("element_shape")
	if !ok && len(c.In) > 1 {
		if asked, err = c.elemShape(1); err != nil {
			return err
		}
	}
	s, err := held.Merge(asked)
	if err != nil {
		return err
	}
	c.set(1, graph.OfRank(1))
	if !s.HasRank() {
		return nil
	}
	if s.Rank() == 0 {
		return fmt.Errorf("the list holds scalars, which can't be concatenated")
	}
	rest, _ := s.From(1, graph.End)
	c.set(0, graph.ShapeOf(graph.NewDim()).Concat(rest))
	return nil
}

func listSplit(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.elemShape(1)
	if err != nil {
		return err
	}
	if t, err := c.minRank(0, 1); err != nil {
		return err
	} else if t.HasRank() {
		rest, _ := t.From(1, graph.End)
		if s, err = s.Merge(graph.ShapeOf(-1).Concat(rest)); err != nil {
			return err
		}
	}
	c.setList(0, c.elemType(), s)
	return nil
}

// rows returns the shape of the rows of input i, merged with another shape.
func (c *Inference) rows(i int, s graph.PartialShape) (graph.PartialShape, error) {
	t, err := c.minRank(i, 1)
	if err != nil || !t.HasRank() {
		return s, err
	}
	rest, err := t.From(1, graph.End)
	if err != nil {
		return s, err
	}
	out, err := s.Merge(rest)
	if err != nil {
		return s, fmt.Errorf("the rows have shape %v, the list's elements %v", rest, s)
	}
	return out, nil
}

func listFromTensor(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	s, err := c.elemShape(1)
	if err != nil {
		return err
	}
	if s, err = c.rows(0, s); err == nil {
		c.setList(0, c.elemType(), s)
	}
	return err
}

func listGather(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	s, err := c.elemOf(0, 2)
	if err == nil {
		c.set(0, c.shape(1).Concat(s))
	}
	return err
}

func listScatter(c *Inference) error {
	if err := c.atLeast(3); err != nil {
		return err
	}
	s, err := c.elemShape(2)
	if err != nil {
		return err
	}
	if _, err := c.rows(0, s); err != nil {
		return err
	}
	c.setList(0, c.elemType(), s)
	return nil
}

func listScatterInto(c *Inference) error {
	if err := c.need(3); err != nil {
		return err
	}
	held, err := c.elem(0)
	if err != nil {
		return err
	}
	if _, err := c.rows(1, held); err != nil {
		return err
	}
	c.setList(0, c.elemType(), held)
	return nil
}

func listElementShape(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	h, ok := c.held(0)
	if !ok || !h.Shape.HasRank() {
		return nil // the scalar -1, or a vector
	}
	// An unknown size of the elements is -1 in the result, whatever they have.
	c.setDims(0, h.Shape.Rank())
	e := make([]graph.Elem, h.Shape.Rank())
	for i, d := range h.Shape.Dims() {
		if e[i] = graph.UnknownElem(); d >= 0 {
			e[i] = graph.ElemOf(int64(d))
		}
	}
	c.setElems(0, e)
	return nil
}

func listConcatLists(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	a, err := c.elem(0)
	if err != nil {
		return err
	}
	b, err := c.elem(1)
	if err != nil {
		return err
	}
	s, err := a.Merge(b)
	if err == nil {
		c.setList(0, c.elemType(), s)
		c.set(0, c.shape(0))
	}
	return err
}
