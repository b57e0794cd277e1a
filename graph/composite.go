package graph

import (
	"fmt"
	"strings"

	"github.com/cairnml/cairn/tensor"
)

// facts returns the facts of a composite's tensors. For a class that this
// package doesn't know, only their number is known: the facts are zero.
func (c *Composite) facts() []Fact {
	if c.Facts != nil {
		return c.Facts
	}
	var state []*Structure
	if c.State != nil {
		state = c.State.Elems
	}
	var out []Fact
	switch c.Class {
	case SparseComposite:
		out = sparseFacts(state)
	case RaggedComposite:
		out = raggedFacts(state)
	case SlicesComposite:
		out = slicesFacts(state)
	case VariableComposite, IteratorComposite:
		out = []Fact{{DType: tensor.Resource, Shape: ShapeOf()}}
	case ArrayComposite, DatasetComposite, OptionalComposite:
		out = []Fact{{DType: tensor.Variant, Shape: ShapeOf()}}
	}
	if out == nil || c.Tensors > 0 && len(out) != c.Tensors {
		out = make([]Fact, max(c.Tensors, 0))
	}
	return out
}

// Name returns the name of the class.
func (c *Composite) Name() string {
	if c.ClassName == "" {
		return fmt.Sprintf("composite %d", c.Class)
	}
	return c.ClassName
}

// String returns the class with its known properties: "RaggedTensorSpec([?,?],
// float32, 1, int64)".
func (c *Composite) String() string {
	if c.Facts == nil {
		return c.Name() + c.State.String()
	}
	words := make([]string, len(c.Facts))
	for i, f := range c.Facts {
		words[i] = f.String()
	}
	return c.Name() + "(" + strings.Join(words, ", ") + ")"
}

// Count returns the number of tensors of a value. ok is false if neither the
// file nor the class determines it.
func (c *Composite) Count() (n int, ok bool) {
	n = len(c.facts())
	return n, n > 0 || c.Class == ExtensionComposite
}

// shape returns the shape of the tensor that a composite represents. It is
// unknown for a composite that represents none.
func (c *Composite) shape() PartialShape {
	if c.State == nil {
		return PartialShape{}
	}
	s, _ := staticOf[PartialShape](c.State.Elems, 0)
	return s
}

// sparseFacts returns the facts of a sparse tensor: the indices [entries, rank], the values [entries] and the
// shape [rank]. state is the tuple of SparseTensorSpec._serialize: shape, dtype.
func sparseFacts(state []*Structure) []Fact {
	shape, okShape := staticOf[PartialShape](state, 0)
	dtype, okType := staticOf[tensor.DType](state, 1)
	if !okShape || !okType {
		return nil
	}
	rank := shape.Rank()
	return []Fact{
		{DType: tensor.Int64, Shape: ShapeOf(-1, rank)},
		{DType: dtype, Shape: ShapeOf(-1)},
		{DType: tensor.Int64, Shape: ShapeOf(rank)},
	}
}

// raggedFacts returns the facts of a ragged tensor: the values without the ragged
// dimensions, then the row splits, the outermost first. state is the tuple of RaggedTensorSpec._serialize: shape,
// dtype, ragged_rank, row_splits_dtype.
func raggedFacts(state []*Structure) []Fact {
	shape, okShape := staticOf[PartialShape](state, 0)
	dtype, okType := staticOf[tensor.DType](state, 1)
	ranks, okRank := staticOf[int64](state, 2)
	splits, okSplits := staticOf[tensor.DType](state, 3)
	if !okShape || !okType || !okRank || !okSplits || ranks < 0 || ranks > tensor.MaxRank {
		return nil
	}
	if ranks == 0 {
		return []Fact{{DType: dtype, Shape: shape}}
	}
	values := PartialShape{}
	if shape.Rank() > int(ranks) {
		values = ShapeOf(append([]int{-1}, shape.Dims()[ranks+1:]...)...)
	}
	out := []Fact{{DType: dtype, Shape: values}}
	for i := range int(ranks) {
		n := -1
		if i == 0 && shape.HasRank() && shape.Dim(0) >= 0 {
			n = shape.Dim(0) + 1
		}
		out = append(out, Fact{DType: splits, Shape: ShapeOf(n)})
	}
	return out
}

// slicesFacts returns the facts of tf.IndexedSlices: the values, their indices,
// and the dense shape if it is present. state is the tuple of IndexedSlicesSpec._serialize: shape, dtype,
// indices_dtype, dense_shape_dtype or None, indices_shape.
func slicesFacts(state []*Structure) []Fact {
	shape, okShape := staticOf[PartialShape](state, 0)
	dtype, okType := staticOf[tensor.DType](state, 1)
	indices, okIndices := staticOf[tensor.DType](state, 2)
	if !okShape || !okType || !okIndices {
		return nil
	}
	n, ok := staticOf[PartialShape](state, 4)
	if !ok || n.Rank() != 1 {
		n = ShapeOf(-1)
	}
	values := PartialShape{}
	if shape.Rank() > 0 {
		values = ShapeOf(append([]int{n.Dim(0)}, shape.Dims()[1:]...)...)
	}
	out := []Fact{{DType: dtype, Shape: values}, {DType: indices, Shape: n}}
	if dense, ok := staticOf[tensor.DType](state, 3); ok {
		out = append(out, Fact{DType: dense, Shape: ShapeOf(shape.Rank())})
	}
	return out
}

// staticOf returns element i of a serialized TypeSpec. ok is false for another type, since files may contain any.
func staticOf[T any](state []*Structure, i int) (v T, ok bool) {
	if i < len(state) && state[i] != nil && state[i].Kind == StaticStructure {
		v, ok = state[i].Value.(T)
	}
	return v, ok
}
