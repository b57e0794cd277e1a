package list

import (
	"fmt"
	"slices"

	"github.com/cairnml/cairn/engine"
	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/kernel/internal/elementwise"
	"github.com/cairnml/cairn/kernel/internal/shapes"
	"github.com/cairnml/cairn/kernel/internal/variant"
	"github.com/cairnml/cairn/tensor"
)

// arrays has the ops of tensor arrays. The three versions of an op differ in
// the array's handle: a reference, strings, a resource. The first two return no
// flow for a new array.
var arrays = slices.Concat([]engine.Kernel{
	{Op: "TensorArrayGradWithShape", Prepare: arrayGrad},
	{Op: "TensorArrayPack", Run: arrayPack},
	{Op: "TensorArrayUnpack", Run: arrayUnpack},
},
	arrayVersions(engine.Kernel{Op: "TensorArray", Prepare: newArray}),
	arrayVersions(engine.Kernel{Op: "TensorArrayGrad", Prepare: arrayGrad}),
	arrayVersions(engine.Kernel{Op: "TensorArrayWrite", Run: arrayWrite}),
	arrayVersions(engine.Kernel{Op: "TensorArrayRead", Run: arrayRead}),
	arrayVersions(engine.Kernel{Op: "TensorArrayGather", Run: arrayGather}),
	arrayVersions(engine.Kernel{Op: "TensorArrayConcat", Run: arrayConcat}),
	arrayVersions(engine.Kernel{Op: "TensorArrayScatter", Run: arrayScatter}),
	arrayVersions(engine.Kernel{Op: "TensorArraySplit", Run: arraySplit}),
	arrayVersions(engine.Kernel{Op: "TensorArraySize", Run: arraySize}),
	arrayVersions(engine.Kernel{Op: "TensorArrayClose", Run: arrayClose}),
)

// arrayVersions returns the kernel under the names of all versions of its op.
func arrayVersions(k engine.Kernel) (all []engine.Kernel) {
	op := k.Op
	for _, version := range []string{"", "V2", "V3"} {
		k.Op = op + version
		all = append(all, k)
	}
	return all
}

// store is a list as part of an object that isn't a variant.
type store variant.List

// Escape keeps the elements after the call.
func (s *store) Escape() { (*variant.List)(s).Escape() }

// array is a TensorArray: elements that one call of a model writes and reads.
// It exists as long as its handle.
type array struct {
	store
	dynamic   bool   // writes beyond the end make it longer
	once      bool   // reading an element removes it
	identical bool   // all elements have one shape
	sums      bool   // of gradients: a second write of an element adds to it
	read      []bool // elements that were read
	closed    bool
	grads     map[string]*array // the arrays of gradients by the attribute source
	// left is the shape of the elements that were removed by reading, while all
	// have the same.
	left graph.PartialShape
	// shapes are those of missing elements. They are set if removed elements
	// have different shapes. In an array of gradients they are the shapes of
	// the elements whose gradients it has. An unknown shape matches any.
	shapes []graph.PartialShape
}

// newArray makes an array in each call. Its outputs are the handle and, in
// version 3, a flow.
func newArray(n *engine.Node) (func(*engine.Call) error, error) {
	a := n.Attrs
	shape, ok := a.Shape("element_shape")
	if !ok {
		shape = graph.UnknownShape
	}
	kind := array{
		store:   store{DType: a.Type("dtype", tensor.Invalid), Shape: shape},
		dynamic: a.Bool("dynamic_size"), once: a.Bool("clear_after_read"), identical: a.Bool("identical_element_shapes"),
	}
	flow := n.Op == "TensorArrayV3"
	return func(c *engine.Call) error {
		if err := c.Need(1); err != nil {
			return err
		}
		n, err := intIn(c, 0, "the size")
		if err != nil {
			return err
		}
		t := kind
		if t.Items, err = items(c, n); err != nil {
			return err
		}
		t.read = make([]bool, n)
		c.SetObject(0, &t)
		if flow {
			c.Set(1, tensor.Scalar(float32(0)))
		}
		return nil
	}, nil
}

// arrayIn returns the array in input 0 of a call of n inputs.
func arrayIn(c *engine.Call, n int) (*array, error) {
	if c.NumIn() != n {
		return nil, fmt.Errorf("takes %d inputs, %d were given", n, c.NumIn())
	}
	t, err := engine.Object[*array](c, 0)
	if err != nil {
		return nil, err
	}
	if t.closed {
		return nil, fmt.Errorf("the array is closed")
	}
	if d := c.Attrs().Type("dtype", t.DType); d != t.DType {
		return nil, fmt.Errorf("the array holds %v, not %v", t.DType, d)
	}
	return t, c.NeedTensors(1)
}

// arrayGrad returns the array for the gradients of another one's elements. There is one for each
// value of the attribute source, made by the first call. The shape in input 2, if there is one,
// goes before the shapes of the elements.
func arrayGrad(n *engine.Node) (func(*engine.Call) error, error) {
	source := n.Attrs.String("source", "")
	flow := n.Op != "TensorArrayGrad" && n.Op != "TensorArrayGradV2"
	return func(c *engine.Call) error {
		if c.NumIn() < 2 {
			return fmt.Errorf("takes an array and a flow")
		}
		t, err := arrayIn(c, c.NumIn())
		if err != nil {
			return err
		}
		front := graph.Whole(nil)
		if c.NumIn() == 3 {
			if front, err = shapeIn(c, 2); err != nil {
				return err
			}
		}
		shape := front.Concat(t.Shape)
		g := t.grads[source]
		if g == nil {
			g = &array{
				store: store{DType: t.DType, Shape: shape, Items: make([]engine.Value, len(t.Items))},
				read:  make([]bool, len(t.Items)), sums: true, identical: t.identical, shapes: t.written(front),
			}
			if t.grads == nil {
				t.grads = map[string]*array{}
			}
			t.grads[source] = g
			t.dynamic = false // as in TensorFlow, the size is fixed from now on
		}
		c.SetObject(0, g)
		if flow {
			c.Pass(1, 1)
		}
		return nil
	}, nil
}

// written returns the shapes of the elements, with front before each. Elements
// that were never written have an unknown shape.
func (t *array) written(front graph.PartialShape) []graph.PartialShape {
	out := make([]graph.PartialShape, len(t.Items))
	for i, v := range t.Items {
		shape := t.gone(i)
		if v.Tensor != nil {
			shape = graph.Whole(v.Tensor.Shape().Clone())
		}
		out[i] = front.Concat(shape)
	}
	return out
}

// gone returns the shape of element i, which is missing.
func (t *array) gone(i int) graph.PartialShape {
	switch {
	case i < len(t.shapes):
		return t.shapes[i]
	case t.read[i]:
		return t.left
	}
	return graph.UnknownShape
}

// leave stores the shape of element i, which is removed, for an array of
// gradients.
func (t *array) leave(i int, v engine.Value) {
	if v.Tensor == nil {
		return
	}
	shape := v.Tensor.Shape()
	if t.shapes == nil {
		if !t.left.HasRank() {
			t.left = graph.Whole(shape.Clone())
			return
		}
		if t.left.Dims().Equal(shape) {
			return
		}
	}
	for n := len(t.shapes); n < len(t.Items); n++ {
		t.shapes = append(t.shapes, graph.UnknownShape)
		if t.read[n] && t.Items[n].IsZero() && n != i {
			t.shapes[n] = t.left
		}
	}
	t.shapes[i] = graph.Whole(shape.Clone())
}

// write sets element i to v, which belongs to the array afterwards.
func (t *array) write(c *engine.Call, i int, v engine.Value) error {
	if i < 0 || i >= maxItems {
		return fmt.Errorf("the index %d is none of an array", i)
	}
	if i >= len(t.Items) {
		if !t.dynamic {
			return fmt.Errorf("element %d of an array of %d elements that doesn't grow", i, len(t.Items))
		}
		c.Fits(i+1, 2*engine.ValueSize)
		for len(t.Items) <= i {
			if err := variant.Ended(c, len(t.Items)); err != nil {
				return err
			}
			t.Items, t.read = append(t.Items, engine.Value{}), append(t.read, false)
		}
	}
	if err := fits((*variant.List)(&t.store), v); err != nil {
		return err
	}
	if t.identical && v.Tensor != nil {
		s, err := t.Shape.Merge(graph.Whole(v.Tensor.Shape()))
		if err != nil {
			return err
		}
		t.Shape = s
	}
	switch old := t.Items[i]; {
	case t.read[i] && !t.sums:
		return fmt.Errorf("element %d was read already, and can't be written again", i)
	case old.IsZero():
		if v.Tensor != nil {
			if _, err := t.gone(i).Merge(graph.Whole(v.Tensor.Shape())); err != nil {
				return fmt.Errorf("the gradient of element %d: %w", i, err)
			}
		}
		t.Items[i] = v
	case !t.sums:
		return fmt.Errorf("element %d was written already", i)
	default:
		sum, err := sumOf(c, old.Tensor, v.Tensor)
		if err != nil {
			return err
		}
		c.Refs().Release(old)
		c.Refs().Release(v)
		t.Items[i] = sum
	}
	return nil
}

// sumOf returns a new tensor, a plus b.
func sumOf(c *engine.Call, a, b *tensor.Tensor) (engine.Value, error) {
	if !a.Shape().Equal(b.Shape()) {
		return engine.Value{}, fmt.Errorf("values of shapes %v and %v can't be added", a.Shape(), b.Shape())
	}
	v, err := c.Refs().New(a.DType(), a.Shape())
	if err != nil {
		return v, err
	}
	copy(v.Tensor.Bytes(), a.Bytes())
	return v, elementwise.AddTo(v.Tensor, b)
}

// take returns element i with one reference to it. An element that was never
// written is zeros if its shape is known.
func (t *array) take(c *engine.Call, i int) (engine.Value, error) {
	if i < 0 || i >= len(t.Items) {
		return engine.Value{}, fmt.Errorf("element %d of an array of %d elements", i, len(t.Items))
	}
	v := t.Items[i]
	switch {
	case v.IsZero() && t.read[i] && t.once:
		return v, fmt.Errorf("element %d was given up when it was read; clear_after_read=false keeps it", i)
	case v.IsZero():
		s, ok := t.gone(i).Tensor()
		if !ok {
			s, ok = t.Shape.Tensor()
		}
		if !ok {
			return v, fmt.Errorf("element %d was never written, and the elements' shape %v is not fully known", i, t.Shape)
		}
		return variant.ZerosOf(c, t.DType, s)
	}
	t.read[i] = true
	if t.once {
		t.Items[i] = engine.Value{}
		t.leave(i, v)
		return v, nil
	}
	return c.Refs().Retain(v), nil
}

// arrayWrite and the functions below whose names begin with array are the
// kernels. Those that write pass the flow through.
func arrayWrite(c *engine.Call) error {
	t, err := arrayIn(c, 4)
	if err != nil {
		return err
	}
	i, err := intIn(c, 1, "the index")
	if err != nil {
		return err
	}
	if err := t.write(c, i, c.Refs().Share(2)); err != nil {
		return err
	}
	c.Pass(0, 3)
	return nil
}

func arrayRead(c *engine.Call) error {
	t, err := arrayIn(c, 3)
	if err != nil {
		return err
	}
	i, err := intIn(c, 1, "the index")
	if err != nil {
		return err
	}
	v, err := t.take(c, i)
	if err == nil {
		c.Refs().Output(0, v)
	}
	return err
}

func arrayGather(c *engine.Call) error {
	t, err := arrayIn(c, 3)
	if err != nil {
		return err
	}
	at, err := shapes.Ints(c.In(1), "the indices")
	if err != nil {
		return err
	}
	return t.gather(c, at)
}

// arrayPack stacks all elements.
func arrayPack(c *engine.Call) error {
	t, err := arrayIn(c, 2)
	if err != nil {
		return err
	}
	at := make([]int64, len(t.Items))
	for i := range at {
		at[i] = int64(i)
	}
	return t.gather(c, at)
}

// gather sets output 0 to the stack of the elements at these indices.
func (t *array) gather(c *engine.Call, at []int64) error {
	want, _ := c.Attrs().Shape("element_shape")
	p, err := t.Shape.Merge(want)
	if err != nil {
		return fmt.Errorf("the elements have shape %v, not %v", t.Shape, want)
	}
	vs, err := t.takeAll(c, at)
	if err != nil {
		return err
	}
	for _, v := range vs {
		if p, err = p.Merge(graph.Whole(v.Tensor.Shape())); err != nil {
			return fmt.Errorf("the elements differ in shape")
		}
	}
	s, ok := p.Tensor()
	if !ok {
		return fmt.Errorf("no element defines the shape %v fully", p)
	}
	out, err := c.Alloc(0, t.DType, append(tensor.Shape{len(vs)}, s...))
	if err != nil {
		return err
	}
	size, looks := shapes.Count(s), looks{ctx: c.Context()}
	for i, v := range vs {
		if err := looks.at(size * max(1, t.DType.Size())); err != nil {
			return err
		}
		put(out, i*size, size, v.Tensor)
		c.Refs().Release(v)
	}
	return nil
}

// takeAll takes the elements at these indices.
func (t *array) takeAll(c *engine.Call, at []int64) ([]engine.Value, error) {
	c.Fits(len(at), engine.ValueSize)
	vs := make([]engine.Value, len(at))
	for k, i := range at {
		err := variant.Ended(c, k)
		if err != nil {
			return nil, err
		}
		if vs[k], err = t.take(c, int(i)); err != nil {
			return nil, err
		}
	}
	return vs, nil
}

// arrayConcat joins all elements along their first dimension and returns their
// lengths.
func arrayConcat(c *engine.Call) error {
	t, err := arrayIn(c, 2)
	if err != nil {
		return err
	}
	row, ok := c.Attrs().Shape("element_shape_except0")
	if !ok {
		row = graph.UnknownShape
	}
	vs := make([]engine.Value, len(t.Items))
	lengths := make([]int64, len(vs))
	total := 0
	for i := range vs {
		if vs[i], err = t.take(c, i); err != nil {
			return err
		}
		s := vs[i].Tensor.Shape()
		if len(s) == 0 {
			return fmt.Errorf("element %d is a scalar, which has no first dimension", i)
		}
		if row, err = row.Merge(graph.Whole(s[1:])); err != nil {
			return fmt.Errorf("element %d has shape %v, which others don't fit", i, s)
		}
		lengths[i] = int64(s[0])
		total += s[0]
	}
	s, ok := row.Tensor()
	if !ok {
		return fmt.Errorf("no element defines the shape %v of a row fully", row)
	}
	out, err := c.Alloc(0, t.DType, append(tensor.Shape{total}, s...))
	if err != nil {
		return err
	}
	size, at := shapes.Count(s), 0
	looks := looks{ctx: c.Context()}
	for i, v := range vs {
		if err := looks.at(int(lengths[i]) * size * max(1, t.DType.Size())); err != nil {
			return err
		}
		put(out, at*size, int(lengths[i])*size, v.Tensor)
		at += int(lengths[i])
		c.Refs().Release(v)
	}
	c.Set(1, tensor.Vector(lengths...))
	return nil
}

func arrayScatter(c *engine.Call) error {
	t, err := arrayIn(c, 4)
	if err != nil {
		return err
	}
	at, err := shapes.Ints(c.In(1), "the indices")
	if err != nil {
		return err
	}
	if s := c.In(2).Shape(); len(s) == 0 || s[0] != len(at) {
		return fmt.Errorf("%d indices take a tensor of as many rows, not of shape %v", len(at), s)
	}
	if err := t.scatter(c, 2, at); err != nil {
		return err
	}
	c.Pass(0, 3)
	return nil
}

// arrayUnpack sets the elements to the rows of a tensor.
func arrayUnpack(c *engine.Call) error {
	t, err := arrayIn(c, 3)
	if err != nil {
		return err
	}
	s := c.In(1).Shape()
	if len(s) == 0 || s[0] != len(t.Items) && !(t.dynamic && s[0] > len(t.Items)) {
		return fmt.Errorf("an array of %d elements takes a tensor of as many rows, not of shape %v", len(t.Items), s)
	}
	c.Fits(s[0], 8+2*engine.ValueSize) // an index and an element: rows without elements cost no memory of the input
	at := make([]int64, s[0])
	for i := range at {
		at[i] = int64(i)
	}
	if err := t.scatter(c, 1, at); err != nil {
		return err
	}
	c.Pass(0, 2)
	return nil
}

// scatter writes the rows of input in to these indices.
func (t *array) scatter(c *engine.Call, in int, at []int64) error {
	s := c.In(in).Shape()
	size := shapes.Count(s[1:])
	for k, i := range at {
		if err := variant.Ended(c, k); err != nil {
			return err
		}
		v, err := c.Refs().View(in, k*size, size, s[1:])
		if err == nil {
			err = t.write(c, int(i), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// arraySplit writes parts of a tensor, of the lengths in input 2, to the
// elements.
func arraySplit(c *engine.Call) error {
	t, err := arrayIn(c, 4)
	if err != nil {
		return err
	}
	lengths, err := shapes.Ints(c.In(2), "the lengths")
	if err != nil {
		return err
	}
	s := c.In(1).Shape()
	if len(s) == 0 {
		return fmt.Errorf("takes a tensor of at least one dimension")
	}
	if !t.dynamic && len(lengths) != len(t.Items) {
		return fmt.Errorf("%d lengths don't fit an array of %d elements", len(lengths), len(t.Items))
	}
	size, at := shapes.Count(s[1:]), 0
	for i, n := range lengths {
		if n < 0 || n > int64(s[0]-at) {
			return fmt.Errorf("parts of lengths %v don't make up the first size %d", lengths, s[0])
		}
		v, err := c.Refs().View(1, at*size, int(n)*size, append(tensor.Shape{int(n)}, s[1:]...))
		if err == nil {
			err = t.write(c, i, v)
		}
		if err != nil {
			return err
		}
		at += int(n)
	}
	if at != s[0] {
		return fmt.Errorf("parts of lengths %v don't make up the first size %d", lengths, s[0])
	}
	c.Pass(0, 3)
	return nil
}

func arraySize(c *engine.Call) error {
	t, err := arrayIn(c, 2)
	if err == nil {
		c.Set(0, tensor.Scalar(int32(len(t.Items))))
	}
	return err
}

// arrayClose frees the elements; later ops on the array are errors.
func arrayClose(c *engine.Call) error {
	t, err := arrayIn(c, 1)
	if err != nil {
		return err
	}
	for _, v := range t.Items {
		c.Refs().Release(v)
	}
	t.Items, t.read, t.closed = nil, nil, true
	return nil
}
