package shape

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/tensor"
)

// arrayRules returns the rules of ops that return a shape, or the same elements in another shape.
func arrayRules() map[string]Rule {
	return map[string]Rule{
		"EnsureShape": ensureShape, "Shape": shapeRule, "ShapeN": shapeRule, "Size": sizeRule, "Rank": rankRule,
		"Reshape": reshape, "ExpandDims": expandDims, "Squeeze": squeeze, "Transpose": transpose, "ConjugateTranspose": transpose,
		"BroadcastTo": broadcastTo, "BroadcastArgs": broadcastArgs, "BroadcastGradientArgs": broadcastGradientArgs,
		"InvertPermutation": invertPermutation, "ParallelConcat": ensureAttr,
	}
}

// ensureAttr infers the output of ops whose output has the shape in the
// attribute shape.
func ensureAttr(c *Inference) error {
	if s, ok := c.Attrs.Shape("shape"); ok {
		c.set(0, s)
	}
	return nil
}

func ensureShape(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	want, ok := c.Attrs.Shape("shape")
	if !ok {
		return fmt.Errorf("needs the attribute shape")
	}
	s, err := c.shape(0).Merge(want)
	if err != nil {
		return fmt.Errorf("shape %v isn't compatible with the expected %v", c.shape(0), want)
	}
	c.pass(0, 0)
	c.set(0, s)
	return nil
}

// shapeRule infers the outputs of Shape and ShapeN.
func shapeRule(c *Inference) error {
	if err := c.atLeast(1); err != nil {
		return err
	}
	for i := range c.In {
		c.setShapeOf(i, c.shape(i))
	}
	return nil
}

// setShapeOf makes output i the vector that describes a shape.
func (c *Inference) setShapeOf(i int, s graph.PartialShape) {
	if !s.HasRank() {
		c.set(i, graph.OfRank(1))
		return
	}
	c.setDims(i, s.Rank())
	e := make([]graph.Elem, s.Rank())
	for k, d := range s.Dims() {
		e[k] = graph.SizeElem(d)
	}
	c.setElems(i, e)
}

func sizeRule(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.setDims(0)
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	n, err := product(s)
	if err == nil {
		c.setElems(0, []graph.Elem{graph.SizeElem(n)})
	}
	return err
}

func rankRule(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	c.setDims(0)
	if r := c.shape(0).Rank(); r >= 0 {
		c.setElems(0, []graph.Elem{graph.ElemOf(int64(r))})
	}
	return nil
}

// Reshape returns the shape of a tensor of shape s after a reshape to want. At
// most one size of want may be -1; it follows from the others. The result is
// want, filled in.
func Reshape(s, want tensor.Shape) (tensor.Shape, error) {
	at := -1
	for i, d := range want {
		if d != -1 {
			continue
		}
		if at >= 0 {
			return nil, fmt.Errorf("only one size of %s can be -1", want.String())
		}
		at = i
	}
	if !s.Known() || !knownBut(want, at) {
		return reshapePart(s, want, at)
	}
	n, err := s.NumElements()
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		known, empty := 1, false
		for i, d := range want {
			switch {
			case i == at:
			case d == 0:
				empty = true
			default:
				if known, err = MulDims(known, d); err != nil {
					return nil, err
				}
			}
		}
		// If both shapes have sizes of 0, TensorFlow computes the open size
		// from the other sizes: [5, 0, 2] as [0, -1] is [0, 10].
		from, open := n, false
		if empty {
			from = 1
			for _, d := range s {
				if d == 0 {
					open = true
				} else if from, err = MulDims(from, d); err != nil {
					return nil, err
				}
			}
		}
		if known == 0 || !open && from%known != 0 {
			return nil, fmt.Errorf("%d elements can't be divided to shape %s", n, want.String())
		}
		want[at] = from / known
	}
	if m, err := want.NumElements(); err != nil {
		return nil, err
	} else if m != n {
		return nil, fmt.Errorf("the input has %d elements, shape %s has %d", n, want.String(), m)
	}
	return want, nil
}

// knownBut reports whether all sizes are known, besides the one with the index at.
func knownBut(s tensor.Shape, at int) bool {
	for i, d := range s {
		if d < 0 && i != at {
			return false
		}
	}
	return true
}

// reshapePart reshapes as Reshape does, with unknown sizes; at is the index of the open size,
// or -1.
func reshapePart(s, want tensor.Shape, at int) (tensor.Shape, error) {
	// An unknown size on both sides doesn't affect the others.
	left, right, maybe0 := s.Clone(), tensor.Shape{}, false
	for i, d := range want {
		if i == at {
			continue
		}
		if k := identityIn(left, d); k >= 0 {
			left = remove(left, k)
			maybe0 = maybe0 || d < 0
			continue
		}
		right = append(right, d)
	}
	has0 := identityIn(right, 0) >= 0 || identityIn(left, 0) >= 0
	n, m, whole := 1, 1, left.Known() && right.Known() && !has0
	if whole {
		var err error
		if n, err = left.NumElements(); err != nil {
			return nil, err
		}
		if m, err = right.NumElements(); err != nil {
			return nil, err
		}
	}
	if at < 0 {
		// One unknown size of the target that isn't the input's follows from the
		// others, too, unless there are no elements: then it may be any.
		if identityIn(want, 0) >= 0 {
			return want, nil
		}
		if identityIn(s, 0) >= 0 {
			if k := onlyOpen(want); k >= 0 {
				want[k] = 0
			}
			return want, nil
		}
		if at, n, m, whole = openSize(left, right, want); !whole || maybe0 {
			return want, nil
		}
	}
	out := want
	switch {
	case identityIn(left, 0) >= 0 && right.Known() && identityIn(right, 0) < 0:
		out[at] = 0
	case whole && n%m != 0:
		return nil, fmt.Errorf("%d elements can't be divided to shape %s", n, want.String())
	case whole:
		out[at] = n / m
	case len(right) == 0 && !has0 && len(left) > 0:
		// All that is left of the input is the open size.
		d, err := product(left)
		if err != nil {
			return nil, err
		}
		out[at] = d
	default:
		out[at] = graph.NewDim()
	}
	return out, nil
}

// onlyOpen returns the index of the only unknown size of s, or -1 if there is
// none, or more than one.
func onlyOpen(s tensor.Shape) int {
	at := -1
	for i, d := range s {
		if d >= 0 {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// openSize returns the place in want of the only unknown size in right, with
// the numbers of elements that it is to be worked out from.
func openSize(left, right, want tensor.Shape) (at, n, m int, ok bool) {
	at, m, n = -1, 1, 1
	if !left.Known() {
		return -1, 0, 0, false
	}
	open := 0
	for _, d := range right {
		switch {
		case d == 0:
			return -1, 0, 0, false
		case d > 0:
			var err error
			if m, err = MulDims(m, d); err != nil {
				return -1, 0, 0, false
			}
		case open != 0:
			return -1, 0, 0, false
		default:
			open = d
		}
	}
	if open == 0 {
		return -1, 0, 0, false
	}
	for i, d := range want {
		if d == open {
			at = i
		}
	}
	n, err := left.NumElements()
	return at, n, m, err == nil && n%m == 0
}

// identityIn returns the index of a size in s, known or not, or -1 if s doesn't
// have it.
func identityIn(s tensor.Shape, d int) int {
	for i, e := range s {
		if graph.SameDim(d, e) {
			return i
		}
	}
	return -1
}

// target returns the shape that input i asks for. Elements of -1 are open. An
// unknown element is open if it is the only such element; otherwise it is an
// unknown size.
func (c *Inference) target(i int) (tensor.Shape, bool, error) {
	e, ok := c.In[i].Ints()
	if !ok {
		return nil, false, nil
	}
	out, open, unknown := make(tensor.Shape, len(e)), 0, -1
	for k, x := range e {
		d, ok := x.Size()
		switch {
		case !ok:
			if n, _ := x.Int(); n != -1 {
				return nil, false, fmt.Errorf("the shape holds the size %v", x)
			}
			d = -1
			open++
		case d == -1:
			unknown = k
			d = graph.NewDim()
			open++
		}
		out[k] = d
	}
	if open == 1 && unknown >= 0 {
		out[unknown] = -1
	}
	return out, true, nil
}

func reshape(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return fmt.Errorf("the shape: %w", err)
	}
	want, ok, err := c.target(1)
	if err != nil {
		return err
	}
	if !ok {
		if n >= 0 {
			want, ok = graph.OfRank(n).Dims(), true
			if n == 1 {
				want[0] = -1
			}
		} else {
			return nil
		}
	}
	s, ranked := c.dims(0)
	if !ranked {
		open := 0
		for i, d := range want {
			if d == -1 {
				want[i] = graph.NewDim()
				open++
			}
		}
		if open > 1 {
			return fmt.Errorf("only one size of %s can be -1", want.String())
		}
		c.setDims(0, want...)
		return nil
	}
	out, err := Reshape(s, want)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	c.keepElems(0)
	return nil
}

// keepElems sets the elements of output 0 to those of input i, in the same
// order.
func (c *Inference) keepElems(i int) {
	if len(c.Out) == 0 || !isInteger(c.In[i].DType) || c.Out[0].Shape.Rank() > 1 || c.Out[0].Shape.Rank() < 0 {
		return
	}
	if e, ok := c.ints(i); ok {
		c.setElems(0, e)
	}
}

// ExpandDims returns the shape with a dimension of size 1 inserted at an axis.
func ExpandDims(s tensor.Shape, axis int64) (tensor.Shape, error) {
	a, err := Axis(axis, len(s)+1)
	if err != nil {
		return nil, fmt.Errorf("no dimension can be inserted at axis %d of a tensor of %d dimensions (want %d to %d)", axis, len(s), -len(s)-1, len(s))
	}
	return insert(s, a, 1), nil
}

// oneAxis returns an error if a tensor that holds an axis has more or fewer elements.
func oneAxis(f graph.Fact) error {
	if n, ok := f.Shape.NumElements(); ok && n != 1 {
		return fmt.Errorf("the axis is %v%v, not one number", f.DType, f.Shape)
	}
	return nil
}

func expandDims(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	if err := oneAxis(c.In[1]); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	axis, known := c.In[1].Int()
	if !known {
		if len(s) == 0 {
			c.setDims(0, 1)
			c.keepElems(0)
			return nil
		}
		c.set(0, graph.OfRank(len(s)+1))
		return nil
	}
	out, err := ExpandDims(s, axis)
	if err != nil {
		return err
	}
	c.setDims(0, out...)
	c.keepElems(0)
	return nil
}

// Squeeze returns the shape without the dimensions of size 1 among the axes in
// list, or without all of them if the list is empty. It returns false if that
// depends on an unknown size.
func Squeeze(s tensor.Shape, list []int64) (tensor.Shape, bool, error) {
	if len(list) == 0 {
		out := make(tensor.Shape, 0, len(s))
		for _, n := range s {
			if n < 0 {
				return nil, false, nil
			}
			if n != 1 {
				out = append(out, n)
			}
		}
		return out, true, nil
	}
	marked := make([]bool, len(s))
	for _, i := range list {
		a, err := Axis(i, len(s))
		if err != nil {
			return nil, false, err
		}
		if s[a] >= 0 && s[a] != 1 {
			return nil, false, fmt.Errorf("dimension %d has size %d, not 1", i, s[a])
		}
		marked[a] = true
	}
	out := make(tensor.Shape, 0, len(s))
	for i, n := range s {
		if !marked[i] {
			out = append(out, n)
		}
	}
	return out, true, nil
}

// SqueezeAxes returns the axes that an op's attributes name.
func SqueezeAxes(a graph.Attrs) []int64 {
	if list := a.Ints("squeeze_dims"); list != nil {
		return list
	}
	return a.Ints("axis")
}

func squeeze(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, ok := c.dims(0)
	if !ok {
		return nil
	}
	out, ok, err := Squeeze(s, SqueezeAxes(c.Attrs))
	if err != nil || !ok {
		return err
	}
	c.setDims(0, out...)
	c.keepElems(0)
	return nil
}

// CheckPermutation returns an error unless a permutation of n entries has one for each dimension.
func CheckPermutation(n, rank int) error {
	if n != rank {
		return fmt.Errorf("the permutation has %d entries, the input %d dimensions", n, rank)
	}
	return nil
}

// Permutation returns the axes of a tensor of the given rank in the order that
// list names them.
func Permutation(list []int64, rank int) ([]int, error) {
	if err := CheckPermutation(len(list), rank); err != nil {
		return nil, err
	}
	seen, out := make([]bool, rank), make([]int, rank)
	for i, p := range list {
		a, err := Axis(p, rank)
		if err == nil && seen[a] {
			err = fmt.Errorf("axis %d is named twice", p)
		}
		if err != nil {
			return nil, fmt.Errorf("the permutation: %w", err)
		}
		seen[a], out[i] = true, a
	}
	return out, nil
}

// Permuted returns the shape with its dimensions in the order of a
// [Permutation].
func Permuted(s tensor.Shape, axes []int) tensor.Shape {
	out := make(tensor.Shape, len(s))
	for i, a := range axes {
		out[i] = s[a]
	}
	return out
}

func transpose(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(1)
	if err != nil {
		return fmt.Errorf("the permutation: %w", err)
	}
	s := c.shape(0)
	perm, ok := c.knownInts(1)
	if !s.HasRank() {
		switch {
		case ok:
			n = len(perm)
		case n < 0:
			return nil
		}
		s = graph.OfRank(n)
	}
	if ok {
		axes, err := Permutation(perm, s.Rank())
		if err == nil {
			c.setDims(0, Permuted(s.Dims(), axes)...)
		}
		return err
	}
	if n >= 0 && n != s.Rank() {
		return CheckPermutation(n, s.Rank())
	}
	if s.Rank() < 2 {
		c.set(0, s)
		return nil
	}
	c.set(0, graph.OfRank(s.Rank()))
	return nil
}

func broadcastTo(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	want, err := c.sizes(1, "the shape")
	if err != nil || !want.HasRank() {
		return err
	}
	if s, ok := c.dims(0); ok {
		if err := BroadcastTo(s, want.Dims()); err != nil {
			return err
		}
		for i, d := range s {
			// A size other than 1 is that of the result.
			if k := want.Rank() - len(s) + i; d >= 0 && d != 1 && want.Dim(k) < 0 {
				want = want.With(k, d)
			}
		}
	}
	c.set(0, want)
	return nil
}

func broadcastArgs(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	n, err := c.vector(0)
	if err != nil {
		return err
	}
	m, err := c.vector(1)
	if err != nil {
		return err
	}
	if n >= 0 && m >= 0 {
		c.setDims(0, max(n, m))
	} else {
		c.set(0, graph.OfRank(1))
	}
	a, err := c.sizes(0, "the first shape")
	if err != nil {
		return err
	}
	b, err := c.sizes(1, "the second shape")
	if err != nil {
		return err
	}
	out, err := BroadcastShapes(a, b)
	if err == nil && out.HasRank() {
		c.setShapeOf(0, out)
	}
	return err
}

func broadcastGradientArgs(c *Inference) error {
	if err := c.need(2); err != nil {
		return err
	}
	c.set(0, graph.OfRank(1))
	c.set(1, graph.OfRank(1))
	a, err := c.sizes(0, "the first shape")
	if err != nil {
		return err
	}
	b, err := c.sizes(1, "the second shape")
	if err != nil || !a.HasRank() || !b.HasRank() {
		return err
	}
	if _, err := Broadcast(a.Dims(), b.Dims()); err != nil {
		return err
	}
	ra, rb, ok := GradientAxes(a.Dims(), b.Dims())
	if !ok {
		return nil
	}
	for i, axes := range [][]int{ra, rb} {
		e := make([]graph.Elem, len(axes))
		for k, x := range axes {
			e[k] = graph.ElemOf(int64(x))
		}
		c.setDims(i, len(axes))
		c.setElems(i, e)
	}
	return nil
}

func invertPermutation(c *Inference) error {
	if err := c.need(1); err != nil {
		return err
	}
	s, err := c.ranked(0, 1)
	if err != nil {
		return fmt.Errorf("takes a vector, not shape %v", c.shape(0))
	}
	c.set(0, s)
	perm, ok := c.knownInts(0)
	if !ok {
		return nil
	}
	inverse, err := Inverse(perm)
	if err == nil {
		e := make([]graph.Elem, len(inverse))
		for i, k := range inverse {
			e[i] = graph.ElemOf(int64(k))
		}
		c.setElems(0, e)
	}
	return err
}

// Inverse returns the permutation that undoes another one.
func Inverse(perm []int64) ([]int, error) {
	inverse, seen := make([]int, len(perm)), make([]bool, len(perm))
	for i, k := range perm {
		if k < 0 || k >= int64(len(perm)) || seen[k] {
			return nil, fmt.Errorf("the %d indices are no permutation: %d at place %d", len(perm), k, i)
		}
		seen[k], inverse[k] = true, i
	}
	return inverse, nil
}
