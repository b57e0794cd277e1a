package base

import (
	"fmt"

	"github.com/cairnml/cairn/graph"
	"github.com/cairnml/cairn/ops"
	"github.com/cairnml/cairn/tensor"
)

// Sparse is a tensor with only some elements stored: tf.SparseTensor.
type Sparse struct {
	// Indices are the places of the elements, int64 [n, rank], in order.
	Indices *ops.Value
	// Values are the elements, [n].
	Values *ops.Value
	// Shape is the shape of the whole tensor, int64 [rank].
	Shape *ops.Value
}

// Ragged is a tensor with rows of different lengths: tf.RaggedTensor.
type Ragged struct {
	// Values are the elements of all rows.
	Values *ops.Value
	// Splits are the places in the next inner dimension at which rows begin, int64, and at
	// last its size. The outermost dimension comes first.
	Splits []*ops.Value
}

type (
	sparseKey struct{}
	raggedKey struct{}
)

// Value returns a value that represents the sparse tensor between layers. To ops it is
// the vector of the elements.
func (x Sparse) Value(s *ops.Scope) *ops.Value { return noted(s, x.Values, sparseKey{}, x) }

// Value returns a value that represents the ragged tensor between layers. To ops it is
// the tensor of the elements.
func (x Ragged) Value(s *ops.Scope) *ops.Value { return noted(s, x.Values, raggedKey{}, x) }

func noted(s *ops.Scope, v *ops.Value, key, note any) *ops.Value {
	v = ops.Identity(s, v)
	if s.Err() == nil {
		v.SetNote(key, note)
	}
	return v
}

// SparseOf returns the sparse tensor that a value represents. ok is false if it is dense.
func SparseOf(v *ops.Value) (x Sparse, ok bool) {
	x, ok = v.Note(sparseKey{}).(Sparse)
	return x, ok
}

// RaggedOf returns the ragged tensor that a value represents. ok is false if it is dense.
func RaggedOf(v *ops.Value) (x Ragged, ok bool) {
	x, ok = v.Note(raggedKey{}).(Ragged)
	return x, ok
}

// ToDense returns the tensor that a value represents with all its elements: zeros, or empty
// strings, for the missing elements of a sparse one and after the end of the rows of a
// ragged one.
func ToDense(s *ops.Scope, v *ops.Value) *ops.Value {
	if x, ok := SparseOf(v); ok {
		return s.Emit1("SparseToDense", nil, x.Indices, x.Shape, x.Values, zeroOf(x.Values.DType()))
	}
	if x, ok := RaggedOf(v); ok {
		return x.ToDense(s, nil)
	}
	return v
}

// ToDense returns the rows with zeros, or empty strings, after their ends. shape has the
// sizes of the result, -1 for those of the rows; longer rows lose their ends. nil means
// -1 in all dimensions.
func (x Ragged) ToDense(s *ops.Scope, shape []int64) *ops.Value {
	if shape == nil {
		shape = make([]int64, max(x.Values.Fact().Shape.Rank(), 1)+len(x.Splits))
		for i := range shape {
			shape[i] = -1
		}
	}
	types := make([]string, len(x.Splits))
	in := []ops.Input{shape, x.Values, zeroOf(x.Values.DType())}
	for i, splits := range x.Splits {
		types[i] = "ROW_SPLITS"
		in = append(in, splits)
	}
	return s.Emit1("RaggedTensorToTensor", graph.Attrs{graph.Strings("row_partition_types", types...)}, in...)
}

// zeroOf returns the zero of a type.
func zeroOf(d tensor.DType) ops.Input {
	if d == tensor.String {
		return tensor.Must(tensor.New([]string{""}))
	}
	return tensor.Must(tensor.Zeros(d))
}

// sameNotes makes v represent the sparse or ragged tensor that of represents.
func sameNotes(v, of *ops.Value) *ops.Value {
	for _, key := range []any{sparseKey{}, raggedKey{}} {
		if note := of.Note(key); note != nil {
			v.SetNote(key, note)
		}
	}
	return v
}

// inScope returns the value of an input in a scope, with the tensor that it
// represents.
func inScope(s *ops.Scope, x ops.Input) *ops.Value {
	out := ops.Const(s, x)
	v, ok := x.(*ops.Value)
	if !ok || s.Err() != nil || out == v {
		return out
	}
	if x, ok := SparseOf(v); ok {
		out = Sparse{ops.Const(s, x.Indices), out, ops.Const(s, x.Shape)}.Value(s)
	}
	if x, ok := RaggedOf(v); ok {
		splits := make([]*ops.Value, len(x.Splits))
		for i, v := range x.Splits {
			splits[i] = ops.Const(s, v)
		}
		out = Ragged{out, splits}.Value(s)
	}
	return out
}

// withElements returns the tensor that v represents with other elements.
func withElements(s *ops.Scope, v, elements *ops.Value) *ops.Value {
	if x, ok := SparseOf(v); ok {
		return Sparse{x.Indices, elements, x.Shape}.Value(s)
	}
	if x, ok := RaggedOf(v); ok {
		return Ragged{elements, x.Splits}.Value(s)
	}
	return elements
}

// MapElements applies f to the elements of a dense, a sparse or a ragged tensor, and
// returns a tensor of the same form. f must keep the shape.
func MapElements(s *ops.Scope, v *ops.Value, f func(elements *ops.Value) *ops.Value) *ops.Value {
	return withElements(s, v, f(v))
}

type (
	sparseTaker interface{ TakesSparse() }
	raggedTaker interface{ TakesRagged() }
)

// checkForms returns an error if an input has a form that the layer doesn't take.
func checkForms(self any, inputs []*ops.Value) error {
	_, takesSparse := self.(sparseTaker)
	_, takesRagged := self.(raggedTaker)
	switch self.(type) {
	case elementMapper, raggedSequencer:
		takesRagged = true
	}
	for i, v := range inputs {
		form := FormOf(v)
		if form == "sparse" && !takesSparse || form == "ragged" && !takesRagged {
			return fmt.Errorf("input %d is a %s tensor (want a dense one); keras.ToDense converts it", i, form)
		}
	}
	return nil
}
