package list

import (
	"fmt"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// The kernels of list ops that read or change elements, and of
// TensorListScatter, TensorListPushBackBatch and TensorListConcatLists.

// owned sets output 0 to the list in input 0, which the caller may change: the
// list itself if it has no other holder, otherwise a copy with room for extra
// more elements. extra is a hint. The caller makes all checks before, so that
// an error leaves the list unchanged. Only scatterInto checks shapes later, and the end
// of the context comes later: then nothing else sees a list that the op owns.
func owned(c *engine.Call, l *variant.List, extra int) (*variant.List, error) {
	if c.Refs().Owned(0) {
		c.Pass(0, 0)
		return l, nil
	}
	l, err := l.Copy(c, extra)
	if err == nil {
		c.SetObject(0, l)
	}
	return l, err
}

// fits checks that v may be an element.
func fits(l *variant.List, v engine.Value) error {
	if d := v.DType(); d != l.DType {
		return fmt.Errorf("the list holds %v, the element is %v", l.DType, d)
	}
	if v.Tensor != nil && !l.Shape.Accepts(v.Tensor.Shape()) {
		return fmt.Errorf("the elements have shape %v, this one %v", l.Shape, v.Tensor.Shape())
	}
	return nil
}

// getItem returns an element.
func getItem(c *engine.Call) error {
	l, err := need(c, 3)
	if err != nil {
		return err
	}
	i, err := intIn(c, 1, "the index")
	if err != nil {
		return err
	}
	if i < 0 || i >= len(l.Items) {
		return errIndex(i, l)
	}
	return setOutput(c, 0, l, l.Items[i], 2)
}

// errIndex returns the error for an index outside of a list.
func errIndex(i int, l *variant.List) error {
	return fmt.Errorf("element %d of a list of %d elements", i, len(l.Items))
}

// setOutput sets output i to element v of l, or to zeros if it isn't set. The shape of the zeros
// is the list's, completed by the shape in input shapeAt.
func setOutput(c *engine.Call, i int, l *variant.List, v engine.Value, shapeAt int) error {
	if !v.IsZero() {
		c.Refs().Output(i, c.Refs().Retain(v))
		return nil
	}
	s, err := wholeShape(c, l, shapeAt)
	if err != nil {
		return err
	}
	if l.DType == tensor.Variant || l.DType == tensor.Resource {
		return fmt.Errorf("the element was not set, and there are no zeros of %v", l.DType)
	}
	z, err := variant.ZerosOf(c, l.DType, s)
	if err == nil {
		c.Refs().Output(i, z)
	}
	return err
}

// wholeShape returns the shape of elements that aren't set. Input i completes
// the list's shape.
func wholeShape(c *engine.Call, l *variant.List, i int) (tensor.Shape, error) {
	want, err := shapeIn(c, i)
	if err != nil {
		return nil, err
	}
	p, err := l.ElementShape(want)
	if err != nil {
		return nil, err
	}
	s, ok := p.Tensor()
	if !ok {
		return nil, fmt.Errorf("the element was not set, and the elements' shape %v is not fully known", p)
	}
	return s, nil
}

// setItem sets an element to input 2.
func setItem(c *engine.Call) error {
	l, err := need(c, 3)
	if err != nil {
		return err
	}
	i, err := intIn(c, 1, "the index")
	if err != nil {
		return err
	}
	if i < 0 {
		return errIndex(i, l)
	}
	grow := 0
	if i >= len(l.Items) {
		if !c.Attrs().Bool("resize_if_index_out_of_bounds") || i >= maxItems {
			return errIndex(i, l)
		}
		grow = i + 1 - len(l.Items)
	}
	if err := fits(l, c.Input(2)); err != nil {
		return err
	}
	if l, err = owned(c, l, grow); err != nil {
		return err
	}
	if err := l.Grow(c, grow); err != nil {
		return err
	}
	c.Refs().Release(l.Items[i])
	l.Items[i] = c.Refs().Share(2)
	return nil
}

// pushBack appends input 1.
func pushBack(c *engine.Call) error {
	l, err := need(c, 2)
	if err != nil {
		return err
	}
	if err := fits(l, c.Input(1)); err != nil {
		return err
	}
	if l.Max > 0 && len(l.Items) >= l.Max {
		return fmt.Errorf("the list is full: it holds at most %d elements", l.Max)
	}
	if l, err = owned(c, l, len(l.Items)/2+1); err != nil {
		return err
	}
	l.Items = append(l.Items, c.Refs().Share(1))
	return nil
}

// handlesOf returns the items of a tensor of variants.
func handlesOf(v engine.Value) ([]any, tensor.Shape, error) {
	switch o := v.Object.(type) {
	case *engine.Handles:
		return o.Items, o.Shape, nil
	case nil:
		return nil, nil, fmt.Errorf("takes lists, not %v", v.DType())
	}
	return []any{v.Object}, nil, nil
}

// lists returns the lists in a tensor of variants and its shape.
func lists(v engine.Value) ([]*variant.List, tensor.Shape, error) {
	objects, shape, err := handlesOf(v)
	if err != nil {
		return nil, nil, err
	}
	out := make([]*variant.List, len(objects))
	for i, o := range objects {
		l, ok := o.(*variant.List)
		if !ok {
			return nil, nil, fmt.Errorf("takes lists, not a %T", o)
		}
		out[i] = l
	}
	return out, shape, nil
}

// setHandles sets output i to a tensor of lists.
func setHandles(c *engine.Call, i int, ls []*variant.List, shape tensor.Shape) {
	if len(shape) == 0 && len(ls) == 1 {
		c.SetObject(i, ls[0])
		return
	}
	h := &engine.Handles{Shape: shape, Items: make([]any, len(ls))}
	for k, l := range ls {
		h.Items[k] = l
	}
	c.SetObject(i, h)
}

// pushBackBatch appends one row of a tensor to each list of a tensor of lists.
func pushBackBatch(c *engine.Call) error {
	if c.NumIn() != 2 || c.In(1) == nil {
		return fmt.Errorf("takes lists and a tensor")
	}
	ls, shape, err := lists(c.Input(0))
	if err != nil {
		return err
	}
	t := c.In(1)
	if len(t.Shape()) == 0 || t.Shape()[0] != len(ls) {
		return fmt.Errorf("%d lists take a tensor of as many rows, not of shape %v", len(ls), t.Shape())
	}
	row := t.Shape()[1:]
	size := shapes.Count(row)
	out := make([]*variant.List, len(ls))
	for i, l := range ls {
		v, err := c.Refs().View(1, i*size, size, row)
		if err != nil {
			return err
		}
		if err := fits(l, v); err != nil {
			return err
		}
		if l.Max > 0 && len(l.Items) >= l.Max {
			return fmt.Errorf("list %d is full: it holds at most %d elements", i, l.Max)
		}
		if out[i], err = l.Copy(c, 1); err != nil {
			return err
		}
		out[i].Items = append(out[i].Items, v)
	}
	setHandles(c, 0, out, shape)
	return nil
}

// popBack removes the last element and returns it as output 1.
func popBack(c *engine.Call) error {
	l, err := need(c, 2)
	if err != nil {
		return err
	}
	n := len(l.Items)
	if n == 0 {
		return fmt.Errorf("the list is empty")
	}
	if err := setOutput(c, 1, l, l.Items[n-1], 1); err != nil {
		return err
	}
	if l, err = owned(c, l, 0); err != nil {
		return err
	}
	c.Refs().Release(l.Items[n-1])
	l.Items[n-1] = engine.Value{}
	l.Items = l.Items[:n-1]
	return nil
}

// resize drops elements at the end, or appends ones that aren't set.
func resize(c *engine.Call) error {
	l, err := need(c, 2)
	if err != nil {
		return err
	}
	n, err := intIn(c, 1, "the size")
	if err != nil {
		return err
	}
	if n < 0 || n > maxItems {
		return fmt.Errorf("a list can't have %d elements", n)
	}
	if l, err = owned(c, l, max(0, n-len(l.Items))); err != nil {
		return err
	}
	for len(l.Items) > n {
		if err := variant.Ended(c, len(l.Items)); err != nil {
			return err
		}
		last := len(l.Items) - 1
		c.Refs().Release(l.Items[last])
		l.Items[last] = engine.Value{}
		l.Items = l.Items[:last]
	}
	return l.Grow(c, max(0, n-len(l.Items)))
}

// scatter makes a list whose elements are the rows of a tensor at the indices. Input 3 of
// TensorListScatterV2 is the number of elements; -1 means as many as the indices need.
func scatter(c *engine.Call) error {
	if c.NumIn() < 3 {
		return fmt.Errorf("takes a tensor, indices and a shape")
	}
	if err := c.NeedTensors(0); err != nil {
		return err
	}
	s, err := shapeIn(c, 2)
	if err != nil {
		return err
	}
	n := -1
	if c.NumIn() == 4 {
		if n, err = intIn(c, 3, "the number of elements"); err != nil {
			return err
		}
		if n < -1 {
			return fmt.Errorf("the number of elements is %d", n)
		}
	}
	at, top, err := indices(c, 1)
	if err != nil {
		return err
	}
	if n < 0 {
		n = top
	} else if top > n {
		return fmt.Errorf("index %d is outside of the list's %d elements", top-1, n)
	}
	vs, err := items(c, n)
	if err != nil {
		return err
	}
	l := &variant.List{DType: c.In(0).DType(), Shape: s, Items: vs}
	if err := scatterRows(c, l, 0, at); err != nil {
		return err
	}
	c.SetObject(0, l)
	return nil
}

// indices returns the elements of input i, and one more than the largest.
func indices(c *engine.Call, i int) ([]int64, int, error) {
	at, err := shapes.Ints(c.In(i), "the indices")
	if err != nil {
		return nil, 0, err
	}
	top := 0
	for _, x := range at {
		if x < 0 || x >= maxItems {
			return nil, 0, fmt.Errorf("the index %d is none of a list", x)
		}
		top = max(top, int(x)+1)
	}
	return at, top, nil
}

// scatterRows sets the elements at the indices to the rows of input in.
func scatterRows(c *engine.Call, l *variant.List, in int, at []int64) error {
	t := c.In(in)
	if len(t.Shape()) == 0 || t.Shape()[0] != len(at) {
		return fmt.Errorf("%d indices take a tensor of as many rows, not of shape %v", len(at), t.Shape())
	}
	row := t.Shape()[1:]
	if !l.Shape.Accepts(row) {
		return fmt.Errorf("the elements have shape %v, the rows %v", l.Shape, row)
	}
	size := shapes.Count(row)
	for k, i := range at {
		if err := variant.Ended(c, k); err != nil {
			return err
		}
		v, err := c.Refs().View(in, k*size, size, row)
		if err != nil {
			return err
		}
		c.Refs().Release(l.Items[i])
		l.Items[i] = v
	}
	return nil
}

// scatterInto sets elements of a list to the rows of input 1 at the indices in
// input 2.
func scatterInto(c *engine.Call) error {
	l, err := need(c, 3)
	if err == nil {
		err = c.NeedTensors(1)
	}
	if err != nil {
		return err
	}
	if d := c.In(1).DType(); d != l.DType {
		return fmt.Errorf("the list holds %v, the tensor %v", l.DType, d)
	}
	at, top, err := indices(c, 2)
	if err != nil {
		return err
	}
	if l, err = owned(c, l, max(0, top-len(l.Items))); err != nil {
		return err
	}
	if err := l.Grow(c, max(0, top-len(l.Items))); err != nil {
		return err
	}
	return scatterRows(c, l, 1, at)
}

// concatLists joins two lists, or each list of a tensor with that of another
// tensor.
func concatLists(c *engine.Call) error {
	if c.NumIn() != 2 {
		return fmt.Errorf("takes 2 inputs, %d were given", c.NumIn())
	}
	as, shape, err := lists(c.Input(0))
	if err != nil {
		return err
	}
	bs, _, err := lists(c.Input(1))
	if err != nil {
		return err
	}
	if len(as) != len(bs) {
		return fmt.Errorf("%d lists and %d lists can't be joined one to one", len(as), len(bs))
	}
	out := make([]*variant.List, len(as))
	for i, a := range as {
		b := bs[i]
		s, err := a.Shape.Merge(b.Shape)
		if err != nil || a.DType != b.DType {
			return fmt.Errorf("a list of %v%v and one of %v%v can't be joined", a.DType, a.Shape, b.DType, b.Shape)
		}
		if out[i], err = a.Copy(c, len(b.Items)); err != nil {
			return err
		}
		out[i].Shape = s
		for k, v := range b.Items {
			if err := variant.Ended(c, k); err != nil {
				return err
			}
			out[i].Items = append(out[i].Items, c.Refs().Retain(v))
		}
	}
	setHandles(c, 0, out, shape)
	return nil
}
